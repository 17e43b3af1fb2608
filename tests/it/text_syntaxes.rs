//! Whatever the text: the line-based parsers do not panic, and every span slices to what it stands for.

use gpulint::parse::{dockerfile, nginx, requirements, shell, wheel};
use gpulint::source::{SourceId, Span, Traced};
use proptest::prelude::*;

/// Text made of the pieces that grammars stumble over.
fn nasty() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\r\n",
        "\\\n",
        "\\\r\n",
        "\\",
        "`",
        "'",
        "\"",
        "$",
        "${",
        "}",
        "$(",
        ")",
        "(",
        "((",
        "[[",
        "]]",
        "<<EOF",
        "<<-'EOF'",
        "<<<",
        "EOF",
        "EOF\n",
        "\nEOF\n",
        "#",
        " # ",
        "# escape=`\n",
        "\u{feff}",
        "FROM ",
        "\nRUN ",
        "\nENV A=",
        "\nCMD [",
        "]",
        "\",\"",
        "--",
        "--flag=",
        "AS ",
        "ONBUILD RUN ",
        "case x in ",
        ";;",
        "esac",
        "for ",
        "do ",
        "done",
        ";",
        "&&",
        "|",
        "&",
        ">",
        "2>&1",
        " ",
        "\t",
        "é",
        "日",
        "\u{a0}",
        "a",
        "b=c",
        "torch==2.5.1",
        "x @ ",
        "https://x/y-1-py3-none-any.whl",
        ";",
        "[cuda]",
        " --hash=x",
        "-r",
        "-e ",
        "git+https://x#egg=",
        "%2B",
        "\\u0041",
        "\0",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// The span lies in the text, and what is verbatim is found there.
fn check(text: &str, traced: &Traced) {
    assert!(text.get(traced.whole().range()).is_some());
    for (at, c) in traced.text().char_indices() {
        let span = traced.span(at..at + c.len_utf8());
        let slice = text.get(span.range()).expect("a span lies on character boundaries");
        assert!(slice.starts_with(c) || span == traced.whole(), "{c:?} in {:?} of {text:?}", traced.text());
    }
}

fn check_script(text: &str, script: &shell::Script) {
    for command in &script.commands {
        assert!(text.get(command.span.range()).is_some());
        for word in command.words.iter().chain(command.assignments.iter().map(|(_, word)| word)) {
            check(text, word.traced());
        }
    }
}

proptest! {
    #[test]
    fn shell_scripts(text in nasty()) {
        let traced = Traced::verbatim(text.as_str(), Span::new(SourceId(0), 0..text.len()), 0);
        check_script(&text, &shell::parse(&traced));
        shell::expand(&text, &|name| (name != "EOF").then(|| name.repeat(2)));
    }

    #[test]
    fn configurations_of_nginx(text in nasty()) {
        for at in nginx::parse(&text).into_iter().flat_map(|(_, comments)| comments) {
            assert!(text[at].starts_with('#'));
        }
    }

    #[test]
    fn dockerfiles(text in nasty()) {
        let file = dockerfile::parse(SourceId(0), &text);
        for span in file.comments.iter().chain(file.problems.iter().map(|p| &p.span)) {
            assert!(!text[span.range()].is_empty());
        }
        let deferred: Vec<_> = file.instructions.iter().filter_map(|i| i.deferred()).collect();
        for instruction in file.instructions.iter().chain(&deferred) {
            assert!(text.get(instruction.span.range()).is_some());
            check(&text, &instruction.rest);
            instruction.words().iter().for_each(|word| check(&text, word));
            instruction.json_array().iter().flatten().for_each(|word| check(&text, word));
            instruction.flags.iter().filter_map(|f| f.value.as_ref()).for_each(|value| check(&text, value));
            instruction.heredocs.iter().for_each(|heredoc| check(&text, &heredoc.body));
            for assignment in instruction.assignments() {
                check(&text, &assignment.name);
                assignment.value.iter().for_each(|value| check(&text, value));
            }
            if let Some(base) = instruction.base() {
                check(&text, &base.image);
            }
            check_script(&text, &instruction.script());
        }
    }

    #[test]
    fn requirement_files(text in nasty()) {
        let file = requirements::parse(SourceId(0), &text);
        for line in &file.lines {
            match line {
                requirements::Line::Requirement(r) => {
                    let parts = [Some(&r.name), r.specifiers.as_ref(), r.url.as_ref(), r.marker.as_ref()];
                    parts.into_iter().flatten().for_each(|part| check(&text, part));
                    r.url.as_ref().and_then(wheel::parse).iter().for_each(|w| check(&text, &w.version));
                }
                requirements::Line::Unnamed(what) => check(&text, what),
                requirements::Line::Option { value, .. } => value.iter().for_each(|value| check(&text, value)),
            }
        }
        for span in file.comments.iter().chain(file.problems.iter().map(|p| &p.span)) {
            assert!(!text[span.range()].is_empty());
        }
    }
}
