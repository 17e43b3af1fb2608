//! Parameter expansion on text, as Dockerfiles, Compose and shells share it.

use super::is_name;

/// What a variable stands for; `None` where it has no known value.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Nesting of defaults within defaults.
const MAX_DEPTH: u32 = 16;
/// Longest text that is made.
const MAX_TEXT: usize = 1 << 16;
/// Longest value that a glob pattern is tried on at its ends, in bytes.
const MAX_TRIM: usize = 256;
/// Longest value that a glob pattern is looked for in, in bytes: every start with every end is tried.
const MAX_REPLACE: usize = 64;

/// Substitutes `$NAME`, `${NAME}`, `${NAME:-x}`, `${NAME-x}`, `${NAME:+x}`, `${NAME#p}`, `${NAME%p}` and
/// `${NAME/p/x}`. `None` when a variable without a value decides, or on what only a shell can say
/// (`$(…)`, `$1`). `\$` and `$$` are a plain `$`.
pub fn expand(text: &str, lookup: Lookup) -> Option<String> {
    expand_within(text, lookup, MAX_DEPTH)
}

fn expand_within(text: &str, lookup: Lookup, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '\\', '`']) {
        if out.len() > MAX_TEXT.max(text.len()) {
            return None;
        }
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut chars = rest.chars();
        let (first, next) = (chars.next(), chars.next());
        match (first, next) {
            (Some('$'), Some('(')) if rest.starts_with("$((") => {
                let end = rest.find("))")?;
                out.push_str(&arithmetic(&rest[3..end], lookup)?.to_string());
                rest = &rest[end + 2..];
            }
            (Some('`'), _) | (_, Some('(' | '@' | '*' | '#' | '?' | '!' | '0'..='9')) if first != Some('\\') => {
                return None;
            }
            (Some('$'), Some('{')) => {
                let end = closing_brace(rest)?;
                out.push_str(&parameter(&rest[2..end], lookup, depth)?);
                rest = &rest[end + 1..];
            }
            (Some('$'), Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
                let name = &rest[1..];
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                out.push_str(&lookup(&name[..end])?);
                rest = &name[end..];
            }
            (Some('$' | '\\'), Some('$')) => {
                out.push('$');
                rest = &rest[2..];
            }
            _ => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// The value of `N * (G + 1)`: whole numbers, variables with or without `$`, `+ - * / %`.
fn arithmetic(text: &str, lookup: Lookup) -> Option<i64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !"${}".contains(*c)).collect();
    let (value, rest) = sum(&text, lookup, MAX_DEPTH)?;
    rest.is_empty().then_some(value)
}

fn sum<'t>(text: &'t str, lookup: Lookup, depth: u32) -> Option<(i64, &'t str)> {
    let (mut value, mut rest) = product(text, lookup, depth)?;
    while let Some(sign) = rest.chars().next().filter(|c| "+-".contains(*c)) {
        let (next, after) = product(&rest[1..], lookup, depth)?;
        value = if sign == '+' { value.checked_add(next)? } else { value.checked_sub(next)? };
        rest = after;
    }
    Some((value, rest))
}

fn product<'t>(text: &'t str, lookup: Lookup, depth: u32) -> Option<(i64, &'t str)> {
    let (mut value, mut rest) = operand(text, lookup, depth)?;
    while let Some(sign) = rest.chars().next().filter(|c| "*/%".contains(*c)) {
        let (next, after) = operand(&rest[1..], lookup, depth)?;
        value = match sign {
            '*' => value.checked_mul(next)?,
            '/' => value.checked_div(next)?,
            _ => value.checked_rem(next)?,
        };
        rest = after;
    }
    Some((value, rest))
}

fn operand<'t>(text: &'t str, lookup: Lookup, depth: u32) -> Option<(i64, &'t str)> {
    let depth = depth.checked_sub(1)?;
    if let Some(inner) = text.strip_prefix('(') {
        let (value, rest) = sum(inner, lookup, depth)?;
        return Some((value, rest.strip_prefix(')')?));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = if is_name(word) { lookup(word)?.trim().parse() } else { word.parse() };
    Some((value.ok()?, rest))
}

/// Offset of the `}` that closes the `${` at the start.
fn closing_brace(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (1, 2);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' if bytes[at - 1] == b'$' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The value of what stands between the braces.
fn parameter(inner: &str, lookup: Lookup, depth: u32) -> Option<String> {
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
    let (name, operation) = inner.split_at(end);
    if !is_name(name) {
        return None;
    }
    let value = lookup(name);
    let word = |word: &str| expand_within(word, lookup, depth);
    let (colon, after) = match operation.strip_prefix(':') {
        Some(after) => (true, after),
        None => (false, operation),
    };
    let given = value.clone().filter(|v| !colon || !v.is_empty());
    let Some(operator) = after.chars().next() else { return value.filter(|_| !colon) };
    let argument = &after[operator.len_utf8()..];
    match operator {
        '-' | '=' => given.or_else(|| word(argument)),
        '?' => given,
        // Set but empty is known to give nothing; without a value it is not known which.
        '+' if value.is_some() => {
            if given.is_some() {
                word(argument)
            } else {
                Some(String::new())
            }
        }
        '#' | '%' if !colon => {
            let longest = argument.starts_with(operator);
            trim(&value?, &word(&argument[usize::from(longest)..])?, operator, longest)
        }
        '/' if !colon => {
            let all = argument.starts_with('/');
            let argument = &argument[usize::from(all)..];
            let (pattern, replacement) = argument.split_once('/').unwrap_or((argument, ""));
            replace(&value?, &word(pattern)?, &word(replacement)?, all)
        }
        _ => None,
    }
}

/// `value` without the prefix (`#`) or suffix (`%`) that matches, the shortest or longest one.
fn trim(value: &str, pattern: &str, side: char, longest: bool) -> Option<String> {
    let pattern = Glob::new(pattern, value, MAX_TRIM)?;
    let mut cuts: Vec<usize> = value.char_indices().map(|(i, _)| i).chain([value.len()]).collect();
    // Prefixes grow with the cut, suffixes shrink.
    if (side == '#') == longest {
        cuts.reverse();
    }
    let cut = cuts.into_iter().find(|&i| pattern.matches(if side == '#' { &value[..i] } else { &value[i..] }));
    Some(match cut {
        Some(i) if side == '#' => value[i..].to_string(),
        Some(i) => value[..i].to_string(),
        None => value.to_string(),
    })
}

/// `value` with the first or every longest match replaced.
fn replace(value: &str, pattern: &str, replacement: &str, all: bool) -> Option<String> {
    if pattern.is_empty() {
        return Some(value.to_string());
    }
    let pattern = Glob::new(pattern, value, MAX_REPLACE)?;
    let mut out = String::new();
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        let ends = rest.char_indices().map(|(i, c)| i + c.len_utf8()).rev();
        match pattern.find_end(rest, ends) {
            _ if out.len() > MAX_TEXT => return None,
            Some(end) => {
                out.push_str(replacement);
                rest = &rest[end..];
                if !all {
                    break;
                }
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// A pattern of `*`, `?` and plain characters.
struct Glob<'a> {
    pattern: &'a str,
    plain: bool,
}

impl<'a> Glob<'a> {
    /// `None` for what is not supported (`[…]`, `\`) or too long to try.
    fn new(pattern: &'a str, value: &str, limit: usize) -> Option<Self> {
        let plain = !pattern.contains(['*', '?', '[', '\\']);
        let bounded = value.len() <= limit && pattern.len() <= limit && !pattern.contains(['[', '\\']);
        (plain || bounded).then_some(Self { pattern, plain })
    }

    /// The first of `ends` at which the start of `text` matches.
    fn find_end(&self, text: &str, mut ends: impl Iterator<Item = usize>) -> Option<usize> {
        if self.plain {
            return text.starts_with(self.pattern).then_some(self.pattern.len());
        }
        ends.find(|&end| self.matches(&text[..end]))
    }

    fn matches(&self, text: &str) -> bool {
        if self.plain {
            return text == self.pattern;
        }
        let (pattern, text): (Vec<char>, Vec<char>) = (self.pattern.chars().collect(), text.chars().collect());
        let (mut p, mut t) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(&c) if c == '?' || c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => match star {
                    Some((at, from)) => {
                        star = Some((at, from + 1));
                        p = at + 1;
                        t = from + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn expanded(text: &str) -> Option<String> {
        expand(text, &|name| match name {
            "V" => Some("12.4.1".into()),
            "E" => Some(String::new()),
            "P" => Some("a/b/c.tar.gz".into()),
            _ => None,
        })
    }

    #[test]
    fn values_and_defaults() {
        for (text, value) in [
            ("cuda:$V-devel", "cuda:12.4.1-devel"),
            ("${V}", "12.4.1"),
            ("${X:-d}${X-e}", "de"),
            ("${E:-d}${E-e}", "d"),
            ("${X:-${V}}", "12.4.1"),
            ("${V:+yes}${E:+no}", "yes"),
            ("${V:?must}", "12.4.1"),
            ("\\$V $$V 5$", "$V $V 5$"),
        ] {
            assert_eq!(expanded(text).as_deref(), Some(value), "{text}");
        }
    }

    #[test]
    fn patterns() {
        for (text, value) in [
            ("${V%.*}", "12.4"),
            ("${V%%.*}", "12"),
            ("${V#*.}", "4.1"),
            ("${P##*/}", "c.tar.gz"),
            ("${V/./-}", "12-4.1"),
            ("cu${V//./}", "cu1241"),
            ("${V//?.?/x}", "1x.1"),
            ("${V#13}", "12.4.1"),
        ] {
            assert_eq!(expanded(text).as_deref(), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_none() {
        for text in ["$X", "${X}", "${X:+y}", "$(id)", "`id`", "$1", "${V", "${V:0:2}", "${#V}", "${A[@]}", "${X#a}"] {
            assert_eq!(expanded(text), None, "{text}");
        }
        assert_eq!(expanded(&"${X:-".repeat(10_000)), None);
        assert_eq!(expanded(&format!("{}{}", "${X:-".repeat(100), "}".repeat(100))), None);
    }
}
