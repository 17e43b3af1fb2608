//! Packs the schemas of `schemas/kinds/*.json`: equal nodes of all projects are kept once, in blocks that are inflated when a
//! kind is met that needs them.

#[path = "../src/contract/node.rs"]
mod node;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use node::{CelRule, Index, Kind, Limit, Node, Project, flags, types};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a block before it is packed: small enough that what a kind does not need is left packed.
const BLOCK: usize = 12 << 10;

/// The nodes of a project, and the number in the pack of those that are placed.
struct Nodes<'j> {
    json: &'j [Value],
    placed: Vec<Option<u32>>,
}

/// Everything that was placed: nodes in the order of their numbers, and the numbers of equal nodes.
#[derive(Default)]
struct Placed<'j> {
    nodes: Vec<Node<'j>>,
    known: HashMap<Vec<u8>, u32>,
}

/// The index, and the blocks one behind the other; both packed. What projects are called, and which charts install them, stands in
/// `projects.json`.
pub fn pack(schemas: &Path) -> (Vec<u8>, Vec<u8>, Vec<usize>) {
    let all = fs::read_dir(schemas.join("kinds")).expect("schemas of kinds");
    let mut files: Vec<PathBuf> = all.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "json"));
    // The API of Kubernetes first: others copy parts of it.
    files.sort_by_key(|file| (!file.ends_with("core.json"), file.clone()));
    let known = read(&schemas.join("projects.json"));
    let parsed: Vec<Value> = files.iter().map(|file| read(file)).collect();
    let mut placed = Placed::default();
    let mut index = Index::default();
    for json in &parsed {
        project(json, &known[json["project"].as_str().expect("a name")], &mut placed, &mut index);
    }
    index.kinds.sort_by_key(|kind| (kind.group, kind.version, kind.kind, kind.project));
    let (mut blocks, mut ends, mut first) = (Vec::new(), Vec::new(), 0);
    while first < placed.nodes.len() {
        let mut last = first;
        let mut size = 0;
        while last < placed.nodes.len() && size < BLOCK {
            size += encoded(&placed.nodes[last]).len();
            last += 1;
        }
        index.blocks.push(first as u32);
        blocks.extend(deflated(&postcard::to_allocvec(&placed.nodes[first..last]).expect("memory takes everything")));
        ends.push(blocks.len());
        first = last;
    }
    (deflated(&postcard::to_allocvec(&index).expect("memory takes everything")), blocks, ends)
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a file of schemas is readable");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = DeflateEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).expect("memory takes everything");
    out.finish().expect("memory takes everything")
}

fn encoded(node: &Node<'_>) -> Vec<u8> {
    postcard::to_allocvec(node).expect("memory takes everything")
}

/// A value in JSON, which lives as long as the build.
fn written(value: &Value) -> &'static str {
    Box::leak(value.to_string().into_boxed_str())
}

fn project<'j>(json: &'j Value, known: &'j Value, placed: &mut Placed<'j>, index: &mut Index<'j>) {
    let list = |key: &str| json[key].as_array().unwrap_or_else(|| panic!("{key} of {}", json["project"]));
    let mut nodes = Nodes { json: list("nodes"), placed: vec![None; list("nodes").len()] };
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let at = index.projects.len() as u16;
    let mut kinds: Vec<&Value> = list("kinds").iter().collect();
    // What is deployed most comes first, so that it stands together.
    kinds.sort_by_key(|kind| kind["kind"] != "Deployment");
    for kind in kinds {
        let text = |key: &str| kind[key].as_str().unwrap_or_default();
        let mut roots = Vec::new();
        // The newest release first, for the same reason.
        for root in kind["roots"].as_array().expect("roots").iter().rev() {
            let root: Vec<usize> = root.as_array().expect("a root").iter().map(number).collect();
            roots.push((root[0] as u16, root[1] as u16, nodes.place(root[2], placed)));
        }
        let mutated = kind["mutated"] == true;
        let (group, version, kind) = (text("group"), text("version"), text("kind"));
        index.kinds.push(Kind { group, version, kind, project: at, mutated, roots });
    }
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    let releases = list("releases").iter().map(|release| release.as_str().expect("a release")).collect();
    let charts = known["charts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let metadata = json["metadata"].as_u64().map(|node| nodes.place(node as usize, placed));
    index.projects.push(Project {
        name: known["title"].as_str().unwrap_or_else(|| text("project")),
        source: text("source"),
        releases,
        charts,
        metadata,
    });
}

impl<'j> Nodes<'j> {
    /// The number in the pack of a node. What stands below it comes right behind the nodes before it.
    fn place(&mut self, at: usize, placed: &mut Placed<'j>) -> u32 {
        if let Some(number) = self.placed[at] {
            return number;
        }
        let json: &'j Value = &self.json[at];
        let mut below = |value: &Value| value.as_u64().map(|child| self.place(child as usize, placed));
        let mut node = plain(json);
        if let Some(properties) = json["properties"].as_object() {
            let all = properties.iter().map(|(name, child)| (name.as_str(), below(child).expect("a node")));
            node.properties = all.collect();
            node.properties.sort_unstable();
        }
        node.additional = below(&json["additionalProperties"]);
        node.items = below(&json["items"]);
        node.not = below(&json["not"]);
        let mut all = |key: &str| json[key].as_array().into_iter().flatten().filter_map(&mut below).collect();
        (node.one_of, node.any_of, node.all_of) = (all("oneOf"), all("anyOf"), all("allOf"));
        let number = placed.place(node);
        self.placed[at] = Some(number);
        number
    }
}

impl<'j> Placed<'j> {
    fn place(&mut self, node: Node<'j>) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.known.entry(encoded(&node)).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }
}

/// What a node says of itself.
fn plain<'j>(json: &'j Value) -> Node<'j> {
    let strings =
        |key: &str| -> Vec<&'j str> { json[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect() };
    let stated = [
        ("int-or-string", flags::INT_OR_STRING),
        ("quantity", flags::QUANTITY),
        ("preserve", flags::PRESERVE),
        ("embedded", flags::EMBEDDED),
        ("metadata", flags::METADATA),
    ];
    let mut flags: u16 = stated.iter().filter(|(key, _)| json[*key] == true).map(|(_, flag)| flag).sum();
    if json["additionalProperties"] == false {
        flags |= self::flags::CLOSED;
    }
    let one = |name: &str| match name {
        "object" => types::OBJECT,
        "array" => types::ARRAY,
        "string" => types::STRING,
        "integer" => types::INTEGER,
        "number" => types::NUMBER,
        "boolean" => types::BOOLEAN,
        other => panic!("no type: {other}"),
    };
    let types = match &json["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(one).sum(),
        _ => 0,
    };
    let rules = json["rules"].as_array().into_iter().flatten().map(|rule| {
        let text = |key: &str| rule[key].as_str().unwrap_or_default();
        CelRule { rule: text("rule"), message: text("message") }
    });
    let choices = json["enum"].as_array().into_iter().flatten().map(|value| written(value));
    Node {
        types,
        flags,
        required: strings("required"),
        choices: choices.collect(),
        limits: limits(json),
        default: json.get("default").map(|value| written(value)),
        rules: rules.collect(),
        keys: strings("keys"),
        ..Node::default()
    }
}

/// What makes a limit of a least and a most number.
type OfRange = fn(Option<u64>, Option<u64>) -> Limit<'static>;

fn limits(json: &Value) -> Vec<Limit<'_>> {
    let mut out: Vec<Limit<'_>> = json["pattern"].as_str().map(Limit::Pattern).into_iter().collect();
    let exclusive = |key: &str| json[key] == true;
    if let Some(least) = json["minimum"].as_f64() {
        out.push(if exclusive("exclusiveMinimum") { Limit::Above(least) } else { Limit::Minimum(least) });
    }
    if let Some(most) = json["maximum"].as_f64() {
        out.push(if exclusive("exclusiveMaximum") { Limit::Below(most) } else { Limit::Maximum(most) });
    }
    out.extend(json["multipleOf"].as_f64().map(Limit::MultipleOf));
    let ranges: [(&str, &str, OfRange); 3] = [
        ("minLength", "maxLength", Limit::Length),
        ("minItems", "maxItems", Limit::Items),
        ("minProperties", "maxProperties", Limit::Fields),
    ];
    for (least, most, limit) in ranges {
        let (least, most) = (json[least].as_u64(), json[most].as_u64());
        out.extend((least.is_some() || most.is_some()).then(|| limit(least, most)));
    }
    out
}
