//! Configurations of nginx: where each location passes requests on to, as a raw object of kind NginxConfig. Knows which
//! directives blocks inherit.
//! https://nginx.org/en/docs/http/ngx_http_proxy_module.html

use super::{TextFile, embedded};
use crate::facts::Facts;
use crate::parse::nginx::{self, Event, Word};
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Tree};
use crate::source::{SourceId, Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What shows that something fills the text in before nginx reads it, or that a block holds another language.
const FILLED: [&str; 5] = ["{{", "{%", "<%", "%{", "_by_lua_block"];

/// Files that an `include` may name and that state nothing of what is passed on.
const HARMLESS: [&str; 2] = ["mime.types", "fastcgi_params"];

/// Reads a file.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let comments = nginx::parse(text).map(|(_, comments)| comments).unwrap_or_default();
    if let Some(tree) = tree(id, text) {
        document(tree, path, facts);
    }
    TextFile { comments: comments.into_iter().map(|at| Span::new(id, at)).collect(), ..TextFile::default() }
}

/// Whether a text in another document is such a file, by its name and what it holds.
pub fn is_file(at: &str, text: &str) -> bool {
    (at.ends_with(".conf") || at.ends_with(".conf.template")) && text.contains("proxy_pass")
}

/// Reads a text in another document.
pub fn embedded(text: &Traced, at: &str, facts: &mut Facts) {
    if let Some(mut tree) = tree(text.whole().source, text.text()) {
        tree.retrace(text);
        document(tree, at, facts);
    }
}

fn document(tree: Tree, path: &str, facts: &mut Facts) {
    let tree = Arc::new(tree);
    for root in tree.roots() {
        facts.objects.push(Arc::new(embedded::object(&tree, root, "NginxConfig", path)));
    }
}

/// A block, with what is stated in it and in no block of it.
#[derive(Default)]
struct Block {
    /// The argument of a `location`.
    location: Option<Word>,
    buffering: Option<Word>,
    /// Whether an `include` may state more.
    includes: bool,
    passes: Vec<Pass>,
}

/// A `proxy_pass` with what holds for it.
struct Pass {
    to: Word,
    location: Option<Word>,
    buffering: Option<Word>,
    includes: bool,
}

/// What a configuration passes on (`passes`): to what (`to`), as hosts with ports (`servers`), of which `location`, whether it
/// gathers answers (`buffering`), and whether other files may state that (`includes`).
fn tree(id: SourceId, text: &str) -> Option<Tree> {
    if FILLED.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let (events, _) = nginx::parse(text)?;
    let mut upstreams: BTreeMap<String, Vec<Word>> = BTreeMap::new();
    let (mut blocks, mut inside) = (vec![Block::default()], Vec::new());
    for event in events {
        match event {
            Event::Directive(words) => directive(&words, &inside, &mut upstreams, blocks.last_mut()?),
            Event::Begins(words) => {
                let named = |name: &str| words.first().is_some_and(|word| word.text == name);
                inside.push(words.get(1).filter(|_| named("upstream")).map(|word| word.text.clone()));
                blocks
                    .push(Block { location: words.last().filter(|_| named("location")).cloned(), ..Block::default() });
            }
            Event::Ends => {
                inside.pop();
                let block = blocks.pop()?;
                let outer = blocks.last_mut()?;
                outer.passes.extend(settled(block));
            }
        }
    }
    let passes: Vec<Pass> = settled(blocks.pop()?).collect();
    let first = passes.first()?;
    let mut builder = Builder::new(id, Dialect::Typed);
    let whole = Span::new(id, first.to.at.clone());
    let passes = passes.iter().map(|pass| entry(&mut builder, (id, pass), &upstreams)).collect();
    let list = builder.add(NodeKind::Seq(passes), whole);
    let root = map(&mut builder, whole, &[("passes", list)]);
    builder.tree().documents.push(root);
    Some(builder.finish())
}

fn directive(
    words: &[Word],
    inside: &[Option<String>],
    upstreams: &mut BTreeMap<String, Vec<Word>>,
    block: &mut Block,
) {
    let [name, value, ..] = words else { return };
    match name.text.as_str() {
        "server" => {
            if let Some(Some(upstream)) = inside.last() {
                upstreams.entry(upstream.clone()).or_default().push(value.clone());
            }
        }
        "proxy_buffering" => block.buffering = Some(value.clone()),
        "include" => block.includes |= !HARMLESS.iter().any(|file| value.text.ends_with(file)),
        "proxy_pass" => {
            block.passes.push(Pass { to: value.clone(), location: None, buffering: None, includes: false });
        }
        _ => {}
    }
}

/// What a block passes on, with what it states where no block of it does.
fn settled(block: Block) -> impl Iterator<Item = Pass> {
    let Block { location, buffering, includes, passes } = block;
    passes.into_iter().map(move |mut pass| {
        pass.includes |= includes && pass.buffering.is_none();
        pass.buffering = pass.buffering.or_else(|| buffering.clone());
        pass.location = pass.location.or_else(|| location.clone());
        pass
    })
}

fn entry(builder: &mut Builder, (id, pass): (SourceId, &Pass), upstreams: &BTreeMap<String, Vec<Word>>) -> NodeId {
    let host = pass.to.text.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    let whole = Span::new(id, pass.to.at.clone());
    let servers = match upstreams.get(host) {
        Some(servers) => servers.iter().map(|word| scalar(builder, id, word)).collect(),
        None => vec![builder.add(NodeKind::Scalar { text: Traced::opaque(host, whole), plain: true }, whole)],
    };
    let servers = builder.add(NodeKind::Seq(servers), whole);
    let mut entries = vec![("to", scalar(builder, id, &pass.to)), ("servers", servers)];
    for (name, word) in [("location", &pass.location), ("buffering", &pass.buffering)] {
        entries.extend(word.as_ref().map(|word| (name, scalar(builder, id, word))));
    }
    let includes = if pass.includes { "true" } else { "false" };
    entries.push((
        "includes",
        builder.add(NodeKind::Scalar { text: Traced::opaque(includes, whole), plain: true }, whole),
    ));
    map(builder, whole, &entries)
}

fn scalar(builder: &mut Builder, id: SourceId, word: &Word) -> NodeId {
    builder.scalar(&word.text, false, Span::new(id, word.at.clone()), word.at.start)
}

fn map(builder: &mut Builder, span: Span, entries: &[(&str, NodeId)]) -> NodeId {
    let key = |builder: &mut Builder, key: &str| {
        builder.add(NodeKind::Scalar { text: Traced::opaque(key, span), plain: false }, span)
    };
    let entries = entries.iter().map(|(name, value)| Entry { key: key(builder, name), value: *value }).collect();
    builder.add(NodeKind::Map(entries), span)
}
