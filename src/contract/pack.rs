//! The packed schemas: which kinds there are, and their nodes. Nothing is read before it is asked for: a kind by its name, a node
//! with the block that it stands in.

use crate::parse::expression::{self, Expr};
use flate2::read::DeflateDecoder;
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

include!("node.rs");
include!(concat!(env!("OUT_DIR"), "/schema_ends.rs"));

static NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/kind_names.txt"));
static KINDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kinds.bin"));
static PROJECTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/projects.bin"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.bin"));

/// A block: its bytes where they were packed, and the nodes in them.
#[derive(Default)]
struct Block {
    bytes: OnceLock<Vec<u8>>,
    nodes: OnceLock<Vec<Node<'static>>>,
}

static READ: LazyLock<Vec<Block>> = LazyLock::new(|| BLOCK_ENDS.iter().map(|_| Block::default()).collect());

fn decoded<T: Deserialize<'static>>(bytes: &'static [u8]) -> T {
    postcard::from_bytes(bytes).expect("build.rs packed it")
}

/// A node by its number.
pub fn node(number: u32) -> &'static Node<'static> {
    let at = BLOCK_ENDS.partition_point(|(first, _)| *first <= number) - 1;
    let block = &READ[at];
    let nodes = block.nodes.get_or_init(|| {
        let start = at.checked_sub(1).map_or(0, |before| BLOCK_ENDS[before].1);
        let bytes = &BLOCKS[start as usize..BLOCK_ENDS[at].1 as usize];
        let inflated = || {
            let mut out = Vec::with_capacity(bytes.len() * 8);
            DeflateDecoder::new(bytes).read_to_end(&mut out).expect("build.rs packed it");
            out
        };
        decoded(if at < STORED { bytes } else { block.bytes.get_or_init(inflated) })
    });
    &nodes[(number - BLOCK_ENDS[at].0) as usize]
}

/// The name of a kind by its place: group, version and kind.
fn name(at: usize) -> &'static str {
    let start = at.checked_sub(1).map_or(0, |before| KIND_ENDS[before].0);
    &NAMES[start as usize..KIND_ENDS[at].0 as usize]
}

fn kind(at: usize) -> Kind<'static> {
    let start = at.checked_sub(1).map_or(0, |before| KIND_ENDS[before].1);
    decoded(&KINDS[start as usize..KIND_ENDS[at].1 as usize])
}

/// All kinds, sorted by group, version and kind.
pub fn all_kinds() -> impl Iterator<Item = Kind<'static>> {
    (0..KIND_ENDS.len()).map(kind)
}

/// The kinds of a name, as the projects that have it serve them.
pub fn kinds(api_version: &str, name_of_kind: &str) -> impl Iterator<Item = Kind<'static>> {
    let group = if api_version.contains('/') { "" } else { "/" };
    let wanted = format!("{group}{api_version}/{name_of_kind}");
    let (mut low, mut high) = (0, KIND_ENDS.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if name(middle) < wanted.as_str() { low = middle + 1 } else { high = middle }
    }
    (low..KIND_ENDS.len()).take_while(move |at| name(*at) == wanted).map(kind)
}

/// A project by its place.
pub fn project(at: usize) -> Project<'static> {
    let start = at.checked_sub(1).map_or(0, |before| PROJECT_ENDS[before]);
    decoded(&PROJECTS[start as usize..PROJECT_ENDS[at] as usize])
}

/// How many projects there are.
pub fn projects() -> usize {
    PROJECT_ENDS.len()
}

/// Patterns that need more memory than this are not asked.
const PATTERN: usize = 1 << 18;

/// What is made of a text of the schemas when it is first asked for.
type Made<T> = Mutex<HashMap<&'static str, Option<T>>>;

fn made<T: Clone>(known: &Made<T>, text: &'static str, make: impl FnOnce() -> Option<T>) -> Option<T> {
    // Whoever panicked with it left nothing half made.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(text).or_insert_with(make).clone()
}

/// A pattern; nothing where it is none, or asks for too much.
pub fn pattern(text: &'static str) -> Option<Regex> {
    static KNOWN: LazyLock<Made<Regex>> = LazyLock::new(Mutex::default);
    made(&KNOWN, text, || RegexBuilder::new(text).size_limit(PATTERN).build().ok())
}

/// A rule in CEL; nothing where it is not understood.
pub fn rule(text: &'static str) -> Option<Arc<Expr>> {
    static KNOWN: LazyLock<Made<Arc<Expr>>> = LazyLock::new(Mutex::default);
    made(&KNOWN, text, || expression::expression(text).ok().map(Arc::new))
}
