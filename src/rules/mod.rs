//! Rule packs: loading, checking, the expression language and its functions over the catalog. Knows facts and
//! the catalog; knows neither formats nor output.

pub mod compile;
pub mod examples;
pub mod functions;
pub mod lang;
pub mod load;
pub mod text;

use crate::facts::Subject;
use crate::finding::Severity;
use crate::parse::Problem;
use crate::source::SourceId;
use crate::suggest::did_you_mean;
use compile::{Rule, parameter};
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use text::RuleText;

/// The built-in rules, laid out at build time.
mod builtin {
    #[allow(unused_imports)] // which of them are used depends on the rules
    use super::text::{FixText, ParamText, RuleText};
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// A rule of the set: its texts now, the checked rule when it is first asked.
#[derive(Debug)]
pub struct Entry {
    /// Its texts.
    pub text: RuleText,
    /// Path and text of its file.
    pub file: (String, String),
    /// Severity, after overrides; `None` switches it off.
    pub severity: Option<Severity>,
    /// Whether it is none of the built-in ones.
    added: bool,
    params: Vec<(String, Vec<String>)>,
    rule: OnceLock<Option<Rule>>,
}

impl Entry {
    fn new(text: RuleText, file: (String, String), rule: Option<Rule>) -> Self {
        let severity = Severity::parse(&text.severity);
        let added = rule.is_some();
        let cell = rule.map_or_else(OnceLock::new, |rule| OnceLock::from(Some(Rule { added, ..rule })));
        Self { text, file, severity, added, params: Vec::new(), rule: cell }
    }

    /// The checked rule with its overrides. `None` only for a built-in rule that does not check, which a test
    /// rules out.
    pub fn rule(&self) -> Option<&Rule> {
        self.rule.get_or_init(|| self.compiled(compile::compile(&self.text).ok()?)).as_ref()
    }

    fn compiled(&self, mut rule: Rule) -> Option<Rule> {
        rule.added = self.added;
        if let Some(severity) = self.severity {
            rule.severity = severity;
        }
        for (name, value) in &self.params {
            let index = rule.param_types.iter().position(|(n, _)| n == name)?;
            let declared = self.text.params.iter().find(|p| p.name == *name)?;
            rule.params[index] = parameter(&declared.ty, value).ok()?.1;
        }
        Some(rule)
    }

    /// Its documentation page.
    pub fn page(&self) -> text::Page {
        let (loaded, _) = load::load(SourceId(0), &self.file.1);
        loaded.into_iter().find(|l| l.text.id == self.text.id).map(|l| l.page).unwrap_or_default()
    }
}

/// Every rule of a run, sorted by id.
#[derive(Debug)]
pub struct Ruleset {
    entries: Vec<Entry>,
    /// What could be said better in the rules that were added.
    pub advice: Vec<Problem>,
}

impl Ruleset {
    /// The built-in packs.
    pub fn builtin() -> Self {
        let entries = builtin::rules()
            .into_iter()
            .map(|(path, yaml, text)| Entry::new(text, (path.to_owned(), yaml.to_owned()), None));
        let mut entries: Vec<Entry> = entries.collect();
        entries.sort_by(|a, b| a.text.id.cmp(&b.text.id));
        Self { entries, advice: Vec::new() }
    }

    /// No rules.
    pub fn empty() -> Self {
        Self { entries: Vec::new(), advice: Vec::new() }
    }

    /// Adds the rules of a user's file; a rule with the id of an existing one replaces it.
    pub fn add(&mut self, source: SourceId, path: &str, text: &str) -> Vec<Problem> {
        let (loaded, problems) = load::load(source, text);
        self.advice.extend(loaded.iter().flat_map(|rule| rule.advice.clone()));
        for rule in loaded.into_iter().filter(|l| l.rule.is_some()) {
            self.entries.retain(|e| e.text.id != rule.text.id);
            self.entries.push(Entry::new(rule.text, (path.to_owned(), text.to_owned()), rule.rule));
        }
        self.entries.sort_by(|a, b| a.text.id.cmp(&b.text.id));
        problems
    }

    /// The rules in id order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The rule of an id.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.text.id == id)
    }

    /// Whether the word names a rule or a pack.
    pub fn names(&self, word: &str) -> bool {
        self.entries.iter().any(|e| e.text.id == word || e.text.pack == word)
    }

    /// ` (did you mean …?)` for a rule id or pack that does not exist.
    pub fn hint(&self, word: &str) -> String {
        let packs: BTreeSet<&str> = self.entries.iter().map(|e| e.text.pack.as_str()).collect();
        did_you_mean(word, self.entries.iter().map(|e| e.text.id.as_str()).chain(packs))
    }

    /// Overrides a severity; `None` switches the rule off.
    ///
    /// # Errors
    /// No such rule, with the nearest one.
    pub fn set_severity(&mut self, id: &str, severity: Option<Severity>) -> Result<(), String> {
        let hint = self.hint(id);
        let entry = self.entries.iter_mut().find(|e| e.text.id == id);
        let entry = entry.ok_or_else(|| format!("there is no rule `{id}`{hint}"))?;
        entry.severity = severity;
        entry.recompile();
        Ok(())
    }

    /// Overrides a parameter.
    ///
    /// # Errors
    /// No such rule or parameter, or a value that is not of its type.
    pub fn set_param(&mut self, id: &str, name: &str, value: Vec<String>) -> Result<(), String> {
        let hint = self.hint(id);
        let entry = self.entries.iter_mut().find(|e| e.text.id == id);
        let entry = entry.ok_or_else(|| format!("there is no rule `{id}`{hint}"))?;
        let Some(declared) = entry.text.params.iter().find(|p| p.name == name) else {
            let hint = did_you_mean(name, entry.text.params.iter().map(|p| p.name.as_str()));
            return Err(format!("the rule `{id}` has no parameter `{name}`{hint}"));
        };
        parameter(&declared.ty, &value)?;
        entry.params.push((name.to_owned(), value));
        entry.recompile();
        Ok(())
    }

    /// Checked rules that are on, by what they are asked about.
    pub fn by_subject(&self) -> BySubject<'_> {
        let mut out = BySubject(HashMap::new());
        for entry in self.entries.iter().filter(|entry| entry.severity.is_some()) {
            let kinds: Vec<&str> = match entry.text.kinds.is_empty() {
                true => vec![""],
                false => entry.text.kinds.iter().map(String::as_str).collect(),
            };
            for kind in kinds {
                out.0.entry((&*entry.text.applies_to, kind)).or_default().push(entry);
            }
        }
        out
    }
}

/// Rules that are on, by the name of what they are asked about and, for raw documents, its kind.
pub struct BySubject<'r>(HashMap<(&'r str, &'r str), Vec<&'r Entry>>);

impl<'r> BySubject<'r> {
    /// Checked rules about a subject (and, for raw documents, a kind).
    pub fn about<'s>(
        &'s self,
        subject: &Subject,
        kind: Option<&'s str>,
    ) -> impl Iterator<Item = &'s Rule> + use<'s, 'r> {
        let found = self.0.get(&(subject.name, kind.unwrap_or("")));
        found.into_iter().flatten().filter_map(|entry| entry.rule())
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
            let (loaded, problems) = load::load(SourceId(0), &entry.file.1);
            let told: Vec<String> = problems
                .iter()
                .map(|p| format!("{}: {} at {:?}", entry.file.0, p.message, &entry.file.1[p.span.range()]))
                .collect();
            assert!(told.is_empty(), "{}", told.join("\n"));
            assert_eq!(loaded.len(), 1);
            let advice: Vec<&str> = loaded[0].advice.iter().map(|p| p.message.as_str()).collect();
            assert!(advice.is_empty(), "{}: {advice:?}", entry.file.0);
            assert_eq!(loaded[0].text, entry.text, "{}", entry.file.0);
            assert!(entry.rule().is_some());
            let stem = format!("{}/{}.yaml", entry.text.pack, entry.text.id);
            assert!(entry.file.0.ends_with(&stem), "{} should be {stem}", entry.file.0);
        }
    }

    #[test]
    fn every_rule_has_a_reference_and_both_kinds_of_examples() {
        for entry in Ruleset::builtin().entries() {
            let page = entry.page();
            assert!(page.references.iter().any(|r| r.starts_with("https://")), "{} has no reference", entry.text.id);
            assert!(page.examples.iter().any(|e| e.fires), "{} has no firing example", entry.text.id);
            assert!(page.examples.iter().any(|e| !e.fires), "{} has no silent example", entry.text.id);
            assert!(!page.why.is_empty(), "{} does not say why", entry.text.id);
            let marked = |e: &text::Example| e.files.iter().any(|(_, text)| text.contains('‹') && text.contains('›'));
            assert!(page.examples.iter().filter(|e| e.fires).all(marked), "{} marks no place", entry.text.id);
        }
    }
}
