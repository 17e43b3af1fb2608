//! A scan of HCL text that finds comments and the ends of top-level items. Knows strings, templates,
//! heredocs, comments and brackets; nothing else of the grammar.

use std::ops::Range;

/// What the scan found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Comments, without the line end.
    pub comments: Vec<Range<usize>>,
    /// Offsets after which a new top-level item may start.
    pub cuts: Vec<usize>,
    /// Line ends and comments that mean nothing: those in parentheses, brackets and `for` expressions.
    pub blanks: Vec<Range<usize>>,
}

enum Mode<'t> {
    /// The brackets that are open, each with whether line ends in it mean nothing.
    Code(Vec<bool>),
    Quote,
    Heredoc(&'t str),
}

/// Keywords that open a top-level block of Terraform: one of them in the first column ends an unclosed block.
const TOP: [&str; 12] = [
    "resource",
    "data",
    "module",
    "variable",
    "locals",
    "provider",
    "output",
    "terraform",
    "moved",
    "import",
    "check",
    "removed",
];

/// Where the scan goes on.
enum Step<'t> {
    To(usize),
    /// Inside of what opens here.
    Into(Mode<'t>, usize),
    /// Behind what closes here.
    OutTo(usize),
}

pub(super) fn scan(text: &str) -> Scan {
    let mut out = Scan::default();
    let mut modes = vec![Mode::Code(vec![])];
    let mut at = 0;
    while at < text.len() {
        let base = modes.len() == 1;
        let step = match modes.last_mut() {
            Some(Mode::Code(open)) => out.code(text, at, open, base),
            Some(Mode::Quote) => quoted(text, at),
            Some(Mode::Heredoc(name)) => heredoc_text(text, at, name),
            None => break,
        };
        at = match step {
            Step::To(next) => next,
            Step::Into(mode, next) => {
                modes.push(mode);
                next
            }
            Step::OutTo(next) => {
                modes.pop();
                next
            }
        };
    }
    out
}

impl Scan {
    /// A step through code in which the brackets `open` are open; `base` is code outside of any template.
    fn code<'t>(&mut self, text: &'t str, at: usize, open: &mut Vec<bool>, base: bool) -> Step<'t> {
        let rest = &text.as_bytes()[at..];
        if base && !open.is_empty() && opens_top(text, at) {
            open.clear();
            self.cuts.push(at);
        }
        let joined = open.last().copied().unwrap_or(false);
        match rest[0] {
            b'#' => return Step::To(self.comment(at..line_end(text, at), joined)),
            b'/' if rest.starts_with(b"//") => return Step::To(self.comment(at..line_end(text, at), joined)),
            b'/' if rest.starts_with(b"/*") => {
                let end = text[at + 2..].find("*/").map_or(text.len(), |i| at + 2 + i + 2);
                return Step::To(self.comment(at..end, joined));
            }
            b'"' => return Step::Into(Mode::Quote, at + 1),
            b'<' if rest.starts_with(b"<<") => {
                return heredoc(text, at)
                    .map_or(Step::To(at + 2), |(name, body)| Step::Into(Mode::Heredoc(name), body));
            }
            b'{' | b'[' | b'(' => open.push(rest[0] != b'{' || opens_for(&text[at + 1..])),
            b'}' | b']' | b')' => {
                let opened = open.pop().is_some();
                if !opened && !base {
                    return Step::OutTo(at + 1);
                }
            }
            b'\n' if base && open.is_empty() => self.cuts.push(at + 1),
            b'\n' if joined => self.blanks.push(at..at + 1),
            _ => {}
        }
        Step::To(at + 1)
    }

    fn comment(&mut self, range: Range<usize>, joined: bool) -> usize {
        if joined {
            self.blanks.push(range.clone());
        }
        let end = range.end;
        self.comments.push(range);
        end
    }

    /// `text` with its meaningless line ends and comments as spaces, of the same length.
    pub fn blanked(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for blank in &self.blanks {
            out.push_str(&text[out.len()..blank.start]);
            out.extend(std::iter::repeat_n(' ', blank.len()));
        }
        out.push_str(&text[out.len()..]);
        out
    }
}

fn opens_for(text: &str) -> bool {
    text.trim_start().strip_prefix("for").is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

fn quoted<'t>(text: &str, at: usize) -> Step<'t> {
    match text.as_bytes()[at] {
        b'\\' => Step::To(at + 2),
        // A quoted string ends with its line, closed or not.
        b'\n' => Step::OutTo(at),
        b'"' => Step::OutTo(at + 1),
        _ => template(text, at),
    }
}

fn heredoc_text<'t>(text: &str, at: usize, name: &str) -> Step<'t> {
    let starts_line = at == 0 || text.as_bytes()[at - 1] == b'\n';
    if starts_line && closes(&text[at..line_end(text, at)], name) {
        return Step::OutTo(line_end(text, at));
    }
    template(text, at)
}

/// Steps over one byte of template text, an escaped opening, or an opening (entering its code).
fn template<'t>(text: &str, at: usize) -> Step<'t> {
    let rest = &text.as_bytes()[at..];
    if rest.starts_with(b"$${") || rest.starts_with(b"%%{") {
        Step::To(at + 3)
    } else if rest.starts_with(b"${") || rest.starts_with(b"%{") {
        Step::Into(Mode::Code(vec![]), at + 2)
    } else {
        Step::To(at + 1)
    }
}

fn line_end(text: &str, at: usize) -> usize {
    let end = text.as_bytes()[at..].iter().position(|&b| b == b'\n').map_or(text.len(), |i| at + i);
    if end > at && text.as_bytes()[end - 1] == b'\r' { end - 1 } else { end }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The delimiter of a heredoc that opens at `at`, and where its text starts.
fn heredoc(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at + 2..)?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    let after = rest[name.len()..].strip_prefix('\r').unwrap_or(&rest[name.len()..]);
    (!name.is_empty() && after.starts_with('\n')).then(|| (name, text.len() - after.len() + 1))
}

fn closes(line: &str, name: &str) -> bool {
    line.trim_start().strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_word))
}

fn opens_top(text: &str, at: usize) -> bool {
    if at > 0 && text.as_bytes()[at - 1] != b'\n' {
        return false;
    }
    let line = &text.as_bytes()[at..];
    let Some(keyword) = TOP.iter().find(|k| line.starts_with(k.as_bytes())) else { return false };
    matches!(line.get(keyword.len()), Some(b' ' | b'"' | b'{')) && text[at..line_end(text, at)].contains('{')
}
