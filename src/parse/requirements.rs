//! Requirement lines as pip reads them, and single PEP 508 requirements. Knows the grammar; resolves no
//! version, evaluates no marker and opens no other file.

use crate::parse::Problem;
use crate::source::{Piece, SourceId, Span, Traced};
use std::ops::Range;

/// A requirements file.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// Requirements and options, in order.
    pub lines: Vec<Line>,
    /// The comments from their `#` on.
    pub comments: Vec<Span>,
    /// Lines that are neither.
    pub problems: Vec<Problem>,
}

/// What a line says; a line with several options gives several.
#[derive(Debug, Clone)]
pub enum Line {
    /// A package.
    Requirement(Box<Requirement>),
    /// A package whose name the line does not say: a directory, a repository, a variable.
    Unnamed(Traced),
    /// An option.
    Option {
        /// The long name: `--requirement` for `-r`.
        name: String,
        /// Its value.
        value: Option<Traced>,
        /// The whole option.
        span: Span,
    },
}

/// One required package.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The name as written.
    pub name: Traced,
    /// What stands in brackets.
    pub extras: Vec<String>,
    /// `==2.5.1` or `>=2,<3`.
    pub specifiers: Option<Traced>,
    /// The URL or path it comes from.
    pub url: Option<Traced>,
    /// The condition after `;`.
    pub marker: Option<Traced>,
    /// What stands behind it on its line: `--hash` and other options.
    pub options: Option<Traced>,
    /// The whole requirement, without these options.
    pub span: Span,
}

/// What ends a line for Python, beside `\r\n`.
const ENDS: [char; 10] = ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Short options with their long names.
const SHORT: [(&str, &str); 5] = [
    ("-r", "--requirement"),
    ("-c", "--constraint"),
    ("-i", "--index-url"),
    ("-f", "--find-links"),
    ("-e", "--editable"),
];
/// Options without a value.
const SWITCHES: [&str; 5] = ["--pre", "--no-index", "--require-hashes", "--prefer-binary", "--use-pep517"];
/// What a comparison may start with; the longer first.
const OPERATORS: [&str; 8] = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];

/// Reads a requirements file.
pub fn parse(source: SourceId, text: &str) -> Requirements {
    let mut file = Requirements::default();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let logical = logical_line(source, text, &mut at);
        let end = match comment_start(logical.text()) {
            Some(start) => {
                file.comments.push(logical.span(start..logical.text().len()));
                start
            }
            None => logical.text().len(),
        };
        let content = trimmed(logical.text(), 0..end);
        if content.is_empty() {
            continue;
        }
        let line = logical.slice(content);
        if line.text().starts_with('-') {
            options(&line, &mut file.lines);
        } else if let Some(requirement) = requirement(&line) {
            file.lines.push(Line::Requirement(Box::new(requirement)));
        } else if unnamed(line.text()) {
            file.lines.push(Line::Unnamed(line));
        } else if !of_conda(line.text()) {
            file.problems.push(Problem { span: line.whole(), message: "this is not a requirement".to_string() });
        }
    }
    file
}

/// Whether a line is a package of a channel, as conda reads them from such a file too: `conda-forge::package ==1.2`.
fn of_conda(line: &str) -> bool {
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    line.split_once("::").is_some_and(|(channel, package)| name(channel) && package.starts_with(char::is_alphanumeric))
}

/// Reads one requirement: `torch==2.5.1`, `jax[cuda12]>=0.4; marker`, `name @ URL`, a wheel's URL or path,
/// `git+https://…#egg=name`. `None` when it does not say a name or is not a requirement.
pub fn requirement(text: &Traced) -> Option<Requirement> {
    let raw = text.text();
    let end = options_start(raw);
    let all = trimmed(raw, 0..end);
    let options =
        Some(trimmed(raw, end..raw.len())).filter(|behind| !behind.is_empty()).map(|behind| text.slice(behind));
    let (body, marker) = match marker_start(&raw[all.clone()]) {
        Some(at) => (trimmed(raw, all.start..all.start + at), Some(trimmed(raw, all.start + at + 1..all.end))),
        None => (all.clone(), None),
    };
    let marker = marker.filter(|m| !m.is_empty()).map(|m| text.slice(m));
    let span = text.span(all);
    let whole = &raw[body.clone()];
    if let Some(name) = name_in_location(whole) {
        let name = text.slice(body.start + name.start..body.start + name.end);
        return Some(Requirement {
            name,
            extras: Vec::new(),
            specifiers: None,
            url: Some(text.slice(body)),
            marker,
            options,
            span,
        });
    }
    let name = name_length(whole)?;
    let mut rest = trimmed(raw, body.start + name..body.end);
    let mut extras = Vec::new();
    if let Some(inner) = raw[rest.clone()].strip_prefix('[') {
        let (inner, _) = inner.split_once(']')?;
        extras = inner.split(',').map(|e| e.trim().to_string()).filter(|e| !e.is_empty()).collect();
        rest = trimmed(raw, rest.start + inner.len() + 2..rest.end);
    }
    let (mut specifiers, mut url) = (None, None);
    if raw[rest.clone()].starts_with('@') {
        url = Some(text.slice(trimmed(raw, rest.start + 1..rest.end))).filter(|u| !u.text().is_empty());
        url.as_ref()?;
    } else if !rest.is_empty() {
        if raw[rest.clone()].starts_with('(') && raw[rest.clone()].ends_with(')') {
            rest = trimmed(raw, rest.start + 1..rest.end - 1);
        }
        let clauses = raw[rest.clone()].trim_end_matches(',').split(',');
        let compares = |clause: &str| OPERATORS.iter().any(|op| clause.trim().starts_with(op));
        if !clauses.clone().all(compares) {
            return None;
        }
        specifiers = Some(text.slice(rest));
    }
    Some(Requirement {
        name: text.slice(body.start..body.start + name),
        extras,
        specifiers,
        url,
        marker,
        options,
        span,
    })
}

/// The name as package indexes compare it: lower case, with one `-` for every run of `-`, `_` and `.`.
pub fn normalized(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|p| !p.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// The next line with those that it continues in, without the `\` and line ends between them.
fn logical_line(source: SourceId, text: &str, at: &mut usize) -> Traced {
    let first = *at;
    let mut joined = String::new();
    let mut pieces = Vec::new();
    loop {
        let start = *at;
        let length = text[start..].find(ENDS).unwrap_or(text.len() - start);
        let line = &text[start..start + length];
        let end = &text[start + length..];
        *at = text.len() - end.strip_prefix("\r\n").or(end.strip_prefix(ENDS)).map_or(0, str::len);
        let continues = line.ends_with('\\') && !line.trim_start().starts_with('#');
        pieces.push(Piece { at: joined.len() as u32, source: start as u32 });
        joined.push_str(if continues { &line[..line.len() - 1] } else { line });
        if !continues || *at == text.len() {
            return Traced::pieced(joined, Span::new(source, first..start + line.len()), pieces);
        }
    }
}

/// `range` without white space at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// Where a `#` starts a comment: at the start or after white space.
fn comment_start(text: &str) -> Option<usize> {
    text.match_indices('#').map(|(i, _)| i).find(|&i| i == 0 || text[..i].ends_with(char::is_whitespace))
}

/// Where `--hash` and the like start; the end of the text without any.
fn options_start(text: &str) -> usize {
    let starts = |at: usize| {
        let option = text[at..].split(char::is_whitespace).next().unwrap_or_default();
        option.starts_with("--") || SHORT.iter().any(|(short, _)| *short == option)
    };
    let mut found = text.match_indices('-').map(|(i, _)| i);
    found.find(|&i| text[..i].ends_with(char::is_whitespace) && starts(i)).unwrap_or(text.len())
}

/// Where the `;` of a marker stands. In a URL it only counts after white space.
fn marker_start(text: &str) -> Option<usize> {
    let url = text.contains("://");
    text.match_indices(';').map(|(i, _)| i).find(|&i| !url || text[..i].ends_with(char::is_whitespace))
}

/// Length of the package name at the start of the text.
fn name_length(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(text.len());
    let name = &text[..end];
    let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    (alphanumeric(name.chars().next()) && alphanumeric(name.chars().next_back())).then_some(end)
}

/// The package name within a bare URL or path: the `egg` fragment, or the name of an archive.
fn name_in_location(location: &str) -> Option<Range<usize>> {
    let blank = location.find(char::is_whitespace);
    // The blank of `…_$(uname -m).whl` is part of the location.
    let substituted = |at: usize| location[..at].contains("$(") && !location.starts_with("$(");
    let elsewhere = location.contains(['=', '@']) && !location.contains("://");
    if elsewhere || blank.is_some_and(|at| !substituted(at)) {
        return None;
    }
    if let Some(at) = location.find("#egg=").or_else(|| location.find("&egg=")) {
        let start = at + "#egg=".len();
        return name_length(&location[start..]).map(|length| start..start + length);
    }
    let path = &location[..location.find(['?', '#']).unwrap_or(location.len())];
    let start = path.rfind(['/', '\\']).map_or(0, |i| i + 1);
    let file = &path[start..];
    let length = if file.ends_with(".whl") {
        file.find('-')?
    } else if [".tar.gz", ".zip", ".tar.bz2"].iter().any(|e| file.ends_with(e)) {
        file.match_indices('-').map(|(i, _)| i).find(|&i| file[i + 1..].starts_with(|c: char| c.is_ascii_digit()))?
    } else {
        return None;
    };
    (name_length(&file[..length]) == Some(length)).then_some(start..start + length)
}

/// Whether a line names something to install without saying the name of the package.
fn unnamed(text: &str) -> bool {
    let variable = text.contains("$") || text.contains("{{") || text.contains("{%");
    variable || text.contains("://") || text.starts_with(['.', '/', '~']) || text.contains('/') && !text.contains(' ')
}

/// The options of a line.
fn options(line: &Traced, lines: &mut Vec<Line>) {
    let text = line.text();
    let mut words = words(text).into_iter().peekable();
    while let Some(word) = words.next() {
        let raw = &text[word.clone()];
        let short = SHORT.iter().find(|(short, _)| raw.starts_with(short) && !raw.starts_with("--"));
        let written = match short {
            Some((short, _)) => short.len(),
            None => raw.find('=').unwrap_or(raw.len()),
        };
        let name = short.map_or(&raw[..written], |(_, long)| long).to_string();
        let mut span = line.span(word.clone());
        let attached = raw[written..].strip_prefix('=').unwrap_or(&raw[written..]);
        let value = if !attached.is_empty() {
            Some(line.slice(word.end - attached.len()..word.end))
        } else if SWITCHES.contains(&name.as_str()) || raw.ends_with('=') {
            None
        } else {
            words.next_if(|next| !text[next.clone()].starts_with('-')).map(|next| line.slice(next))
        };
        if let Some(value) = &value {
            span = span.to(value.whole());
        }
        lines.push(Line::Option { name, value, span });
    }
}

/// The words of an option line.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split(char::is_whitespace) {
        if !word.is_empty() {
            words.push(at..at + word.len());
        }
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Option<Requirement> {
        requirement(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0))
    }

    /// `name[extras]|specifiers|url|marker`, empty for what is not there.
    fn shown(r: &Requirement) -> String {
        let text = |t: &Option<Traced>| t.as_ref().map_or(String::new(), |t| t.text().to_string());
        let extras = r.extras.join(",");
        format!("{}[{extras}]|{}|{}|{}", r.name.text(), text(&r.specifiers), text(&r.url), text(&r.marker))
    }

    #[test]
    fn single_requirements() {
        for (text, expected) in [
            ("torch==2.5.1", "torch[]|==2.5.1||"),
            ("torch == 2.5.1+cu124 ; python_version < '3.12'", "torch[]|== 2.5.1+cu124||python_version < '3.12'"),
            ("jax[cuda12, k8s]>=0.4,<0.5", "jax[cuda12,k8s]|>=0.4,<0.5||"),
            ("Flash_Attn", "Flash_Attn[]|||"),
            ("numpy (>=1.2)", "numpy[]|>=1.2||"),
            ("vllm @ https://x.io/a;b/vllm.whl ; extra == 'gpu'", "vllm[]||https://x.io/a;b/vllm.whl|extra == 'gpu'"),
            ("a@git+https://g.io/a@v1", "a[]||git+https://g.io/a@v1|"),
            (
                "https://x.io/cu124/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl#sha256=ab",
                "torch[]||https://x.io/cu124/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl#sha256=ab|",
            ),
            (
                "./flash_attn-2.7.0-cp311-cp311-linux_x86_64.whl",
                "flash_attn[]||./flash_attn-2.7.0-cp311-cp311-linux_x86_64.whl|",
            ),
            ("deep-speed-0.14.0.tar.gz", "deep-speed[]||deep-speed-0.14.0.tar.gz|"),
            (
                "git+https://g.io/x/y.git@v1#egg=apex&subdirectory=z",
                "apex[]||git+https://g.io/x/y.git@v1#egg=apex&subdirectory=z|",
            ),
            ("torch==2.0 --hash=sha256:ab", "torch[]|==2.0||"),
            ("torch==2.0 -f https://x.io/whl", "torch[]|==2.0||"),
            ("torch==${V}", "torch[]|==${V}||"),
            (
                "https://${H}/x/sgl_kernel-${V}+cu124-cp310-abi3-manylinux2014_$(uname -m).whl",
                "sgl_kernel[]||https://${H}/x/sgl_kernel-${V}+cu124-cp310-abi3-manylinux2014_$(uname -m).whl|",
            ),
        ] {
            assert_eq!(one(text).as_ref().map(shown).as_deref(), Some(expected));
        }
        for text in [
            "",
            "-r x",
            "pytorch=2.1",
            "two words",
            ".",
            "./dir",
            "git+https://g.io/x/y.git",
            "torch[",
            "a @",
            "a==1,2",
            "-",
        ] {
            assert!(one(text).is_none(), "{text}");
        }
    }

    #[test]
    fn lines_end_where_python_ends_them() {
        for end in ENDS.map(String::from).into_iter().chain(["\r\n".to_owned()]) {
            let text = format!("# x{end}a==1 \\{end}--hash=x{end}{end}b==2");
            let file = parse(SourceId(0), &text);
            let names: Vec<_> = file
                .lines
                .iter()
                .map(|line| if let Line::Requirement(found) = line { &text[found.name.whole().range()] } else { "" })
                .collect();
            assert_eq!((names, file.problems.len()), (vec!["a", "b"], 0), "{text:?}");
        }
    }

    #[test]
    fn files() {
        let text = "\u{feff}# top\r\n--extra-index-url https://x.io/cu124 --pre\r\n-rbase.txt\n-c=c.txt\n--find-links=dir\ntorch==2.5.1 \\\r\n    --hash=sha256:aa \\\n    --hash=sha256:bb # why\n\n-e git+https://g.io/x#egg=x\n./local\n$PKG\n<html>\nlast>=1 \\\n";
        let file = parse(SourceId(0), text);
        let lines: Vec<String> = file
            .lines
            .iter()
            .map(|line| match line {
                Line::Requirement(r) => format!("{} at {}", shown(r), &text[r.span.range()]),
                Line::Unnamed(t) => format!("unnamed {}", t.text()),
                Line::Option { name, value, span } => {
                    let value = value.as_ref().map_or("", |v| v.text());
                    assert!(text[span.range()].ends_with(value));
                    format!("{name} {value}")
                }
            })
            .collect();
        assert_eq!(
            lines,
            [
                "--extra-index-url https://x.io/cu124",
                "--pre ",
                "--requirement base.txt",
                "--constraint c.txt",
                "--find-links dir",
                "torch[]|==2.5.1|| at torch==2.5.1",
                "--editable git+https://g.io/x#egg=x",
                "unnamed ./local",
                "unnamed $PKG",
                "last[]|>=1|| at last>=1",
            ]
        );
        assert_eq!(file.comments.iter().map(|s| &text[s.range()]).collect::<Vec<_>>(), ["# top", "# why"]);
        assert_eq!(file.problems.iter().map(|p| &text[p.span.range()]).collect::<Vec<_>>(), ["<html>"]);
    }

    #[test]
    fn names_are_compared_in_one_form() {
        assert_eq!(normalized("Flash__Attn.x"), "flash-attn-x");
    }
}
