//! The embedded tables and version ranges. Knows no column by name.

use crate::version::Version;
use std::str::FromStr;
use std::sync::OnceLock;

/// A table of `rules/catalog/`, read on first use; its fields are slices of the embedded text.
pub(super) struct Table {
    text: &'static str,
    cells: OnceLock<Cells>,
}

struct Cells {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    header: &'static [&'static str],
    fields: &'static [&'static str],
}

impl Table {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, cells: OnceLock::new() }
    }

    /// The rows in the order of the file.
    pub(super) fn rows(&'static self) -> impl Iterator<Item = Row> + Clone {
        let cells = self.cells.get_or_init(|| {
            let mut lines = self.text.lines();
            Cells { header: lines.next().map(fields).unwrap_or_default(), rows: lines.map(fields).collect() }
        });
        cells.rows.iter().map(|fields| Row { header: &cells.header, fields })
    }

    /// The first row whose column is exactly this.
    pub(super) fn find(&'static self, column: &str, value: &str) -> Option<Row> {
        self.rows().find(|r| r.text(column) == value)
    }
}

impl Row {
    /// The text of a column; empty when the table has no such column.
    pub(super) fn text(self, column: &str) -> &'static str {
        let index = self.header.iter().position(|name| *name == column);
        index.and_then(|i| self.fields.get(i)).copied().unwrap_or("")
    }

    /// The text of a column that is not blank.
    pub(super) fn filled(self, column: &str) -> Option<&'static str> {
        Some(self.text(column)).filter(|text| !text.is_empty())
    }

    pub(super) fn version(self, column: &str) -> Option<Version> {
        Version::parse(self.text(column))
    }

    pub(super) fn number<T: FromStr>(self, column: &str) -> Option<T> {
        self.text(column).parse().ok()
    }

    pub(super) fn flag(self, column: &str) -> Option<bool> {
        self.number(column)
    }

    pub(super) fn words(self, column: &str) -> impl Iterator<Item = &'static str> + Clone {
        self.text(column).split_ascii_whitespace()
    }

    /// Whether the row's `versions` range holds a version; a blank range holds all.
    pub(super) fn holds(self, version: &Version) -> bool {
        within(version, self.text("versions"))
    }
}

/// The fields of a line; quotes are kept off. The tables hold no line ends and no quotes within fields.
fn fields(line: &'static str) -> Vec<&'static str> {
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        let (field, tail) = match rest.strip_prefix('"') {
            Some(quoted) => match quoted.find('"') {
                Some(end) => (&quoted[..end], quoted[end + 1..].strip_prefix(',')),
                None => (quoted, None),
            },
            None => match rest.split_once(',') {
                Some((field, tail)) => (field, Some(tail)),
                None => (rest, None),
            },
        };
        out.push(field);
        match tail {
            Some(tail) => rest = tail,
            None => return out,
        }
    }
}

/// Whether a version lies in a range: clauses (`>=0.6.5 <0.8.5`, `==2.1.*`) separated by blanks or commas.
pub fn within(version: &Version, range: &str) -> bool {
    range.split([' ', ',']).filter(|clause| !clause.is_empty()).all(|clause| satisfies(version, clause))
}

fn satisfies(version: &Version, clause: &str) -> bool {
    let (operator, bound) = clause.split_at(clause.len() - clause.trim_start_matches(['<', '>', '=', '!', '~']).len());
    let Some(parsed) = Version::parse(bound.trim_end_matches(".*")) else { return false };
    let equal = if bound.ends_with(".*") { version.starts_with(&parsed) } else { *version == parsed };
    match operator {
        ">=" => *version >= parsed,
        "<=" => *version <= parsed,
        ">" => *version > parsed,
        "<" => *version < parsed,
        "!=" => !equal,
        "~=" => *version >= parsed && version.release().starts_with(&parsed.release()[..parsed.release().len() - 1]),
        "" | "=" | "==" => equal,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let inside = |version, range| within(&Version::parse(version).expect("version"), range);
        assert!(inside("0.8.4", ">=0.6.5 <0.8.5"));
        assert!(!inside("0.8.5", ">=0.6.5 <0.8.5"));
        assert!(inside("2.1.2", "==2.1.*") && !inside("2.10.0", "==2.1.*"));
        assert!(inside("3.11", ">=3.9,<3.13") && inside("1.0", ""));
        assert!(inside("2.4.1", "~=2.1") && !inside("3.0", "~=2.1") && !inside("2.2.0", "~=2.1.0"));
        assert!(!inside("1.0", "nonsense"));
    }
}
