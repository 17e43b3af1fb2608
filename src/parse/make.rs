//! Makefiles: what the recipes of their rules give to a shell, with the variables of make put in, and where each part was
//! written. Knows rules, variables and conditionals of make; runs nothing and knows no program.

use crate::budget::{STEP, Share};
use crate::parse::Problem;
use crate::source::{SourceId, Span, Tile, Traced};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Variables within variables.
const MAX_DEPTH: u32 = 16;

/// What a Makefile gives to shells.
#[derive(Debug, Default)]
pub struct Makefile {
    /// The lines of its recipes, each with the number of the shell that it goes to: one of its own, or with `.ONESHELL` that
    /// of its rule. What is not known of a variable stands as `${NAME}`.
    pub recipes: Vec<(u32, Traced)>,
    /// The variables that all shells are handed, with what they are; as `${NAME}` if that is not known.
    pub exported: Vec<(String, Traced)>,
    /// What its variables are set to, each time that one is set to what stands on one line, whatever comes of it later.
    pub variables: Vec<(String, Traced)>,
    /// Its comments.
    pub comments: Vec<Span>,
    /// From where on recipes are not read, if too much is made of them.
    pub cut: Option<Problem>,
}

/// Reads a Makefile. Never fails: what is not understood is left out.
pub fn parse(id: SourceId, text: &str) -> Makefile {
    let mut reader = Reader {
        id,
        text,
        share: Share::least(text.len()),
        variables: Variables::new(),
        stated: Vec::new(),
        of_targets: BTreeSet::new(),
        exported: BTreeMap::new(),
        exports_all: false,
        includes: false,
        one_shell: false,
        rules: 0,
        recipes: Vec::new(),
        comments: Vec::new(),
    };
    reader.run();
    let whole = Traced::verbatim(text, Span::new(id, 0..text.len()), 0);
    let mut out = Makefile { comments: std::mem::take(&mut reader.comments), ..Makefile::default() };
    let cut = |place: Span| {
        let spent = reader.share.spent()?;
        Some(Problem { span: place, message: format!("recipes from here on: {spent}") })
    };
    for (line, (rule, range)) in reader.recipes.iter().enumerate() {
        let recipe = whole.join(&shell_parts(text, range.clone()), Span::new(id, range.clone()));
        let text = reader.expanded(&recipe);
        out.cut = cut(recipe.whole());
        if out.cut.is_some() {
            return out;
        }
        out.recipes.push((if reader.one_shell { *rule } else { line as u32 }, text));
    }
    for (name, place) in &reader.exported {
        let value = Traced::opaque(format!("$({name})"), *place);
        out.exported.push(((*name).to_owned(), reader.expanded(&value)));
    }
    for (name, part) in &reader.stated {
        out.variables.push(((*name).to_owned(), reader.expanded(part)));
    }
    out.cut = cut(whole.whole());
    out
}

/// What a variable holds.
#[derive(Debug)]
enum Value {
    /// Parts that a space separates, with variables that are put in where it is used.
    Parts(Vec<Traced>),
    /// A text that had its variables put in where it was assigned.
    Text(Traced),
    /// It may be anything.
    Open,
}

type Variables<'t> = BTreeMap<&'t str, Value>;

struct Reader<'t> {
    id: SourceId,
    text: &'t str,
    share: Share,
    variables: Variables<'t>,
    /// What is assigned on one line, in order.
    stated: Vec<(&'t str, Traced)>,
    /// Those that are another for some targets.
    of_targets: BTreeSet<&'t str>,
    /// Those that shells are handed, and where that is said.
    exported: BTreeMap<&'t str, Span>,
    /// Whether they are handed all of them.
    exports_all: bool,
    /// Whether files were included that may have set any.
    includes: bool,
    one_shell: bool,
    rules: u32,
    recipes: Vec<(u32, Range<usize>)>,
    comments: Vec<Span>,
}

impl<'t> Reader<'t> {
    fn run(&mut self) {
        // How deep in conditionals; whether a recipe may follow, or the lines of a variable.
        let (mut conditions, mut rule, mut define) = (0_usize, false, false);
        let mut at = 0;
        while at < self.text.len() {
            let range = self.line(at);
            at = range.end + 1;
            let line = &self.text[range.clone()];
            let trimmed = line.trim_start();
            let word = trimmed.split(char::is_whitespace).next().unwrap_or_default();
            if define {
                define = word != "endef";
            } else if line.starts_with('\t') && rule {
                self.recipes.push((self.rules, range));
            } else if trimmed.starts_with('#') {
                let start = range.end - trimmed.len();
                self.comments.push(Span::new(self.id, start..start + trimmed.trim_end().len()));
            } else {
                match word {
                    "" | "else" | "vpath" => {}
                    // What is read there may set any of those that are set so far.
                    "include" | "-include" | "sinclude" => {
                        self.includes = true;
                        self.variables.clear();
                    }
                    "undefine" => drop(self.variables.insert(trimmed[word.len()..].trim(), Value::Open)),
                    "export" | "unexport"
                        if assignment(without_modifiers(trimmed)).is_none() && !trimmed.contains(':') =>
                    {
                        self.export(&trimmed[word.len()..], word == "export", range);
                    }
                    "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions += 1,
                    "endif" => conditions = conditions.saturating_sub(1),
                    _ => (rule, define) = self.statement(range, conditions > 0),
                }
            }
        }
    }

    /// The logical line from a place on, without its end: a backslash goes on in the next line.
    fn line(&self, from: usize) -> Range<usize> {
        let mut at = from;
        loop {
            let end = self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline);
            let line = self.text[at..end].trim_end_matches('\r');
            let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if slashes % 2 == 0 || end == self.text.len() {
                return from..end;
            }
            at = end + 1;
        }
    }

    /// An assignment, or the line of a rule; whether a recipe may follow, and whether the lines of a variable do.
    fn statement(&mut self, range: Range<usize>, open: bool) -> (bool, bool) {
        let line = &self.text[range.clone()];
        let rest = without_modifiers(line.trim_start());
        let exports = |line: &str, rest: &str| line[..line.len() - rest.len()].contains("export ");
        let start = range.end - rest.len();
        if let Some(name) = rest.strip_prefix("define ") {
            self.variables.insert(name.split([' ', '=', ':', '?', '+']).next().unwrap_or_default(), Value::Open);
            return (false, true);
        }
        if let Some((name, operator, value)) = assignment(rest) {
            if exports(line, rest) || self.exports_all {
                self.exported.insert(name, Span::new(self.id, start..start + name.len()));
            }
            self.assign(name, operator, start + value..range.end, open);
            return (false, false);
        }
        let Some(colon) = rest.find(':') else { return (false, false) };
        let behind = rest[colon..].trim_start_matches(':');
        let specific = without_modifiers(behind.trim_start());
        if let Some((name, ..)) = assignment(specific) {
            self.of_targets.insert(name);
            if exports(behind, specific) {
                self.exported.insert(name, Span::new(self.id, range));
            }
            return (false, false);
        }
        self.one_shell |= rest[..colon].trim() == ".ONESHELL";
        self.rules += 1;
        let recipe = behind.find(';').filter(|at| !behind[..*at].contains('#'));
        self.recipes.extend(recipe.map(|at| (self.rules, range.end - behind.len() + at + 1..range.end)));
        (true, false)
    }

    fn assign(&mut self, name: &'t str, operator: &str, value: Range<usize>, open: bool) {
        let immediate = operator.starts_with(':');
        let parts = self.value(value);
        if let ([part], false) = (&parts[..], operator == "!=") {
            self.stated.push((name, part.clone()));
        }
        let parts = (!open && operator != "!=").then_some(parts);
        let value = match (parts, operator) {
            (_, "?=") if self.variables.contains_key(name) => return,
            (None, _) => Value::Open,
            (_, "?=") if self.includes => Value::Open,
            (Some(parts), "+=") => match self.variables.remove(name) {
                Some(Value::Parts(before)) => Value::Parts([before, parts].concat()),
                Some(Value::Text(before)) => self.immediate([vec![before], self.each(&parts)].concat()),
                None if !self.includes => Value::Parts(parts),
                Some(Value::Open) | None => Value::Open,
            },
            (Some(parts), _) if immediate => self.immediate(self.each(&parts)),
            (Some(parts), _) => Value::Parts(parts),
        };
        self.variables.insert(name, value);
    }

    /// Names that shells are handed from here on, or no more.
    fn export(&mut self, names: &'t str, exports: bool, line: Range<usize>) {
        let place = Span::new(self.id, line);
        let all = names.trim().is_empty();
        if all && self.share.work(STEP * self.variables.len()).is_err() {
            return;
        }
        self.exports_all = if all { exports } else { self.exports_all };
        let all: Vec<&str> = self.variables.keys().copied().filter(|_| all).collect();
        for name in names.split_whitespace().chain(all) {
            if exports {
                self.exported.insert(name, place);
            } else {
                self.exported.remove(name);
            }
        }
    }

    /// A text with its variables put in, as they are now.
    fn expanded(&self, text: &Traced) -> Traced {
        let mut shell = Shell { reader: self, text: String::new(), tiles: Vec::new() };
        shell.put(text, None, MAX_DEPTH);
        Traced::tiled(shell.text, text.whole(), shell.tiles)
    }

    fn each(&self, parts: &[Traced]) -> Vec<Traced> {
        parts.iter().map(|part| self.expanded(part)).collect()
    }

    /// Parts that hold no variables any more.
    fn immediate(&self, parts: Vec<Traced>) -> Value {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Value::Parts(vec![]) };
        let whole = first.whole().to(last.whole());
        let length: usize = parts.iter().map(|part| part.text().len() + 1).sum();
        if self.share.make(length).is_err() {
            return Value::Open;
        }
        let blanks = parts.into_iter().flat_map(|part| [Traced::opaque(" ", part.whole()), part]).skip(1);
        Value::Text(Traced::concat(blanks, whole))
    }

    /// The text of a value, in whose lines only one blank remains of a continuation.
    fn value(&self, range: Range<usize>) -> Vec<Traced> {
        let written = &self.text[range.clone()];
        let comment = written.match_indices('#').find(|(at, _)| !written[..*at].ends_with('\\'));
        let written = comment.map_or(written, |(at, _)| &written[..at]);
        let mut start = range.start;
        let mut out = Vec::new();
        for line in written.split_inclusive('\n') {
            let text = line.trim_end().trim_end_matches('\\').trim_end();
            let from = start + (text.len() - text.trim_start().len());
            let span = Span::new(self.id, from..start + text.len());
            if !span.range().is_empty() {
                out.push(Traced::verbatim(&self.text[span.range()], span, from));
            }
            start += line.len();
        }
        out
    }
}

/// A line behind what says how a variable is handed on.
fn without_modifiers(mut line: &str) -> &str {
    while let Some(rest) =
        ["export ", "unexport ", "override ", "private "].iter().find_map(|word| line.strip_prefix(word))
    {
        line = rest.trim_start();
    }
    line
}

/// The name and the operator of an assignment, and where its value starts.
fn assignment(line: &str) -> Option<(&str, &str, usize)> {
    let end = line.find(|c: char| c.is_whitespace() || "=:?+!#$".contains(c)).filter(|end| *end > 0)?;
    let behind = line[end..].trim_start();
    let operator = [":::=", "::=", ":=", "?=", "+=", "!=", "="].iter().find(|sign| behind.starts_with(**sign))?;
    let value = behind[operator.len()..].trim_start_matches([' ', '\t']);
    Some((&line[..end], operator, line.len() - value.len()))
}

/// What of a recipe goes to the shell: without signs for make and the tabs of its further lines.
fn shell_parts(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let line = &text[range.clone()];
    let mut from = range.end - line.trim_start_matches(['\t', ' ', '@', '-', '+']).len();
    let mut out = Vec::new();
    while let Some(newline) = text[from..range.end].find("\n\t").map(|at| from + at) {
        out.push(from..newline + 1);
        from = newline + 2;
    }
    out.push(from..range.end);
    out
}

/// What a shell is given.
struct Shell<'v> {
    reader: &'v Reader<'v>,
    text: String,
    tiles: Vec<Tile>,
}

impl Shell<'_> {
    /// Adds a text with its variables put in; `used` is the place in the recipe that asks for it.
    fn put(&mut self, text: &Traced, used: Option<Span>, depth: u32) {
        let whole = text.text();
        let mut at = 0;
        while let Some(dollar) = whole[at..].find('$').map(|found| at + found) {
            self.verbatim(text, at..dollar, used);
            let Some(reference) = reference(&whole[dollar..]) else {
                at = dollar;
                break;
            };
            let place = used.unwrap_or_else(|| text.span(dollar..dollar + reference.length));
            at = dollar + reference.length;
            match reference.name {
                Name::Dollar => self.verbatim(text, at - 1..at, used),
                Name::Shell(command) if depth > 0 => {
                    self.opaque("$(", place);
                    self.put(&text.slice(at - 1 - command..at - 1), used, depth - 1);
                    self.opaque(")", place);
                }
                Name::Variable(name) => self.variable(name, place, depth),
                Name::Shell(_) | Name::Other => self.opaque("${make}", place),
            }
            if self.reader.share.work(STEP).is_err() {
                return;
            }
        }
        self.verbatim(text, at..whole.len(), used);
    }

    fn variable(&mut self, name: &str, place: Span, depth: u32) {
        match self.reader.variables.get(name).filter(|_| !self.reader.of_targets.contains(name)) {
            Some(Value::Text(text)) => self.verbatim(text, 0..text.text().len(), Some(place)),
            Some(Value::Parts(parts)) if depth > 0 => {
                for (n, part) in parts.iter().enumerate() {
                    if n > 0 {
                        self.opaque(" ", place);
                    }
                    self.put(part, Some(place), depth - 1);
                }
            }
            _ => {
                let name = format!("${{{name}}}");
                self.opaque(&name, place);
            }
        }
    }

    fn verbatim(&mut self, text: &Traced, range: Range<usize>, used: Option<Span>) {
        if range.is_empty() || self.reader.share.make(range.len()).is_err() {
            return;
        }
        let part = text.slice(range);
        let at = self.text.len() as u32;
        self.tiles.extend(part.tiles().iter().map(|tile| Tile { at: tile.at + at, used, ..*tile }));
        self.text.push_str(part.text());
    }

    fn opaque(&mut self, text: &str, place: Span) {
        if self.reader.share.make(text.len() + size_of::<Tile>()).is_ok() {
            self.tiles.push(Tile { at: self.text.len() as u32, from: place, verbatim: false, used: None });
            self.text.push_str(text);
        }
    }
}

/// What begins with a `$`, and how long it is.
struct Reference<'t> {
    name: Name<'t>,
    length: usize,
}

enum Name<'t> {
    /// `$$`
    Dollar,
    /// `$(NAME)`, `${NAME}`, `$N`
    Variable(&'t str),
    /// `$(shell COMMAND)`: so many bytes of a command.
    Shell(usize),
    /// Functions, and what a rule knows of its target.
    Other,
}

fn reference(text: &str) -> Option<Reference<'_>> {
    let sign = text[1..].chars().next()?;
    let close = match sign {
        '$' => return Some(Reference { name: Name::Dollar, length: 2 }),
        '(' => ')',
        '{' => '}',
        c => {
            let length = 1 + c.len_utf8();
            let name = if c.is_ascii_alphabetic() { Name::Variable(&text[1..length]) } else { Name::Other };
            return Some(Reference { name, length });
        }
    };
    let mut depth = 0_usize;
    let end = text.char_indices().skip(1).find_map(|(at, c)| {
        depth += usize::from(c == sign);
        depth -= usize::from(c == close && depth > 0);
        (c == close && depth == 0).then_some(at)
    })?;
    let inner = &text[2..end];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let name = match inner.strip_prefix("shell ") {
        Some(command) => Name::Shell(command.len()),
        None if !inner.is_empty() && inner.chars().all(plain) => Name::Variable(inner),
        None => Name::Other,
    };
    Some(Reference { name, length: end + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(text: &str) -> Vec<String> {
        parse(SourceId(0), text).recipes.iter().map(|(_, recipe)| recipe.text().to_owned()).collect()
    }

    #[test]
    fn recipes_have_the_variables_of_make() {
        for (text, expected) in [
            ("all: a b\n\t@echo $(shell pwd) $$HOME\n\n\t-run\nother = 1\n\tlost\n", vec!["echo $(pwd) $HOME", "run"]),
            ("TAG ?= 1.2\nIMAGE = org/x:$(TAG) # why\nrun:\n\tdocker run ${IMAGE}\n", vec!["docker run org/x:1.2"]),
            ("A := 1\nA = 2\nx: ; echo $(A) $A $(B)\n", vec!["echo 2 2 ${B}"]),
            (
                "ARGS = --x \\\n   --y\nARGS += --z\nx:\n\trun $(ARGS) \\\n\t\t--last\n",
                vec!["run --x --y --z \\\n\t--last"],
            ),
            ("ifdef X\nA = 1\nelse\nA = 2\nendif\nx:\nifdef X\n\trun $(A)\nendif\n", vec!["run ${A}"]),
            ("define A\nx: y\n\trun\nendef\nx: A = 3\nx:\n\trun $(A) $@ $(B:a=b)\n", vec!["run ${A} ${make} ${make}"]),
            ("A = $(B)\nB = $(A)\nx:\n\trun $(A)", vec!["run ${A}"]),
            ("A := --x\nA := $(A) --y\nA += --z\nx:\n\trun $(A)", vec!["run --x --y --z"]),
            ("B := 1\nA := $(B) $$C $(D)\nB := 2\nD := 3\nx:\n\trun $(A) $(B)", vec!["run 1 $C ${D} 2"]),
            ("x: A = 4\nA = 1\nx:\n\trun $(A)", vec!["run ${A}"]),
            ("A = 1\nB = 1\ninclude c.mk\nB = 2\nC ?= 3\nx:\n\trun $(A) $(B) $(C)", vec!["run ${A} 2 ${C}"]),
            ("A != date\nexport B = $(A)\nx:\n\trun $(B) $(", vec!["run ${A} $("]),
        ] {
            assert_eq!(recipes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_stands_where_it_was_assigned() {
        let text = "TAG := 1.2\nx:\n\trun a:$(TAG) $(TAG)\n";
        let (_, recipe) = &parse(SourceId(0), text).recipes[0];
        let at = recipe.text().rfind("1.2").expect("the value");
        assert_eq!(recipe.span(at..at + 3).range(), 7..10);
        let start = recipe.text().find("a:").expect("the word");
        assert_eq!(&text[recipe.span(start..start + 5).range()], "a:$(TAG)");
    }

    #[test]
    fn what_grows_is_cut() {
        let levels: String = (1..16).map(|n| format!("A{n} = $(A{m})$(A{m})$(A{m})$(A{m})\n", m = n - 1)).collect();
        for start in ["", "xxxxxxxxxxxxxxxx"] {
            let text = format!("A0 = {start}\n{levels}x:\n\trun $(A15)\n\trun\n");
            assert!(parse(SourceId(0), &text).cut.is_some());
        }
    }
}
