//! Dockerfiles: instructions with spans, comments, heredocs, and problems instead of failure. Knows the
//! grammar of lines and words; knows neither build stages nor what an argument stands for.

mod lines;
mod words;

pub use words::{Assignment, Base};

use crate::parse::Problem;
use crate::source::{SourceId, Span, Traced};

/// A Dockerfile.
#[derive(Debug, Clone)]
pub struct Dockerfile {
    /// The instructions, in order.
    pub instructions: Vec<Instruction>,
    /// The comments from their `#` on, directives among them.
    pub comments: Vec<Span>,
    /// What is wrong with the text.
    pub problems: Vec<Problem>,
    /// The escape character: `\`, or the one of the `escape` directive.
    pub escape: char,
}

/// One instruction.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// The keyword in upper case.
    pub keyword: String,
    /// Where the keyword stands.
    pub keyword_span: Span,
    /// `--name=value` before the arguments.
    pub flags: Vec<Flag>,
    /// What follows keyword and flags, without line continuations and comment lines.
    pub rest: Traced,
    /// The heredocs, in the order of their markers in `rest`.
    pub heredocs: Vec<Heredoc>,
    /// From the keyword to the end of the last line, heredocs included.
    pub span: Span,
    escape: char,
}

/// `--name` or `--name=value`.
#[derive(Debug, Clone)]
pub struct Flag {
    /// The name without dashes.
    pub name: String,
    /// The value without quotes.
    pub value: Option<Traced>,
    /// The whole flag.
    pub span: Span,
}

/// A here-document of RUN, COPY or ADD.
#[derive(Debug, Clone)]
pub struct Heredoc {
    /// The delimiter without quotes.
    pub name: String,
    /// The lines before the delimiter, without leading tabs after `<<-`.
    pub body: Traced,
    /// Whether variables in the body are expanded: the delimiter is not quoted.
    pub expand: bool,
}

const KEYWORDS: [&str; 18] = [
    "ADD",
    "ARG",
    "CMD",
    "COPY",
    "ENTRYPOINT",
    "ENV",
    "EXPOSE",
    "FROM",
    "HEALTHCHECK",
    "LABEL",
    "MAINTAINER",
    "ONBUILD",
    "RUN",
    "SHELL",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
    "WORKDIR",
];

/// Reads a Dockerfile. Whatever is wrong, the rest of the file is read.
pub fn parse(source: SourceId, text: &str) -> Dockerfile {
    let mut lines = lines::Lines::new(source, text);
    let mut file =
        Dockerfile { instructions: Vec::new(), comments: Vec::new(), problems: Vec::new(), escape: lines.directives() };
    // The lines of a heredoc that has no end, and those after an unknown one, are no instructions: one problem
    // says it all.
    let mut astray = false;
    while let Some(logical) = lines.logical() {
        let (mut instruction, mut end) = Instruction::of(&logical, file.escape);
        let known = KEYWORDS.contains(&instruction.keyword.as_str());
        astray &= !known;
        let template = instruction.keyword.starts_with("{{") || instruction.keyword.starts_with("{%");
        if !known && !astray && !template {
            let message = format!("unknown instruction `{}`", lines.slice(instruction.keyword_span));
            file.problems.push(Problem { span: instruction.keyword_span, message });
            astray = true;
        }
        for marker in instruction.heredoc_markers() {
            match lines.heredoc(&marker) {
                Some((body, last)) => {
                    end = last;
                    instruction.heredocs.push(Heredoc { name: marker.name, body, expand: marker.expand });
                }
                None => {
                    let message = format!("no line with `{}` ends this heredoc", marker.name);
                    file.problems.push(Problem { span: marker.span, message });
                    astray = true;
                    break;
                }
            }
        }
        instruction.span.end = end;
        file.instructions.push(instruction);
    }
    file.comments = lines.comments;
    file
}

/// `<<NAME` in an instruction.
struct Marker {
    name: String,
    strip_tabs: bool,
    expand: bool,
    span: Span,
}

impl Instruction {
    /// The instruction of a logical line, and the end of that line.
    fn of(logical: &Traced, escape: char) -> (Self, u32) {
        let text = logical.text();
        let end = text.find([' ', '\t']).unwrap_or(text.len());
        let keyword = text[..end].to_ascii_uppercase();
        let mut at = end;
        let mut flags = Vec::new();
        let takes_flags = matches!(keyword.as_str(), "FROM" | "RUN" | "COPY" | "ADD" | "HEALTHCHECK");
        loop {
            at += text[at..].len() - text[at..].trim_start().len();
            if !takes_flags || !text[at..].starts_with("--") {
                break;
            }
            let word = words::Word::read(text, at, escape);
            at = word.range.end;
            if &text[word.range.clone()] == "--" {
                break;
            }
            flags.push(word.flag(logical));
        }
        at += text[at..].len() - text[at..].trim_start().len();
        let instruction = Self {
            keyword,
            keyword_span: logical.span(0..end),
            flags,
            rest: logical.slice(at..text.len()),
            heredocs: Vec::new(),
            span: logical.whole(),
            escape,
        };
        (instruction, logical.whole().end)
    }

    /// An instruction that another syntax states.
    pub fn stating(keyword: &str, rest: &Traced) -> Self {
        let head = Traced::opaque(format!("{keyword} "), rest.whole());
        Self::of(&Traced::concat([head, rest.clone()], rest.whole()), '\\').0
    }

    /// The instruction that ONBUILD defers. Heredocs stay with the outer one.
    pub fn deferred(&self) -> Option<Instruction> {
        (self.keyword == "ONBUILD" && !self.rest.text().is_empty()).then(|| Self::of(&self.rest, self.escape).0)
    }

    /// The value of a flag.
    pub fn flag(&self, name: &str) -> Option<&Traced> {
        self.flags.iter().find(|f| f.name == name)?.value.as_ref()
    }

    /// The markers of heredocs: words of their own, outside quotes (`1 << 2` and `<<<` are none).
    fn heredoc_markers(&self) -> Vec<Marker> {
        let deferred = self.deferred();
        let keyword = deferred.as_ref().map_or(&self.keyword, |d| &d.keyword);
        if !matches!(keyword.as_str(), "RUN" | "COPY" | "ADD") {
            return Vec::new();
        }
        let text = self.rest.text();
        let markers = words::split(text, self.escape).into_iter().filter_map(|word| {
            let raw = text[word.range.clone()].trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("<<")?;
            let strip_tabs = raw.starts_with('-');
            let quoted = raw.strip_prefix('-').unwrap_or(raw);
            let name: String = quoted.chars().filter(|c| !matches!(c, '"' | '\'') && *c != self.escape).collect();
            let named = !name.is_empty() && !name.contains('<');
            let expand = name.len() == quoted.len();
            named.then(|| Marker { expand, name, strip_tabs, span: self.rest.span(word.range) })
        });
        markers.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Dockerfile {
        let file = parse(SourceId(0), text);
        for span in file.comments.iter().chain(file.problems.iter().map(|p| &p.span)) {
            assert!(text.get(span.range()).is_some_and(|t| !t.is_empty()), "{text:?} {span:?}");
        }
        for instruction in &file.instructions {
            assert!(text[instruction.keyword_span.range()].eq_ignore_ascii_case(&instruction.keyword));
            assert!(text.get(instruction.span.range()).is_some());
        }
        file
    }

    /// `KEYWORD rest` of every instruction of a file without problems.
    fn instructions(text: &str) -> Vec<String> {
        let file = read(text);
        assert_eq!(file.problems, [], "{text:?}");
        file.instructions.iter().map(|i| format!("{} {}", i.keyword, i.rest.text())).collect()
    }

    fn texts(words: &[Traced]) -> Vec<&str> {
        words.iter().map(Traced::text).collect()
    }

    #[test]
    fn continuations_comments_and_blank_lines() {
        let text =
            "\u{feff}FROM a\r\n# note\r\nRUN pip install \\ \r\n  # why\r\n\r\n  torch \\\r\n  && true\r\nrun x\r\n";
        assert_eq!(instructions(text), ["FROM a", "RUN pip install   torch   && true", "RUN x"]);
        let file = read(text);
        assert_eq!(file.comments.iter().map(|s| &text[s.range()]).collect::<Vec<_>>(), ["# note", "# why"]);
        let run = &file.instructions[1];
        let at = run.rest.text().find("torch").expect("it is there");
        assert_eq!(&text[run.rest.span(at..at + 5).range()], "torch");
        assert!(text[run.span.range()].ends_with("&& true"));
        assert_eq!(instructions("RUN a\\\\\nRUN b \\"), ["RUN a\\\\", "RUN b"]);
    }

    #[test]
    fn directives() {
        let file = read("# syntax=docker/dockerfile:1\n# escape=`\nRUN dir C:\\ `\n  more\nCOPY a b\\\nUSER x\n");
        assert_eq!(file.escape, '`');
        assert_eq!(
            file.instructions.iter().map(|i| i.rest.text()).collect::<Vec<_>>(),
            ["dir C:\\   more", "a b\\", "x"]
        );
        assert_eq!(read("# a comment\n# escape=`\nFROM a").escape, '\\');
    }

    #[test]
    fn heredocs_anywhere_in_run_copy_and_add() {
        let text = "FROM a\nRUN python3 <<EOF\nimport torch\n# not a comment\nEOF\nRUN <<A cat && 3<<-\"B\" cat\none\nA\n\ttwo $X\n\tB\nCOPY <<'C' /etc/c\nx\nC\nONBUILD RUN <<D\ny\nD\nUSER u\n";
        assert_eq!(instructions(text).len(), 6);
        let file = read(text);
        assert!(file.comments.is_empty());
        let heredocs: Vec<_> = file.instructions.iter().flat_map(|i| &i.heredocs).collect();
        let shown: Vec<_> = heredocs.iter().map(|h| (h.name.as_str(), h.body.text(), h.expand)).collect();
        let expected = [
            ("EOF", "import torch\n# not a comment\n", true),
            ("A", "one\n", true),
            ("B", "two $X\n", false),
            ("C", "x\n", false),
            ("D", "y\n", true),
        ];
        assert_eq!(shown, expected);
        assert_eq!(&text[heredocs[2].body.span(0..3).range()], "two");
        assert_eq!(file.instructions[4].deferred().map(|i| i.keyword).as_deref(), Some("RUN"));
    }

    #[test]
    fn shifts_and_here_strings_are_no_heredocs() {
        let lines = ["RUN echo $((1 << 2)) $((1<<2))", "RUN cat <<< word", "RUN sh -c \"cat <<EOF\"", "CMD cat <<EOF"];
        assert_eq!(instructions(&lines.join("\n")), lines);
    }

    #[test]
    fn nothing_loses_the_rest_of_the_file() {
        let file = read("FROM a\nRUN cat <<EOF\nimport x\nUSER u\nFOO bar\n");
        assert_eq!(file.problems.len(), 2);
        assert!(file.problems[0].message.contains("EOF"));
        assert_eq!(file.problems[1].message, "unknown instruction `FOO`");
        let keywords: Vec<_> = file.instructions.iter().map(|i| i.keyword.as_str()).collect();
        assert_eq!(keywords, ["FROM", "RUN", "IMPORT", "USER", "FOO"]);
        assert_eq!(read("{% if x %}\nFROM {{ base }} AS b\n{% endif %}").problems, []);
        assert!(read("").instructions.is_empty());
        assert_eq!(read("\\\n\\\n# c\n").comments.len(), 1);
        assert_eq!(instructions("\\\n  FROM a\n \\\n\\"), ["FROM a"]);
    }

    #[test]
    fn flags_words_and_exec_form() {
        let file = read(
            "RUN --mount=type=cache,target=\"/a b\" --network=none -- pip x\nCMD [\"vllm\", \"--tp\\u0031\", \"a\\\"b\"]\nCMD [oops]\nCMD [ ]\nCOPY --from=b 'a b' c\\ d /x\nENTRYPOINT --model x",
        );
        let run = &file.instructions[0];
        assert_eq!(run.flag("mount").map(Traced::text), Some("type=cache,target=/a b"));
        assert_eq!(run.rest.text(), "pip x");
        let exec = file.instructions[1].json_array().expect("an exec form");
        assert_eq!(texts(&exec), ["vllm", "--tp1", "a\"b"]);
        assert!(file.instructions[2].json_array().is_none());
        assert!(file.instructions[3].json_array().is_some_and(|a| a.is_empty()));
        assert_eq!(texts(&file.instructions[4].words()), ["a b", "c d", "/x"]);
        assert_eq!(file.instructions[5].rest.text(), "--model x");
    }

    #[test]
    fn assignments() {
        let text =
            "ENV A=1 B=\"x y\" C=p\\ q D='\\n'\nENV K v w\nARG X\nARG Y=1 Z\nLABEL \"a.b\"=\"c\\\n d\"\nENV E=\\$F";
        let shown: Vec<Vec<(String, Option<String>)>> = read(text)
            .instructions
            .iter()
            .map(|i| i.assignments())
            .map(|a| a.iter().map(|a| (a.name.text().into(), a.value.as_ref().map(|v| v.text().into()))).collect())
            .collect();
        let pair = |name: &str, value: &str| (name.to_string(), Some(value.to_string()));
        assert_eq!(shown[0], [pair("A", "1"), pair("B", "x y"), pair("C", "p q"), pair("D", "\\n")]);
        assert_eq!(shown[1], [pair("K", "v w")]);
        assert_eq!(shown[2], [("X".to_string(), None)]);
        assert_eq!(shown[3], [pair("Y", "1"), ("Z".to_string(), None)]);
        assert_eq!(shown[4], [pair("a.b", "c d")]);
        assert_eq!(shown[5], [pair("E", "\\$F")]);
        let value = read(text).instructions[0].assignments()[1].value.clone().expect("it has one");
        assert_eq!((&text[value.whole().range()], &text[value.span(2..3).range()]), ("\"x y\"", "y"));
    }

    #[test]
    fn scripts() {
        let text = "RUN a && b\nRUN <<EOF\npip install torch\nc\nEOF\nRUN bash -e <<EOF\nd\nEOF\nRUN python3 <<EOF\nimport x\nEOF\nRUN <<EOF\n#!/usr/bin/env python3\nimport x\nEOF\nCMD [\"e\", \"f g\"]\nCOPY <<EOF /x\nno\nEOF";
        let shown: Vec<Vec<String>> = read(text)
            .instructions
            .iter()
            .map(|i| i.script().commands.iter().map(|c| text[c.span.range()].to_string()).collect())
            .collect();
        let expected: [&[&str]; 6] =
            [&["a", "b"], &["pip install torch", "c"], &["bash -e", "d"], &["python3"], &[], &["\"e\", \"f g\""]];
        assert_eq!(shown[..6], expected);
    }

    #[test]
    fn bases() {
        let file =
            read("FROM --platform=linux/amd64 nvidia/cuda:12 as build\nFROM {{ base }} AS x\nFROM ${B:-a}\nFROM");
        let shown = |i: usize| {
            let base = file.instructions[i].base()?;
            let text = |t: Option<Traced>| t.map(|t| t.text().to_string());
            Some((base.image.text().to_string(), text(base.platform), text(base.alias)))
        };
        assert_eq!(shown(0), Some(("nvidia/cuda:12".into(), Some("linux/amd64".into()), Some("build".into()))));
        assert_eq!(shown(1), Some(("{{ base }}".into(), None, Some("x".into()))));
        assert_eq!(shown(2), Some(("${B:-a}".into(), None, None)));
        assert_eq!(shown(3), None);
    }
}
