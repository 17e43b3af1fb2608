//! Evaluated values into trees: one tree a file, one mapping a block.

use super::Block;
use super::eval::{Eval, Scope};
use super::module::Registry;
use super::value::{Fail, Val, Value, number_text};
use super::workspace::Evaluated;
use crate::budget::{NODE, Share};
use crate::known::{Known, Why};
use crate::parse::hcl::Hcl;
use crate::parse::hcl::Place;
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Problem};
use crate::source::{Span, Traced};
use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block as Written_, BlockLabel, Body};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Nodes of one block: one that is too large takes nothing away from the others.
const MAX_BLOCK_NODES: usize = 50_000;
/// What a block costs, with the resource that it is read as.
const BLOCK: usize = 8 * NODE;
const TOO_LARGE: &str = "a value too large to write out";
/// Blocks that a block with `for_each` is expanded to.
const MAX_INSTANCES: usize = 64;
/// What packs files into an archive: the text of a single one is an attribute of it, too.
const ARCHIVE: &str = "archive_file";
/// Uses of one value that are kept.
const MAX_USES: usize = 64;
/// Blocks that one `dynamic` block is expanded to.
const MAX_DYNAMIC: usize = 256;

/// Expressions that use a value which is written elsewhere, by the place of that value.
pub type Uses = BTreeMap<Span, Vec<Span>>;

/// Adds the top-level blocks of a module. `address` tells the module from others of its root.
pub(super) fn blocks(files: &[Hcl], registry: &Registry<'_>, address: &str, out: &mut Evaluated) {
    for file in files {
        let blocks = file_blocks(file, registry, address, out);
        out.blocks.extend(blocks);
    }
}

/// Maps that others are merged into to add to them. What selects by them would be lost if they replaced something; of any
/// other map they may.
const LABELS: &[&str] = &["labels", "match_labels", "matchLabels", "selector", "tags"];

/// What one block stands for: one of the items of `for_each`, or all of `count`.
#[derive(Debug)]
pub(super) struct Instance {
    pub key: Option<String>,
    pub count: Known<i64>,
    scope: Option<(&'static str, Val)>,
}

impl Instance {
    /// What `each` or `count` is in it.
    pub fn scope(&self) -> Option<Scope<'static>> {
        self.scope.clone().map(|(name, value)| Scope { name, value, parent: None })
    }
}

/// What a block stands for; nothing when there is none of it.
pub(super) fn instances(eval: &Eval<'_>, body: &Body) -> Vec<Instance> {
    let span = eval.place.span(None);
    match items(eval, body) {
        Some(items) => items
            .into_iter()
            .map(|(key, value)| Instance {
                key: key.string().ok(),
                count: Known::Value(1),
                scope: Some(("each", Eval::iterator(key, value, span))),
            })
            .collect(),
        None => match count(eval, body) {
            Known::Value(count) if count <= 0 => vec![],
            count => {
                let index = |index: f64| {
                    let entry = (Rc::new(Traced::opaque("index", span)), Val::new(Value::Number(index), span));
                    Val::new(Value::map([entry]), span)
                };
                let first = (count == Known::Value(1)).then(|| ("count", index(0.0)));
                vec![Instance { key: None, count, scope: first }]
            }
        },
    }
}

struct Head {
    keyword: (String, Span),
    labels: Vec<(String, Span)>,
    json: bool,
    body: NodeId,
    count: Known<i64>,
    instance: Option<String>,
}

fn file_blocks(file: &Hcl, registry: &Registry<'_>, address: &str, out: &mut Evaluated) -> Vec<Block> {
    let builder = Builder::new(file.source, Dialect::Typed);
    let share = &*registry.share;
    let mut emitter = Emitter { builder, uses: &mut out.uses, limit: 0, share };
    let mut heads = vec![];
    for (place, body) in file.places() {
        for block in body.blocks().take_while(|_| out.cut.is_none()) {
            let eval = Eval::new(registry, place);
            if let Err(spent) = share.make(BLOCK + address.len()) {
                let message = format!("the module from here on: {spent}");
                out.cut = Some(Problem { span: place.span(block.ident.span()), message });
                break;
            }
            for instance in instances(&eval, &block.body) {
                let scope = instance.scope();
                let eval = scope.as_ref().map_or(eval, |scope| eval.with(scope));
                heads.push(emitter.head(&eval, block, instance));
            }
        }
    }
    let tree = emitter.builder.tree();
    tree.comments.clone_from(&file.comments);
    tree.problems.clone_from(&file.problems);
    tree.documents = heads.iter().map(|head| head.body).collect();
    let tree = Arc::new(emitter.builder.finish());
    let block = |head: Head| Block {
        keyword: head.keyword.0,
        keyword_span: head.keyword.1,
        labels: head.labels,
        json: head.json,
        tree: Arc::clone(&tree),
        body: head.body,
        count: head.count,
        instance: head.instance,
        module: address.to_owned(),
    };
    heads.into_iter().map(block).collect()
}

/// The items of a known `for_each`, unless there are none or too many to write out.
fn items(eval: &Eval<'_>, body: &Body) -> Option<Vec<(Val, Val)>> {
    let pairs = eval.eval(&body.get_attribute("for_each")?.value).pairs().ok()?;
    // The items of a set are their own keys.
    let of_set = |(key, value): (Val, Val)| {
        if matches!(key.value, Value::Number(_)) { (value.clone(), value) } else { (key, value) }
    };
    (1..=MAX_INSTANCES).contains(&pairs.len()).then(|| pairs.into_iter().map(of_set).collect())
}

fn label_text(label: &BlockLabel, place: &Place<'_>) -> (String, Span) {
    let span = match label {
        BlockLabel::Ident(name) => place.span(name.span()),
        BlockLabel::String(name) => {
            let range = place.range(name.span());
            Span::new(place.source, range.start + 1..range.end.saturating_sub(1).max(range.start + 1))
        }
    };
    (label.as_str().to_owned(), span)
}

fn count(eval: &Eval<'_>, body: &Body) -> Known<i64> {
    let value = |name: &str| body.get_attribute(name).map(|a| eval.eval(&a.value));
    let count = match (value("count"), value("for_each")) {
        (Some(count), _) => count.number().map(|n| n as i64),
        (None, Some(each)) => each.items().map(|items| items.len() as i64),
        (None, None) => Ok(1),
    };
    match count.map_err(Value::from) {
        Ok(count) => Known::Value(count),
        Err(Value::Unknown(why)) => Known::Unknown(why),
        Err(Value::Failed(message)) => Known::Unknown(Why::Malformed(message)),
        Err(_) => Known::Absent,
    }
}

struct Emitter<'u> {
    builder: Builder,
    uses: &'u mut Uses,
    share: &'u Share,
    /// The size of the tree from which on nothing more of this block is written.
    limit: usize,
}

impl Emitter<'_> {
    fn head(&mut self, eval: &Eval<'_>, block: &Written_, instance: Instance) -> Head {
        self.limit = self.builder.tree().len() + MAX_BLOCK_NODES;
        let mut at = eval.place.span(block.ident.span());
        let mut labels: Vec<(String, Span)> = block.labels.iter().map(|label| label_text(label, &eval.place)).collect();
        if eval.place.json {
            at = labels.last().map_or(at, |(_, name)| *name);
            labels.iter_mut().for_each(|(_, place)| *place = at);
        }
        let packed =
            labels.first().is_some_and(|(kind, _)| kind == ARCHIVE).then(|| eval.packed(&block.body)).flatten();
        Head {
            keyword: (block.ident.as_str().to_owned(), at),
            labels,
            json: eval.place.json,
            body: self.body(eval, (&block.body, packed), eval.place.span(block.span())),
            count: instance.count,
            instance: instance.key,
        }
    }

    /// The attributes and blocks of a body, and one more attribute that follows from them.
    fn body(&mut self, eval: &Eval<'_>, (body, more): (&Body, Option<(Rc<Traced>, Val)>), span: Span) -> NodeId {
        if self.full(NODE) {
            return self.builder.add(NodeKind::Unknown(Why::Malformed(TOO_LARGE.into())), span);
        }
        let mut entries: Vec<Entry> = vec![];
        // What `for_each` holds is used where `each` is.
        for (key, value) in eval.attributes(body).into_iter().chain(more).filter(|(key, _)| key.text() != "for_each") {
            entries.push(Entry { key: self.key(&key), value: self.stated(key.text(), &value, None) });
        }
        let mut groups: Vec<(String, Span, Vec<NodeId>)> = vec![];
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for block in body.blocks() {
            let (name, name_span, items) = match (block.ident.as_str(), block.labels.first()) {
                ("dynamic", Some(label)) => {
                    let (name, span) = label_text(label, &eval.place);
                    (name, span, self.dynamic(eval, block, label.as_str()))
                }
                (name, _) => {
                    let body = self.body(eval, (&block.body, None), eval.place.span(block.span()));
                    let labelled = self.labelled(&eval.place, block, body);
                    (name.to_owned(), eval.place.span(block.ident.span()), vec![labelled])
                }
            };
            match places.get(&name) {
                Some(&at) => groups[at].2.extend(items),
                None => {
                    places.insert(name.clone(), groups.len());
                    groups.push((name, name_span, items));
                }
            }
        }
        for (name, name_span, items) in groups {
            let key = Traced::verbatim(name, name_span, name_span.range().start);
            let key = self.key(&key);
            let value = match items[..] {
                [only] if self.builder.tree().node(only).is_unknown() => only,
                _ => self.builder.add(NodeKind::Seq(items), name_span),
            };
            entries.push(Entry { key, value });
        }
        self.builder.add(NodeKind::Map(entries), span)
    }

    /// A nested block under its labels, one mapping each, as in JSON syntax.
    fn labelled(&mut self, place: &Place<'_>, block: &Written_, body: NodeId) -> NodeId {
        block.labels.iter().rev().fold(body, |value, label| {
            let (text, span) = label_text(label, place);
            let key = self.key(&Traced::verbatim(text, span, span.range().start));
            self.builder.add(NodeKind::Map(vec![Entry { key, value }]), place.span(block.span()))
        })
    }

    /// The blocks that a `dynamic` block stands for; something that may be there when its `for_each` is unknown.
    fn dynamic(&mut self, eval: &Eval<'_>, block: &Written_, name: &str) -> Vec<NodeId> {
        let Some(content) = block.body.blocks().find(|b| b.ident.as_str() == "content") else { return vec![] };
        let iterator = block.body.get_attribute("iterator").map(|a| match &a.value {
            Expression::Variable(name) => name.as_str(),
            _ => name,
        });
        let span = eval.place.span(content.span());
        let each = block.body.get_attribute("for_each").map(|a| eval.eval(&a.value));
        let why = match each.as_ref().map(Val::pairs) {
            Some(Ok(pairs)) if pairs.len() <= MAX_DYNAMIC => Ok(pairs),
            Some(Err(Fail::Unknown(why))) => Err(why),
            Some(Err(Fail::Failed(message))) => Err(Why::Malformed(message)),
            Some(Ok(_)) => Err(Why::Malformed(TOO_LARGE.into())),
            None => Err(Why::NotStated("for_each of a dynamic block".into())),
        };
        let pairs = match why {
            Ok(pairs) => pairs,
            Err(why) => {
                let place = each.map_or(span, |each| each.span);
                return vec![self.builder.add(NodeKind::Unknown(why.perhaps()), place)];
            }
        };
        let mut out = vec![];
        for (key, value) in pairs {
            let value = Eval::iterator(key, value, span);
            let scope = Scope { name: iterator.unwrap_or(name), value, parent: eval.scope };
            out.push(self.body(&eval.with(&scope), (&content.body, None), span));
        }
        out
    }

    /// Whether there is no room for so many bytes more.
    fn full(&mut self, bytes: usize) -> bool {
        self.builder.tree().len() > self.limit || self.share.make(bytes).is_err()
    }

    fn key(&mut self, key: &Traced) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: key.clone(), plain: false }, key.whole())
    }

    /// A value. Its place is where it is written; `via` is the expression that uses it from elsewhere.
    fn value(&mut self, value: &Val, via: Option<Span>) -> NodeId {
        self.stated("", value, via)
    }

    /// The value under a name.
    fn stated(&mut self, name: &str, value: &Val, via: Option<Span>) -> NodeId {
        let span = value.origin.unwrap_or(value.span);
        let via = via.or(value.origin.map(|_| value.span));
        let plain = |text: String| NodeKind::Scalar { text: Traced::opaque(text, span), plain: true };
        let kind = match &value.value {
            _ if self.full(
                NODE + name.len()
                    + if let Value::Str(text) | Value::Partial(text, _) = &value.value { text.text().len() } else { 0 },
            ) =>
            {
                NodeKind::Unknown(Why::Malformed(TOO_LARGE.into()))
            }
            Value::Null => NodeKind::Null,
            Value::Bool(value) => plain(value.to_string()),
            Value::Number(value) => plain(number_text(*value)),
            Value::Str(text) | Value::Partial(text, _) => NodeKind::Scalar { text: Traced::clone(text), plain: false },
            Value::List(items) => NodeKind::Seq(items.iter().map(|item| self.value(item, via)).collect()),
            Value::Map(entries) => {
                let mut entry = |(key, value): &(Rc<Traced>, Val)| Entry {
                    key: self.key(key),
                    value: self.stated(key.text(), value, via),
                };
                NodeKind::Map(entries.iter().map(&mut entry).collect())
            }
            Value::PartialMap(entries, why) => {
                let unknown = Val::unknown(why.clone(), span);
                let added = LABELS.contains(&name);
                let mut out = vec![];
                for (key, value, settled) in entries.iter() {
                    let value = if *settled || added { value } else { &unknown };
                    out.push(Entry { key: self.key(key), value: self.stated(key.text(), value, via) });
                }
                let key = self.key(&Traced::opaque("<<", span));
                out.push(Entry { key, value: self.value(&unknown, via) });
                NodeKind::Map(out)
            }
            Value::Unknown(why) => NodeKind::Unknown(why.clone()),
            Value::Failed(message) => NodeKind::Unknown(Why::Malformed(message.clone())),
        };
        if let Some(via) = via.filter(|via| !via.contains(span)) {
            let uses = self.uses.entry(span).or_default();
            if uses.len() < MAX_USES && !uses.contains(&via) {
                uses.push(via);
            }
        }
        self.builder.add(kind, span)
    }
}
