//! Lays the rule files and the tables of the catalog out, so that a run decodes nothing that it does not ask for. Tests
//! compare the result with what the loader of user packs, and a reader of CSV, read from the same files.

#[path = "build/gates.rs"]
mod gates;
#[path = "build/schemas.rs"]
mod schemas;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_yaml::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=rules");
    println!("cargo:rerun-if-changed=schemas");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rustc-env=GPULINT_CATALOG={}", catalog_month(&root.join("rules/catalog")));
    let (rules, files) = rules(&root);
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    deflated.write_all(files.as_bytes()).expect("memory takes everything");
    write("rules.rs", rules.as_bytes());
    write("rules.deflate", &deflated.finish().expect("memory takes everything"));
    let (text, layouts) = layouts(&root.join("rules/catalog"));
    write("catalog.txt", text.as_bytes());
    write("gpu_words.rs", gpu_words(&root.join("rules/catalog")).as_bytes());
    write("layouts.rs", layouts.as_bytes());
    let pack = schemas::pack(&root.join("schemas"));
    write("kind_names.txt", pack.names.as_bytes());
    write("kinds.bin", &pack.kinds);
    write("projects.bin", &pack.projects);
    write("schemas.bin", &pack.blocks);
    let ends = [
        format!("static KIND_ENDS: &[(u32, u32)] = &{:?};\n", pack.kind_ends),
        format!("static PROJECT_ENDS: &[u32] = &{:?};\n", pack.project_ends),
        format!("static BLOCK_ENDS: &[(u32, u32)] = &{:?};\n", pack.block_ends),
        format!("const STORED: usize = {};\n", pack.stored),
        format!("/// The metadata of objects.\npub const METADATA: u32 = {};\n", pack.metadata),
    ];
    write("schema_ends.rs", ends.concat().as_bytes());
}

fn write(name: &str, bytes: &[u8]) {
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(target, bytes).expect("OUT_DIR is writable");
}

/// The fields of all tables of the catalog one behind the other, but for the columns that only say where a row comes from,
/// and for each table where they stand. Numbers need no relocation, texts would: that is done for all of them whenever the
/// program starts.
fn layouts(directory: &Path) -> (String, String) {
    let mut tables: Vec<PathBuf> =
        fs::read_dir(directory).expect("the catalog is readable").flatten().map(|e| e.path()).collect();
    tables.sort();
    let (mut text, mut out) = (String::new(), String::new());
    for table in tables.iter().filter(|table| !table.ends_with("sources.csv")) {
        let written = fs::read_to_string(table).expect("a table is readable");
        let header: Vec<&str> = written.lines().next().expect("a header").split(',').collect();
        let width = header.iter().position(|column| *column == "source").expect("a column of sources");
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for line in written.lines() {
            let fields = fields(line);
            assert_eq!(fields.len(), header.len(), "{}: the fields of {line}", table.display());
            lines.push(text.len());
            let start = text.len();
            for field in &fields[..width] {
                text += field;
                ends.push(text.len() - start);
            }
        }
        let name = table.file_stem().expect("a name").to_string_lossy();
        out += &format!(
            "pub(in super::super) static {name}: Layout = Layout {{ width: {width}, lines: &{lines:?}, ends: &{ends:?} }};\n"
        );
    }
    (text, out)
}

/// The fields of a line; quotes are kept off. The tables hold no line ends and no quotes within fields.
fn fields(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let outside = |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    line.split(outside).map(|field| field.trim_matches('"')).collect()
}

/// What makes a file speak of GPUs: the words of `gpu_words.csv`, and names of other tables. The words one behind the other,
/// sorted, where each ends, and which three letters one may begin with (see `src/catalog/mentions.rs`).
fn gpu_words(directory: &Path) -> String {
    const NAMES: [(&str, &str); 11] = [
        ("accelerator_resources", "resource"),
        ("builds", "package"),
        ("gke_machines", "accelerator"),
        ("gke_machines", "machine_type"),
        ("gpu_names", "product_label"),
        ("gpu_words", "word"),
        ("gpus", "id"),
        ("gpus", "gke_accelerators"),
        ("image_families", "repositories"),
        ("instances", "instance_type"),
        ("servers", "images"),
    ];
    let mut words = std::collections::BTreeSet::new();
    for (table, column) in NAMES {
        let written = fs::read_to_string(directory.join(table).with_extension("csv")).expect("a table is readable");
        let mut lines = written.lines().map(fields);
        let header = lines.next().expect("a header");
        let index = |name: &str| header.iter().position(|column| *column == name);
        let (column, gpu) = (index(column).expect("a column"), index("gpu").filter(|_| table == "instances"));
        // A server that serves no models (an editor, a notebook) runs anywhere.
        let serves = index("serves").filter(|_| table == "servers");
        let lines = lines.filter(|line| gpu.is_none_or(|gpu| !line[gpu].is_empty()));
        let lines = lines.filter(|line| serves.is_none_or(|serves| line[serves] == "yes"));
        let names = lines.flat_map(|line| line[column].split(' ').map(str::to_lowercase).collect::<Vec<_>>());
        // A name of a letter and a number (T4, P4) is the name of many things.
        words.extend(names.filter(|name| name.len() > 3 && !name.contains(['*', '(', ')'])));
    }
    let (mut text, mut ends, mut starts) = (String::new(), Vec::new(), vec![0u64; 512]);
    for word in words {
        let start = start_of(word.trim_start_matches('-').as_bytes());
        starts[start / 64] |= 1 << (start % 64);
        text += &word;
        ends.push(text.len());
    }
    format!(
        "static TEXT: &str = {text:?};\nstatic ENDS: &[u32] = &{ends:?};\nstatic STARTS: [u64; 512] = {starts:?};\n"
    )
}

/// A number for the three letters that a word begins with.
fn start_of(word: &[u8]) -> usize {
    word[..3].iter().fold(0, |start, byte| start << 5 | usize::from(byte & 31))
}

/// The table of the rules, and their files one behind the other.
fn rules(root: &Path) -> (String, String) {
    let mut files = Vec::new();
    rule_files(&root.join("rules"), &mut files);
    files.sort();
    let (mut all, mut gates) = (String::new(), gates::Gates::default());
    let rules: Vec<(String, String)> = files.iter().map(|file| rule(root, file, &mut all, &mut gates)).collect();
    let (table, of_rules) = gates.all();
    let row = |((id, row), gates): ((String, String), Vec<usize>)| (id, format!("{row}, gates: &{gates:?} }},\n"));
    let mut rules: Vec<(String, String)> = rules.into_iter().zip(of_rules).map(row).collect();
    rules.sort();
    let rows: String = rules.into_iter().map(|(_, row)| row).collect();
    let rules = format!("pub(super) static RULES: &[Packed] = &[\n{rows}];\n");
    (format!("{rules}pub(super) static GATES: &[(&str, &str)] = &{table:?};\n"), all)
}

/// The newest month in which a source of the catalog was read: tables end with it, or name a source that does.
fn catalog_month(directory: &Path) -> String {
    let mut newest = String::new();
    for entry in fs::read_dir(directory).expect("the catalog is readable").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a table is readable");
        let months = text.lines().filter_map(|line| line.rsplit(',').next()?.get(..7));
        let dated = months.filter(|m| m.as_bytes()[4] == b'-' && m.as_bytes()[..4].iter().all(u8::is_ascii_digit));
        newest = newest.max(dated.max().unwrap_or("").to_owned());
    }
    newest
}

fn rule_files(directory: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            rule_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            out.push(path);
        }
    }
}

/// A scalar as the text it was written with.
fn scalar(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.trim_end_matches('\n').to_owned(),
        Some(Value::Bool(value)) => value.to_string(),
        Some(Value::Number(value)) => value.to_string(),
        _ => String::new(),
    }
}

/// The parts of a packed rule, in the order in which `RuleText::unpack` takes them: texts, lists behind their lengths.
#[derive(Default)]
struct Parts(Vec<String>);

impl Parts {
    fn text(&mut self, value: Option<&Value>) {
        self.0.push(scalar(value));
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut put: impl FnMut(&mut Self, T)) {
        let items: Vec<T> = items.into_iter().collect();
        self.0.push(items.len().to_string());
        items.into_iter().for_each(|item| put(self, item));
    }

    fn pairs(&mut self, value: Option<&Value>) {
        let entries = value.and_then(Value::as_mapping).into_iter().flatten();
        self.list(entries, |parts, (name, text)| [name, text].map(Some).into_iter().for_each(|t| parts.text(t)));
    }

    fn texts(&mut self, value: Option<&Value>) {
        match value {
            Some(Value::Sequence(items)) => self.list(items, |parts, item| parts.text(Some(item))),
            one => self.list([one], Self::text),
        }
    }
}

/// The id of a rule, and its row of the table: what is needed of every rule, and the rest in one text. Its file is put
/// behind the others.
fn rule(root: &Path, file: &Path, all: &mut String, gates: &mut gates::Gates) -> (String, String) {
    let yaml = fs::read_to_string(file).expect("a rule file is readable");
    let value: Value = serde_yaml::from_str(&yaml).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let path = file.strip_prefix(root).expect("under the root").with_extension("");
    let applies_to = value.get("applies_to");
    let raw = |name: &str, key: &str| applies_to?.get(name).map(|inner| (name.to_owned(), inner.get(key)));
    let (subject, kinds) =
        raw("object", "kind").or_else(|| raw("resource", "type")).unwrap_or_else(|| (scalar(applies_to), None));
    let mut kind_texts = Parts::default();
    kinds.into_iter().for_each(|kinds| kind_texts.texts(Some(kinds)));
    let kind_texts = kind_texts.0.get(1..).unwrap_or_default();
    let [id, pack, severity] = ["id", "pack", "severity"].map(|key| scalar(value.get(key)));
    assert!(path.ends_with(Path::new(&pack).join(&id)), "{} should be {pack}/{id}.yaml", file.display());
    gates.add(&subject, &value);
    let start = all.len();
    *all += &yaml;
    let row = format!(
        "Packed {{ id: {id:?}, pack: {pack:?}, severity: {severity:?}, applies_to: {subject:?}, kinds: &{kind_texts:?}, \
         file: ({start}, {}), rest: {:?}",
        all.len(),
        rest(&value).join("\u{1f}"),
    );
    (id, row)
}

fn rest(value: &Value) -> Vec<String> {
    let mut parts = Parts::default();
    let high = Value::from("high");
    parts.text(value.get("confidence").or(Some(&high)));
    parts.pairs(value.get("each"));
    parts.pairs(value.get("let"));
    parts.list(value.get("params").and_then(Value::as_mapping).into_iter().flatten(), |parts, (name, param)| {
        [Some(name), param.get("type"), param.get("description")].into_iter().for_each(|text| parts.text(text));
        parts.texts(param.get("default"));
    });
    parts.list(value.get("when"), |parts, when| parts.text(Some(when)));
    parts.text(value.get("forbid"));
    parts.list(value.get("at"), |parts, at| parts.text(Some(at)));
    parts.list(value.get("labels").and_then(Value::as_sequence).into_iter().flatten(), |parts, label| {
        ["at", "text"].into_iter().for_each(|key| parts.text(label.get(key)));
    });
    parts.text(value.get("message"));
    parts.text(value.get("help"));
    parts.list(value.get("proof"), |parts, proof| parts.text(Some(proof)));
    parts.list(value.get("fix"), |parts, fix| {
        parts.text(fix.get("at"));
        ["replace", "rename"]
            .into_iter()
            .for_each(|key| parts.list(fix.get(key), |parts, text| parts.text(Some(text))));
        parts.text(fix.get("remove"));
        parts.pairs(fix.get("set"));
        parts.text(fix.get("safe"));
    });
    parts.0
}
