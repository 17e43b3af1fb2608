//! Configurations of llama-swap: the command line that serves each model, when it is asked for. Knows its YAML and its macros.
//! https://github.com/mostlygeek/llama-swap/blob/main/docs/configuration.md

use super::startup;
use crate::budget::{Share, Spent};
use crate::facts::Facts;
use crate::known::Fact;
use crate::parse::{Node, Problem, View};
use crate::source::Traced;
use std::collections::BTreeMap;
use std::ops::Range;

/// Macros that are put in: they may name others.
const DEEPEST: usize = 16;

/// Whether a document is a configuration: a map of models, each with a command.
pub fn is_config(root: Node<'_>) -> bool {
    let command = |(_, model): (Node<'_>, Node<'_>)| model.get("cmd").and_then(Node::text).is_some();
    root.get("models").is_some_and(|models| models.is_map() && models.entries().into_iter().any(command))
}

/// Reads what each model is served by.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let share = Share::least(root.span().range().len());
    let of_all = macros(view);
    for (name, model) in view.get("models").entries() {
        let Some(command) = model.get("cmd").traced() else { continue };
        let mut own = macros(model);
        own.insert("MODEL_ID".to_owned(), Traced::opaque(name, command.whole()));
        let known = |name: &str| own.get(name).or_else(|| of_all.get(name));
        let script = match script(model, &command, (&known, &share)) {
            Ok(script) => script,
            Err(spent) => {
                facts.cut.push(Problem { span: command.whole(), message: format!("the models from here on: {spent}") });
                return;
            }
        };
        let before = facts.workloads.len();
        startup::commands_of(&script, path, facts);
        let place = command.whole();
        facts.workloads[before..].iter_mut().for_each(|started| started.name = Fact::value(name.to_owned(), place));
    }
}

/// Macros with their texts.
fn macros(view: View<'_>) -> BTreeMap<String, Traced> {
    let stated = view.get("macros").entries().into_iter();
    stated.filter_map(|(name, value)| Some((name.to_owned(), value.traced()?))).collect()
}

/// What a macro stands for.
type Macros<'k, 'm> = &'k dyn Fn(&str) -> Option<&'m Traced>;

/// The command of a model on one line, behind its environment, with macros put in.
fn script<'m>(model: View<'_>, command: &Traced, (known, share): (Macros<'_, 'm>, &Share)) -> Result<Traced, Spent> {
    let mut expanded = command.clone();
    for _ in 0..DEEPEST {
        let text = expanded.text();
        let found: Vec<_> = references(text).filter_map(|(range, name)| Some((range, known(name)?))).collect();
        if found.is_empty() {
            break;
        }
        let mut parts = Vec::new();
        let mut from = 0;
        for (range, value) in found {
            parts.extend([expanded.slice(from..range.start), value.clone()]);
            from = range.end;
        }
        parts.push(expanded.slice(from..text.len()));
        share.make(parts.iter().map(|part| part.text().len()).sum())?;
        expanded = Traced::concat(parts, command.whole());
    }
    share.make(expanded.text().len())?;
    let blank = |place| Traced::opaque(" ", place);
    let env = model.get("env").items().filter_map(View::traced);
    let mut lines: Vec<Traced> = env.flat_map(|variable| [variable.clone(), blank(variable.whole())]).collect();
    let mut from = 0;
    for line in expanded.text().split_inclusive('\n') {
        let text = line.trim_end_matches(['\n', '\r', '\\']);
        if !text.trim_start().starts_with('#') {
            lines.extend([expanded.slice(from..from + text.len()), blank(command.whole())]);
        }
        from += line.len();
    }
    Ok(Traced::concat(lines, command.whole()))
}

/// Where a text names macros.
fn references(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.match_indices("${").filter_map(|(at, _)| {
        let inner = &text[at + 2..];
        let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.'))?;
        inner[length..].starts_with('}').then(|| (at..at + length + 3, &inner[..length]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_macros_hold_no_other_names() {
        let found: Vec<_> = references("a ${B} ${${C} ${D").map(|(_, name)| name).collect();
        assert_eq!(found, ["B", "C"]);
    }
}
