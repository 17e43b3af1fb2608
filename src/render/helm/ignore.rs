//! `.helmignore`: which files of a chart Helm does not load. Knows its patterns only.

use regex::Regex;

/// The patterns of a chart.
pub struct Ignore(Vec<Pattern>);

struct Pattern {
    regex: Regex,
    /// `!pattern`: only what matches is kept.
    keeps: bool,
    directory: bool,
    /// Held against the whole path, not only its last part.
    whole: bool,
}

impl Ignore {
    /// Reads the patterns; what is no pattern is passed over.
    pub fn new(text: &str) -> Self {
        let own = ["templates/.?*"];
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(own.into_iter().chain(lines).filter_map(pattern).collect())
    }

    /// Whether the file, or a directory that it stands in, is left out. `path` is relative to the chart.
    pub fn holds(&self, path: &str) -> bool {
        let directories = path.match_indices('/').map(|(at, _)| (&path[..at], true));
        directories.chain([(path, false)]).any(|(path, directory)| self.0.iter().any(|p| p.holds(path, directory)))
    }
}

impl Pattern {
    fn holds(&self, path: &str, directory: bool) -> bool {
        if self.directory && !directory {
            return self.keeps;
        }
        let subject = if self.whole { path } else { path.rsplit('/').next().unwrap_or(path) };
        self.regex.is_match(subject) != self.keeps
    }
}

fn pattern(line: &str) -> Option<Pattern> {
    let (keeps, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directory, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let rooted = line.strip_prefix('/');
    let text = rooted.unwrap_or(line);
    let regex = Regex::new(&expression(text)?).ok()?;
    Some(Pattern { regex, keeps, directory, whole: rooted.is_some() || text.contains('/') })
}

/// A pattern of Go's `filepath.Match` as a regular expression: it knows no `{a,b}`, no `**`, and `^` alone negates a
/// class.
fn expression(pattern: &str) -> Option<String> {
    let mut out = String::from("^(?s:");
    let mut chars = pattern.chars();
    let mut class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push_str(&regex::escape(chars.next()?.encode_utf8(&mut [0; 4]))),
            ']' if class => {
                class = false;
                out.push(']');
            }
            '-' if class => out.push('-'),
            '*' if !class => out.push_str("[^/]*"),
            '?' if !class => out.push_str("[^/]"),
            '[' if !class => {
                class = true;
                out.push('[');
                if chars.as_str().starts_with('^') {
                    out.push(chars.next()?);
                }
            }
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Some(out + ")$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_hold_for_names_paths_and_directories() {
        let ignore = Ignore::new("# notes\n*.md\n/ci\nfiles/*.txt\n.git/\n");
        for path in ["README.md", "docs/a.md", "ci/x.yaml", "files/a.txt", ".git/config", "templates/.x.yaml"] {
            assert!(ignore.holds(path), "{path}");
        }
        let go = Ignore::new("templates/[!b].yaml\n/{x,z}.yaml\nq\\*\nc/[^a-c]\n[\n");
        for path in ["templates/!.yaml", "templates/b.yaml", "{x,z}.yaml", "q*", "c/d"] {
            assert!(go.holds(path), "{path}");
        }
        for path in ["templates/a.yaml", "x.yaml", "qq", "c/b"] {
            assert!(!go.holds(path), "{path}");
        }
        for path in ["values.yaml", "files/sub/a.txt", "templates/ci/x.yaml", ".gitignore"] {
            assert!(!ignore.holds(path), "{path}");
        }
    }
}
