//! Files of options that servers are told to read (`vllm serve --config FILE`): long options without their dashes, in YAML.
//! Knows how they look; who reads them is joined. https://docs.vllm.ai/en/latest/configuration/serve_args.html

use crate::catalog;
use crate::facts::{Facts, Labels};
use crate::known::{Fact, Why};
use crate::parse::{Dialect, Node, View, yaml};
use crate::source::Traced;

/// Options that a file has to state before it is one of these: others have keys of one name.
const LEAST: usize = 2;

/// Most options: those of vLLM are fewer, and each launch that names the file states them.
const MOST: usize = 192;

/// Options that files of other programs have, too.
const PLAIN: [&str; 6] = ["model", "host", "port", "dtype", "quantization", "revision"];

/// Whether a document holds nothing but options, with some that only servers have.
pub fn is_file(root: Node<'_>) -> bool {
    if !root.is_map() || root.width() > MOST {
        return false;
    }
    let named = |key: &str| {
        let engines = catalog::servers().filter(|server| reads_a_file(server.engine));
        let mut flags =
            engines.flat_map(|server| catalog::launch_flags(server.engine)).flat_map(|flag| flag.flags.split(' '));
        flags.any(|flag| flag == key)
    };
    let keys: Vec<String> = root.entries().iter().filter_map(|(key, _)| Some(option(key.text()?))).collect();
    let own = keys.iter().filter(|key| key.contains('-') && !PLAIN.contains(&key.as_str()) && named(key));
    own.count() >= LEAST && keys.len() == root.width()
}

/// Whether an engine has an option that names a file of options.
fn reads_a_file(engine: &str) -> bool {
    catalog::launch_flags(engine).any(|flag| flag.field == "options_file")
}

fn option(key: &str) -> String {
    key.replace('_', "-")
}

/// Reads a file of options.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let stated = |(key, value): (Node<'_>, Node<'_>)| {
        let view = View::new(Some(value), value.head());
        let fact = match value.is_map() || value.is_seq() {
            true => Fact::unknown(Why::NotModelled("a list or a mapping".into()), key.span()),
            false => view.string(),
        };
        Some((option(key.text()?), fact))
    };
    let options: Labels = root.entries().into_iter().filter_map(stated).collect();
    facts.options.push((path.to_owned(), options));
}

/// Reads a file that stands in another one.
pub fn embedded(text: &Traced, at: &str, facts: &mut Facts) {
    if !text.text().contains("-size") && !text.text().contains("_size") && !text.text().contains("max") {
        return;
    }
    let tree = yaml::parse_traced(text, Dialect::Core);
    if let Some(root) = yaml::root(&tree).filter(|root| is_file(*root)) {
        read(root, at, facts);
    }
}
