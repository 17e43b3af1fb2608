//! How launches name models: hub names, paths, tags of Ollama, names of NIM and Kaito. Knows no architecture.

use super::engines::weight_format;
use super::models::{Model, model};
use super::table::Row;
use super::tables::MODEL_NAMES;

/// A model as a launch means it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel {
    /// Its name on the hub, or as much of one as there is.
    pub name: String,
    /// The weight format that the name says beside the model.
    pub format: Option<&'static str>,
    /// Whether it is this model for certain: a directory may hold it in another format than its name says.
    pub sure: bool,
}

/// Prefixes of a name on the hub.
const HUBS: &[&str] = &["hf://", "https://huggingface.co/", "huggingface.co/", "hf.co/"];

/// The model that a setting of an engine stands for; `None` for a directory whose name says no model of the catalog.
pub fn named_model(engine: &str, text: &str) -> Option<NamedModel> {
    let text = text.trim().trim_end_matches('/');
    if let Some(found) = alias(engine, text) {
        return Some(found);
    }
    let hub = HUBS.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    let tagged = hub.rsplit_once(':').and_then(|(name, tag)| Some((name, weight_format(tag)?.name)));
    let (hub, format) = tagged.map_or((hub, None), |(name, format)| (name, Some(format)));
    let (name, sure) =
        if !hub.starts_with(['/', '.', '~']) && !hub.contains("://") { (hub, true) } else { of_path(hub)? };
    Some(NamedModel { name: name.to_owned(), format, sure })
}

/// The name on the hub at the end of a path.
fn of_path(path: &str) -> Option<(&str, bool)> {
    let (head, name) = path.rsplit_once('/')?;
    let publisher = head.rsplit('/').next().unwrap_or(head);
    let tail = &path[path.len() - publisher.len() - 1 - name.len()..];
    let is = |m: &Model, name: &str| m.name().eq_ignore_ascii_case(name);
    if model(tail).is_some_and(|m| is(&m, tail)) {
        return Some((tail, true));
    }
    // A file of weights says its format.
    if name.to_lowercase().ends_with(".gguf") {
        return model(name).map(|_| (name, true));
    }
    let named = |m: &Model| m.name().rsplit('/').next().is_some_and(|n| n.eq_ignore_ascii_case(name));
    model(name).filter(named).map(|_| (name, false))
}

/// A name that only the engine knows.
fn alias(engine: &str, text: &str) -> Option<NamedModel> {
    let lower = text.to_lowercase();
    let row =
        |name: &str| MODEL_NAMES.rows().find(|r| r.text("engine") == engine && r.words("names").any(|n| n == name));
    let found = |row: Row, format: Option<&'static str>| NamedModel {
        name: row.text("model").to_owned(),
        format: format.or(row.filled("format")),
        sure: true,
    };
    if let Some(row) = row(&lower) {
        return Some(found(row, None));
    }
    // A tag of a library: llama3.1:70b-instruct-q8_0
    let (library, tag) = lower.split_once(':')?;
    let (size, rest) = tag.split_once('-')?;
    let (kind, format) = match rest.rsplit_once('-').unwrap_or(("", rest)) {
        (kind, last) if weight_format(last).is_some() => (kind, Some(weight_format(last)?.name)),
        _ => (rest, None),
    };
    let plain = kind.is_empty() || matches!(kind, "instruct" | "chat" | "text" | "base" | "it");
    row(&format!("{library}:{size}")).filter(|_| plain).map(|row| found(row, format))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(engine: &str, text: &str) -> Option<(String, Option<&'static str>, bool)> {
        named_model(engine, text).map(|m| (m.name, m.format, m.sure))
    }

    #[test]
    fn names_as_launches_write_them() {
        let llama = |format, sure| Some(("meta-llama/Llama-3.1-70B-Instruct".to_owned(), format, sure));
        assert_eq!(found("vllm", "hf://meta-llama/Llama-3.1-70B-Instruct"), llama(None, true));
        assert_eq!(found("vllm", "/models/meta-llama/Llama-3.1-70B-Instruct/"), llama(None, true));
        assert_eq!(found("ollama", "llama3.1:70b"), llama(Some("gguf-q4_k_m"), true));
        assert_eq!(found("ollama", "llama3.1:70b-instruct-q8_0"), llama(Some("gguf-q8_0"), true));
        let other = found("ollama", "deepseek-r1:8b-llama-distill-q4_K_M").map(|m| m.0);
        assert!(other.is_some_and(|name| model(&name).is_none()), "not what the tag of the size means");
        let name = |text| found("vllm", text).map(|m| (m.0, m.2));
        assert_eq!(name("/models/Qwen3-8B"), Some(("Qwen3-8B".to_owned(), false)), "may be stored in any format");
        assert_eq!(name("s3://bucket/Qwen3-8B"), Some(("Qwen3-8B".to_owned(), false)));
        assert_eq!(name("/models/llm"), None);
        assert_eq!(name("s3://bucket/model"), None);
        let file = found("llama.cpp", "/models/Llama-3.1-70B-Instruct-Q4_K_M.gguf").map(|m| m.0);
        assert_eq!(file.as_deref(), Some("Llama-3.1-70B-Instruct-Q4_K_M.gguf"));
        let tagged = found("llama.cpp", "bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M").map(|m| m.1);
        assert_eq!(tagged, Some(Some("gguf-q4_k_m")));
    }

    #[test]
    fn every_alias_is_a_model_of_the_catalog() {
        for row in MODEL_NAMES.rows() {
            assert!(model(row.text("model")).is_some_and(|m| m.name() == row.text("model")), "{}", row.text("names"));
            assert!(row.filled("format").is_none_or(|f| weight_format(f).is_some()), "{}", row.text("names"));
        }
    }
}
