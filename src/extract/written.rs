//! What a command line says as a document that says the same: its options, and the keys that they stand for. Knows how
//! options are written; knows no program.

use crate::known::{Fact, Why};
use crate::parse::shell::Word;
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Tree, placeholder};
use crate::source::{Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The assignments of a `--set`, which commas separate but for those behind a backslash or in braces.
pub fn parts(text: &Traced) -> Vec<Traced> {
    let (mut from, mut braces, mut escaped) = (0, 0_usize, false);
    let mut out = Vec::new();
    for (at, c) in text.text().char_indices() {
        match c {
            _ if escaped => {}
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
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
        out.push((option.split('=').next().unwrap_or(option).to_owned(), given));
    }
    out
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

    /// An attribute of a resource; commas separate the items of a list.
    pub fn attribute(&mut self, key: &str, given: &Given) {
        match (key.strip_prefix('?'), given) {
            (Some(key), _) => {
                let why = Why::NotModelled("what the option says".into());
                let unknown = self.builder.add(NodeKind::Unknown(why), given.fact().span);
                self.put(key, unknown);
            }
            (None, Given::Word(text, expands)) if key.ends_with("[]") => {
                for part in parts(text) {
                    let item = self.value(&Given::Word(part, *expands));
                    self.put(key, item);
                }
            }
            (None, _) => {
                let value = self.value(given);
                self.put(key, value);
            }
        }
    }

    /// What is not stated of some keys may be stated where nobody reads it.
    pub fn leave_open(&mut self, keys: impl Iterator<Item = &'static str>, span: Span) {
        for key in keys {
            let key = key.trim_end_matches("[]").trim_start_matches('?');
            if !self.keys.keys().any(|stated| stated.trim_end_matches("[]").split('.').next() == key.split('.').next())
            {
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

    /// `--accelerator type=nvidia-l4,count=1,gpu-driver-version=latest`.
    pub fn accelerator(&mut self, given: &Given) {
        let Given::Word(text, expands) = given else { return };
        for part in parts(text) {
            let key = match part.text().split_once('=').map(|(key, _)| key) {
                Some("type") => "node_config.guest_accelerator.type",
                Some("count") => "node_config.guest_accelerator.count",
                Some("gpu-driver-version") => {
                    "node_config.guest_accelerator.gpu_driver_installation_config.gpu_driver_version"
                }
                _ => continue,
            };
            let value = part.slice(part.text().find('=').map_or(0, |at| at + 1)..part.text().len());
            let open = *expands && value.text().contains('$');
            let value = self.value(&Given::Word(value, open));
            self.put(key, value);
        }
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

    /// The keys as nested mappings.
    fn nested(&mut self, keys: Vec<(String, NodeId)>) -> NodeId {
        let mut inner: BTreeMap<String, Vec<(String, NodeId)>> = BTreeMap::new();
        let mut entries = Vec::new();
        for (key, value) in keys {
            match key.split_once('.') {
                Some((first, rest)) => inner.entry(first.to_owned()).or_default().push((rest.to_owned(), value)),
                None => entries.push((key, value)),
            }
        }
        for (key, below) in inner {
            let below = self.nested(below);
            entries.push((key, below));
        }
        let entries: Vec<(&str, NodeId)> = entries.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        self.map(&entries, self.span)
    }

    /// The document.
    pub fn finish(mut self) -> Arc<Tree> {
        let mut keys = Vec::new();
        for (key, values) in std::mem::take(&mut self.keys) {
            let Some(&last) = values.last() else { continue };
            match key.strip_suffix("[]") {
                Some(key) => {
                    let list = self.builder.add(NodeKind::Seq(values), self.span);
                    keys.push((key.to_owned(), list));
                }
                None => keys.push((key, last)),
            }
        }
        let root = self.nested(keys);
        self.builder.tree().documents.push(root);
        Arc::new(self.builder.finish())
    }
}
