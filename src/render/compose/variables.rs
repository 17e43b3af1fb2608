//! Variables of Compose: what files of them say, and texts that use them. Knows their syntax and nothing of services.

use super::{Doc, Value};
use crate::budget::{NODE, Share};
use crate::parse::INTERPOLATED;
use crate::source::{SourceId, Span, Tile, Traced};
use std::collections::{BTreeMap, HashMap};

/// Deepest nesting of defaults.
const MAX_DEPTH: usize = 16;

/// The variables of a `.env` file. Values that refer to others are left out.
pub fn variables(source: SourceId, text: &str) -> BTreeMap<&str, Traced> {
    let mut out = BTreeMap::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((key, value)) = line.split_once('=').filter(|_| !line.trim_start().starts_with('#')) else { continue };
        let from = start + key.len() + 1 + (value.len() - value.trim_start().len());
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote).and_then(|v| v.split_once(quote)).map(|(inner, _)| inner);
        let (from, value) = match quoted('"').or_else(|| quoted('\'')) {
            Some(inner) => (from + 1, inner),
            None => (from, value.split(" #").next().unwrap_or(value).trim_end()),
        };
        if !value.contains('$') {
            let span = Span::new(source, from..from + value.len());
            let key = key.trim().trim_start_matches("export ").trim();
            out.insert(key, Traced::verbatim(value, span, from));
        }
    }
    out
}

/// Replaces variables in every text.
pub(super) fn interpolate(doc: &mut Doc, variables: &BTreeMap<&str, Traced>, share: &Share) {
    if doc.open(share).is_err() {
        return;
    }
    match &mut doc.value {
        Value::Seq(items) => items.iter_mut().for_each(|item| interpolate(item, variables, share)),
        Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| interpolate(value, variables, share)),
        Value::Scalar { text, plain } if text.text().contains('$') => {
            let new = replaced(text, (variables, share), MAX_DEPTH);
            // A value that is a variable as a whole takes its type from what the variable says.
            *plain |= new.whole() != text.whole();
            doc.tag.get_or_insert_with(|| INTERPOLATED.into());
            doc.span = new.whole();
            *text = new;
        }
        _ => {}
    }
}

/// Text put together from parts.
#[derive(Default)]
struct Parts {
    text: String,
    tiles: Vec<Tile>,
}

impl Parts {
    fn push(&mut self, part: &Traced) {
        let at = self.text.len() as u32;
        self.tiles.extend(part.tiles().iter().map(|tile| Tile { at: at + tile.at, ..*tile }));
        self.text.push_str(part.text());
    }
}

/// The text with variables replaced; those without any value stay as they are written.
fn replaced(text: &Traced, known: (&BTreeMap<&str, Traced>, &Share), depth: usize) -> Traced {
    let Some(depth) = depth.checked_sub(1) else { return text.clone() };
    let (whole, mut at, mut parts) = (text.text(), 0, Parts::default());
    let closings = if known.1.make(whole.len()).is_ok() { closings(whole) } else { return text.clone() };
    while let Some(dollar) = whole[at..].find('$').map(|offset| at + offset) {
        parts.push(&text.slice(at..dollar));
        let (end, value) = variable(text, (dollar, &closings), known, depth);
        let size = value.as_ref().map_or(0, |value| value.text().len() + size_of_val(&*value.tiles()));
        if known.1.make(NODE + size).is_err() {
            break;
        }
        if let Some(value) = value {
            if dollar == 0 && end == whole.len() {
                return value;
            }
            parts.push(&value);
        } else {
            parts.push(&text.slice(dollar..end));
        }
        at = end;
    }
    parts.push(&text.slice(at..whole.len()));
    Traced::tiled(parts.text, text.whole(), parts.tiles)
}

/// Where braces close, by where they open.
fn closings(text: &str) -> HashMap<usize, usize> {
    let (mut open, mut out) = (Vec::new(), HashMap::new());
    for (at, c) in text.match_indices(['{', '}']) {
        match c {
            "{" => open.push(at),
            _ => out.extend(open.pop().map(|start| (start, at))),
        }
    }
    out
}

/// Where the variable at a dollar ends, and its value.
fn variable(
    text: &Traced,
    (dollar, closings): (usize, &HashMap<usize, usize>),
    (known, share): (&BTreeMap<&str, Traced>, &Share),
    depth: usize,
) -> (usize, Option<Traced>) {
    let rest = &text.text()[dollar + 1..];
    let letters = |text: &str| text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    // `$$` is a dollar of the container's own.
    if rest.starts_with('$') {
        return (dollar + 2, Some(text.slice(dollar..dollar + 1)));
    }
    let Some(inner) = rest.strip_prefix('{') else {
        let end = letters(rest);
        return (dollar + 1 + end, known.get(&rest[..end]).cloned());
    };
    let Some(close) = closings.get(&(dollar + 1)).map(|close| close - dollar - 2) else { return (dollar + 2, None) };
    let name = &inner[..letters(inner)];
    let operator = &inner[name.len()..close];
    let from = dollar + 2 + name.len();
    let default = |skip: usize| Some(replaced(&text.slice(from + skip..dollar + 2 + close), (known, share), depth));
    let stated = known.get(name);
    let value = match operator {
        _ if operator.starts_with(":-") => stated.filter(|v| !v.text().is_empty()).cloned().or_else(|| default(2)),
        _ if operator.starts_with('-') => stated.cloned().or_else(|| default(1)),
        _ if operator.contains('+') => None,
        _ => stated.cloned(),
    };
    (dollar + 3 + close, value)
}
