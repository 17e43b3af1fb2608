//! The packed schemas: which kinds there are, and their nodes. A block is unpacked when a node of it is asked for.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::sync::{LazyLock, OnceLock};

include!("node.rs");
include!(concat!(env!("OUT_DIR"), "/schema_blocks.rs"));

static KINDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kinds.deflate"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"));

/// A block: its bytes, and the nodes in them.
#[derive(Default)]
struct Block {
    bytes: OnceLock<Vec<u8>>,
    nodes: OnceLock<Vec<Node<'static>>>,
}

static INDEX: LazyLock<Index<'static>> = LazyLock::new(|| {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    postcard::from_bytes(BYTES.get_or_init(|| inflated(KINDS))).expect("build.rs packed it")
});
static UNPACKED: LazyLock<Vec<Block>> = LazyLock::new(|| ENDS.iter().map(|_| Block::default()).collect());

fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(packed.len() * 4);
    DeflateDecoder::new(packed).read_to_end(&mut out).expect("build.rs packed it");
    out
}

/// What the pack holds.
pub fn index() -> &'static Index<'static> {
    &INDEX
}

/// A node by its number.
pub fn node(number: u32) -> &'static Node<'static> {
    let at = INDEX.blocks.partition_point(|first| *first <= number) - 1;
    let block = &UNPACKED[at];
    let nodes = block.nodes.get_or_init(|| {
        let start = if at == 0 { 0 } else { ENDS[at - 1] };
        let bytes = block.bytes.get_or_init(|| inflated(&BLOCKS[start..ENDS[at]]));
        postcard::from_bytes(bytes).expect("build.rs packed it")
    });
    &nodes[(number - INDEX.blocks[at]) as usize]
}

/// The kinds of a name, as the projects that have it serve them.
pub fn kinds(api_version: &str, kind: &str) -> &'static [Kind<'static>] {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let wanted = (group, version, kind);
    let of = |k: &Kind<'static>| (k.group, k.version, k.kind);
    let first = INDEX.kinds.partition_point(|k| of(k) < wanted);
    let count = INDEX.kinds[first..].partition_point(|k| of(k) == wanted);
    &INDEX.kinds[first..first + count]
}
