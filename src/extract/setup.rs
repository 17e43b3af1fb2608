//! Packages that `setup.cfg` and `setup.py` install, as far as they are written out. Knows their keys; runs no Python, so that
//! what a program puts together is not known. https://setuptools.pypa.io/en/latest/userguide/dependency_management.html

use super::{TextFile, bounded, install, package_tables};
use crate::budget::{NODE, Share};
use crate::facts::{Facts, PackageFile, PackageFileKind, PackageManager};
use crate::known::Fact;
use crate::parse::requirements;
use crate::source::{SourceId, Span, Traced};
use std::ops::Range;
use std::sync::Arc;

/// Reads either file.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let whole = Traced::verbatim(text, Span::new(id, 0..text.len()), 0);
    let (lists, comments) = if path.ends_with(".py") { of_python(text) } else { of_sections(text) };
    let share = Share::least(text.len());
    let mut file = PackageFile::blank(Span::new(id, 0..0));
    file.path = Fact::value(path.to_owned(), file.span);
    file.kind = Fact::value(PackageFileKind::Setup, file.span);
    for (group, line) in lists {
        let Some(requirement) = requirements::requirement(&whole.slice(line)) else { continue };
        if share.make(NODE).is_err() {
            break;
        }
        let package = install::of_requirement(&requirement, PackageManager::Pip);
        file.packages.push(group.map_or(package.clone(), |group| package_tables::grouped(package, group)));
    }
    let cut = bounded(&mut file, &share);
    facts.package_files.extend((!file.packages.is_empty()).then(|| Arc::new(file)));
    let comments = comments.into_iter().map(|comment| Span::new(id, comment)).collect();
    TextFile { comments, cut, ..TextFile::default() }
}

/// Requirements with the extra that installs them, and comments.
type Lists<'t> = (Vec<(Option<&'t str>, Range<usize>)>, Vec<Range<usize>>);

/// The sections of `setup.cfg`: the key of a list stands at the margin, its lines behind it.
fn of_sections(text: &str) -> Lists<'_> {
    let (mut lists, mut comments) = (vec![], vec![]);
    let (mut section, mut key, mut at) = ("", "", 0);
    for line in text.split_inclusive('\n') {
        let from = at;
        at += line.len();
        let stated = line.trim();
        let start = from + (line.len() - line.trim_start().len());
        if stated.starts_with(['#', ';']) {
            comments.push(start..start + stated.len());
            continue;
        }
        let mut value = start..start + stated.len();
        if !line.starts_with([' ', '\t']) {
            if let Some(name) = stated.strip_prefix('[') {
                (section, key) = (name.trim_end_matches(']'), "");
                continue;
            }
            let Some((name, rest)) = stated.split_once('=') else { continue };
            key = name.trim();
            value.start = value.end - rest.trim_start().len();
        }
        let group = match (section, key) {
            ("options", "install_requires") => None,
            ("options.extras_require", extra) if !extra.is_empty() => Some(extra),
            _ => continue,
        };
        if !value.is_empty() {
            lists.push((group, value));
        }
    }
    (lists, comments)
}

/// Lists of texts behind `install_requires=`, and in the mapping behind `extras_require=`.
fn of_python(text: &str) -> Lists<'_> {
    let mut lists = vec![];
    let (tokens, comments) = tokens(text);
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name @ ("install_requires" | "extras_require")) = token else { continue };
        let Some([Token::Sign('='), Token::Sign(open @ ('[' | '{'))]) = tokens.get(at + 1..at + 3) else { continue };
        let (mut depth, mut group) = (1, None);
        for around in tokens[at + 2..].windows(3) {
            let [before, token, behind] = around else { continue };
            let alone = matches!(before, Token::Sign(',' | '[')) && matches!(behind, Token::Sign(',' | ']'));
            match token {
                Token::Sign('[' | '{' | '(') => depth += 1,
                Token::Sign(']' | '}' | ')') => depth -= 1,
                Token::Text(key) if *open == '{' && depth == 1 && *behind == Token::Sign(':') => {
                    group = text.get(key.clone())
                }
                Token::Text(line) if alone && depth == 1 + i32::from(*open == '{') => {
                    lists.push((group.filter(|_| *name == "extras_require"), line.clone()));
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    (lists, comments)
}

/// What matters of Python.
#[derive(PartialEq)]
enum Token<'t> {
    Name(&'t str),
    Sign(char),
    /// A text that is what it says, without its quotes.
    Text(Range<usize>),
}

/// The tokens of a program, and its comments.
fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<Range<usize>>) {
    let (mut out, mut comments) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let quote = &rest[word..];
        if c == '#' {
            let end = rest.find('\n').unwrap_or(rest.len());
            comments.push(at..at + end);
            at += end;
        } else if quote.starts_with(['"', '\'']) && word < 3 {
            let mark = if quote.starts_with("\"\"\"") || quote.starts_with("'''") { &quote[..3] } else { &quote[..1] };
            let from = at + word + mark.len();
            let length = text[from..].find(mark).unwrap_or(text.len() - from);
            let inner = &text[from..from + length];
            // Prefixes and escapes make other texts of what is written.
            out.push(match word == 0 && !inner.contains(['\\', '\n']) {
                true => Token::Text(from..from + length),
                false => Token::Sign('"'),
            });
            at = (from + length + mark.len()).min(text.len());
        } else if word > 0 {
            out.push(Token::Name(&rest[..word]));
            at += word;
        } else {
            if !c.is_whitespace() {
                out.push(Token::Sign(c));
            }
            at += c.len_utf8();
        }
    }
    (out, comments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Package;

    fn packages(path: &str, text: &str) -> Vec<String> {
        let mut facts = Facts::default();
        read(SourceId(0), path, text, &mut facts);
        let of = |package: &Package| {
            let text = |fact: &Fact<String>| fact.get().cloned().unwrap_or_default();
            format!("{}{} {}", text(&package.name), text(&package.specifier), text(&package.group))
        };
        facts.package_files.iter().flat_map(|file| &file.packages).map(of).collect()
    }

    #[test]
    fn what_is_written_out_is_read() {
        let text = "setup(\n  name='a',\n  install_requires=[\n    'torch==2.6.0',  # why\n    \"numpy<2\",\n    f'x=={V}', *MORE, 'a' + 'b',\n  ],\n  extras_require={'gpu': ['cupy-cuda12x'], **others, \"dev\": BASE + ['y']},\n)\n";
        assert_eq!(packages("setup.py", text), ["torch==2.6.0 ", "numpy<2 ", "cupy-cuda12x gpu", "y dev"]);
        assert!(
            packages("setup.py", "setup(install_requires=read('requirements.txt'))\n'''install_requires=['a']'''")
                .is_empty()
        );
        let text = "[metadata]\nname = a\n[options]\ninstall_requires =\n    torch==2.6.0\n    # why\n    numpy<2\npython_requires = >=3.10\n[options.extras_require]\ngpu =\n    cupy-cuda12x\n";
        assert_eq!(packages("setup.cfg", text), ["torch==2.6.0 ", "numpy<2 ", "cupy-cuda12x gpu"]);
    }
}
