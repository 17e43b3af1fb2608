//! Generated ConfigMaps and Secrets, and the hashes in their names. Knows where their data come from.

use super::doc::{Doc, Value, typed};
use super::resource::{Behavior, Resource};
use crate::budget::{NODE, Share};
use crate::known::Why;
use crate::parse::Problem;
use crate::source::{SourceId, Span, Traced};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Bytes of base64 on a line of a Secret.
const LINE: usize = 70;

/// A text that data may come from, with its file.
pub type Text<'a> = (SourceId, &'a str);

/// Makes the ConfigMap or Secret that an item of a generator asks for. `read` finds a file; one that is not there
/// leaves its value unknown.
///
/// # Errors
/// Data that have no key.
pub fn generate<'a>(
    kind: &str,
    item: &Doc,
    options: Option<&Doc>,
    share: &Share,
    read: &mut dyn FnMut(&Doc, &str) -> Option<Text<'a>>,
) -> Result<Resource, Problem> {
    let span = item.span;
    let named = item.get("name").filter(|name| name.text().is_some());
    let name = named.ok_or_else(|| Problem { span, message: "what is generated here has no name".to_owned() })?;
    let text = |text: &str| Doc::string(text, name.span);
    let mut doc = Doc::map(name.span);
    doc.set(text("apiVersion"), text("v1"));
    doc.set(text("kind"), text(kind));
    let mut metadata = Doc::map(name.span);
    metadata.set(text("name"), name.clone());
    if let Some(namespace) = item.get("namespace").filter(|n| n.text().is_some()) {
        metadata.set(text("namespace"), namespace.clone());
    }
    let own = item.get("options");
    for key in ["labels", "annotations"] {
        let pairs = [options, own].into_iter().flatten().filter_map(|o| o.get(key)).flat_map(Doc::entries);
        let mut map = Doc::map(span);
        map.extend(pairs.cloned());
        if !map.entries().is_empty() {
            metadata.set(text(key), map);
        }
    }
    doc.set(text("metadata"), metadata);
    if kind == "Secret" {
        doc.set(text("type"), item.get("type").cloned().unwrap_or_else(|| text("Opaque")));
    }
    let mut data = Doc::map(name.span);
    let pairs = data_of(item, share, read)?;
    data.extend(pairs.into_iter().map(|(key, value)| (key, if kind == "Secret" { encoded(value) } else { value })));
    if kind == "Secret" || !data.entries().is_empty() {
        doc.set(text("data"), data);
    }
    let set = |key: &str| [options, own].into_iter().flatten().any(|o| o.get(key).is_some_and(Doc::is_true));
    if set("immutable") {
        let value = Value::Scalar { text: Traced::opaque("true", span), plain: true };
        doc.set(text("immutable"), Doc { value, span, tag: None });
    }
    let behavior = match item.text_at(&["behavior"]) {
        Some("merge") => Behavior::Merge,
        Some("replace") => Behavior::Replace,
        _ => Behavior::Create,
    };
    Ok(Resource { behavior, hashed: !set("disableNameSuffixHash"), ..Resource::new(doc) })
}

fn data_of<'a>(
    item: &Doc,
    share: &Share,
    read: &mut dyn FnMut(&Doc, &str) -> Option<Text<'a>>,
) -> Result<Vec<(Doc, Doc)>, Problem> {
    let list = |key: &str| item.get(key).map(Doc::items).unwrap_or_default();
    let mut out = Vec::new();
    for file in list("envs").iter().chain(item.get("env")) {
        let Some((source, text)) = file.text().and_then(|path| read(file, path)) else { continue };
        if share.make(8 * text.len()).is_ok() {
            out.extend(lines(source, text));
        }
    }
    for literal in list("literals") {
        let Some(text) = literal.text() else { continue };
        let bad = || Problem { span: literal.span, message: format!("`{text}` is not of the form key=value") };
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(bad)?;
        let start = key.len() + 1;
        let quoted = value.len() > 1
            && value.starts_with(['"', '\''])
            && value.as_bytes()[0] == value.as_bytes()[value.len() - 1];
        let range = if quoted { start + 1..text.len() - 1 } else { start..text.len() };
        let Value::Scalar { text: traced, .. } = &literal.value else { continue };
        out.push((Doc::traced(traced.slice(0..key.len())), Doc::traced(traced.slice(range))));
    }
    for file in list("files") {
        let Some(text) = file.text() else { continue };
        let (key, path) = text.split_once('=').unwrap_or((text.rsplit('/').next().unwrap_or(text), text));
        let value = match read(file, path) {
            Some((source, text)) if share.make(4 * text.len()).is_ok() => {
                Doc::traced(Traced::verbatim(text, Span::new(source, 0..text.len()), 0))
            }
            _ => {
                let why = Why::Remote("a file that was not read".into());
                Doc { value: Value::Unknown(why), span: file.span, tag: None }
            }
        };
        out.push((Doc::string(key, file.span), value));
    }
    Ok(out)
}

/// The pairs of a file of variables.
fn lines(source: SourceId, text: &str) -> Vec<(Doc, Doc)> {
    let mut out = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end_matches('\n').trim_end_matches('\r').trim_start_matches('\u{feff}').trim_start();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let start = start + line.find(content).unwrap_or(0);
        let traced = |range: std::ops::Range<usize>| {
            let span = Span::new(source, start + range.start..start + range.end);
            Doc::traced(Traced::verbatim(&content[range], span, span.start as usize))
        };
        let key = content.find('=').unwrap_or(content.len());
        out.push((traced(0..key), traced((key + 1).min(content.len())..content.len())));
    }
    out
}

/// Data of a Secret: base64, in lines when it is long.
fn encoded(value: Doc) -> Doc {
    let Some(text) = value.text() else { return value };
    let code = base64(text.as_bytes());
    let folded = match code.len() / LINE {
        0 => code,
        _ => code.as_bytes().chunks(LINE).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect(),
    };
    Doc::string(folded, value.span)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit > chunk.len() { '=' } else { DIGITS[index as usize] as char });
        }
    }
    out
}

/// Lets a generated resource take the place of the one that it was generated over.
pub fn absorb(old: Resource, new: Resource) -> Resource {
    let mut doc = new.doc;
    let span = doc.span;
    if new.behavior == Behavior::Merge {
        for key in ["data", "binaryData"] {
            let Some(mut data) = old.doc.get(key).cloned() else { continue };
            data.extend(doc.get(key).into_iter().flat_map(Doc::entries).cloned());
            doc.set(Doc::string(key, span), data);
        }
    }
    if let (Some(before), Some(metadata)) = (old.doc.get("metadata"), doc.get_mut("metadata")) {
        for key in ["labels", "annotations"] {
            let Some(mut all) = before.get(key).cloned() else { continue };
            all.extend(metadata.get(key).into_iter().flat_map(Doc::entries).cloned());
            metadata.set(Doc::string(key, span), all);
        }
        for key in ["name", "namespace"] {
            if let Some(value) = before.get(key) {
                metadata.set(Doc::string(key, span), value.clone());
            }
        }
    }
    Resource { doc, hashed: new.hashed && old.hashed, ..old }
}

/// The hash that is added to the name of a generated resource; `None` when part of its content is unknown.
pub fn hash(resource: &Resource, share: &Share) -> Option<String> {
    let doc = &resource.doc;
    let text = |path: &[&str]| json_text(doc.text_at(path).unwrap_or_default());
    let map = |key: &str| doc.get(key).map_or(Some("\"\"".to_owned()), |doc| json(doc, share));
    // kustomize looks for the name under a key `metadata/name`, which there never is.
    let mut parts = vec![("data", map("data")?), ("kind", text(&["kind"])), ("name", json_text(""))];
    match resource.kind() {
        "Secret" => {
            parts.push(("type", text(&["type"])));
            if doc.get("stringData").is_some() {
                parts.push(("stringData", map("stringData")?));
            }
        }
        _ if doc.get("binaryData").is_some() => parts.push(("binaryData", map("binaryData")?)),
        _ => {}
    }
    parts.sort();
    let members: Vec<String> = parts.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    let digest = Sha256::digest(format!("{{{}}}", members.join(",")));
    let hex: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    // Digits that could make a word are told apart from it.
    let safe = |c| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    Some(hex.chars().map(safe).collect())
}

/// JSON as Go writes it, keys sorted.
fn json(doc: &Doc, share: &Share) -> Option<String> {
    share.make(NODE + doc.text().map_or(0, str::len)).ok()?;
    Some(match &doc.value {
        Value::Unknown(_) => return None,
        Value::Null => "null".to_owned(),
        Value::Scalar { .. } if doc.is_null() => "null".to_owned(),
        Value::Scalar { text, plain: true } if typed(text.text()) => text.text().to_owned(),
        Value::Scalar { text, .. } => json_text(text.text()),
        Value::Seq(items) => {
            format!("[{}]", items.iter().map(|item| json(item, share)).collect::<Option<Vec<_>>>()?.join(","))
        }
        Value::Map(entries) => {
            let sorted: BTreeMap<&str, &Doc> = entries.iter().filter_map(|(k, v)| Some((k.text()?, v))).collect();
            let member = |(key, value): (&&str, &&Doc)| Some(format!("{}:{}", json_text(key), json(value, share)?));
            format!("{{{}}}", sorted.iter().map(member).collect::<Option<Vec<_>>>()?.join(","))
        }
    })
}

fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{0}'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
