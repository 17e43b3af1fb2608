//! What a command line says as a document that says the same: its options, and the keys that they stand for. Knows how
//! options are written; knows no program.

use crate::known::{Fact, Why};
use crate::parse::shell::Word;
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Tree, View, placeholder, yaml};
use crate::source::{Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The assignments of a `--set`, which commas separate but for those behind a backslash or in braces.
pub fn parts(text: &Traced) -> Vec<Traced> {
    split(text, &['{'], &['}'])
}

/// The parts of a text between commas, but for those behind a backslash or in brackets.
fn split(text: &Traced, opening: &[char], closing: &[char]) -> Vec<Traced> {
    let (mut from, mut braces, mut escaped) = (0, 0_usize, false);
    let mut out = Vec::new();
    for (at, c) in text.text().char_indices() {
        match c {
            _ if escaped => {}
            c if opening.contains(&c) => braces += 1,
            c if closing.contains(&c) => braces = braces.saturating_sub(1),
            ',' if braces == 0 => {
                out.push(text.slice(from..at));
                from = at + 1;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    out.push(text.slice(from..text.text().len()));
    out
}

/// What an option is given.
#[derive(Clone)]
pub enum Given {
    /// A word, and whether a shell puts something into it.
    Word(Traced, bool),
    /// Nothing: a switch, which stands here.
    Switch(Span),
}

impl Given {
    /// The text, if it is known.
    pub fn text(&self) -> Option<String> {
        self.fact().get().cloned()
    }

    /// The text as a fact.
    pub fn fact(&self) -> Fact<String> {
        match self {
            Given::Word(text, expands) => stated(text, *expands),
            Given::Switch(span) => Fact::value("true".to_owned(), *span),
        }
    }
}

/// A text, unless a shell puts something into it.
pub fn stated(text: &Traced, expands: bool) -> Fact<String> {
    let why = placeholder(text.text())
        .or_else(|| expands.then(|| Why::Variable(text.text().trim_matches(['$', '{', '}']).into())));
    match why {
        Some(why) => Fact::unknown(why, text.whole()),
        None => Fact::value(text.text().to_owned(), text.whole()),
    }
}

/// Options with what they are given: `--name=value`, `--name value`, `--name`.
pub fn options(words: &[Word]) -> Vec<(String, Given)> {
    options_of(words, &|_, _| false)
}

/// The same, where `takes` tells of an option and a word behind its value whether that is a value of it, too:
/// `--zones 1 2 3`.
pub fn options_of(words: &[Word], takes: &dyn Fn(&str, &Word) -> bool) -> Vec<(String, Given)> {
    let mut out = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let Some(option) = word.text().strip_prefix('-') else { continue };
        let option = option.trim_start_matches('-');
        let given = match option.split_once('=') {
            Some((_, value)) => {
                let end = word.text().len();
                Given::Word(word.traced().slice(end - value.len()..end), word.expands)
            }
            None => match rest.next_if(|next| !next.text().starts_with('-')) {
                Some(value) => Given::Word(value.traced().clone(), value.expands),
                None => Given::Switch(word.span()),
            },
        };
        let name = option.split('=').next().unwrap_or(option);
        let valued = matches!(given, Given::Word(..));
        out.push((name.to_owned(), given));
        let more = |next: &&Word| valued && !next.text().starts_with('-') && takes(name, next);
        while let Some(value) = rest.next_if(more) {
            out.push((name.to_owned(), Given::Word(value.traced().clone(), value.expands)));
        }
    }
    out
}

/// Whether a word is more of what stands in pairs or in JSON.
pub fn is_structured(word: &Word) -> bool {
    word.text().starts_with(['{', '[']) || word.text().contains('=')
}

/// What stands in an option as JSON, or as pairs between commas: `minSize=0,maxSize=3`, `Ebs={VolumeSize=500}`.
/// <https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html>
pub fn structured(text: &Traced, expands: bool) -> Arc<Tree> {
    let mut builder = Builder::new(text.whole().source, Dialect::Kubernetes);
    let whole = text.text();
    let unknown = |why: Why| NodeKind::Unknown(why);
    let root = if whole.starts_with(['{', '[']) && !expands {
        let tree = yaml::parse_traced(text, Dialect::Kubernetes);
        match tree.roots().next().filter(|_| tree.roots().count() == 1) {
            Some(root) => builder.copy(root),
            None => builder.add(unknown(Why::Malformed(whole.into())), text.whole()),
        }
    } else if whole.contains("://") && !whole.contains('=') {
        builder.add(unknown(Why::NotModelled("what stands in another file".into())), text.whole())
    } else if expands && (whole.starts_with(['$', '{', '[']) || !whole.contains('=')) {
        builder.add(unknown(Why::Variable(whole.trim_matches(['$', '{', '}']).into())), text.whole())
    } else {
        shorthand(&mut builder, text, expands)
    };
    builder.tree().documents.push(root);
    Arc::new(builder.finish())
}

/// Pairs between commas; what stands without a name is one more value of the pair before.
fn shorthand(builder: &mut Builder, text: &Traced, expands: bool) -> NodeId {
    let mut pairs: Vec<(Traced, Vec<NodeId>)> = Vec::new();
    for part in split(text, &['{', '['], &['}', ']']) {
        let (at, end) = (part.text().find('='), part.text().len());
        let value = part.slice(at.map_or(0, |at| at + 1)..end);
        let inner = value.text().len().checked_sub(1).filter(|end| *end > 0).map(|end| value.slice(1..end));
        let node = match (value.text().starts_with('{') && value.text().ends_with('}'), inner) {
            (true, Some(inner)) => shorthand(builder, &inner, expands),
            _ => {
                let open = expands && value.text().contains('$');
                let kind = match open {
                    true => NodeKind::Unknown(Why::Variable(value.text().trim_matches(['$', '{', '}']).into())),
                    false => NodeKind::Scalar { text: value.clone(), plain: true },
                };
                builder.add(kind, value.whole())
            }
        };
        match (at, pairs.last_mut()) {
            (Some(at), _) => pairs.push((part.slice(0..at), vec![node])),
            (None, Some((_, values))) => values.push(node),
            (None, None) => {}
        }
    }
    let entries = pairs.into_iter().map(|(key, values)| {
        let value = match values[..] {
            [one] => one,
            _ => builder.add(NodeKind::Seq(values), key.whole()),
        };
        let span = key.whole();
        Entry { key: builder.add(NodeKind::Scalar { text: key, plain: false }, span), value }
    });
    let entries = entries.collect();
    builder.add(NodeKind::Map(entries), text.whole())
}

/// A key without what tells the form of its value.
fn bare(key: &str) -> &str {
    let key = key.trim_start_matches(['?', '~']);
    let key = key.split('!').next().unwrap_or(key);
    ["[{}]", "{}", "[=]", "[+]", "[]"].iter().find_map(|form| key.strip_suffix(form)).unwrap_or(key)
}

/// The first key of a path and the rest, with what a backslash kept from parting it.
fn head(path: &str) -> (String, Option<&str>) {
    let mut before = '.';
    let dot = path.char_indices().find(|&(_, c)| {
        let parts = c == '.' && before != '\\';
        before = c;
        parts
    });
    let (first, rest) = match dot {
        Some((at, _)) => (&path[..at], Some(&path[at + 1..])),
        None => (path, None),
    };
    (first.replace('\\', ""), rest)
}

/// Gibibytes of a size with a unit, of which those in others than GB are not told.
fn gigabytes(text: &Traced) -> Traced {
    let digits = text.text().trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let unit = &text.text()[digits..];
    if ["GB", "GiB", "Gi", "G"].iter().any(|known| unit.eq_ignore_ascii_case(known)) {
        text.slice(0..digits)
    } else {
        text.clone()
    }
}

/// A document that says what a command says: its keys, and the values under them in their order.
pub struct Document {
    builder: Builder,
    span: Span,
    keys: BTreeMap<String, Vec<NodeId>>,
}

impl Document {
    /// An empty one, which stands at a place.
    pub fn new(span: Span) -> Self {
        Self { builder: Builder::new(span.source, Dialect::Kubernetes), span, keys: BTreeMap::new() }
    }

    /// A word that the program writes itself.
    pub fn own(&mut self, text: &str) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: Traced::opaque(text, self.span), plain: false }, self.span)
    }

    /// A word.
    pub fn text(&mut self, word: &Word) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: word.traced().clone(), plain: false }, word.span())
    }

    /// A text that stands elsewhere.
    pub fn traced(&mut self, text: &Traced) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: text.clone(), plain: false }, text.whole())
    }

    /// What an option is given.
    pub fn value(&mut self, given: &Given) -> NodeId {
        let fact = given.fact();
        let kind = match (given, fact.why()) {
            (_, Some(why)) => NodeKind::Unknown(why.clone()),
            (Given::Word(text, _), None) => NodeKind::Scalar { text: text.clone(), plain: true },
            (Given::Switch(span), None) => NodeKind::Scalar { text: Traced::opaque("true", *span), plain: true },
        };
        self.builder.add(kind, fact.span)
    }

    /// An attribute of a resource, in the form that its key tells:
    ///
    /// | key | what the option is given |
    /// |---|---|
    /// | `?key` | something in a form of its own, which is not known |
    /// | `~key` | a size in gigabytes, maybe with its unit |
    /// | `key!WORD` | nothing: it is a switch that stands for the word |
    /// | `key{}` | pairs or JSON; of several all hold |
    /// | `key[{}]` | a list of such |
    /// | `key[=]` | pairs, each of which is an item with a `name` and a `value` |
    /// | `key[]` | a list that commas separate |
    /// | `key[+]` | such a list, of which more items stand in the words behind |
    pub fn attribute(&mut self, key: &str, given: &Given) {
        match (key.strip_prefix('?'), given) {
            (Some(key), _) => {
                let why = Why::NotModelled("what the option says".into());
                let unknown = self.builder.add(NodeKind::Unknown(why), given.fact().span);
                self.put(key, unknown);
            }
            (None, Given::Switch(_)) if key.contains('!') => {
                let (key, word) = key.split_once('!').unwrap_or_default();
                let word = self.own(word);
                self.put(key, word);
            }
            (None, _) if key.contains('!') => {}
            (None, Given::Word(text, expands)) if key.starts_with('~') => {
                let value = self.value(&Given::Word(gigabytes(text), *expands));
                self.put(bare(key), value);
            }
            (None, Given::Word(text, expands)) if key.ends_with("{}") || key.ends_with("[{}]") => {
                let tree = structured(text, *expands);
                let list = key.ends_with("[{}]");
                for root in tree.roots() {
                    let items: Vec<Node<'_>> = if list && root.is_seq() { root.items().collect() } else { vec![root] };
                    for item in items {
                        let item = self.builder.copy(item);
                        self.put(&if list { format!("{}[]", bare(key)) } else { key.to_owned() }, item);
                    }
                }
            }
            (None, Given::Word(text, expands)) if key.ends_with("[=]") => {
                let separate = parts(text);
                let all = separate.iter().all(|part| part.text().contains('='));
                for pair in if all { separate } else { vec![text.clone()] } {
                    let item = self.named(&pair, *expands);
                    self.put(&format!("{}[]", bare(key)), item);
                }
            }
            (None, Given::Word(text, expands)) if key.ends_with("[]") || key.ends_with("[+]") => {
                for part in parts(text) {
                    let item = self.value(&Given::Word(part, *expands));
                    self.put(&format!("{}[]", bare(key)), item);
                }
            }
            (None, _) => {
                let value = self.value(given);
                self.put(key, value);
            }
        }
    }

    /// `NAME=value` as an item with both.
    fn named(&mut self, pair: &Traced, expands: bool) -> NodeId {
        let at = pair.text().find('=');
        let name = self.traced(&pair.slice(0..at.unwrap_or(pair.text().len())));
        let value = match at {
            Some(at) => {
                let value = pair.slice(at + 1..pair.text().len());
                let open = expands && value.text().contains(['$', '`']);
                self.value(&Given::Word(value, open))
            }
            None => self.builder.add(NodeKind::Unknown(Why::Variable(pair.text().into())), pair.whole()),
        };
        self.map(&[("name", name), ("value", value)], pair.whole())
    }

    /// What stands below the fields of an option's pairs or JSON, under the keys that `key` gives for their paths.
    pub fn fields(&mut self, fields: &[(&str, &str)], given: &Given) {
        let Given::Word(text, expands) = given else { return };
        let tree = structured(text, *expands);
        for root in tree.roots() {
            // What may be stated for several is not told apart.
            let view = match root.items().collect::<Vec<_>>()[..] {
                [only] if root.is_seq() => only.view(),
                _ => root.view(),
            };
            for (field, key) in fields {
                let stated: View<'_> = view.path(field);
                if let Some(node) = stated.node() {
                    let node = self.builder.copy(node);
                    self.put(key, node);
                } else if let Some(why) = stated.unknown() {
                    let unknown = self.builder.add(NodeKind::Unknown(why), stated.place());
                    self.put(key, unknown);
                }
            }
        }
    }

    /// What is not stated of some keys may be stated where nobody reads it.
    pub fn leave_open(&mut self, keys: impl Iterator<Item = &'static str>, span: Span) {
        let below = |path: &str, above: &str| {
            path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for key in keys.filter(|key| !key.starts_with('@')) {
            let key = bare(key);
            if !self.keys.keys().any(|stated| below(bare(stated), key) || below(key, bare(stated))) {
                let why = Why::NotStated("what the shell puts in".into());
                let unknown = self.builder.add(NodeKind::Unknown(why), span);
                self.put(key, unknown);
            }
        }
    }

    /// `-e NAME=value`, under a key that has `{}` for the name; a bare name takes what the shell has.
    pub fn variable(&mut self, key: &str, given: &Given) {
        let Given::Word(text, expands) = given else { return };
        let name = text.text().split('=').next().unwrap_or_default();
        let value = match text.text().strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            Some(value) => {
                let value = text.slice(text.text().len() - value.len()..text.text().len());
                let open = *expands && value.text().contains(['$', '`']);
                self.value(&Given::Word(value, open))
            }
            None => self.builder.add(NodeKind::Unknown(Why::Variable(name.into())), text.whole()),
        };
        self.put(&key.replace("{}", name), value);
    }

    /// `--gpus all`, `--gpus 2`, `--gpus device=0,1` and `--gpus '"device=0,1"'`.
    pub fn gpus(&mut self, given: &Given) -> NodeId {
        let Given::Word(text, _) = given else { return self.value(given) };
        let whole = text.text();
        let Some(at) = whole.find("device=").map(|at| at + "device=".len()) else { return self.value(given) };
        let mut from = at;
        let mut devices = Vec::new();
        for id in whole[at..].trim_end_matches(['"', '\'']).split(',') {
            let id_text = text.slice(from..from + id.len());
            let span = id_text.whole();
            devices.push(self.builder.add(NodeKind::Scalar { text: id_text, plain: false }, span));
            from += id.len() + 1;
        }
        let span = text.whole();
        let driver = self.builder.add(NodeKind::Scalar { text: Traced::opaque("nvidia", span), plain: false }, span);
        let devices = self.builder.add(NodeKind::Seq(devices), span);
        let device = self.map(&[("driver", driver), ("device_ids", devices)], span);
        self.builder.add(NodeKind::Seq(vec![device]), span)
    }

    /// States a value under a key.
    pub fn put(&mut self, key: &str, value: NodeId) {
        self.keys.entry(key.to_owned()).or_default().push(value);
    }

    fn map(&mut self, entries: &[(&str, NodeId)], span: Span) -> NodeId {
        let entries = entries.iter().map(|(key, value)| {
            let text = Traced::opaque(*key, span);
            Entry { key: self.builder.add(NodeKind::Scalar { text, plain: false }, span), value: *value }
        });
        let entries = entries.collect();
        self.builder.add(NodeKind::Map(entries), span)
    }

    /// The keys as nested mappings; `[]` behind one of them stands for a list of one.
    fn nested(&mut self, keys: Vec<(String, NodeId)>) -> NodeId {
        let mut inner: BTreeMap<String, Vec<(String, NodeId)>> = BTreeMap::new();
        let mut entries = Vec::new();
        for (key, value) in keys {
            match head(&key) {
                (first, Some(rest)) => inner.entry(first).or_default().push((rest.to_owned(), value)),
                (last, None) => entries.push((last, value)),
            }
        }
        for (key, below) in inner {
            let below = self.nested(below);
            match key.strip_suffix("[]") {
                Some(list) => {
                    let one = self.builder.add(NodeKind::Seq(vec![below]), self.span);
                    entries.push((list.to_owned(), one));
                }
                None => entries.push((key, below)),
            }
        }
        let entries: Vec<(&str, NodeId)> = entries.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        self.map(&entries, self.span)
    }

    /// Mappings as one; what is none of them decides alone.
    fn merged(&mut self, values: &[NodeId]) -> NodeId {
        let mut entries = Vec::new();
        for value in values {
            let node = self.builder.tree().node(*value);
            if !node.is_map() {
                return *value;
            }
            let more = node.entries().into_iter();
            entries.extend(more.map(|(key, value)| Entry { key: key.id(), value: value.id() }));
        }
        self.builder.add(NodeKind::Map(entries), self.span)
    }

    /// The document.
    pub fn finish(mut self) -> Arc<Tree> {
        let mut keys = Vec::new();
        for (key, values) in std::mem::take(&mut self.keys) {
            let Some(&last) = values.last() else { continue };
            if let Some(key) = key.strip_suffix("[]") {
                let list = self.builder.add(NodeKind::Seq(values), self.span);
                keys.push((key.to_owned(), list));
            } else if let Some(key) = key.strip_suffix("{}") {
                keys.push((key.to_owned(), self.merged(&values)));
            } else {
                keys.push((key, last));
            }
        }
        let root = self.nested(keys);
        self.builder.tree().documents.push(root);
        Arc::new(self.builder.finish())
    }
}
