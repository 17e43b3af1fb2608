//! YAML and JSON text into a [`Tree`]. The only module that knows the YAML parser underneath.

mod errors;
mod functions;

use super::{Builder, DEEPEST, Dialect, Entry, Node, NodeId, NodeKind, Problem, Shape, Tree, scalar};
use crate::known::Why;
use crate::source::{Piece, SourceId, Span, Traced};
use functions::{either, function, long_function};
use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle, Scanner, StrInput, StructureStyle, Tag, TokenType,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Nodes that are looked at to see whether two values are the same, beside a few for each node of a file.
const EQUAL_LIMIT: usize = 10_000;

/// What the aliases of a document may stand for: so many nodes, or so many for each byte of the text.
const MOST_ALIASED: (u64, u64) = (100_000, 4);

/// Text that counts as one node where an alias stands for it.
const NODE_TEXT: usize = 64;

/// Bytes that may be read again because lines of quoted text stand too far left.
const REPAIR_LIMIT: usize = 16 << 20;

/// Reads every document of a YAML or JSON text; JSON values that follow each other are documents, too. A document with
/// an error is left out with a problem; the documents after it are read.
pub fn parse(source: SourceId, text: &str, dialect: Dialect) -> Tree {
    let mut readable = readable(text, dialect);
    for _ in 0..(REPAIR_LIMIT / text.len().max(1)).min(2000) {
        match read(source, text, &readable, dialect, true) {
            Ok(tree) => return begun(text, tree),
            Err(stray) => blanked(readable.to_mut(), &stray),
        }
    }
    read(source, text, &readable, dialect, false).unwrap_or_else(|_| Builder::new(source, dialect).finish())
}

/// Puts spaces in the place of bytes that are whole characters.
fn blanked(text: &mut String, at: &[usize]) {
    let mut bytes = std::mem::take(text).into_bytes();
    at.iter().for_each(|&at| bytes[at] = b' ');
    *text = String::from_utf8(bytes).unwrap_or_default();
}

/// What libyaml, and so Kubernetes, takes where YAML asks for another space, if an error is about that: the line break before
/// a line of quoted text that stands too far left, tabs before lines of what stands in brackets or quotes, and a comment
/// without a space before it.
fn stray(readable: &str, at: usize, why: &ErrorKind) -> Option<Vec<usize>> {
    let line = || readable[..at].rfind('\n').map_or(0, |end| end + 1);
    match why {
        ErrorKind::CommentNotSeparated => {
            let start = at + readable[at..].find('#')?;
            Some((start..readable[start..].find('\n').map_or(readable.len(), |end| start + end)).collect())
        }
        ErrorKind::InvalidQuotedScalarIndent => Some(breaks_before(readable, at)),
        // A quote after a backslash is the quote in libyaml.
        ErrorKind::UnknownQuotedScalarEscape => {
            let mut escapes = readable[at..].match_indices("\\'").map(|(escape, _)| at + escape);
            escapes.find(|escape| !is_escaped(&readable[..*escape])).map(|escape| vec![escape])
        }
        ErrorKind::TabInIndentation => Some(leading_tabs(readable, line())),
        ErrorKind::TabInBlockIndentation => {
            let line = line();
            let before = readable[..line].rfind("\n---").map_or(0, |start| start + 1);
            open_at_end(&readable[before..line]).then(|| leading_tabs(readable, line))
        }
        _ => None,
    }
}

/// Whether a backslash at the end of a text takes the meaning from what follows.
fn is_escaped(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

/// The line breaks before a line of quoted text and before those that follow it, up to where the quotes close.
fn breaks_before(text: &str, at: usize) -> Vec<usize> {
    let mut out: Vec<usize> = text[..at].rfind('\n').into_iter().collect();
    let mut start = at;
    for line in text[at..].split_inclusive('\n') {
        start += line.len();
        if line.trim_end().ends_with(['"', '\'']) || !line.ends_with('\n') {
            break;
        }
        out.push(start - 1);
    }
    out
}

/// Whether brackets or quotes are still open where a text ends.
fn open_at_end(text: &str) -> bool {
    use TokenType as T;
    let mut open = 0usize;
    for token in Scanner::with_options(StrInput::new(text), options()) {
        match token.map(|token| token.into_parts().1) {
            Ok(T::FlowMappingStart | T::FlowSequenceStart) => open += 1,
            Ok(T::FlowMappingEnd | T::FlowSequenceEnd) => open = open.saturating_sub(1),
            Ok(_) => {}
            Err(error) => return open > 0 || *error.kind() == ErrorKind::UnclosedQuotedScalar,
        }
    }
    open > 0
}

/// The tabs before the text of a line, and before that of those that follow it with such tabs.
fn leading_tabs(text: &str, line: usize) -> Vec<usize> {
    let (mut start, mut out) = (line, Vec::new());
    for line in text[line..].split_inclusive('\n') {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tabs = line[..blank].match_indices('\t').map(|(at, _)| start + at);
        let known = out.len();
        out.extend(tabs);
        if out.len() == known {
            break;
        }
        start += line.len();
    }
    out
}

/// A document in braces is read as a whole or not at all: what stands before the error, as if it were closed there.
fn begun(text: &str, tree: Tree) -> Tree {
    let broken = tree.problems.first().filter(|_| tree.documents.is_empty() && tree.unfinished.is_empty());
    // What is never closed is told where it opens.
    let end = |problem: &Problem| {
        let at = problem.span.start as usize;
        if text[at..].starts_with(['{', '[']) { text.len() } else { at }
    };
    let Some(before) = broken.and_then(|problem| text.get(..end(problem))) else { return tree };
    let mut open = Vec::new();
    let mut quoted = false;
    let mut escaped = false;
    for c in before.chars() {
        match c {
            '"' if !escaped => quoted = !quoted,
            '{' if !quoted => open.push('}'),
            '[' if !quoted => open.push(']'),
            '}' | ']' if !quoted => drop(open.pop()),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    let quote = if quoted { "\"" } else { "" };
    let closed = format!("{}{quote}{}", before.trim_end().trim_end_matches(','), String::from_iter(open.iter().rev()));
    match read(tree.source, &closed, &closed, tree.dialect, false) {
        Ok(mut again) if again.problems.is_empty() => {
            again.unfinished = std::mem::take(&mut again.documents);
            again.problems = tree.problems;
            again
        }
        _ => tree,
    }
}

/// Reads `readable`, which is as long as `text`. With `repair`, [`stray`] white space is the error.
fn read(source: SourceId, text: &str, readable: &str, dialect: Dialect, repair: bool) -> Result<Tree, Vec<usize>> {
    let mut reader = Reader {
        text,
        builder: Builder::new(source, dialect),
        source,
        stack: Vec::new(),
        anchors: BTreeMap::new(),
        aliased: 0,
        too_much: false,
        template: text.contains("Resources"),
    };
    let (mut base, mut end) = (0, readable.len());
    let mut parser = parser(readable);
    loop {
        match parser.next() {
            None | Some(Ok((Event::StreamEnd, _))) => {
                let rest = readable[end..].trim_start();
                if rest.is_empty() {
                    break;
                }
                // Behind a value of JSON that was read by itself.
                base = readable.len() - rest.len();
                if !rest.starts_with('{') {
                    reader.broken(base, &ErrorKind::ExpectedDocumentStart);
                    break;
                }
                end = base + value_end(rest);
                parser = self::parser(&readable[base..end]);
            }
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or(0..0);
                if let Event::UnresolvedAlias(name) = &event
                    && repair
                    && name.len() > 2
                    && name.ends_with(':')
                {
                    // libyaml ends the name of an alias before the colon of the key that it is: a space parts them.
                    return Err(vec![base + range.start + name.len() - 1]);
                }
                reader.event(event, base + range.start..base + range.end);
            }
            Some(Err(error)) => {
                let at = base + error.marker().byte_offset().unwrap_or(0);
                if let Some(stray) = stray(readable, at, error.kind()).filter(|_| repair) {
                    return Err(stray);
                }
                match error.kind() {
                    ErrorKind::ExpectedDocumentStart
                        if dialect == Dialect::Typed && readable[at..].starts_with('{') =>
                    {
                        (base, end) = (at, at + value_end(&readable[at..]));
                        parser = self::parser(&readable[base..end]);
                        continue;
                    }
                    _ => {}
                }
                reader.broken(at, error.kind());
                match parser.proceed_next_document() {
                    Ok(true) => {}
                    Ok(false) | Err(_) => break,
                }
            }
        }
    }
    Ok(reader.builder.finish())
}

/// The length of the value of JSON in brackets that a text starts with; all of the text where they are never closed.
fn value_end(text: &str) -> usize {
    let (mut open, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' if open <= 1 => return at + 1,
            b'}' | b']' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn options() -> Options {
    let mut options = Options::default();
    options.max_buffered_comment_events = 1 << 20;
    options.emit_unresolved_aliases = true;
    options.simple_key_max_lookahead = 1 << 16;
    options.flow_nesting_limit = DEEPEST;
    options.block_nesting_limit = DEEPEST;
    options
}

fn parser(text: &str) -> Parser<'_, StrInput<'_>> {
    Parser::new_from_str_with_options(text, options())
}

/// JSON allows the control characters from U+007F to U+009F in strings, YAML does not. The YAML that Kubernetes, Helm and
/// Compose read is 1.1, in which three more characters end a line. Stand-ins of the same length keep every span.
fn readable(text: &str, dialect: Dialect) -> Cow<'_, str> {
    if dialect == Dialect::Typed {
        return match text.contains(control) {
            true => Cow::Owned(text.replace('\u{7f}', "?").replace(control, "\u{b7}")),
            false => Cow::Borrowed(text),
        };
    }
    let text = marks_out(text);
    match text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        true => Cow::Owned(text.replace('\u{85}', " \n").replace(['\u{2028}', '\u{2029}'], "  \n")),
        false => text,
    }
}

/// Kubernetes reads each document by itself, with a byte order mark of its own if it has one: an empty line is as long.
fn marks_out(text: &str) -> Cow<'_, str> {
    const MARK: &str = "\u{feff}";
    let marks = text.match_indices(MARK).map(|(at, _)| at).filter(|&at| {
        let before = text[..at].strip_suffix('\n').map(|before| before.rsplit('\n').next().unwrap_or(before));
        before.is_some_and(|line| line.starts_with("---"))
    });
    let mut out = Cow::Borrowed(text);
    marks.for_each(|at| out.to_mut().replace_range(at..at + MARK.len(), "  \n"));
    out
}

/// What JSON allows in strings and YAML does not.
fn control(c: char) -> bool {
    ('\u{7f}'..='\u{9f}').contains(&c)
}

/// Reads YAML inside another text (a heredoc, a block scalar): spans lead to where that text stands.
pub fn parse_traced(text: &Traced, dialect: Dialect) -> Tree {
    let mut tree = parse(text.whole().source, text.text(), dialect);
    tree.retrace(text);
    tree
}

/// A container that is still open.
struct Open {
    id: NodeId,
    start: usize,
    end: usize,
    flow: bool,
    anchor: usize,
    /// What it holds so far.
    extent: Extent,
    children: Children,
}

enum Children {
    Seq(Vec<NodeId>),
    Map { entries: Vec<Entry>, key: Option<NodeId> },
}

/// How much a node holds, aliases written out.
#[derive(Debug, Clone, Copy)]
struct Extent {
    nodes: u64,
    depth: usize,
}

struct Reader<'t> {
    text: &'t str,
    source: SourceId,
    builder: Builder,
    stack: Vec<Open>,
    /// What is anchored, with how much it holds.
    anchors: BTreeMap<usize, (NodeId, Extent)>,
    /// How many nodes the aliases of the document stand for.
    aliased: u64,
    /// Whether the document is given up.
    too_much: bool,
    /// Whether the file may be a template, where a mapping with `Ref` for its only key is a reference.
    template: bool,
}

impl Reader<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.source, range)
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::DocumentStart(..) => {
                self.stack.clear();
                self.anchors.clear();
                self.aliased = 0;
                self.too_much = false;
            }
            Event::Comment(..) => {
                let span = self.span(range);
                self.builder.tree().comments.push(span);
            }
            Event::Scalar(value, style, anchor, tag) => self.scalar(&value, style, (anchor, tag.as_deref()), range),
            Event::Alias(anchor) => self.alias(anchor, range),
            // The last letter of its name made room for the space before the colon.
            Event::UnresolvedAlias(_) if matches!(self.text.as_bytes().get(range.end..), Some([last, b':', ..]) if !last.is_ascii_whitespace()) =>
            {
                let range = range.start..range.end + 1;
                let written = self.text.get(range.clone()).unwrap_or("");
                self.scalar(written, ScalarStyle::Plain, (0, None), range);
            }
            Event::UnresolvedAlias(name) => {
                self.problem(range.clone(), format!("the alias *{name} has no anchor"));
                let span = self.span(range);
                let id = self.builder.add(NodeKind::Null, span);
                self.attach(id, span.end as usize, Extent { nodes: 1, depth: 1 });
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(Children::Seq(Vec::new()), style, (anchor, tag.as_deref()), range.start);
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(
                    Children::Map { entries: Vec::new(), key: None },
                    style,
                    (anchor, tag.as_deref()),
                    range.start,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range.end),
            _ => {}
        }
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, (anchor, tag): (usize, Option<&Tag>), range: Range<usize>) {
        let implicit_null = style == ScalarStyle::Plain && value == "~" && range.is_empty();
        let written = self.text.get(range.clone()).unwrap_or("");
        // A block scalar's range runs into the indentation of the next line.
        let end = range.start + written.trim_end().len();
        let span = self.span(range.start..end);
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        // The last line of a file may lack the line end that the value would keep.
        let unended = block && range.end == self.text.len() && !written.rsplit('\n').next().is_some_and(blank);
        let value = if unended { value.strip_suffix('\n').unwrap_or(value) } else { value };
        let value = self.with_controls(written).unwrap_or(value);
        let plain = style == ScalarStyle::Plain;
        let kubernetes = self.builder.tree().dialect == Dialect::Kubernetes;
        let handed_on = || scalar::handed_on(value, plain, tag.map(full).as_deref());
        let handed_on = kubernetes.then(handed_on).flatten();
        let id = match (handed_on, content(style, span, written)) {
            _ if implicit_null => self.builder.add(NodeKind::Null, span),
            (Some((text, plain)), _) => {
                self.builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain }, span)
            }
            (_, Some((at, content))) if content == value => self.builder.scalar(value, plain, span, at),
            _ => self.builder.add(NodeKind::Scalar { text: traced(value, style, span, written), plain }, span),
        };
        let extent = Extent { nodes: 1 + (value.len() / NODE_TEXT) as u64, depth: 1 };
        self.mark(id, (anchor, extent), tag);
        if let Some(tag) = tag.filter(|t| t.handle() == "!")
            && let Some(unknown) = function(tag.suffix(), value)
        {
            self.builder.set(id, unknown, span);
        }
        self.attach(id, end, extent);
    }

    /// A JSON string whose control characters were read as stand-ins, as it is written.
    fn with_controls<'w>(&mut self, written: &'w str) -> Option<&'w str> {
        let inner = written.strip_prefix('"')?.strip_suffix('"')?;
        let typed = self.builder.tree().dialect == Dialect::Typed;
        (typed && inner.contains(control) && !inner.contains('\\')).then_some(inner)
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) {
        let span = self.span(range.clone());
        let inside_itself = self.stack.iter().any(|open| open.anchor == anchor);
        let (kind, extent) = match self.anchors.get(&anchor) {
            Some(&(target, extent)) if !inside_itself => (NodeKind::Alias(target), extent),
            _ => {
                self.problem(range.clone(), "the alias refers to the collection that it stands in".to_owned());
                (NodeKind::Null, Extent { nodes: 1, depth: 1 })
            }
        };
        let (before, most) = (self.aliased, self.most());
        self.aliased = before.saturating_add(extent.nodes);
        let deep = self.stack.len() + extent.depth > DEEPEST;
        if deep {
            self.cut(span, format!("the document is nested deeper than {DEEPEST} levels"));
        } else if before <= most && self.aliased > most {
            self.cut(span, format!("with this alias the document stands for more than {most} values"));
        }
        let id = self.builder.add(kind, span);
        self.attach(id, span.end as usize, extent);
    }

    /// Gives the document up: it is more than whoever walks it should walk.
    fn cut(&mut self, span: Span, message: String) {
        if !std::mem::replace(&mut self.too_much, true) {
            let problem = Problem { span, message };
            let tree = self.builder.tree();
            tree.problems.push(problem.clone());
            tree.cut.get_or_insert(problem);
        }
    }

    /// The most nodes that the aliases of a document may stand for: whoever walks the document walks all of them.
    fn most(&self) -> u64 {
        let (least, per_byte) = MOST_ALIASED;
        least.max(self.text.len() as u64 * per_byte)
    }

    fn open(&mut self, children: Children, style: StructureStyle, (anchor, tag): (usize, Option<&Tag>), start: usize) {
        let id = self.builder.add(NodeKind::Null, self.span(start..start));
        let (flow, extent) = (style == StructureStyle::Flow, Extent { nodes: 1, depth: 1 });
        if self.stack.len() == DEEPEST {
            let span = self.span(start..start + 1);
            self.cut(span, format!("the document is nested deeper than {DEEPEST} levels"));
        }
        // What it holds is not known before it is closed.
        self.mark(id, (0, extent), tag);
        self.stack.push(Open { id, start, end: start, flow, anchor, extent, children });
    }

    fn close(&mut self, end: usize) {
        let Some(open) = self.stack.pop() else { return };
        let end = if open.flow { end.max(open.end) } else { open.end };
        let span = self.span(open.start..end);
        let tree = self.builder.tree();
        let name = tree.node(open.id).tag().and_then(|t| t.strip_prefix('!')).map(str::to_owned);
        let called = name.as_deref().and_then(|name| function(name, ""));
        let kind = match open.children {
            // Where the text breaks off after a key.
            Children::Map { mut entries, key: Some(key) } => {
                let value = self.builder.add(NodeKind::Null, span);
                entries.push(Entry { key, value });
                NodeKind::Map(entries)
            }
            Children::Seq(items) if called.is_some() => {
                let text = name.and_then(|name| functions::text(tree, &name, &items, span));
                text.unwrap_or_else(|| either(tree, &items, called))
            }
            _ if called.is_some() => called.unwrap_or(NodeKind::Null),
            Children::Seq(items) => NodeKind::Seq(items),
            // `{{ name }}` without quotes: to YAML a mapping with a mapping for its key.
            Children::Map { .. } if open.flow && self.text[span.range()].starts_with("{{") => {
                NodeKind::Unknown(Why::Template)
            }
            Children::Map { entries, .. } => {
                long_function(self.template, tree, &entries, span).unwrap_or(NodeKind::Map(entries))
            }
        };
        let kind = self.with_unnamed(kind);
        self.builder.set(open.id, kind, span);
        self.mark(open.id, (open.anchor, open.extent), None);
        self.attach(open.id, end, open.extent);
    }

    /// A mapping with a placeholder for a key may have any key: that is a merge of what is not known.
    fn with_unnamed(&mut self, kind: NodeKind) -> NodeKind {
        let NodeKind::Map(mut entries) = kind else { return kind };
        let tree = self.builder.tree();
        let unnamed = entries.iter().find_map(|entry| {
            let key = tree.node(entry.key);
            Some((super::placeholder_key(key.text()?)?, key.span()))
        });
        if let Some((why, span)) = unnamed {
            let merge = NodeKind::Scalar { text: Traced::opaque("<<", span), plain: true };
            let key = self.builder.add(merge, span);
            let value = self.builder.add(NodeKind::Unknown(why), span);
            entries.push(Entry { key, value });
        }
        NodeKind::Map(entries)
    }

    fn mark(&mut self, id: NodeId, (anchor, extent): (usize, Extent), tag: Option<&Tag>) {
        if anchor != 0 {
            self.anchors.insert(anchor, (id, extent));
        }
        if let Some(tag) = tag {
            self.builder.tag(id, &full(tag));
        }
    }

    /// Hangs a finished node into the open container, or makes it a document.
    fn attach(&mut self, id: NodeId, end: usize, extent: Extent) {
        let Some(open) = self.stack.last_mut() else {
            let given_up = self.too_much;
            let tree = self.builder.tree();
            if given_up {
                tree.unfinished.push(id)
            } else {
                tree.documents.push(id)
            }
            return;
        };
        open.end = open.end.max(end);
        open.extent.nodes = open.extent.nodes.saturating_add(extent.nodes);
        open.extent.depth = open.extent.depth.max(1 + extent.depth);
        match &mut open.children {
            Children::Seq(items) => items.push(id),
            Children::Map { entries, key } => match key.take() {
                Some(key) => entries.push(Entry { key, value: id }),
                None => *key = Some(id),
            },
        }
    }

    fn problem(&mut self, range: Range<usize>, message: String) {
        let span = self.span(range);
        self.builder.tree().problems.push(Problem { span, message });
    }

    /// Gives the current document up.
    fn broken(&mut self, at: usize, why: &ErrorKind) {
        let whole = self.builder.tree().documents.len();
        while !self.stack.is_empty() {
            self.close(0);
        }
        let tree = self.builder.tree();
        tree.unfinished.extend(tree.documents.split_off(whole));
        self.anchors.clear();
        let place = super::visible(self.text, at..at);
        let syntax = if self.builder.tree().dialect == Dialect::Typed { "JSON" } else { "YAML" };
        self.problem(place, format!("not valid {syntax}: {}", errors::say(why)));
    }
}

/// A tag as it is usually written: those of YAML itself with `!!`.
fn full(tag: &Tag) -> String {
    let whole = format!("{}{}", tag.handle(), tag.suffix());
    whole.strip_prefix("tag:yaml.org,2002:").map(|name| format!("!!{name}")).unwrap_or(whole)
}

fn blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// What is written of a scalar within its quotes, and where that starts; `None` where every line stands by itself.
/// `written` is the text under `whole`, or runs on into the white space after it.
fn content(style: ScalarStyle, whole: Span, written: &str) -> Option<(usize, &str)> {
    let start = whole.start as usize;
    match style {
        ScalarStyle::Literal => None,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            written.get(1..written.len().saturating_sub(1)).map(|content| (start + 1, content))
        }
        _ => Some((start, written)),
    }
}

/// A scalar that does not stand in the file byte for byte.
fn traced(value: &str, style: ScalarStyle, whole: Span, written: &str) -> Traced {
    let pieces = match (style, content(style, whole, written)) {
        (ScalarStyle::Literal, _) => Some(literal_pieces(value, written, whole.start as usize)),
        (_, Some((at, content))) => folded_pieces(value, content, at),
        _ => None,
    };
    Traced::pieced(value, whole, pieces.unwrap_or_default())
}

/// Maps every line of a literal block scalar to the source line it was written on.
fn literal_pieces(value: &str, written: &str, start: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut at, mut offset) = (0, 0);
    for (line, written) in value.split_inclusive('\n').zip(written.split_inclusive('\n')) {
        let content = line.trim_end_matches(['\n', '\r']);
        let Some(indent) = written.trim_end_matches(['\n', '\r']).strip_suffix(content) else {
            return Vec::new();
        };
        pieces.push(Piece { at: at as u32, source: (start + offset + indent.len()) as u32 });
        at += line.len();
        offset += written.len();
    }
    pieces
}

/// Maps what was written on each line of a scalar whose line ends were folded; `None` if more than white space was
/// changed (escapes).
fn folded_pieces(value: &str, written: &str, start: usize) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let (mut at, mut offset) = (0, 0);
    for line in written.split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() {
            at += value[at..].len() - value[at..].trim_start().len();
            let source = start + offset + line.len() - line.trim_start().len();
            pieces.push(Piece { at: at as u32, source: source as u32 });
            at += value[at..].strip_prefix(content).map(|_| content.len())?;
        }
        offset += line.len();
    }
    value[at..].trim().is_empty().then_some(pieces)
}

/// A key that is written again in one mapping.
#[derive(Debug, PartialEq)]
pub struct Duplicate {
    /// The key.
    pub key: String,
    /// Where it is written again.
    pub span: Span,
    /// Whether it has the value that it had before.
    pub same: bool,
}

/// Keys written twice in one mapping. A merged key that is overridden is no duplicate.
pub fn duplicate_keys(tree: &Tree) -> Vec<Duplicate> {
    let mut out: Vec<Duplicate> = Vec::new();
    let mut left = EQUAL_LIMIT + 4 * tree.len();
    for node in tree.nodes() {
        let Shape::Map(entries) = node.kind() else { continue };
        let mut seen: BTreeMap<&str, Node<'_>> = BTreeMap::new();
        for entry in entries {
            let (key, value) = (tree.node(entry.key), tree.node(entry.value));
            let Some(text) = key.text().filter(|t| *t != "<<") else { continue };
            if let Some(first) = seen.insert(text, value) {
                // Enough is told of a file that has no end of them.
                let most = left.min(EQUAL_LIMIT);
                if most == 0 {
                    break;
                }
                let mut rest = most;
                let same = equal(first, value, DEEPEST, &mut rest);
                left -= most - rest;
                out.push(Duplicate { key: text.to_owned(), span: key.span(), same });
            }
        }
    }
    out.sort_by_key(|duplicate| duplicate.span);
    out.dedup();
    out
}

/// Whether two values say the same, down to `depth` and as far as `nodes` lets it look: aliases may multiply.
fn equal(a: Node<'_>, b: Node<'_>, depth: usize, nodes: &mut usize) -> bool {
    let (Some(depth), Some(left)) = (depth.checked_sub(1), nodes.checked_sub(1)) else { return false };
    *nodes = left;
    match (a.kind(), b.kind()) {
        (Shape::Map(_), Shape::Map(_)) => {
            let (a, b) = (a.entries(), b.entries());
            let mut same = |a, b| equal(a, b, depth, nodes);
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a.0, b.0) && same(a.1, b.1))
        }
        (Shape::Seq(a_items), Shape::Seq(b_items)) => {
            a_items.len() == b_items.len() && a.items().zip(b.items()).all(|(a, b)| equal(a, b, depth, nodes))
        }
        _ => a.tag() == b.tag() && a.scalar().is_some() && a.scalar() == b.scalar(),
    }
}

/// The first document's root, for files that hold one document.
pub fn root(tree: &Tree) -> Option<Node<'_>> {
    tree.roots().next()
}

#[cfg(test)]
mod tests;
