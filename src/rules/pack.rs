//! The manifest of a pack of rules: what it is called, its release, and the release of gpulint that it needs.

use crate::parse::{Dialect, Node, Problem, yaml};
use crate::source::{SourceId, Span};
use crate::suggest::did_you_mean;
use crate::version::Version;

/// Name of the file, in the directory of the pack.
pub const FILE_NAME: &str = "pack.yaml";

const KEYS: &[&str] = &["name", "version", "requires"];

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// The pack that its rules say they belong to.
    pub name: String,
    /// Its release.
    pub version: String,
}

/// Reads a manifest. A release of gpulint that is too old for the pack is a problem like any other.
pub fn read(source: SourceId, text: &str) -> (Pack, Vec<Problem>) {
    let tree = yaml::parse(source, text, Dialect::Core);
    let mut problems = tree.problems.clone();
    let root = yaml::root(&tree);
    let place = root.map_or(Span::new(source, 0..0), Node::head);
    let mut tell = |span: Span, message: String| problems.push(Problem { span, message });
    let entries = |map: Option<Node<'_>>, known: &[&str], tell: &mut dyn FnMut(Span, String)| {
        for (key, _) in map.map(Node::entries).unwrap_or_default() {
            let name = key.text().unwrap_or_default();
            if !known.contains(&name) {
                tell(key.span(), format!("a pack has no key `{name}`{}", did_you_mean(name, known.iter().copied())));
            }
        }
    };
    entries(root, KEYS, &mut tell);
    let requires = root.and_then(|root| root.get("requires"));
    entries(requires, &["gpulint"], &mut tell);
    let mut text_of = |key: &str| {
        let node = root.and_then(|root| root.get(key));
        let text = node.and_then(Node::text).unwrap_or_default();
        if text.is_empty() {
            tell(node.map_or(place, Node::head), format!("the pack has no `{key}`"));
        }
        text.to_owned()
    };
    let pack = Pack { name: text_of("name"), version: text_of("version") };
    if let Some(node) = requires.and_then(|requires| requires.get("gpulint")) {
        let own = env!("CARGO_PKG_VERSION");
        match (node.text().and_then(Version::parse), Version::parse(own)) {
            (None, _) => tell(node.head(), "the first release that the pack runs on is expected, 0.1.0".to_owned()),
            (Some(needed), Some(running)) if needed > running => {
                tell(node.span(), format!("the pack {} needs gpulint {needed} or newer; this is {own}", pack.name));
            }
            _ => {}
        }
    }
    (pack, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(String, &str)> {
        let (_, problems) = read(SourceId(0), text);
        problems.into_iter().map(|problem| (problem.message, &text[problem.span.range()])).collect()
    }

    #[test]
    fn a_manifest_says_what_it_is_and_needs() {
        let (pack, problems) = read(SourceId(0), "name: acme\nversion: 1.2\nrequires: {gpulint: 0.1}\n");
        assert_eq!((pack.name.as_str(), pack.version.as_str(), problems.len()), ("acme", "1.2", 0));
        let newer = told("name: acme\nversion: 1.2.0\nrequires: {gpulint: 99.0}\n");
        let message = format!("the pack acme needs gpulint 99.0 or newer; this is {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(newer, [(message, "99.0")]);
    }

    #[test]
    fn what_is_wrong_with_a_manifest_is_told_at_its_place() {
        let message = "a pack has no key `nam`; did you mean `name`?".to_owned();
        assert_eq!(told("nam: acme\nversion: 1.0\n")[0], (message, "nam"));
        assert!(told("name: a\nversion: 1.0\nrequires: {gpulint: soon}\n")[0].0.contains("is expected"));
        assert_eq!(told("").len(), 2);
    }
}
