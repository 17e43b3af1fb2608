//! What a rule asks to be written, as edits of a text: where it stands literally, how it is quoted there, and what an entry
//! takes with it. Knows texts and syntaxes; nothing of rules. Where an edit is not certain there is none.

use crate::discover::{self, Kind};
use crate::finding::{Change, Fix, Wish};
use crate::parse::scalar::{Scalar, resolve};
use crate::parse::yaml::{self, duplicate_keys};
use crate::parse::{Dialect, Entry, Node, Shape, Tree, toml};
use crate::source::{Source, SourceId, Span};
use std::ops::Range;

mod blocks;

/// An edit: what is replaced, and by what.
type Edit = (Range<usize>, String);

/// Signs of languages that fill texts in before a tool reads them.
const FILLED: [&str; 5] = ["{{", "{%", "${", "$(", "%{"];

/// A file whose text may be edited.
pub struct File<'s> {
    id: SourceId,
    source: &'s Source,
    syntax: Syntax,
}

/// What is known of the parts of a text.
enum Syntax {
    /// Documents with keys and values.
    Tree(Box<Tree>, Notation),
    /// Blocks and attributes.
    Blocks(Vec<blocks::Attribute>),
    /// Lines of words.
    Lines,
    /// A template of documents: lines without its signs stand literally.
    Template,
}

/// How documents are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Yaml,
    Json,
    Toml,
}

impl<'s> File<'s> {
    /// Reads a file; `None` where its text is not edited.
    pub fn new(id: SourceId, source: &'s Source, kind: Kind) -> Option<Self> {
        let text = &*source.text;
        let template = kind == Kind::Chart || discover::is_template_name(&source.path);
        let syntax = match kind {
            Kind::Chart => Syntax::Template,
            Kind::Yaml | Kind::Json => match documents(id, text, notation(kind, text)) {
                Some(tree) if !template => Syntax::Tree(Box::new(tree), notation(kind, text)),
                _ if FILLED[..2].iter().any(|sign| text.contains(sign)) => Syntax::Template,
                _ => return None,
            },
            Kind::Toml => Syntax::Tree(Box::new(documents(id, text, Notation::Toml)?), Notation::Toml),
            Kind::Terraform | Kind::Bake | Kind::Nomad | Kind::Packer => Syntax::Blocks(blocks::attributes(id, text)?),
            Kind::Dockerfile
            | Kind::Requirements
            | Kind::Shell
            | Kind::Makefile
            | Kind::Slurm
            | Kind::Unit
            | Kind::Nginx => Syntax::Lines,
            // Of values of variables it is not known what else takes them.
            Kind::TerraformVars | Kind::TerraformJson | Kind::Pbtxt | Kind::Setup | Kind::Text | Kind::Data => {
                return None;
            }
        };
        Some(Self { id, source, syntax })
    }

    /// The edits that a wish comes to, if all of it can be done and the text is of its syntax still.
    pub fn fix(&self, wish: &Wish) -> Option<Fix> {
        let mut edits: Vec<Edit> = Vec::new();
        for (place, was) in &wish.places {
            let place = Some(place.range()).filter(|_| place.source == self.id)?;
            // What is known without being written has the place of what it would stand in.
            let inner = self.inner(&place, was.as_deref())?;
            if !wish.at_fault && was.as_ref().is_some_and(|was| !says(&self.text()[inner.clone()], was)) {
                return None;
            }
            let edit = match &wish.change {
                Change::Replace(text) if was.is_some() => self.replace(inner, text)?,
                Change::Replace(_) => return None,
                Change::Rename(key) => self.rename(&place, key)?,
                Change::Remove => self.remove(place)?,
                Change::Set(path, value) => self.set(place, path, value)?,
            };
            edits.push(edit);
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let apart = edits.windows(2).all(|two| two[0].0.end <= two[1].0.start);
        let text = &*self.source.text;
        edits.retain(|(range, new)| text[range.clone()] != **new);
        if !apart || edits.is_empty() {
            return None;
        }
        let stands = self.stands(&edits);
        let edits = edits.into_iter().map(|(range, new)| (Span::new(self.id, range), new)).collect();
        stands.then(|| Fix { title: wish.title.clone(), edits, safe: wish.safe })
    }

    /// Whether the text with some edits is of the syntax, and states no key twice that was stated once. Of many documents
    /// those are read that are edited.
    fn stands(&self, edits: &[Edit]) -> bool {
        let text = self.text();
        let whole = 0..text.len();
        match &self.syntax {
            Syntax::Tree(_, notation) => {
                let touched = edits[0].0.start..edits[edits.len() - 1].0.end;
                let part = if *notation == Notation::Yaml { documents_around(text, touched) } else { whole };
                let twice = |text: &str| documents(self.id, text, *notation).map(|tree| duplicate_keys(&tree).len());
                let (old, new) = (twice(&text[part.clone()]), twice(&edited(text, part, edits)));
                new.is_some() && new <= old
            }
            Syntax::Blocks(_) => blocks::attributes(self.id, &edited(text, whole, edits)).is_some(),
            Syntax::Lines | Syntax::Template => true,
        }
    }

    fn text(&self) -> &'s str {
        &self.source.text
    }

    /// Whether a range is a place of its own: nothing else refers to it, and no sign of a template stands on its lines.
    fn is_own(&self, range: &Range<usize>) -> bool {
        match &self.syntax {
            Syntax::Tree(tree, _) => !tree.aliased().any(|node| within(range, &node.span().range())),
            Syntax::Blocks(all) => all.iter().filter(|one| one.holds(range)).all(|one| !one.is_variable),
            Syntax::Lines => true,
            Syntax::Template => {
                let lines = &self.text()[self.line_start(range.start)..self.line_end(range.end)];
                !["{{", "}}", "{%", "%}"].iter().any(|sign| lines.contains(sign))
            }
        }
    }

    /// What stands in a place without its quotes; of a flag or a variable that stands before its value its name.
    fn inner(&self, place: &Range<usize>, was: Option<&str>) -> Option<Range<usize>> {
        let written = self.text().get(place.clone()).filter(|text| !text.is_empty())?;
        let quoted = quote(written).is_some() && was != Some(written);
        let inner = if quoted { place.start + 1..place.end - 1 } else { place.clone() };
        let rest = |was: &&str| self.text()[inner.clone()].strip_prefix(was).is_some_and(|rest| rest.starts_with('='));
        Some(was.filter(rest).map_or(inner.clone(), |name| inner.start..inner.start + name.len()))
    }

    /// The text in a place is replaced.
    fn replace(&self, inner: Range<usize>, new: &str) -> Option<Edit> {
        let literal = &self.text()[inner.clone()];
        let scalar = self.scalar(&inner);
        let filled = FILLED.iter().any(|sign| literal.contains(sign)) || literal.contains('\\');
        if filled || [literal, new].iter().any(|text| text.contains(char::is_control)) || !self.is_own(&inner) {
            return None;
        }
        let quoted = self.text().get(inner.start.saturating_sub(1)..inner.end + 1).and_then(quote);
        let new = match (quoted.or_else(|| scalar.as_ref().and_then(|one| one.quote)), &self.syntax) {
            (Some('\''), Syntax::Tree(_, Notation::Yaml)) => new.replace('\'', "''"),
            (Some(_), _) if new.contains(['"', '\'', '\\']) => return None,
            (None, Syntax::Tree(..) | Syntax::Blocks(_)) => match scalar {
                // What stands there may be put in quotes.
                Some(one)
                    if one.whole
                        && !one.is_name
                        && quote(new).is_some_and(|sign| *new == format!("{sign}{literal}{sign}")) =>
                {
                    new.to_owned()
                }
                Some(one) if one.whole && !one.is_name => self.plain(new, one.is_text),
                _ if new.contains(['"', '\'', '\\', '#', '{', '}']) || new.contains(": ") => return None,
                _ => new.to_owned(),
            },
            _ => new.to_owned(),
        };
        Some((inner, new))
    }

    /// A text as it is written without quotes around it, or with them where it would be something else.
    fn plain(&self, new: &str, was_text: bool) -> String {
        let bare = |dialect| !matches!(resolve(new, dialect), Scalar::Str(_));
        let plain = match &self.syntax {
            Syntax::Tree(tree, Notation::Yaml) if bare(tree.dialect) => !was_text,
            Syntax::Tree(_, Notation::Yaml) => {
                let word = |c: char| c.is_alphanumeric() || "-_./+%:@".contains(c);
                let mark = new.strip_prefix('-').unwrap_or(new);
                mark.starts_with(|c: char| c.is_alphanumeric() || "_-/".contains(c))
                    && new.chars().all(word)
                    && !new.ends_with(':')
            }
            Syntax::Tree(..) | Syntax::Blocks(_) => bare(Dialect::Typed) && !was_text,
            Syntax::Lines | Syntax::Template => true,
        };
        if plain { new.to_owned() } else { format!("{new:?}") }
    }

    /// The scalar that a range is all or a part of.
    fn scalar(&self, range: &Range<usize>) -> Option<Stands> {
        let stands = |all: Range<usize>| {
            let quote = quote(&self.text()[all.clone()]);
            (quote, quote.map_or(all.clone(), |_| all.start + 1..all.end - 1) == *range)
        };
        match &self.syntax {
            Syntax::Tree(tree, _) => {
                let holds = |node: &Node<'_>| {
                    matches!(node.kind(), Shape::Scalar { .. })
                        && !node.is_alias()
                        && within(range, &node.span().range())
                };
                let node = tree.nodes().find(holds)?;
                let (quote, whole) = stands(node.span().range());
                Some(Stands { quote, whole, is_text: matches!(node.scalar(), Some(Scalar::Str(_))), is_name: false })
            }
            Syntax::Blocks(all) => {
                let is_name = all.iter().any(|one| one.key == *range);
                let around = || all.iter().find(|one| one.holds(range)).map(|one| one.value.clone());
                let (quote, whole) = stands(if is_name { range.clone() } else { around()? });
                Some(Stands { quote: quote.filter(|_| whole), whole, is_text: quote.is_some(), is_name })
            }
            Syntax::Lines | Syntax::Template => None,
        }
    }

    /// The entry at a place gets another key.
    fn rename(&self, place: &Range<usize>, new: &str) -> Option<Edit> {
        let key = match &self.syntax {
            Syntax::Tree(tree, _) => Parts::of(tree).at(place, self.text())?.key?.span().range(),
            Syntax::Blocks(all) => all.iter().find(|one| one.is_at(place, self.text()))?.key.clone(),
            Syntax::Lines | Syntax::Template => return None,
        };
        self.replace(self.inner(&key, None)?, new)
    }

    /// The entry at a place is left out, or the word.
    fn remove(&self, place: Range<usize>) -> Option<Edit> {
        if !self.is_own(&place) {
            return None;
        }
        let range = match &self.syntax {
            Syntax::Tree(tree, _) => match Parts::of(tree).whole(&place, self.text()) {
                Some(part) => self.without(tree, part)?,
                None => self.without_word(place)?,
            },
            Syntax::Blocks(all) => {
                let one = all.iter().find(|one| one.is_at(&place, self.text()))?;
                self.whole_lines(one.key.start, one.value.end)?
            }
            Syntax::Lines => self.without_word(place)?,
            Syntax::Template => return None,
        };
        Some((range, String::new()))
    }

    /// A word in a text of words, with the blank before it.
    fn without_word(&self, place: Range<usize>) -> Option<Range<usize>> {
        let (text, line) = (self.text(), self.line_start(place.start));
        let before = text[line..place.start].trim_end_matches([' ', '\t']);
        let apart = text[place.end..].starts_with([' ', '\t', '\n', '\r', '"', '\'']) || place.end == text.len();
        let stands = !before.is_empty() && line + before.len() < place.start && !before.ends_with(['-', ':']);
        (apart && stands && !text[place.clone()].contains('\n')).then_some(line + before.len()..place.end)
    }

    /// What goes with an entry or an item; where it is the only one, the entry that holds it goes.
    fn without(&self, tree: &Tree, part: Part<'_>) -> Option<Range<usize>> {
        let text = self.text();
        let parts = Parts::of(tree);
        let mut part = part;
        loop {
            let (before, after) = part.neighbours();
            if before.is_none() && after.is_none() {
                part = parts.holding(part.holder)?;
                continue;
            }
            if is_flow(part.holder, text) {
                let gap = match (before, after) {
                    (_, Some(next)) => part.start()..next,
                    (Some(last), None) => last..part.end(),
                    (None, None) => return None,
                };
                return (!text[gap.clone()].contains('#')).then_some(gap);
            }
            let line = self.line_start(part.start());
            let lead = text[line..part.start()].trim();
            return match (lead, &part.key) {
                ("", Some(_)) | ("-", None) => self.whole_lines(part.start(), part.end()),
                // The next key takes its place behind the dash.
                ("-", Some(_)) => {
                    let gap = part.start()..after?;
                    let own = self.line_end(part.end());
                    (!text[own.min(gap.end)..gap.end].contains('#')).then_some(gap)
                }
                _ => None,
            };
        }
    }

    /// From the line of one place to that of another, if nothing else stands there but a comment behind them.
    fn whole_lines(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let text = self.text();
        let line = self.line_start(start);
        let lead = text[line..start].trim();
        let behind = text[end..self.line_end(end)].trim_start_matches(':').trim_start();
        let alone = ["", "-"].contains(&lead) && (behind.trim().is_empty() || behind.starts_with(['#', '/']));
        let after = self.line_end(end);
        let after = text[after..].find('\n').map_or(text.len(), |at| after + at + 1);
        alone.then_some(line..if text[..end].ends_with('\n') { end } else { after })
    }

    /// A key is written beside the entry at a place.
    fn set(&self, place: Range<usize>, path: &[String], value: &str) -> Option<Edit> {
        let text = self.text();
        match &self.syntax {
            Syntax::Tree(tree, Notation::Yaml | Notation::Json) => {
                let mut part = Parts::of(tree).at(&place, text).filter(|part| part.key.is_some())?;
                let mut path = path;
                while let Some(found) = part.holder.get(path.first()?) {
                    let (Shape::Map(entries), [_, rest @ ..]) = (found.kind(), path) else { return None };
                    let last = entries.last().filter(|_| !rest.is_empty())?;
                    part = Part { holder: found, key: Some(tree.node(last.key)), value: tree.node(last.value) };
                    path = rest;
                }
                self.is_own(&(part.start()..part.end())).then(|| self.beside(part, path, value))
            }
            Syntax::Blocks(all) => {
                let one = all.iter().find(|one| one.is_at(&place, text) && !one.is_variable)?;
                let [name] = path else { return None };
                if all.iter().any(|other| other.block == one.block && text[other.key.clone()] == **name) {
                    return None;
                }
                let line = self.line_start(one.key.start);
                let indent = Some(&text[line..one.key.start]).filter(|lead| lead.trim().is_empty())?;
                let at = self.line_end(one.value.end);
                let value = self.plain(value, false);
                Some((at..at, format!("{}{indent}{name} = {value}", self.line_break())))
            }
            _ => None,
        }
    }

    /// Keys, one in another, behind an entry.
    fn beside(&self, part: Part<'_>, path: &[String], value: &str) -> Edit {
        let text = self.text();
        let line = self.line_start(part.start());
        if !is_flow(part.holder, text) {
            let indent = text[line..part.start()].chars().count();
            let mut new = String::new();
            for (depth, key) in path.iter().enumerate() {
                new += &format!("{}{}{key}:", self.line_break(), " ".repeat(indent + 2 * depth));
            }
            let end = part.end();
            // A text of lines ends with its last line.
            let at = if text[..end].ends_with('\n') { end - 1 } else { self.line_end(end) };
            let at = if text[..at].ends_with('\r') { at - 1 } else { at };
            return (at..at, format!("{new} {value}"));
        }
        let json = matches!(self.syntax, Syntax::Tree(_, Notation::Json));
        let key = |key: &String| if json { format!("\"{key}\": ") } else { format!("{key}: ") };
        let value = if json { self.plain(value, false) } else { value.to_owned() };
        let keys: Vec<String> = path.iter().map(key).collect();
        let alone = text[line..part.start()].trim().is_empty();
        let gap = if alone { format!("{}{}", self.line_break(), &text[line..part.start()]) } else { " ".to_owned() };
        let new = format!(",{gap}{}{value}{}", keys.join("{"), "}".repeat(keys.len() - 1));
        (part.end()..part.end(), new)
    }

    fn line_break(&self) -> &'static str {
        if self.text().contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text()[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// Where the line of a place ends, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text()[at..];
        let line = rest.split('\n').next().unwrap_or_default();
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }
}

/// How a scalar stands around a range.
struct Stands {
    quote: Option<char>,
    /// Whether the range is all of it.
    whole: bool,
    is_text: bool,
    /// Whether it is the name of an attribute, which takes no quotes.
    is_name: bool,
}

/// An entry of a mapping, or an item of a list, with what holds it.
#[derive(Clone, Copy)]
struct Part<'t> {
    holder: Node<'t>,
    key: Option<Node<'t>>,
    value: Node<'t>,
}

impl Part<'_> {
    fn start(&self) -> usize {
        self.key.unwrap_or(self.value).span().range().start
    }

    fn end(&self) -> usize {
        let value = self.value.span().range();
        match self.key.map(|key| key.span().range().end) {
            Some(key) if value.is_empty() => key,
            _ => value.end,
        }
    }

    /// Where the one before it ends, and the next one starts.
    fn neighbours(&self) -> (Option<usize>, Option<usize>) {
        let parts: Vec<Part<'_>> = children(self.holder);
        let at = parts.iter().position(|part| part.start() == self.start());
        let before = at.and_then(|at| at.checked_sub(1)).map(|at| parts[at].end());
        (before, at.and_then(|at| parts.get(at + 1)).map(Part::start))
    }
}

/// What a mapping or a list holds, as written.
fn children(node: Node<'_>) -> Vec<Part<'_>> {
    match node.kind() {
        Shape::Map(entries) => {
            let of = |entry: &Entry| {
                let (key, value) = (node.tree().node(entry.key), node.tree().node(entry.value));
                Part { holder: node, key: Some(key), value }
            };
            entries.iter().map(of).collect()
        }
        Shape::Seq(_) => node.items().map(|value| Part { holder: node, key: None, value }).collect(),
        _ => Vec::new(),
    }
}

/// All entries and items of a tree.
struct Parts<'t>(Vec<Part<'t>>);

impl<'t> Parts<'t> {
    fn of(tree: &'t Tree) -> Self {
        Self(tree.nodes().filter(|node| !node.is_alias()).flat_map(children).collect())
    }

    /// The one whose key or whose value stands at a place.
    fn at(&self, place: &Range<usize>, text: &str) -> Option<Part<'t>> {
        let is = |node: Node<'_>| is_at(&node.span().range(), place, text);
        let found = self.0.iter().find(|part| part.key.is_some_and(is));
        found
            .or_else(|| self.0.iter().find(|part| is(part.value) && !matches!(part.value.kind(), Shape::Map(_))))
            .copied()
    }

    /// What is left out with a value at a place: its entry; the item that names it, too, and the item `NAME=value`.
    fn whole(&self, place: &Range<usize>, text: &str) -> Option<Part<'t>> {
        let Some(part) = self.at(place, text) else {
            let states = |part: &&Part<'t>| {
                let span = part.value.span().range();
                let name = || text[span.start..place.start].trim_start_matches(['"', '\'']).strip_suffix('=');
                let named =
                    |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                part.key.is_none() && within(place, &span) && span.end - place.end <= 1 && name().is_some_and(named)
            };
            return self.0.iter().find(states).copied();
        };
        let named = part.holder.get("name").is_some() && part.key.and_then(Node::text) == Some("value");
        let item = self.holding(part.holder).filter(|item| named && item.key.is_none());
        Some(item.unwrap_or(part))
    }

    /// The one whose value a mapping or a list is.
    fn holding(&self, node: Node<'_>) -> Option<Part<'t>> {
        self.0.iter().find(|part| part.value.id() == node.id()).copied()
    }
}

/// Whether a place is all of a range, with or without its quotes.
fn is_at(range: &Range<usize>, place: &Range<usize>, text: &str) -> bool {
    range == place
        || text.get(range.clone()).is_some_and(|text| quote(text).is_some())
            && (range.start + 1..range.end - 1) == *place
}

/// Whether a container stands in brackets.
fn is_flow(node: Node<'_>, text: &str) -> bool {
    text[node.span().range().start..].starts_with(['{', '['])
}

/// Whether a written text is a value: the same text, number or truth value, a flag that is on by being there, or a name that is known with all that goes before
/// it (`nvidia/cuda` for `docker.io/nvidia/cuda`).
fn says(literal: &str, value: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let truth = |text: &str| match resolve(text, Dialect::Kubernetes) {
        Scalar::Bool(value) => Some(value),
        _ => None,
    };
    let both = number(literal).zip(number(value)).is_some_and(|(one, other)| one == other);
    let name = value.strip_suffix(literal).is_some_and(|before| before.ends_with('/')) && literal.contains('/');
    let flag = literal.starts_with('-') && value == "true";
    literal == value || flag || both || name || truth(literal).is_some() && truth(literal) == truth(value)
}

/// The quotes around a text, if it has some.
fn quote(text: &str) -> Option<char> {
    let first = text.chars().next().filter(|c| ['"', '\''].contains(c))?;
    (text.len() > 1 && text.ends_with(first)).then_some(first)
}

/// Whether a range lies within another one.
fn within(range: &Range<usize>, other: &Range<usize>) -> bool {
    other.start <= range.start && range.end <= other.end
}

fn notation(kind: Kind, text: &str) -> Notation {
    let json = kind == Kind::Json && text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    if json { Notation::Json } else { Notation::Yaml }
}

/// The documents of a YAML text that a range touches. Their marks are marks wherever they stand, in texts of many lines, too.
fn documents_around(text: &str, range: Range<usize>) -> Range<usize> {
    const MARK: &str = "\n---";
    let is_mark = |(at, _): &(usize, &str)| {
        let rest = &text[at + MARK.len()..];
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    };
    let start = text[..range.start].rmatch_indices(MARK).find(is_mark).map_or(0, |(at, _)| at + 1);
    let mut after = text[range.end..].match_indices(MARK).map(|(at, mark)| (range.end + at, mark));
    start..after.find(is_mark).map_or(text.len(), |(at, _)| at + 1)
}

/// A part of a text with edits, which are in the order of places.
fn edited(text: &str, part: Range<usize>, edits: &[Edit]) -> String {
    let mut out = text[part.clone()].to_owned();
    for (range, new) in edits.iter().rev() {
        out.replace_range(range.start - part.start..range.end - part.start, new);
    }
    out
}

/// The documents of a text, if all of it can be read.
fn documents(id: SourceId, text: &str, notation: Notation) -> Option<Tree> {
    let tree = match notation {
        Notation::Yaml => yaml::parse(id, text, Dialect::Kubernetes),
        Notation::Json => yaml::parse(id, text, Dialect::Typed),
        Notation::Toml => toml::parse(id, text),
    };
    tree.problems.is_empty().then_some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a change at the text between ‹ and › makes of a file; nothing where it is not made.
    fn changed(path: &str, kind: Kind, marked: &str, change: Change) -> Option<String> {
        let (before, rest) = marked.split_once('‹')?;
        let (at, after) = rest.split_once('›')?;
        let source = Source::new(path, [before, at, after].concat());
        let place = Span::new(SourceId(0), before.len()..before.len() + at.len());
        let was = Some(at.trim_matches(['"', '\'']).to_owned());
        let wish = Wish { title: String::new(), places: vec![(place, was)], at_fault: false, change, safe: true };
        let fix = File::new(SourceId(0), &source, kind)?.fix(&wish)?;
        Some(fix.applied(SourceId(0), &source.text))
    }

    fn yaml(marked: &str, change: Change) -> Option<String> {
        changed("a.yaml", Kind::Yaml, marked, change)
    }

    fn write(text: &str) -> Change {
        Change::Replace(text.to_owned())
    }

    fn set(key: &str, value: &str) -> Change {
        Change::Set(key.split('.').map(str::to_owned).collect(), value.to_owned())
    }

    #[test]
    fn a_text_is_replaced_as_it_is_quoted() {
        for (before, new, after) in [
            ("a: ‹b› # c\n", "d", "a: d # c\n"),
            ("a: ‹'b'›\n", "it's", "a: 'it''s'\n"),
            ("a: \"‹b›\"\n", "d", "a: \"d\"\n"),
            ("a: ‹b›\n", "true", "a: \"true\"\n"),
            ("a: ‹b›\n", "d: e", "a: \"d: e\"\n"),
            ("a: ‹1›\n", "2", "a: 2\n"),
            ("a: [-x, ‹--old›]\n", "--new", "a: [-x, --new]\n"),
            ("a: nvidia/cuda:‹12.1›-base\n", "12.4", "a: nvidia/cuda:12.4-base\n"),
            ("a: |\n  run ‹--old› x\n", "--new", "a: |\n  run --new x\n"),
        ] {
            assert_eq!(yaml(before, write(new)).as_deref(), Some(after), "{before}");
        }
        for before in [
            "a: \"‹b\\tc›\"\n",
            "a: ‹${B}›\n",
            "a: ‹b›\n c: [\n",
            "a: &x {b: ‹c›}\nd: *x\n",
            "a: &x {b: ‹c›}\nd: {<<: *x}\n",
        ] {
            assert_eq!(yaml(before, write("d")), None, "{before}");
        }
        assert_eq!(changed("a.json", Kind::Json, "{\"a\": ‹1›}", write("b")).as_deref(), Some("{\"a\": \"b\"}"));
        assert_eq!(changed("a.tf", Kind::Terraform, "a = ‹\"b\"›\n", write("c")).as_deref(), Some("a = \"c\"\n"));
        assert_eq!(changed("a.tf", Kind::Terraform, "a = ‹true›\n", write("false")).as_deref(), Some("a = false\n"));
        assert_eq!(changed("a.tf", Kind::Terraform, "locals {\n  a = ‹\"b\"›\n}\n", write("c")), None);
        let template = |marked| changed("c/templates/a.yaml", Kind::Chart, marked, write("d"));
        assert_eq!(template("{{ if .x }}\na: ‹b›\n{{ end }}\n").as_deref(), Some("{{ if .x }}\na: d\n{{ end }}\n"));
        assert_eq!(template("a: {{ .x }}-‹b›\n"), None);
    }

    #[test]
    fn what_goes_takes_its_line_and_what_holds_nothing_else() {
        for (before, after) in [
            ("a: 1\nb: ‹2› # two\nc: 3\n", "a: 1\nc: 3\n"),
            ("a: 1\nb:\n  c: ‹2›\n", "a: 1\n"),
            ("a: {b: 1, c: ‹2›}\n", "a: {b: 1}\n"),
            ("a: {b: ‹1›, c: 2}\n", "a: {c: 2}\n"),
            ("a:\n  - b: ‹1›\n    c: 2\n", "a:\n  - c: 2\n"),
            ("a:\n  - ‹b›\n  - c\n", "a:\n  - c\n"),
            ("a: 1\r\nb: ‹2›\r\n", "a: 1\r\n"),
            ("env:\n  - name: A\n    value: ‹b›\n  - name: C\n    value: d\n", "env:\n  - name: C\n    value: d\n"),
            ("environment:\n  - A=‹b›\n  - C=d\n", "environment:\n  - C=d\n"),
            ("a: run --x ‹--y› --z\n", "a: run --x --z\n"),
        ] {
            assert_eq!(yaml(before, Change::Remove).as_deref(), Some(after), "{before}");
        }
        for before in ["a: ‹1›\n", "a: [\n  b, # b\n  ‹c›,\n]\n", "a:\n  - b: ‹1›\n    # of c\n    c: 2\n"]
        {
            assert_eq!(yaml(before, Change::Remove), None, "{before}");
        }
        let block = "r \"a\" {\n  b = ‹1› # one\n  c = 2\n}\n";
        assert_eq!(changed("a.tf", Kind::Terraform, block, Change::Remove).as_deref(), Some("r \"a\" {\n  c = 2\n}\n"));
    }

    #[test]
    fn a_key_is_set_beside_in_the_style_of_its_mapping() {
        for (before, path, after) in [
            ("a:\n  b: ‹1› # one\nc: 2\n", "d", "a:\n  b: 1 # one\n  d: x\nc: 2\n"),
            ("a: ‹1›", "d.e", "a: 1\nd:\n  e: x"),
            ("a: {b: ‹1›}\n", "d.e", "a: {b: 1, d: {e: x}}\n"),
            ("- b: ‹1›\n  d: {e: 2}\n", "d.f", "- b: 1\n  d: {e: 2, f: x}\n"),
            ("‹a›:\n  - b\n  - |\n    c\nd: 1\n", "e", "a:\n  - b\n  - |\n    c\ne: x\nd: 1\n"),
            ("a: 1\r\nb: ‹2›\r\n", "c", "a: 1\r\nb: 2\r\nc: x\r\n"),
        ] {
            assert_eq!(yaml(before, set(path, "x")).as_deref(), Some(after), "{before}");
        }
        assert_eq!(yaml("a: ‹1›\nd: 2\n", set("d", "x")), None, "it is there");
        let json = "{\n  \"a\": ‹1›\n}\n";
        let set_json = changed("a.json", Kind::Json, json, set("b", "x"));
        assert_eq!(set_json.as_deref(), Some("{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n"));
        let block = "r \"a\" {\n  b = ‹1›\n}\n";
        let set_block = changed("a.tf", Kind::Terraform, block, set("c", "false"));
        assert_eq!(set_block.as_deref(), Some("r \"a\" {\n  b = 1\n  c = false\n}\n"));
    }

    #[test]
    fn documents_end_where_marks_stand_alone_at_the_start_of_a_line() {
        let text = "a: 1\n---\nb: |\n  x\n---c: 2\n ---\n--- d\n";
        let around = |word: &str| {
            let at = text.find(word).expect("it stands there");
            &text[documents_around(text, at..at + 1)]
        };
        assert_eq!(around("a"), "a: 1\n");
        assert_eq!(around("x"), "---\nb: |\n  x\n---c: 2\n ---\n");
        assert_eq!(around("d"), "--- d\n");
        assert_eq!(documents_around(text, 0..text.len()), 0..text.len());
    }
}
