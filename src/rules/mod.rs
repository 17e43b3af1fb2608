//! Rule packs: loading, checking, the expression language and its functions over the catalog. Knows facts and
//! the catalog; knows neither formats nor output.

pub mod compile;
pub mod examples;
pub mod functions;
pub mod gates;
pub mod lang;
pub mod load;
pub mod pack;
pub mod rewrites;
pub mod text;

use crate::facts::{Subject, subjects};
use crate::finding::{OWN_PACK, OWN_RULES, Severity};
use crate::language::Language;
use crate::parse::Problem;
use crate::source::SourceId;
use crate::suggest::did_you_mean;
use compile::{Rule, parameter};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use text::{Packed, RuleText};

/// Where the pages of rules stand, one below for each.
const PAGES: &str = "https://gpulint.github.io/rules/";

/// The page of a rule that gpulint brings.
fn page_url(id: &str) -> String {
    format!("{PAGES}{id}/")
}

/// Built-in packs about what runs for others: what it costs, who reaches it, and how it goes on.
const OF_DEPLOYMENTS: [&str; 5] = ["autoscaling", "cost", "encryption", "security", "sla"];

/// The built-in rules, laid out at build time and sorted by id.
mod builtin {
    use super::text::Packed;
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// A rule of the set: what tells whether it is asked now, its texts and the checked rule when it is first asked.
#[derive(Debug)]
pub struct Entry {
    /// Noun phrase naming the fault.
    pub id: Cow<'static, str>,
    /// Pack it belongs to.
    pub pack: Cow<'static, str>,
    /// Severity, after overrides; `None` switches it off.
    pub severity: Option<Severity>,
    configured: bool,
    origin: Origin,
    params: Vec<(String, Vec<String>)>,
    language: Language,
    rule: OnceLock<Option<Box<Rule>>>,
}

/// Where a rule comes from.
#[derive(Debug)]
enum Origin {
    /// It is one of ours; its texts, once they were read.
    BuiltIn(&'static Packed, OnceLock<Box<RuleText>>),
    /// It was added: its texts, path and text of its file.
    Added(Box<RuleText>, (String, String)),
}

impl Entry {
    fn built_in(packed: &'static Packed) -> Self {
        let severity = Severity::parse(packed.severity);
        let origin = Origin::BuiltIn(packed, OnceLock::new());
        let (id, pack) = (packed.id.into(), packed.pack.into());
        Self {
            id,
            pack,
            severity,
            configured: false,
            origin,
            params: Vec::new(),
            language: Language::English,
            rule: OnceLock::new(),
        }
    }

    fn added(text: RuleText, file: (String, String), mut rule: Rule) -> Self {
        let severity = Severity::parse(&text.severity);
        rule.added = true;
        let rule = OnceLock::from(Some(Box::new(rule)));
        let (id, pack) = (text.id.clone().into(), text.pack.clone().into());
        let origin = Origin::Added(Box::new(text), file);
        Self { id, pack, severity, configured: false, origin, params: Vec::new(), language: Language::English, rule }
    }

    /// Its texts.
    pub fn text(&self) -> &RuleText {
        match &self.origin {
            Origin::BuiltIn(packed, text) => text.get_or_init(|| Box::new(packed.unpack())),
            Origin::Added(text, _) => text,
        }
    }

    /// Path and text of its file.
    pub fn file(&self) -> (Cow<'_, str>, &str) {
        match &self.origin {
            Origin::BuiltIn(packed, _) => (format!("rules/{}/{}.yaml", packed.pack, packed.id).into(), packed.file()),
            Origin::Added(_, (path, text)) => (path.into(), text),
        }
    }

    /// Whether it is about what is deployed, and says nothing of what only a run of CI starts. A rule that was added is asked
    /// about both: its own condition tells them apart.
    pub fn is_of_deployments(&self) -> bool {
        matches!(self.origin, Origin::BuiltIn(..)) && OF_DEPLOYMENTS.contains(&self.pack.as_ref())
    }

    /// Whether it is none of the built-in ones.
    pub fn is_added(&self) -> bool {
        matches!(self.origin, Origin::Added(..))
    }

    /// Conditions without which it does not fire, by their places among all gates.
    fn gates(&self) -> &'static [usize] {
        if let Origin::BuiltIn(packed, _) = &self.origin { packed.gates } else { &[] }
    }

    /// The checked rule with its overrides. `None` only for a built-in rule that does not check, which a test
    /// rules out.
    pub fn rule(&self) -> Option<&Rule> {
        self.rule.get_or_init(|| self.compiled().map(Box::new)).as_deref()
    }

    /// The same, to be changed apart.
    fn again(&self) -> Self {
        let origin = match &self.origin {
            Origin::BuiltIn(packed, _) => Origin::BuiltIn(packed, OnceLock::new()),
            Origin::Added(text, file) => Origin::Added(text.clone(), file.clone()),
        };
        Self {
            id: self.id.clone(),
            pack: self.pack.clone(),
            severity: self.severity,
            configured: self.configured,
            origin,
            params: self.params.clone(),
            language: self.language,
            rule: OnceLock::new(),
        }
    }

    fn compiled(&self) -> Option<Rule> {
        let chinese = self.language == Language::Chinese;
        let mut rule = match &self.origin {
            Origin::BuiltIn(packed, _) => compile::checked(packed.unpack(), chinese.then(|| packed.file().into()))?,
            Origin::Added(text, (_, file)) => compile::checked((**text).clone(), chinese.then(|| file.clone().into()))?,
        };
        rule.added = matches!(self.origin, Origin::Added(..));
        if let Some(severity) = self.severity {
            rule.severity = severity;
        }
        rule.configured = self.configured;
        for (name, value) in &self.params {
            let index = rule.param_types.iter().position(|(n, _)| n == name)?;
            let declared = self.text().params.iter().find(|p| p.name == *name)?;
            rule.params[index] = parameter(&declared.ty, value).ok()?.1;
        }
        Some(rule)
    }

    /// Its texts and its page in the language that it is told in.
    pub fn told(&self) -> (Cow<'_, RuleText>, text::Page) {
        let page = self.page();
        if self.language == Language::English {
            return (Cow::Borrowed(self.text()), page);
        }
        let why = page.zh.why.clone().unwrap_or(page.why);
        (Cow::Owned(self.text().told(&page.zh)), text::Page { why, ..page })
    }

    /// Its documentation page.
    pub fn page(&self) -> text::Page {
        let (loaded, _) = load::load(SourceId(0), self.file().1);
        loaded.into_iter().find(|l| l.text.id == self.id).map(|l| l.page).unwrap_or_default()
    }
}

/// Every rule of a run, sorted by id.
#[derive(Debug)]
pub struct Ruleset {
    entries: Vec<Entry>,
    /// What could be said better in the rules that were added.
    pub advice: Vec<Problem>,
    /// Whether objects of files that speak of no GPU are held against the schemas of their kinds, too.
    pub all_kinds: bool,
    /// Display paths: rules are asked only about what stands in these files; about everything without them.
    pub about: Option<BTreeSet<String>>,
    /// Directories for which other rules hold, or the same in another way.
    pub below: Vec<(String, Ruleset)>,
    language: Language,
}

impl Ruleset {
    /// The built-in packs.
    pub fn builtin() -> Self {
        Self { entries: builtin::RULES.iter().map(Entry::built_in).collect(), ..Self::empty() }
    }

    /// No rules.
    pub fn empty() -> Self {
        Self {
            entries: Vec::new(),
            advice: Vec::new(),
            all_kinds: false,
            about: None,
            below: Vec::new(),
            language: Language::English,
        }
    }

    /// The same rules, to be changed for a directory below.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { entries: self.entries.iter().map(Entry::again).collect(), ..Self::empty() }
    }

    /// These rules and those of directories below, each with its directory.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Ruleset)> {
        std::iter::once(("", self)).chain(self.below.iter().map(|(home, rules)| (home.as_str(), rules)))
    }

    /// Adds the rules of a user's file; a rule with the id of an existing one replaces it.
    pub fn add(&mut self, source: SourceId, path: &str, text: &str) -> Vec<Problem> {
        let (loaded, problems) = load::load(source, text);
        self.advice.extend(loaded.iter().flat_map(|rule| rule.advice.clone()));
        for (written, rule) in loaded.into_iter().filter_map(|loaded| Some((loaded.text, loaded.rule?))) {
            self.entries.retain(|e| e.id != written.id);
            self.entries.push(Entry::added(written, (path.to_owned(), text.to_owned()), rule));
        }
        self.entries.sort_by(|a, b| a.id.cmp(&b.id));
        problems
    }

    /// The language that they are told in.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Tells them in a language.
    pub fn tell_in(&mut self, language: Language) {
        self.language = language;
        for entry in &mut self.entries {
            entry.language = language;
            entry.recompile();
        }
        self.below.iter_mut().for_each(|(_, rules)| rules.tell_in(language));
    }

    /// The rules in id order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The rule of an id; where it is not one of these, that of a directory below.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.all().find_map(|(_, rules)| rules.entries.iter().find(|e| e.id == id))
    }

    /// Where the page of a rule stands: on the project's site for what gpulint brings, at its first reference for what
    /// others wrote.
    pub fn url(&self, id: &str) -> Option<String> {
        match self.get(id) {
            Some(entry) if matches!(entry.origin, Origin::Added(..)) => entry.page().references.into_iter().next(),
            Some(_) => Some(page_url(id)),
            None => OWN_RULES.iter().any(|(own, _)| *own == id).then(|| page_url(id)),
        }
    }

    /// Whether the word names a rule or a pack, gpulint's own included.
    pub fn names(&self, word: &str) -> bool {
        let own = || word == OWN_PACK || OWN_RULES.iter().any(|(id, _)| *id == word);
        self.all().any(|(_, rules)| rules.entries.iter().any(|e| e.id == word || e.pack == word)) || own()
    }

    /// The names of all rules and packs, those of gpulint itself too.
    pub fn all_names(&self) -> Vec<&str> {
        let own = OWN_RULES.iter().map(|(id, _)| *id);
        self.entries.iter().flat_map(|e| [e.id.as_ref(), e.pack.as_ref()]).chain(own).collect()
    }

    /// ` (did you mean …?)` for a rule id or pack that does not exist.
    pub fn hint(&self, word: &str) -> String {
        let entries = self.all().flat_map(|(_, rules)| &rules.entries);
        let words: BTreeSet<&str> = entries.flat_map(|e| [e.id.as_ref(), e.pack.as_ref()]).collect();
        did_you_mean(word, words.into_iter().chain(OWN_RULES.iter().map(|(id, _)| *id)))
    }

    /// Where a rule stands among the entries.
    fn at(&self, id: &str) -> Result<usize, String> {
        let at = self.entries.iter().position(|entry| entry.id == id);
        at.ok_or_else(|| format!("there is no rule `{id}`{}", self.hint(id)))
    }

    /// Overrides a severity; `None` switches the rule off.
    ///
    /// # Errors
    /// No such rule, with the nearest one.
    pub fn set_severity(&mut self, id: &str, severity: Option<Severity>) -> Result<(), String> {
        let at = self.at(id)?;
        let entry = &mut self.entries[at];
        (entry.severity, entry.configured) = (severity, true);
        entry.recompile();
        Ok(())
    }

    /// Overrides a parameter.
    ///
    /// # Errors
    /// No such rule or parameter, or a value that is not of its type.
    pub fn set_param(&mut self, id: &str, name: &str, value: Vec<String>) -> Result<(), String> {
        let at = self.at(id)?;
        let entry = &mut self.entries[at];
        let Some(declared) = entry.text().params.iter().find(|p| p.name == name) else {
            let hint = did_you_mean(name, entry.text().params.iter().map(|p| p.name.as_str()));
            return Err(format!("the rule `{id}` has no parameter `{name}`{hint}"));
        };
        parameter(&declared.ty, &value)?;
        entry.params.push((name.to_owned(), value));
        entry.recompile();
        Ok(())
    }

    /// Checked rules that are on, by what they are asked about.
    pub fn by_subject(&self) -> BySubject<'_> {
        BySubject { entries: &self.entries, found: subjects().iter().map(|_| OnceLock::new()).collect() }
    }
}

/// Rules that are on, by what they are asked about, found when it is first met.
pub struct BySubject<'r> {
    entries: &'r [Entry],
    /// For each subject its rules by kind, which is blank but for raw documents.
    found: Vec<OnceLock<HashMap<&'r str, Vec<&'r Entry>>>>,
}

impl<'r> BySubject<'r> {
    fn of(&self, subject: &Subject) -> HashMap<&'r str, Vec<&'r Entry>> {
        let mut out: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in self.entries.iter().filter(|entry| entry.severity.is_some()) {
            let kinds: Vec<&str> = match &entry.origin {
                Origin::BuiltIn(rule, _) if rule.applies_to == subject.name => rule.kinds.to_vec(),
                Origin::Added(rule, _) if rule.applies_to == subject.name => {
                    rule.kinds.iter().map(String::as_str).collect()
                }
                _ => continue,
            };
            let any = kinds.is_empty().then_some("");
            kinds.into_iter().chain(any).for_each(|kind| out.entry(kind).or_default().push(entry));
        }
        out
    }

    /// Whether some rule is about a subject of a kind.
    pub fn asks(&self, subject: &Subject, kind: Option<&str>) -> bool {
        self.found_of(subject).is_some_and(|rules| rules.contains_key(kind.unwrap_or("")))
    }

    fn found_of(&self, subject: &Subject) -> Option<&HashMap<&'r str, Vec<&'r Entry>>> {
        let place = subjects().iter().position(|(known, _)| known.name == subject.name)?;
        Some(self.found[place].get_or_init(|| self.of(subject)))
    }

    /// Rules about a subject (and, for raw documents, a kind).
    pub fn about(&self, subject: &Subject, kind: Option<&str>) -> &[&'r Entry] {
        self.found_of(subject).and_then(|rules| rules.get(kind.unwrap_or(""))).map_or(&[], Vec::as_slice)
    }
}

impl Entry {
    /// Drops the checked rule, so that overrides take effect.
    fn recompile(&mut self) {
        self.rule = OnceLock::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_rule_loads_and_equals_what_was_laid_out() {
        for entry in Ruleset::builtin().entries() {
            let (loaded, problems) = load::load(SourceId(0), entry.file().1);
            let told: Vec<String> = problems
                .iter()
                .map(|p| format!("{}: {} at {:?}", entry.file().0, p.message, &entry.file().1[p.span.range()]))
                .collect();
            assert!(told.is_empty(), "{}", told.join("\n"));
            assert_eq!(loaded.len(), 1);
            let advice: Vec<&str> = loaded[0].advice.iter().map(|p| p.message.as_str()).collect();
            assert!(advice.is_empty(), "{}: {advice:?}", entry.file().0);
            assert_eq!(&loaded[0].text, entry.text(), "{}", entry.file().0);
            assert!(entry.rule().is_some());
        }
    }

    #[test]
    fn the_page_of_a_rule_that_replaces_one_of_ours_is_its_own() {
        let mut rules = Ruleset::builtin();
        let (id, text) = (rules.entries()[0].id.to_string(), rules.entries()[0].file().1.to_owned());
        assert_eq!(rules.url(&id), Some(format!("https://gpulint.github.io/rules/{id}/")));
        assert!(rules.add(SourceId(0), "own.yaml", &text).is_empty());
        assert_eq!(rules.url(&id), rules.get(&id).and_then(|entry| entry.page().references.into_iter().next()));
        assert!(rules.url("syntax-error").is_some() && rules.url("no-such-rule").is_none());
    }

    #[test]
    fn every_rule_has_a_reference_and_both_kinds_of_examples() {
        for entry in Ruleset::builtin().entries() {
            let page = entry.page();
            assert!(page.references.iter().any(|r| r.starts_with("https://")), "{} has no reference", entry.id);
            assert!(page.examples.iter().any(|e| e.fires), "{} has no firing example", entry.id);
            assert!(page.examples.iter().any(|e| !e.fires), "{} has no silent example", entry.id);
            assert!(!page.why.is_empty(), "{} does not say why", entry.id);
            let marked = |e: &text::Example| e.files.iter().any(|(_, text)| text.contains('‹') && text.contains('›'));
            assert!(page.examples.iter().filter(|e| e.fires).all(marked), "{} marks no place", entry.id);
        }
    }
}
