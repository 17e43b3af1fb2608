//! The embedded tables and version ranges. Knows no column by name but those that tell where a row comes from.

use crate::evidence;
use crate::version::Version;
use regex::Regex;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The fields of all tables, one behind the other.
static TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/catalog.txt"));

/// A table of `rules/catalog/`; its fields are slices of the embedded text.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    layout: &'static Layout,
    declared: &'static str,
    columns: OnceLock<Vec<Column>>,
}

/// Where the fields of a table stand in the text, found at build time.
#[derive(Debug)]
pub(super) struct Layout {
    /// How many fields a line has.
    width: usize,
    /// Where the lines start, the header first.
    lines: &'static [u32],
    /// Where in its line each field ends.
    ends: &'static [u16],
}

#[allow(non_upper_case_globals, missing_docs)] // named as the files
pub(super) mod layouts {
    use super::Layout;
    include!(concat!(env!("OUT_DIR"), "/layouts.rs"));
}

/// Declares the tables by their files and columns (see `tables.rs`), and the list of all of them.
macro_rules! tables {
    ($($constant:ident $name:ident $columns:literal;)*) => {
        $(pub(super) static $constant: Table = Table::new(
            stringify!($name),
            &super::table::layouts::$name,
            $columns,
        );)*

        /// Every table.
        pub(super) static ALL: &[&Table] = &[$(&$constant),*];
    };
}
pub(super) use tables;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Text, words, dates, ranges.
    Text,
    /// A number.
    Number,
    /// true or false.
    Flag,
    /// A version.
    Version,
}

/// What a cell says.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text, words, dates, ranges.
    Text(&'static str),
    /// A number.
    Number(f64),
    /// true or false.
    Flag(bool),
    /// A version.
    Version(Version),
}

/// A declared column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    key: bool,
    /// Whether rows are found by it: reading it is not yet using the row.
    finds: bool,
    holds: &'static str,
}

impl Column {
    fn read(written: &'static str) -> Self {
        let (name, holds) = written.split_once(':').unwrap_or((written, ""));
        let plain = name.trim_end_matches(['*', '+']);
        Self { name: plain, key: name.ends_with('*'), finds: name != plain, holds }
    }

    pub(super) fn kind(&self) -> Holds {
        match self.holds {
            "version" => Holds::Version,
            "flag" => Holds::Flag,
            holds if holds.contains("..") => Holds::Number,
            _ => Holds::Text,
        }
    }

    /// Whether a field of this key column is meant by a text.
    fn fits(&self, field: &str, text: &str) -> bool {
        let version = || Version::parse(text);
        match self.holds {
            "version" => Version::parse(field) == version(),
            "range" => version().is_some_and(|version| within(&version, field)),
            _ => field == text || field.split_ascii_whitespace().any(|word| word == text),
        }
    }
}

/// What every table has behind its own columns. Where a row comes from is not embedded.
const EVIDENCE: &str = "evidence";

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    table: &'static Table,
    line: u32,
    ends: &'static [u16],
}

impl Table {
    pub(super) const fn new(name: &'static str, layout: &'static Layout, declared: &'static str) -> Self {
        Self { name, layout, declared, columns: OnceLock::new() }
    }

    fn columns(&'static self) -> &'static [Column] {
        self.columns
            .get_or_init(|| self.declared.split_ascii_whitespace().chain([EVIDENCE]).map(Column::read).collect())
    }

    fn lines(&'static self) -> impl Iterator<Item = Row> + Clone {
        let fields = self.layout.lines.iter().zip(self.layout.ends.chunks_exact(self.layout.width));
        fields.map(move |(line, ends)| Row { table: self, line: *line, ends })
    }

    /// The rows in the order of the file.
    pub(super) fn rows(&'static self) -> impl Iterator<Item = Row> + Clone {
        self.lines().skip(1)
    }

    /// The rows whose first column is exactly this, in a table that is sorted by it.
    pub(super) fn about(&'static self, first: &str) -> impl Iterator<Item = Row> + Clone {
        let row = move |at: usize| Row {
            table: self,
            line: self.layout.lines[at],
            ends: &self.layout.ends[at * self.layout.width..][..self.layout.width],
        };
        let before = |name: &str, to: bool| {
            let (mut low, mut high) = (1, self.layout.lines.len());
            while low < high {
                let middle = low.midpoint(high);
                match row(middle).field(0).cmp(name) {
                    Ordering::Less => low = middle + 1,
                    Ordering::Equal if to => low = middle + 1,
                    _ => high = middle,
                }
            }
            low
        };
        (before(first, false)..before(first, true)).map(row)
    }

    /// Whether the first column of some row is exactly this.
    pub(super) fn names(&'static self, name: &str) -> bool {
        self.rows().any(|row| row.field(0) == name)
    }

    /// The first row whose column is exactly this.
    pub(super) fn find(&'static self, column: &str, value: &str) -> Option<Row> {
        self.rows().find(|r| r.text(column) == value)
    }

    pub(super) fn column(&'static self, name: &str) -> Option<&'static Column> {
        self.columns().iter().find(|column| column.name == name)
    }

    /// The columns that rows are told apart by.
    pub(super) fn keys(&'static self) -> impl Iterator<Item = &'static Column> {
        self.columns().iter().filter(|column| column.key)
    }

    /// The columns that are no keys and tell nothing of where a row comes from.
    pub(super) fn values(&'static self) -> impl Iterator<Item = &'static Column> {
        self.columns().iter().filter(|column| !column.key && column.name != EVIDENCE)
    }

    /// The first row with these keys.
    pub(super) fn by_keys(&'static self, keys: &[String]) -> Option<Row> {
        let columns = || self.columns().iter().enumerate().filter(|(_, column)| column.key);
        let fits = |row: &Row| columns().zip(keys).all(|((i, column), key)| column.fits(row.field(i), key));
        self.rows().find(fits)
    }

    /// What the file says against the declaration.
    pub(super) fn faults(&'static self) -> Vec<String> {
        let mut out = Vec::new();
        let header: Vec<&str> = self.lines().take(1).flat_map(Row::fields).collect();
        let declared: Vec<&str> = self.columns().iter().map(|c| c.name).collect();
        if header != declared {
            out.push(format!("{}: the header is {header:?}, declared are {declared:?}", self.name));
            return out;
        }
        for row in self.rows() {
            for (column, field) in self.columns().iter().zip(row.fields()).filter(|(_, field)| !field.is_empty()) {
                if !holds(column.holds, field) {
                    out.push(format!("{}.{}: {field} is not {}", self.name, column.name, column.holds));
                }
            }
        }
        let key = |row: Row| -> Vec<&'static str> {
            self.columns().iter().zip(row.fields()).filter(|(c, _)| c.key).map(|(_, field)| field).collect()
        };
        for (row, next) in self.rows().zip(self.rows().skip(1)).filter(|(row, next)| key(*row) >= key(*next)) {
            out.push(format!("{}: {:?} stands before {:?}", self.name, key(row), key(next)));
        }
        out
    }
}

/// Whether a field holds what its column is declared to.
fn holds(declared: &str, field: &str) -> bool {
    match declared {
        "" => true,
        "version" => Version::parse(field).is_some(),
        "range" => field.split([' ', ',']).filter(|clause| !clause.is_empty()).all(|clause| {
            let bound = clause.trim_start_matches(['<', '>', '=', '!', '~']).trim_end_matches(".*");
            Version::parse(bound).is_some()
        }),
        "pattern" => Regex::new(field).is_ok(),
        "flag" => field.parse::<bool>().is_ok(),
        "date" => {
            let mut parts = field.split('-');
            let year = parts.next().is_some_and(|y| y.len() == 4 && y.parse::<u16>().is_ok());
            year && parts.all(|part| part.len() == 2 && part.parse::<u8>().is_ok())
        }
        _ => match declared.split_once("..") {
            Some((least, most)) => field.parse::<f64>().is_ok_and(|number| {
                let least = least.parse().unwrap_or(f64::NEG_INFINITY);
                (least..=most.parse().unwrap_or(f64::INFINITY)).contains(&number)
            }),
            None => declared.split('|').any(|word| word == field),
        },
    }
}

impl Row {
    fn field(self, index: usize) -> &'static str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let line = self.line as usize;
        &TEXT[line + start as usize..line + self.ends[index] as usize]
    }

    fn fields(self) -> impl Iterator<Item = &'static str> {
        (0..self.table.layout.width).map(move |index| self.field(index))
    }

    /// The text of a column. Reading what rows are not found by is using the row.
    pub(super) fn text(self, column: &str) -> &'static str {
        let columns = &self.table.columns();
        let index = columns.iter().position(|c| c.name == column);
        debug_assert!(index.is_some(), "{} declares no column {column}", self.table.name);
        if index.is_some_and(|i| !columns[i].finds) {
            self.used();
        }
        index.map_or("", |i| self.field(i))
    }

    /// What a cell says, if it is not blank.
    pub(super) fn cell(self, column: &Column) -> Option<Cell> {
        let text = self.filled(column.name)?;
        match column.kind() {
            Holds::Text => Some(Cell::Text(text)),
            Holds::Number => text.parse().ok().map(Cell::Number),
            Holds::Flag => text.parse().ok().map(Cell::Flag),
            Holds::Version => Version::parse(text).map(Cell::Version),
        }
    }

    /// Notes that an answer rests on this row.
    pub(super) fn used(self) {
        if self.field(self.ends.len() - 1) == "unread" {
            evidence::note_unread();
        }
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

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.table.name, self.fields().collect::<Vec<_>>())
    }
}

/// A row with the pattern in one of its columns, which is compiled when it is asked for.
pub(super) struct Patterned {
    pub(super) row: Row,
    column: &'static str,
    pattern: OnceLock<Option<Regex>>,
}

impl Patterned {
    /// The rows of a table.
    pub(super) fn all(table: &'static Table, column: &'static str) -> Vec<Self> {
        table.rows().map(|row| Self { row, column, pattern: OnceLock::new() }).collect()
    }

    /// The pattern.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.pattern.get_or_init(|| Regex::new(self.row.filled(self.column)?).ok()).as_ref()
    }

    /// Whether the row is about a text; without a pattern it is about all.
    pub(super) fn is_about(&self, text: &str) -> bool {
        self.row.filled(self.column).is_none() || self.pattern().is_some_and(|pattern| pattern.is_match(text))
    }
}

/// The row with the longest of the names in a column that fit a text, whatever the case of its letters: the most specific
/// one. In a name `*` stands for any text.
pub(super) fn closest(rows: impl Iterator<Item = Row>, column: &str, text: &str) -> Option<Row> {
    let lower = text.to_lowercase();
    let length = |row: Row| row.words(column).filter(|name| fits(name, &lower)).map(str::len).max();
    rows.filter_map(|row| Some((length(row)?, row))).max_by_key(|(length, _)| *length).map(|(_, row)| row)
}

fn fits(name: &str, text: &str) -> bool {
    let Some((start, rest)) = name.split_once('*') else { return name == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
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
