//! Files of options that servers are told to read (`vllm serve --config FILE`, `trtllm-serve --extra_llm_api_options FILE`): long options without their dashes, in YAML.
//! Knows how they look; who reads them is joined. https://docs.vllm.ai/en/latest/configuration/serve_args.html

use crate::catalog;
use crate::facts::{Facts, Labels, ServerOptions};
use crate::known::{Fact, Why};
use crate::parse::{Node, View};
use crate::paths;
use std::sync::Arc;

/// Options that a file has to state before it is one of these: others have keys of one name.
const LEAST: usize = 2;

/// Most options: those of vLLM are fewer, and each launch that names the file states them.
const MOST: usize = 192;

/// Options that files of other programs have, too.
const PLAIN: [&str; 6] = ["model", "host", "port", "dtype", "quantization", "revision"];

/// Whether a path is that of the file from which Triton's backend for vLLM takes the options of its engine.
/// https://github.com/triton-inference-server/vllm_backend
fn is_of_backend(path: &str) -> bool {
    let (version, name) = paths::split(path);
    name == "model.json" && paths::name(version).bytes().all(|c| c.is_ascii_digit())
}

/// Whether a document holds nothing but options, with some that only servers have.
pub fn is_file(root: Node<'_>, path: &str) -> bool {
    let least = if is_of_backend(path) { 1 } else { LEAST };
    if !root.is_map() || root.width() > MOST {
        return false;
    }
    let keys: Vec<String> = root.entries().iter().filter_map(|(key, _)| Some(option(key.text()?))).collect();
    keys.iter().filter(|key| is_own(key)).count() >= least && keys.len() == root.width()
}

/// Whether a text has such options at the starts of its lines, and nothing else there.
pub fn may_be_file(text: &str) -> bool {
    let at_top = |line: &&str| !line.is_empty() && !line.starts_with([' ', '\t', '#', '-', '\r']);
    let (mut all, mut own) = (0, 0);
    for line in text.lines().filter(at_top) {
        let Some((key, _)) = line.split_once(':') else { return false };
        all += 1;
        if all > MOST || !key.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-')) {
            return false;
        }
        own += usize::from(is_own(&option(key)));
    }
    own >= LEAST
}

/// Whether only servers that read files have an option.
fn is_own(key: &str) -> bool {
    key.contains('-') && !PLAIN.contains(&key) && named(key)
}

/// Whether a server that reads files has an option, or a part of one.
fn named(key: &str) -> bool {
    let engines = catalog::servers().filter(|server| catalog::options_file(server.engine).is_some());
    let mut flags =
        engines.flat_map(|server| catalog::launch_flags(server.engine)).flat_map(|flag| flag.flags.split(' '));
    flags.any(|flag| flag == key)
}

fn option(key: &str) -> String {
    key.replace('_', "-")
}

/// Reads a file of options. Of a mapping what the catalog names is known.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let mut options = Labels::new();
    for (key, value) in root.entries() {
        let Some(name) = key.text().map(option) else { continue };
        let view = |value| View::new(Some(value), value.head());
        for (part, below) in value.entries().into_iter().take(MOST) {
            let Some(part) = part.text().map(|part| format!("{name}.{}", option(part))) else { continue };
            if !below.is_map() && !below.is_seq() && named(&part) {
                options.insert(part, view(below).string());
            }
        }
        let fact = match value.is_map() || value.is_seq() {
            true => Fact::unknown(Why::NotModelled("a list or a mapping".into()), key.span()),
            false => view(value).string(),
        };
        options.insert(name, fact);
    }
    let mut file = ServerOptions::blank(root.head());
    file.path = Fact::value(path.to_owned(), root.head());
    file.options = options.clone();
    facts.server_options.push(Arc::new(file));
    facts.options.push((path.to_owned(), options));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    #[test]
    fn one_option_is_enough_where_a_backend_reads_the_file() {
        let tree = yaml::parse(SourceId(0), "{\"model\": \"org/m\", \"gpu_memory_utilization\": 0.5}", Dialect::Core);
        let of = |path: &str| tree.roots().all(|root| is_file(root, path));
        assert!(of("models/m/1/model.json"));
        assert!(!of("models/m/model.json") && !of("models/m/1/other.json"));
    }
}
