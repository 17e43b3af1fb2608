//! Logins at registries of images, as objects: the program, and the user or the variable that a shell puts in its place. Knows
//! the options of `login`, and no registry.

use super::written::{self, Document, Given};
use super::{embedded, wrappers};
use crate::facts::Facts;
use crate::parse::Problem;
use crate::parse::shell::Command;
use crate::source::Traced;
use std::sync::Arc;

/// The kind of the objects that say so.
const KIND: &str = "RegistryLogin";

/// Most that is read of one file.
const MOST: usize = 100;

/// Programs that log in, with the word that comes before `login`.
const PROGRAMS: [(&str, &str); 7] = [
    ("docker", ""),
    ("podman", ""),
    ("nerdctl", ""),
    ("buildah", ""),
    ("skopeo", ""),
    ("helm", "registry"),
    ("crane", "auth"),
];

/// Reads the logins among commands.
pub fn read(commands: &[Command], facts: &mut Facts) {
    let mut count = 0;
    for command in commands {
        let words = &command.words;
        for at in wrappers::programs(words) {
            let program = wrappers::base_name(words[at].text());
            let Some((_, group)) = PROGRAMS.iter().find(|(name, _)| *name == program) else { continue };
            let mut rest = words[at + 1..].iter().filter(|word| group.is_empty() || word.text() != *group);
            if rest.next().is_none_or(|word| word.text() != "login") {
                continue;
            }
            count += 1;
            if count > MOST {
                let message = format!("the logins at registries from here on: more than {MOST} in one file");
                return facts.cut.push(Problem { span: command.span, message });
            }
            let mut document = Document::new(words[at].span());
            let program = document.text(&words[at]);
            document.put("program", program);
            for (option, given) in written::options(&words[at + 1..]) {
                let ("u" | "username", Given::Word(text, expands)) = (option.as_str(), given) else { continue };
                let (key, text) = if expands { ("variable", variable(&text)) } else { ("user", Some(text)) };
                if let Some(text) = text {
                    let text = document.traced(&text);
                    document.put(key, text);
                }
            }
            let tree = document.finish();
            facts.objects.extend(tree.roots().map(|root| Arc::new(embedded::object(&tree, root, KIND, ""))));
        }
    }
}

/// The name of the variable that a word consists of.
fn variable(word: &Traced) -> Option<Traced> {
    let text = word.text();
    let inner = match text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(name) => 2..2 + name.len(),
        None => text.len() - text.strip_prefix('$')?.len()..text.len(),
    };
    let is_name = text[inner.clone()].bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    is_name.then(|| word.slice(inner))
}
