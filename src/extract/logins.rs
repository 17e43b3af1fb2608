//! Logins at registries of images, as objects: the program, the registry and the user, with whether a shell puts something into
//! its name. Knows the options of `login`, and no registry.

use super::written::{self, Document};
use super::{embedded, wrappers};
use crate::facts::Facts;
use crate::parse::Problem;
use crate::parse::shell::Command;
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
                if let ("u" | "username", written::Given::Word(text, expands)) = (option.as_str(), &given) {
                    let (user, expands) =
                        (document.traced(text), document.own(if *expands { "true" } else { "false" }));
                    document.put("user", user);
                    document.put("expands", expands);
                }
            }
            let tree = document.finish();
            facts.objects.extend(tree.roots().map(|root| Arc::new(embedded::object(&tree, root, KIND, ""))));
        }
    }
}
