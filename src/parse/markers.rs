//! Conditions of PEP 508 (`python_version < "3.10" and sys_platform == "linux"`): whether a package is installed in an
//! environment. Knows the grammar of markers; knows no packages.

use crate::version::Version;

/// A condition on the environment.
#[derive(Debug, Clone, PartialEq)]
pub enum Marker {
    /// All hold.
    All(Vec<Marker>),
    /// One holds.
    Any(Vec<Marker>),
    /// A variable compared with a text.
    Compare {
        /// `python_version`, `sys_platform`, `extra`, …
        variable: String,
        /// `==`, `<`, `in`, …; as seen from the variable.
        operator: String,
        /// The text.
        value: String,
    },
}

/// How the variables begin that stand for the branch of a script that runs: in a construct of which one runs in any case,
/// and in another one.
pub const BRANCHES: [&str; 2] = ["either_", "branch_"];

/// What variables are in an environment; `None` where it is not known.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 32;

impl Marker {
    /// Reads a marker; `None` when it is none.
    pub fn parse(text: &str) -> Option<Marker> {
        let tokens = tokens(text)?;
        let mut rest = &tokens[..];
        let marker = any(&mut rest, MAX_DEPTH)?;
        rest.is_empty().then_some(marker)
    }

    /// Whether it holds; `None` where the environment decides and is not known.
    pub fn holds(&self, environment: Environment<'_>) -> Option<bool> {
        let decided = |parts: &[Marker], by: bool| {
            let answers: Vec<Option<bool>> = parts.iter().map(|part| part.holds(environment)).collect();
            match answers.contains(&Some(by)) {
                true => Some(by),
                false => answers.into_iter().collect::<Option<Vec<bool>>>().map(|_| !by),
            }
        };
        match self {
            Marker::All(parts) => decided(parts, false),
            Marker::Any(parts) => decided(parts, true),
            Marker::Compare { variable, operator, value } => compare(&environment(variable)?, operator, value),
        }
    }

    /// Every comparison: variable and text.
    pub fn comparisons(&self) -> Vec<(&str, &str)> {
        match self {
            Marker::All(parts) | Marker::Any(parts) => parts.iter().flat_map(Marker::comparisons).collect(),
            Marker::Compare { variable, value, .. } => vec![(variable, value)],
        }
    }
}

/// What a variable is on every machine of Linux.
pub fn of_linux(variable: &str) -> Option<&'static str> {
    Some(match variable {
        "sys_platform" => "linux",
        "platform_system" => "Linux",
        "os_name" => "posix",
        "implementation_name" => "cpython",
        "platform_python_implementation" => "CPython",
        _ => return None,
    })
}

/// Versions where both sides are some, else texts.
fn compare(actual: &str, operator: &str, value: &str) -> Option<bool> {
    match operator {
        "in" => return Some(value.contains(actual)),
        "not in" => return Some(!value.contains(actual)),
        "===" => return Some(actual == value),
        _ => {}
    }
    let (Some(version), Some(bound)) = (Version::parse(actual), Version::parse(value.trim_end_matches(".*"))) else {
        return match operator {
            "==" => Some(actual == value),
            "!=" => Some(actual != value),
            _ => None,
        };
    };
    let equal = if value.ends_with(".*") { version.starts_with(&bound) } else { version == bound };
    Some(match operator {
        "==" => equal,
        "!=" => !equal,
        "<" => version < bound,
        "<=" => version <= bound,
        ">" => version > bound,
        ">=" => version >= bound,
        "~=" => version >= bound && version.release().starts_with(&bound.release()[..bound.release().len() - 1]),
        _ => return None,
    })
}

#[derive(Debug, PartialEq)]
enum Token {
    Open,
    Close,
    Text(String),
    Word(String),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut out = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' => {
                out.push(if first == '(' { Token::Open } else { Token::Close });
                1
            }
            '"' | '\'' => {
                let end = rest[1..].find(first)?;
                out.push(Token::Text(rest[1..end + 1].to_owned()));
                end + 2
            }
            _ => {
                let sign = |c: char| "<>=!~".contains(c);
                let end = rest.find(|c: char| c.is_whitespace() || "()\"'".contains(c) || sign(c) != sign(first));
                let end = end.unwrap_or(rest.len());
                out.push(Token::Word(rest[..end].to_owned()));
                end
            }
        };
        rest = rest[length..].trim_start();
    }
    Some(out)
}

fn any(rest: &mut &[Token], depth: usize) -> Option<Marker> {
    joined(rest, "or", Marker::Any, |rest| joined(rest, "and", Marker::All, |rest| one(rest, depth)))
}

fn joined(
    rest: &mut &[Token],
    word: &str,
    join: fn(Vec<Marker>) -> Marker,
    mut part: impl FnMut(&mut &[Token]) -> Option<Marker>,
) -> Option<Marker> {
    let mut parts = vec![part(rest)?];
    while let Some((Token::Word(next), after)) = rest.split_first()
        && next == word
    {
        *rest = after;
        parts.push(part(rest)?);
    }
    if parts.len() == 1 { parts.pop() } else { Some(join(parts)) }
}

fn one(rest: &mut &[Token], depth: usize) -> Option<Marker> {
    let depth = depth.checked_sub(1)?;
    if let Some((Token::Open, after)) = rest.split_first() {
        *rest = after;
        let inner = any(rest, depth)?;
        let (close, after) = rest.split_first()?;
        *rest = after;
        return (*close == Token::Close).then_some(inner);
    }
    let (left, operator) = (rest.first()?, rest.get(1)?);
    let Token::Word(operator) = operator else { return None };
    let negated = operator == "not" && rest.get(2) == Some(&Token::Word("in".to_owned()));
    let (operator, length) = if negated { ("not in", 4) } else { (operator.as_str(), 3) };
    let right = rest.get(length - 1)?;
    *rest = &rest[length..];
    let (variable, value, operator) = match (left, right) {
        (Token::Word(variable), Token::Text(value)) => (variable, value, operator),
        (Token::Text(value), Token::Word(variable)) => (variable, value, mirrored(operator)),
        _ => return None,
    };
    // Names of older releases of setuptools: `os.name`, `sys.platform`.
    Some(Marker::Compare { variable: variable.replace('.', "_"), operator: operator.to_owned(), value: value.clone() })
}

/// The operator as seen from the other side.
fn mirrored(operator: &str) -> &str {
    match operator {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(marker: &str) -> Option<bool> {
        Marker::parse(marker).expect(marker).holds(&|variable| match variable {
            "python_version" => Some("3.10".to_owned()),
            "sys_platform" => Some("linux".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn versions_are_compared_as_versions_and_texts_as_texts() {
        for (marker, expected) in [
            ("python_version < '3.9'", Some(false)),
            ("python_version>=\"3.9\"", Some(true)),
            ("'3.9' <= python_version", Some(true)),
            ("python_version == '3.*'", Some(true)),
            ("sys_platform == 'darwin'", Some(false)),
            ("sys.platform != 'win32'", Some(true)),
            ("sys_platform in 'linux darwin'", Some(true)),
            ("sys_platform not in 'linux'", Some(false)),
            ("platform_machine == 'aarch64'", None),
            ("platform_machine == 'aarch64' and python_version < '3.9'", Some(false)),
            ("platform_machine == 'aarch64' or (python_version > '3.9')", Some(true)),
            ("platform_machine == 'aarch64' or python_version < '3'", None),
        ] {
            assert_eq!(holds(marker), expected, "{marker}");
        }
    }

    #[test]
    fn what_is_no_marker_is_none() {
        for text in
            ["", "python_version", "python_version <", "'a' == 'b'", "(python_version < '3'", "a == 'b' c", "a == 'b"]
        {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
        assert_eq!(Marker::parse(&"(".repeat(100_000)), None);
    }
}
