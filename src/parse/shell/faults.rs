//! What a shell refuses of a script before it runs any of it: quotes and constructs without an end, operators without a
//! command. Knows the grammar that sh and bash share, and what only bash has of it.

use crate::parse::Problem;
use crate::source::Traced;
use std::ops::Range;

/// What is wrong with a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Where, and what.
    pub problem: Problem,
    /// Whether bash takes it all the same.
    pub bash_takes_it: bool,
}

/// How deep commands within commands are followed.
const DEEPEST: usize = 32;

/// The first thing that a shell refuses; `None` where there is none, and of scripts with `case`, `[[` or heredocs, which are
/// not followed.
pub fn fault(script: &Traced) -> Option<Fault> {
    let mut scan = Scan { text: script.text().as_bytes(), at: 0, depth: 0, bash: None };
    let (found, bash_takes_it) = match scan.list(None) {
        Err(Stop::Open) => return None,
        Err(Stop::Refused(range, message)) => ((range, message), false),
        Ok(()) => (scan.bash?, true),
    };
    let (range, message) = found;
    Some(Fault { problem: Problem { span: script.span(range), message }, bash_takes_it })
}

/// Why a scan ends before its text does.
enum Stop {
    /// No shell takes it.
    Refused(Range<usize>, String),
    /// It is not followed any further.
    Open,
}

/// Reads a script from its start to its end.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    /// The first thing that only bash takes.
    bash: Option<(Range<usize>, String)>,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn only_bash(&mut self, range: Range<usize>, what: &str) {
        self.bash.get_or_insert((range, what.to_owned()));
    }

    fn refused<T>(&self, range: Range<usize>, message: &str) -> Result<T, Stop> {
        Err(Stop::Refused(range, message.to_owned()))
    }

    /// Reads commands up to the `)` that ends them, or to the end of the text.
    fn list(&mut self, opened: Option<usize>) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::Open);
        }
        // Where a command may begin, the operator that waits for one, and constructs by the word that ends them.
        let (mut begins, mut waiting, mut constructs) =
            (true, None::<Range<usize>>, Vec::<(&str, Range<usize>)>::new());
        // Behind the end of a construct another one may go on or end without a separator.
        let mut ended = false;
        loop {
            let start = self.at;
            let Some(byte) = self.peek(0) else {
                return match (opened, waiting, constructs.pop()) {
                    (Some(at), ..) => self.refused(at..at + 1, "this `(` has no end"),
                    (_, Some(operator), _) => self.refused(operator, "no command follows this operator"),
                    (_, _, Some((end, at))) => self.refused(at, &format!("no `{end}` ends this")),
                    _ => Ok(()),
                };
            };
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if matches!(self.peek(1), Some(b'\n')) => self.at += 2,
                b'\n' => {
                    self.at += 1;
                    begins = true;
                }
                b'#' => self.at += self.text[start..].iter().take_while(|b| **b != b'\n').count(),
                b')' if opened.is_some() => {
                    self.at += 1;
                    self.depth -= 1;
                    return match waiting {
                        Some(operator) => self.refused(operator, "no command follows this operator"),
                        None => Ok(()),
                    };
                }
                b')' => return self.refused(start..start + 1, "this `)` ends nothing"),
                b'(' if begins && self.peek(1) == Some(b'(') => return Err(Stop::Open),
                b'(' if begins => {
                    self.at += 1;
                    self.list(Some(start))?;
                    (begins, waiting, ended) = (false, None, true);
                }
                // A function: what follows is its body.
                b'(' if self.peek(1) == Some(b')') => {
                    self.at += 2;
                    begins = true;
                }
                b'(' => return Err(Stop::Open),
                b'&' if self.peek(1) == Some(b'>') => {
                    self.only_bash(start..start + 2, "`&>` redirects in bash only");
                    self.at += 2;
                }
                b'&' | b'|' | b';' => {
                    self.at += 1 + usize::from(byte != b';' && self.peek(1) == Some(byte));
                    if byte == b'|' && self.peek(0) == Some(b'&') {
                        self.only_bash(start..start + 2, "`|&` is an operator of bash");
                        self.at += 1;
                    }
                    if begins {
                        return self.refused(start..self.at, "no command stands before this operator");
                    }
                    let joins = byte == b'|' || self.at - start > 1;
                    (begins, waiting) = (true, joins.then_some(start..self.at));
                }
                b'<' | b'>' if self.peek(1) == Some(b'(') => {
                    self.only_bash(start..start + 2, "only bash gives the output of a command as a file");
                    self.at += 2;
                    self.list(Some(start + 1))?;
                    (begins, waiting) = (false, None);
                }
                b'<' | b'>' => {
                    if self.text[start..].starts_with(b"<<<") {
                        self.only_bash(start..start + 3, "`<<<` gives a text in bash only");
                    } else if self.text[start..].starts_with(b"<<") {
                        return Err(Stop::Open);
                    }
                    while matches!(self.peek(0), Some(b'<' | b'>' | b'&' | b'|')) {
                        self.at += 1;
                    }
                }
                _ => {
                    self.word()?;
                    let word = &self.text[start..self.at];
                    let range = start..self.at;
                    if word.ends_with(b"=") && self.peek(0) == Some(b'(') {
                        self.only_bash(range, "only bash has arrays");
                        let open = self.at;
                        self.at += 1;
                        self.list(Some(open))?;
                        (begins, waiting) = (false, None);
                        continue;
                    }
                    let goes_on =
                        ended && [&b"fi"[..], b"done", b"}", b"then", b"else", b"elif", b"do"].contains(&word);
                    ended = false;
                    if !begins && !goes_on {
                        continue;
                    }
                    waiting = None;
                    begins = false;
                    match word {
                        b"case" | b"select" | b"function" | b"[[" | b"coproc" => return Err(Stop::Open),
                        b"if" => constructs.push(("fi", range)),
                        b"while" | b"until" => constructs.push(("done", range)),
                        b"for" => {
                            constructs.push(("done", range));
                            continue;
                        }
                        b"{" => constructs.push(("}", range)),
                        b"fi" | b"done" | b"}" => match constructs.pop() {
                            Some((end, _)) if end.as_bytes() == word => {
                                ended = true;
                                continue;
                            }
                            _ => return self.refused(range, "this ends nothing that is open here"),
                        },
                        b"then" | b"else" | b"elif" | b"do" | b"!" | b"time" => {}
                        _ => continue,
                    }
                    begins = true;
                }
            }
        }
    }

    /// Reads a word with its quotes and what is put into it.
    fn word(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => return Ok(()),
                b'\\' => self.at = (self.at + 2).min(self.text.len()),
                b'\'' => self.quoted(b'\'')?,
                b'"' => self.double()?,
                b'`' => self.quoted(b'`')?,
                b'$' => self.expansion()?,
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// Moves past a quote that nothing is put into.
    fn quoted(&mut self, quote: u8) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' if quote == b'`' => self.at += 1,
                _ if byte == quote => return Ok(()),
                _ => {}
            }
        }
        self.refused(start..start + 1, "this quote has no end")
    }

    fn double(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                b'`' => self.quoted(b'`')?,
                b'$' => self.expansion()?,
                _ => self.at += 1,
            }
        }
        self.refused(start..start + 1, "this quote has no end")
    }

    /// Moves past `$NAME`, `${…}`, `$(…)` and `$((…))`.
    fn expansion(&mut self) -> Result<(), Stop> {
        match (self.peek(1), self.peek(2)) {
            (Some(b'('), Some(b'(')) | (Some(b'\'' | b'"'), _) => Err(Stop::Open),
            (Some(b'('), _) => {
                self.at += 2;
                self.list(Some(self.at - 1))
            }
            (Some(b'{'), _) => {
                let start = self.at;
                self.at += 2;
                loop {
                    match self.peek(0) {
                        Some(b'}') => break self.at += 1,
                        // Whether it quotes depends on what is around it.
                        Some(b'\'') => return Err(Stop::Open),
                        Some(b'"') => self.double()?,
                        Some(b'$') => self.expansion()?,
                        Some(b'\\') => self.at += 2,
                        Some(_) => self.at += 1,
                        None => return self.refused(start..start + 2, "this `${` has no end"),
                    }
                }
                Ok(())
            }
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};

    /// Where a script is refused, and whether bash takes it.
    fn at(text: &str) -> Option<(&str, bool)> {
        let found = fault(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0))?;
        Some((&text[found.problem.span.range()], found.bash_takes_it))
    }

    #[test]
    fn what_no_shell_takes() {
        for (script, place) in [
            ("apt-get update &&", "&&"),
            ("&& apt-get update", "&&"),
            ("apt-get update; && apt-get install -y git", "&&"),
            ("echo \"a && b", "\""),
            ("echo 'it''s' 'x", "'"),
            ("(cd /a && make", "("),
            ("cd /a && make)", ")"),
            ("if true; then echo a", "if"),
            ("for x in a b; do echo $x", "for"),
            ("a | | b", "|"),
            ("x=$(a && ) b", "&&"),
            ("pip install torch && # why  && true", "&&"),
        ] {
            assert_eq!(at(script), Some((place, false)), "{script}");
        }
    }

    #[test]
    fn what_only_bash_takes() {
        for (script, place) in [
            ("x=(a b) && echo ${x[0]}", "x="),
            ("diff <(a) <(b)", "<("),
            ("cat <<< word", "<<<"),
            ("make &> log", "&>"),
            ("make |& tee log", "|&"),
        ] {
            assert_eq!(at(script), Some((place, true)), "{script}");
        }
    }

    #[test]
    fn what_every_shell_takes() {
        for script in [
            "if [ -f a ]; then b; else c; fi && for x in 1 2; do echo $x; done",
            "echo \"$(a \"b c\" | d)\" 'it \\' && { e; } || f &",
            "f() { a; }\nf \\\n b",
            "if a; then for x in 1 2; do (b) done fi && c",
            "while read x; do y; done < z 2>&1 # it's",
            "find . -name '*.so' -exec strip {} \\; && a=${b:-\"c d\"}",
            "echo a && \n b",
            "case $x in a) b;; esac",
            "! a; (b; c) > /dev/null && echo a#b $#",
        ] {
            assert_eq!(at(script), None, "{script}");
        }
    }
}
