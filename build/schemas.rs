//! Packs the schemas of `schemas/kinds`, `schemas/documents` and `schemas/terraform`: equal nodes of all projects are kept once, in
//! blocks that are inflated when a kind is met that needs them.

#[path = "../src/contract/node.rs"]
mod node;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use node::{CelRule, Kind, Limit, Node, Project, flags, types};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a block before it is packed: small enough that what a kind does not need is left packed.
const BLOCK: usize = 12 << 10;

/// Bytes of a block that is not packed.
const STORED: usize = 1 << 10;

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

/// What is embedded: bytes one behind the other, and where their parts end.
#[derive(Default)]
pub struct Pack {
    /// Groups, versions and kinds, sorted.
    pub names: String,
    /// The kinds, in the same order.
    pub kinds: Vec<u8>,
    /// Where the name of each kind ends, and the kind.
    pub kind_ends: Vec<(usize, usize)>,
    /// The projects.
    pub projects: Vec<u8>,
    /// Where each ends.
    pub project_ends: Vec<usize>,
    /// Blocks of nodes.
    pub blocks: Vec<u8>,
    /// The number of the first node of each block, and where the block ends.
    pub block_ends: Vec<(usize, usize)>,
    /// So many blocks are not packed.
    pub stored: usize,
    /// The metadata of objects.
    pub metadata: u32,
}

/// Packs the schemas. What projects are called, and which charts install them, stands in `projects.json`.
pub fn pack(schemas: &Path) -> Pack {
    let all =
        ["kinds", "documents", "terraform"].into_iter().flat_map(|of| fs::read_dir(schemas.join(of)).expect("schemas"));
    let mut files: Vec<PathBuf> = all.flatten().map(|entry| entry.path()).collect();
    // The API of Kubernetes first: others copy parts of it, and nearly every run asks for it.
    files.sort_by_key(|file| (!file.ends_with("core.json"), file.clone()));
    let known = read(&schemas.join("projects.json"));
    let parsed: Vec<Value> = files.iter().map(|file| read(file)).collect();
    let (mut placed, mut out, mut kinds, mut often) = (Placed::default(), Pack::default(), Vec::new(), 0);
    for (at, json) in parsed.iter().enumerate() {
        let name = json["project"].as_str().expect("a name");
        let project = project(json, &known[name], at as u16, (&mut placed, &mut kinds));
        out.projects.extend(encoded(&project.0));
        out.project_ends.push(out.projects.len());
        if let Some(metadata) = project.1 {
            (out.metadata, often) = (metadata, placed.nodes.len());
        }
    }
    kinds.sort_by_key(|(name, kind): &(String, Kind<'_>)| (name.clone(), kind.project));
    for (name, kind) in kinds {
        out.names += &name;
        out.kinds.extend(encoded(&kind));
        out.kind_ends.push((out.names.len(), out.kinds.len()));
    }
    let mut first = 0;
    while first < placed.nodes.len() {
        let stored = first < often;
        let (mut last, mut size) = (first, 0);
        while last < placed.nodes.len() && size < if stored { STORED } else { BLOCK } {
            size += encoded(&placed.nodes[last]).len();
            last += 1;
        }
        let block = postcard::to_allocvec(&placed.nodes[first..last]).expect("memory takes everything");
        out.blocks.extend(if stored { block } else { deflated(&block) });
        out.block_ends.push((first, out.blocks.len()));
        out.stored += usize::from(stored);
        first = last;
    }
    out
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

fn encoded(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("memory takes everything")
}

/// A value in JSON, which lives as long as the build.
fn written(value: &Value) -> &'static str {
    Box::leak(value.to_string().into_boxed_str())
}

/// A project, and its node of the metadata of objects. Its kinds are added behind those before them.
fn project<'j>(
    json: &'j Value,
    known: &'j Value,
    at: u16,
    (placed, kinds): (&mut Placed<'j>, &mut Vec<(String, Kind<'j>)>),
) -> (Project<'j>, Option<u32>) {
    let list = |key: &str| json[key].as_array().unwrap_or_else(|| panic!("{key} of {}", json["project"]));
    let mut nodes = Nodes { json: list("nodes"), placed: vec![None; list("nodes").len()] };
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let mut all: Vec<&Value> = list("kinds").iter().collect();
    // What is deployed most comes first, so that it stands together.
    all.sort_by_key(|kind| kind["kind"] != "Deployment");
    for kind in all {
        let text = |key: &str| kind[key].as_str().unwrap_or_default();
        let mut roots = Vec::new();
        // The newest release first, for the same reason.
        for root in kind["roots"].as_array().expect("roots").iter().rev() {
            let root: Vec<usize> = root.as_array().expect("a root").iter().map(number).collect();
            roots.push((root[0] as u16, root[1] as u16, nodes.place(root[2], placed)));
        }
        let mutated = kind["mutated"] == true;
        let (group, version, kind) = (text("group"), text("version"), text("kind"));
        kinds.push((format!("{group}/{version}/{kind}"), Kind { group, version, kind, project: at, mutated, roots }));
    }
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    let releases = list("releases").iter().map(|release| release.as_str().expect("a release")).collect();
    let charts = known["charts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let metadata = json["metadata"].as_u64().map(|node| nodes.place(node as usize, placed));
    let name = known["title"].as_str().unwrap_or_else(|| text("project"));
    (Project { name, source: text("source"), releases, charts, is_core: metadata.is_some() }, metadata)
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
        ("extensions", flags::EXTENSIONS),
        ("caseless", flags::CASELESS),
        ("truths", flags::TRUTHS),
        ("nullable", flags::NULLABLE),
        ("block", flags::BLOCK),
        ("argument", flags::ARGUMENT),
        ("computed", flags::COMPUTED),
    ];
    let mut flags: u16 = stated.iter().filter(|(key, _)| json[*key] == true).map(|(_, flag)| flag).sum();
    if json["additionalProperties"] == false {
        flags |= self::flags::CLOSED;
    }
    if json["list"] == "set" {
        flags |= self::flags::SET;
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
        keys: if json["keys"].is_array() { strings("keys") } else { json["merge"].as_str().into_iter().collect() },
        ..Node::default()
    }
}

/// What makes a limit of a least and a most number.
type OfRange = fn(Option<u64>, Option<u64>) -> Limit<'static>;

fn limits(json: &Value) -> Vec<Limit<'_>> {
    let mut out: Vec<Limit<'_>> = json["pattern"].as_str().map(Limit::Pattern).into_iter().collect();
    // Those of numbers say how long they are in memory.
    let of_text = json["type"].is_null() || json["type"] == "string";
    out.extend(json["format"].as_str().filter(|_| of_text).map(Limit::Format));
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
