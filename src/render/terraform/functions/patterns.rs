//! Functions with patterns: regular expressions in RE2's syntax, and globs.

use super::{Call, Found};
use crate::known::Why;
use crate::paths;
use crate::render::pattern::of_go;
use crate::render::terraform::value::{Fail, MAX_ITEMS, MAX_TEXT, Val, Value, failed, too_large};
use regex::{Captures, Regex, RegexBuilder};

/// Bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1 << 20;

impl Call<'_> {
    pub(super) fn patterns(&self) -> Option<Found> {
        Some(match self.name {
            "regex" => self.regex(),
            "regexall" => self.regex_all(),
            "fileset" => self.file_set(),
            _ => return None,
        })
    }

    fn regex(&self) -> Found {
        let (pattern, text) = (compile(&self.string(0)?)?, self.string(1)?);
        match pattern.captures(&text) {
            Some(found) => Ok(self.captured(&pattern, &found)),
            None => failed("the pattern matches nowhere"),
        }
    }

    fn regex_all(&self) -> Found {
        let (pattern, text) = (compile(&self.string(0)?)?, self.string(1)?);
        let found = pattern.captures_iter(&text).take(MAX_ITEMS).map(|found| self.captured(&pattern, &found));
        Ok(self.val(Value::list(found.collect())))
    }

    /// The groups of a match: by name when they have names, a list otherwise; the match when there are none.
    fn captured(&self, pattern: &Regex, found: &Captures<'_>) -> Val {
        let group = |at: usize| match found.get(at) {
            Some(part) => self.text(part.as_str()),
            None => self.val(Value::Null),
        };
        let names: Vec<(usize, Option<&str>)> = pattern.capture_names().enumerate().skip(1).collect();
        if names.is_empty() {
            return group(0);
        }
        if names.iter().all(|(_, name)| name.is_some()) {
            let entries = names.iter().filter_map(|(at, name)| Some((self.key((*name)?), group(*at))));
            return self.val(Value::map(entries));
        }
        self.val(Value::list(names.into_iter().map(|(at, _)| group(at)).collect()))
    }

    /// `replace` with a pattern between slashes.
    pub(super) fn replace_pattern(&self, text: &str, pattern: &str, to: &str) -> Found {
        let pattern = compile(pattern)?;
        let (mut out, mut last) = (String::new(), 0);
        for found in pattern.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[last..whole.start()]);
            found.expand(to, &mut out);
            last = whole.end();
            if out.len() > MAX_TEXT {
                return Err(too_large());
            }
        }
        out.push_str(&text[last..]);
        Ok(self.text(out))
    }

    /// Files below a directory that match a glob. Only of files that are always read it is known that there is no more.
    fn file_set(&self) -> Found {
        let (directory, glob) = (self.string(0)?, self.string(1)?);
        let unknown = || Fail::Unknown(Why::Remote(format!("fileset({directory}, {glob})").into()));
        let registry = self.eval.registry;
        let mut base = paths::join_inside(registry.root, &directory).ok_or_else(unknown)?;
        if !base.is_empty() {
            base.push('/');
        }
        let pattern = compile(&glob_pattern(&glob))?;
        let below = registry.workspace.below(&base).map(|path| &path[base.len()..]);
        let found: Vec<Val> = below.filter(|path| pattern.is_match(path)).map(|path| self.text(path)).collect();
        let read = [".yaml", ".yml", ".json", ".tf", ".tfvars"].iter().any(|suffix| glob.ends_with(suffix));
        if !read || found.is_empty() { Err(unknown()) } else { Ok(self.val(Value::list(found))) }
    }
}

fn compile(pattern: &str) -> Result<Regex, Fail> {
    let read = of_go(pattern).ok().and_then(|text| RegexBuilder::new(&text).size_limit(MAX_PATTERN).build().ok());
    read.ok_or_else(|| Fail::Unknown(Why::Malformed(pattern.into())))
}

/// A glob of `fileset` as a regular expression: `**` crosses directories, `*` and `?` do not.
fn glob_pattern(glob: &str) -> String {
    let (mut out, mut rest, mut alternatives) = ("^".to_owned(), glob, 0);
    while let Some(c) = rest.chars().next() {
        let (piece, len) = match c {
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^/]*".to_owned(), 1),
            '?' => ("[^/]".to_owned(), 1),
            '{' => {
                alternatives += 1;
                ("(?:".to_owned(), 1)
            }
            '}' if alternatives > 0 => {
                alternatives -= 1;
                (")".to_owned(), 1)
            }
            ',' if alternatives > 0 => ("|".to_owned(), 1),
            c => (regex::escape(c.encode_utf8(&mut [0; 4])), c.len_utf8()),
        };
        out.push_str(&piece);
        rest = &rest[len..];
    }
    out + "$"
}
