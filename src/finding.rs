//! Findings: what is wrong, where, and what decided it. Knows spans only; nothing of rendering or rules.

use crate::language::Language;
use crate::source::{SourceId, Span};
use crate::words::words;
use serde::Serialize;

/// The pack of what gpulint says about the run itself: files, suppressions, configuration.
pub const OWN_PACK: &str = "gpulint";

/// The finding on a file that was not linted.
pub const FILE_NOT_LINTED: &str = "file-not-linted";

words! {
    /// Why a file was not linted.
    Unlinted {
        /// It cannot be opened or unpacked.
        Unreadable = "unreadable",
        /// It is larger than what is read.
        TooLarge = "too-large",
        /// Its text is in another encoding than UTF-8, or is none.
        Encoding = "encoding",
        /// It asks for more work or memory than one file may.
        Budget = "budget",
        /// gpulint failed on it.
        Failure = "failure",
    }
}

impl Unlinted {
    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Unlinted::Unreadable => "let gpulint read it, or exclude it in the configuration",
            Unlinted::TooLarge => "split it, or exclude it in the configuration",
            Unlinted::Encoding => "save it in UTF-8",
            Unlinted::Budget => "write out what grows there, or exclude the file in the configuration",
            Unlinted::Failure => "report it at the project's issue tracker; everything else was linted",
        }
    }
}

/// What a baseline knows and is found no more.
pub const STALE_BASELINE: &str = "stale-baseline";

/// Findings of [`OWN_PACK`] and what they mean. They come from no rule file, so they are listed here.
pub const OWN_RULES: &[(&str, &str)] = &[
    ("configuration", "Something in gpulint's configuration names what does not exist."),
    (
        "duplicate-key",
        "A key is written twice in one mapping: a value is lost, or the tool that reads the file refuses it.",
    ),
    ("expired-suppression", "A suppression has a date that is over: it waives nothing any more."),
    (
        FILE_NOT_LINTED,
        "A file that a tool may apply was not linted, or not as a whole. How bad that is can be said for each reason, as a parameter: \
         `unreadable`, `too-large`, `encoding`, `budget` (it asks for more work or memory than one file may), `failure` (of gpulint).",
    ),
    ("internal-error", "gpulint failed on a rule; everything else was asked. Please report it."),
    ("kustomization-error", "A kustomization cannot be built, so its files are linted one by one."),
    ("malformed-suppression", "A comment or an annotation that should waive a finding cannot be read."),
    (STALE_BASELINE, "A baseline knows findings that are found no more: `gpulint baseline --prune` removes them."),
    ("suppression-without-reason", "A suppression gives no reason, and the configuration asks for one."),
    ("syntax-error", "A file that a tool reads does not parse; its help says what of it was linted."),
    ("template-error", "A template of a chart cannot be rendered with its values."),
    ("unused-suppression", "A suppression waives nothing: what it names is not found there."),
];

/// Those of them that say that something was not linted, or not as a whole. Nothing in a file waives them.
pub const COVERAGE: &[&str] =
    &[FILE_NOT_LINTED, "internal-error", "kustomization-error", "syntax-error", "template-error"];

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice.
    Info,
    /// Likely harm.
    Warning,
    /// Fails, loses data or lets someone in.
    Error,
}

/// How sure the rule is, separate from how bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Off unless asked for.
    Low,
    /// Holds in most set-ups.
    Medium,
    /// Holds by the authority cited.
    High,
}

impl Severity {
    /// Reads the lower-case name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Info, Self::Warning, Self::Error].into_iter().find(|s| s.name() == text)
    }

    /// The next lower one; advice stays advice.
    pub fn lower(self) -> Self {
        if self == Self::Error { Self::Warning } else { Self::Info }
    }

    /// Its lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Confidence {
    /// Reads the lower-case name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|c| c.name() == text)
    }

    /// Its lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A place that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What stands there, in the words of the finding.
    pub text: String,
}

/// Changes of text that together mend a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a command.
    pub title: String,
    /// What is replaced, and by what: in the order of places, none of which touch the text of another. An empty place is one
    /// to insert at.
    pub edits: Vec<(Span, String)>,
    /// Whether it keeps the meaning of everything else.
    pub safe: bool,
}

impl Fix {
    /// The text of a file after its edits of that file.
    pub fn applied(&self, file: SourceId, text: &str) -> String {
        applied(&self.edits, file, text)
    }
}

/// The text of a file after edits, in the order of places, of that file.
pub fn applied(edits: &[(Span, String)], file: SourceId, text: &str) -> String {
    let mut out = text.to_owned();
    for (span, replacement) in edits.iter().rev().filter(|(span, _)| span.source == file) {
        out.replace_range(span.range(), replacement);
    }
    out
}

/// The edits of fixes in the order of places, and how many fixes they are: of two that touch the same text the first one is
/// made.
pub fn apart<'f>(fixes: impl Iterator<Item = &'f Fix>) -> (Vec<(Span, String)>, usize) {
    let (mut taken, mut count): (Vec<(Span, String)>, usize) = (Vec::new(), 0);
    for fix in fixes {
        let away = |(span, _): &(Span, String)| {
            let touches =
                |other: &Span| other.source == span.source && span.start <= other.end && other.start <= span.end;
            !taken.iter().any(|(other, _)| touches(other))
        };
        if fix.edits.iter().all(|edit| taken.contains(edit)) {
            count += 1;
        } else if fix.edits.iter().all(away) {
            count += 1;
            taken.extend(fix.edits.iter().cloned());
        }
    }
    taken.sort();
    (taken, count)
}

/// What mends a finding, before the text is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What it does, as a command.
    pub title: String,
    /// Where, and what is known to stand there.
    pub places: Vec<(Span, Option<String>)>,
    /// Whether that is so of what stands there as a whole, whatever it says: it is the very text that is at fault.
    pub at_fault: bool,
    /// What is done there.
    pub change: Change,
    /// Whether it keeps the meaning of everything else.
    pub safe: bool,
}

/// A change at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The text there becomes another one.
    Replace(String),
    /// The entry there gets another key.
    Rename(String),
    /// The entry there is left out.
    Remove,
    /// A key, by its path, and its value are written beside the entry there.
    Set(Vec<String>, String),
}

/// Something wrong. It cannot be built without a primary place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the rule.
    pub rule: String,
    /// Pack of the rule.
    pub pack: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The primary place: the text that a person would edit.
    pub span: Span,
    /// What is wrong with the user's own values.
    pub message: String,
    /// The message in English, where it is told in another language.
    pub meaning: Option<String>,
    /// The other halves of the contradiction.
    pub related: Vec<Label>,
    /// What to do, as a command.
    pub help: Option<String>,
    /// The entity it is about: `Deployment/ml/api container server`.
    pub entity: String,
    /// The sets of values under which a chart shows it; empty when it does not depend on them.
    pub values: Vec<String>,
    /// What mends it, until the text was looked at.
    pub wish: Option<Wish>,
    /// What mends it.
    pub fix: Option<Fix>,
    /// For [`FILE_NOT_LINTED`]: why.
    pub unlinted: Option<Unlinted>,
}

impl Finding {
    /// A finding of gpulint itself; `rule` is one of [`OWN_RULES`].
    pub fn own(rule: &str, severity: Severity, span: Span, message: String) -> Self {
        Self {
            rule: rule.to_owned(),
            pack: OWN_PACK.to_owned(),
            severity,
            confidence: Confidence::High,
            span,
            message,
            meaning: None,
            related: Vec::new(),
            help: None,
            entity: String::new(),
            values: Vec::new(),
            wish: None,
            fix: None,
            unlinted: None,
        }
    }

    /// That a file was not linted, as a finding on it.
    pub fn not_linted(why: Unlinted, span: Span, message: &str) -> Self {
        let own = Self::own(FILE_NOT_LINTED, Severity::Error, span, format!("not linted: {message}"));
        Self { unlinted: Some(why), help: Some(why.help().to_owned()), ..own }
    }

    /// Tells what gpulint itself found in a language; what rules find is told in it from the start.
    pub fn tell_in(&mut self, language: Language) {
        if self.pack == OWN_PACK && language != Language::English {
            let told = language.say(&*self.message).into_owned();
            self.meaning = Some(std::mem::replace(&mut self.message, told));
            self.help = self.help.take().map(|help| language.say(help).into_owned());
        }
    }

    /// The message, with the sets of values that it holds for.
    pub fn text(&self) -> String {
        const MOST: usize = 3;
        let more = self.values.len().saturating_sub(MOST);
        match self.values.as_slice() {
            [] => self.message.clone(),
            names if more > 0 => format!("{} (with {} and {more} more)", self.message, names[..MOST].join(", ")),
            names => format!("{} (with {})", self.message, names.join(", ")),
        }
    }

    /// The message, whatever language it is told in.
    pub fn english(&self) -> &str {
        self.meaning.as_ref().unwrap_or(&self.message)
    }

    /// A key made of meaning, not of lines: rule, entity and message. Stable under edits elsewhere, and in every language.
    pub fn fingerprint(&self, path: &str) -> String {
        hash([self.rule.as_str(), path, &self.entity, self.english()])
    }

    /// A key of rule, object and the words that it is about, `words` of the file `path`: the same where the file has another
    /// name or is formatted in another way, and where gpulint says the same in other words.
    pub fn identity(&self, path: &str, words: &str) -> String {
        let entity = self.entity.replace(path, "");
        // What formatting adds and takes away: quotes, brackets, marks of list items.
        let plain = |c: &char| !c.is_whitespace() && !"\"'`,-[]{}\\".contains(*c);
        let words = Some(words).filter(|words| !words.trim().is_empty()).unwrap_or(self.english());
        hash([self.rule.as_str(), &entity, &words.chars().filter(plain).collect::<String>()])
    }
}

/// FNV-1a of some texts: stable across platforms and releases, which `DefaultHasher` does not promise.
fn hash<const N: usize>(parts: [&str; N]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// A rule that could not be decided for an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// Id of the rule.
    pub rule: String,
    /// Pack of the rule.
    pub pack: String,
    /// How sure the rule is where it can be decided.
    pub confidence: Confidence,
    /// The fact that is not known.
    pub span: Span,
    /// Why, and so what would make it known.
    pub why: String,
    /// Whether nothing that anybody states would: the catalog has no row.
    pub lacks_row: bool,
    /// The entity it is about.
    pub entity: String,
}
