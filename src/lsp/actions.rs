//! What an editor offers at a finding: its fix, and a comment that waives it.

use super::messages::diagnostic;
use super::{Linted, Server, document, place};
use crate::discover::{Kind, kind_of};
use crate::finding::{Finding, Fix};
use crate::source::Source;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Most findings at one place that something is offered for.
const MOST: usize = 8;

/// A comment that may waive a finding.
struct Waiver {
    title: String,
    rule: String,
    diagnostic: Value,
    /// The line that it is put before, counted from 0.
    line: u32,
    comment: String,
}

impl Server<'_> {
    /// What is offered for a range of a file.
    pub(super) fn actions(&mut self, params: &Value) -> Value {
        let only = params["context"]["only"].as_array();
        let Some(path) = document(params).filter(|_| only.is_none_or(|kinds| kinds.iter().any(|k| k == "quickfix")))
        else {
            return json!([]);
        };
        let (mut offers, mut waivers) = (Vec::new(), Vec::new());
        if !self.at(params, &params["range"]).is_empty() {
            self.settle_rest();
        }
        for (linted, finding) in self.at(params, &params["range"]).into_iter().take(MOST) {
            let diagnostic = diagnostic(finding, linted, self.units);
            let fix = finding.fix.as_ref();
            offers.extend(fix.map(|fix| offer(&fix.title, &diagnostic, self.changes(fix, linted), fix.safe)));
            waivers.push(waivers_of(finding, linted, &diagnostic));
        }
        for alternatives in waivers {
            // What is offered does what it says: a comment in a text of several lines, say, is part of the text.
            let waiver = alternatives.into_iter().find(|waiver| self.waives(waiver, &path));
            offers.extend(waiver.map(|Waiver { title, diagnostic, line, comment, .. }| {
                let at = json!({"line": line, "character": 0});
                let edit = json!({"range": {"start": at, "end": at}, "newText": comment});
                let changes = Map::from_iter([(self.address(&path), json!([edit]))]);
                offer(&title, &diagnostic, changes, false)
            }));
        }
        Value::Array(offers)
    }

    /// The changes of a fix, by the addresses of files.
    fn changes(&self, fix: &Fix, linted: &Linted) -> Map<String, Value> {
        let mut changes: Map<String, Value> = Map::new();
        for (span, text) in &fix.edits {
            let edit =
                json!({"range": place::range(linted.sources.get(span.source), *span, self.units), "newText": text});
            let edits = changes.entry(self.address(&linted.file(span.source))).or_insert_with(|| json!([]));
            edits.as_array_mut().into_iter().for_each(|edits| edits.push(edit.clone()));
        }
        changes
    }

    /// Whether a comment makes a finding go and none come, but for that its reason is missing.
    fn waives(&mut self, waiver: &Waiver, path: &Path) -> bool {
        let target = self.target(path);
        let count = |linted: &Linted| {
            let shown = linted.findings.iter().filter(|finding| finding.rule != "suppression-without-reason");
            let of_rule = |finding: &&Finding| finding.rule == waiver.rule && linted.file(finding.span.source) == path;
            (shown.clone().count(), shown.filter(of_rule).count())
        };
        let before = self.found.get(&target).map(|known| count(&known.whole));
        let (Some(before), Some(document)) = (before, self.open.get(path)) else { return false };
        let at = Source::new("", document.text.clone()).line_starts().get(waiver.line as usize).map(|&at| at as usize);
        let Some((above, below)) = at.and_then(|at| document.text.split_at_checked(at)) else { return false };
        let mut unsaved = self.unsaved();
        unsaved.insert(path.to_owned(), [above, &waiver.comment, below].concat().into());
        self.lint(&target, &unsaved, None).is_ok_and(|after| {
            let (all, of_rule) = count(&after);
            all < before.0 && of_rule < before.1
        })
    }
}

/// A change that an editor can make to mend something.
fn offer(title: &str, diagnostic: &Value, changes: Map<String, Value>, preferred: bool) -> Value {
    json!({
        "title": title,
        "kind": "quickfix",
        "diagnostics": [diagnostic],
        "isPreferred": preferred,
        "edit": {"changes": changes},
    })
}

/// Comments that may waive a finding: on its line, else in its file. JSON has none.
fn waivers_of(finding: &Finding, linted: &Linted, diagnostic: &Value) -> Vec<Waiver> {
    let source = linted.sources.get(finding.span.source);
    let json =
        matches!(kind_of(&source.path), Some(Kind::Json | Kind::TerraformJson)) || source.path.ends_with(".json");
    if json {
        return Vec::new();
    }
    let rule = &finding.rule;
    let end = if source.text.contains("\r\n") { "\r\n" } else { "\n" };
    let of = |title: String, line: usize, indent: &str, verb: &str| Waiver {
        title,
        rule: rule.clone(),
        diagnostic: diagnostic.clone(),
        line: line as u32,
        comment: format!("{indent}# gpulint: {verb}[{rule}] reason=\"\"{end}"),
    };
    let line = source.line_of(finding.span.start);
    let own = source.text.lines().nth(line).unwrap_or_default();
    let indent = &own[..own.len() - own.trim_start().len()];
    // A shebang and directives of a parser come first.
    let top = source.text.lines().take_while(|line| line.starts_with('#')).count();
    vec![
        of(format!("Ignore {rule} on this line"), line, indent, "ignore"),
        of(format!("Ignore {rule} in this file"), top, "", "ignore-file"),
    ]
}
