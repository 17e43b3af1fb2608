//! A rule as it is written: plain texts, before any expression is read. Built-in rules are laid out in this
//! shape at build time, packs of users are read into it; from here on both take the same path.

use crate::finding::Severity;
use crate::parse::expression::{self as ast, Kind, Piece};
use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::str::Split;
use std::sync::OnceLock;

/// A message without values, for pages: `CUDA {software.cuda} needs …` is told with the names of values in backticks.
pub fn outline(template: &str) -> String {
    let Ok(pieces) = ast::template(template) else { return template.to_owned() };
    let told = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Expr(expr) => match expr.kind {
            Kind::Ident(name) | Kind::Field(_, name) => format!("`{}`", name.replace('_', " ")),
            _ => "…".to_owned(),
        },
    });
    told.collect()
}

/// A built-in rule: what is asked of every rule in every run, and the rest, which is read when the rule is asked.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) id: &'static str,
    pub(super) pack: &'static str,
    pub(super) severity: &'static str,
    pub(super) applies_to: &'static str,
    pub(super) kinds: &'static [&'static str],
    /// Where the text of its file lies in the files of all rules, which only pages and tests read.
    pub(super) file: (usize, usize),
    /// Its other texts in the order of [`Packed::unpack`], with a unit separator between them; lists stand behind their
    /// lengths.
    pub(super) rest: &'static str,
    /// Conditions without which it does not fire, by their places among all that several rules share.
    pub(super) gates: &'static [usize],
}

/// The files of all rules, one behind the other.
static FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rules.deflate"));

impl RuleText {
    /// The same with the words of another language.
    pub fn told(&self, words: &Words) -> Self {
        let mut out = self.clone();
        out.message = words.message.clone().unwrap_or(out.message);
        out.help = words.help.clone().unwrap_or(out.help);
        out.labels.iter_mut().zip(&words.labels).for_each(|((_, text), told)| text.clone_from(told));
        out
    }

    /// All that it asks of a deployment, in its own words.
    pub fn asked(&self) -> String {
        let lets = self.each.iter().chain(&self.lets).map(|(_, expression)| expression);
        let places = self.labels.iter().map(|(place, _)| place).chain(&self.at);
        let conditions = self.when.iter().chain(&self.proof).chain([&self.forbid]);
        lets.chain(places).chain(conditions).flat_map(|text| [text.as_str(), "\n"]).collect()
    }

    /// How it can be fixed, in words.
    pub fn fixable(&self) -> Option<&'static str> {
        Some(if self.fix.as_ref()?.safe { "fixed by --fix" } else { "fixed by --fix --unsafe-fixes" })
    }

    /// How bad it is, in words.
    pub fn level(&self) -> String {
        match (&self.proof, Severity::parse(&self.severity)) {
            (Some(proof), Some(severity)) => {
                format!("{}, or {} unless `{proof}`", severity.name(), severity.lower().name())
            }
            _ => self.severity.clone(),
        }
    }
}

impl Packed {
    /// The text of its file, which is named after it in the folder of its pack.
    pub(super) fn file(&self) -> &'static str {
        static TEXT: OnceLock<String> = OnceLock::new();
        let all = TEXT.get_or_init(|| {
            let mut all = String::new();
            let read = DeflateDecoder::new(FILES).read_to_string(&mut all);
            read.map(|_| all).unwrap_or_default()
        });
        all.get(self.file.0..self.file.1).unwrap_or_default()
    }

    pub(super) fn unpack(&self) -> RuleText {
        let mut parts = self.rest.split('\u{1f}');
        let parts = &mut parts;
        RuleText {
            id: self.id.to_owned(),
            pack: self.pack.to_owned(),
            severity: self.severity.to_owned(),
            applies_to: self.applies_to.to_owned(),
            kinds: self.kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            confidence: text(parts),
            each: list(parts, pair).pop(),
            lets: list(parts, pair),
            params: list(parts, |parts| ParamText {
                name: text(parts),
                ty: text(parts),
                description: text(parts),
                default: list(parts, text),
            }),
            when: list(parts, text).pop(),
            forbid: text(parts),
            at: list(parts, text).pop(),
            labels: list(parts, pair),
            message: text(parts),
            help: text(parts),
            proof: list(parts, text).pop(),
            fix: list(parts, |parts| FixText {
                at: text(parts),
                replace: list(parts, text).pop(),
                rename: list(parts, text).pop(),
                remove: text(parts) == "true",
                set: list(parts, pair).pop(),
                safe: text(parts) == "true",
            })
            .pop(),
        }
    }
}

type Parts = Split<'static, char>;

fn text(parts: &mut Parts) -> String {
    parts.next().unwrap_or_default().to_owned()
}

fn pair(parts: &mut Parts) -> (String, String) {
    (text(parts), text(parts))
}

fn list<T>(parts: &mut Parts, take: impl Fn(&mut Parts) -> T) -> Vec<T> {
    let count = parts.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    (0..count).map(|_| take(parts)).collect()
}

/// A rule's texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleText {
    /// Noun phrase naming the fault.
    pub id: String,
    /// Pack it belongs to.
    pub pack: String,
    /// error, warning, info.
    pub severity: String,
    /// high, medium, low.
    pub confidence: String,
    /// What is asked: container, workload, object …
    pub applies_to: String,
    /// Kinds of raw documents, for object and resource.
    pub kinds: Vec<String>,
    /// Name and list of `each`.
    pub each: Option<(String, String)>,
    /// Named sub-expressions in order.
    pub lets: Vec<(String, String)>,
    /// Parameters.
    pub params: Vec<ParamText>,
    /// Precondition.
    pub when: Option<String>,
    /// What must not be so.
    pub forbid: String,
    /// Primary place.
    pub at: Option<String>,
    /// Place and text of explicit labels.
    pub labels: Vec<(String, String)>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// What has to hold for its severity; else it is one lower.
    pub proof: Option<String>,
    /// Suggested change.
    pub fix: Option<FixText>,
}

/// A parameter as declared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParamText {
    /// Its name.
    pub name: String,
    /// int, double, string, bool, list(string).
    pub ty: String,
    /// Its default: one text, or the elements of a list.
    pub default: Vec<String>,
    /// What it means.
    pub description: String,
}

/// A suggested change as declared: what is done is one of four things.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FixText {
    /// Where.
    pub at: String,
    /// The text that stands there then.
    pub replace: Option<String>,
    /// The key that the entry there has then.
    pub rename: Option<String>,
    /// Whether the entry there is left out.
    pub remove: bool,
    /// A key, and its value, that is written beside the entry there.
    pub set: Option<(String, String)>,
    /// Whether it keeps the meaning of everything else.
    pub safe: bool,
}

/// What a rule says in another language; what is left out is told in English.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Words {
    /// What is wrong.
    pub message: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// The texts of its labels, in their order.
    pub labels: Vec<String>,
    /// What breaks.
    pub why: Option<String>,
}

/// The page of a rule: what only people and tests read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What breaks, and the error text people see.
    pub why: String,
    /// Authorities.
    pub references: Vec<String>,
    /// Files that fire or stay silent.
    pub examples: Vec<Example>,
    /// What it says in Chinese.
    pub zh: Words,
    /// Ways to write an example after which it is silent, and why that is right.
    pub not_after: BTreeMap<String, String>,
    /// Questions that the examples leave open, and why.
    pub open: BTreeMap<String, String>,
}

/// An example of a rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Example {
    /// Whether the rule must fire.
    pub fires: bool,
    /// Path and text of its files, places marked with ‹ and ›.
    pub files: Vec<(String, String)>,
    /// Path and text of those that its fixes change, as they are then.
    pub fixed: Vec<(String, String)>,
    /// Why it only looks guilty.
    pub because: String,
    /// The other rules that find an error in it, or fire at the same place.
    pub also: Vec<String>,
}
