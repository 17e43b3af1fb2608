//! The types of plain scalars, per dialect.

use super::Dialect;

/// A typed scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'t> {
    /// null
    Null,
    /// true, false and, in YAML 1.1, yes, no, on, off, y, n
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(&'t str),
}

/// Types a plain scalar. The Kubernetes dialect follows go.yaml.in/yaml/v2, which sigs.k8s.io/yaml uses.
pub fn resolve(text: &str, dialect: Dialect) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    if dialect == Dialect::Kubernetes {
        match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Scalar::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Scalar::Bool(false),
            _ => {}
        }
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Scalar::Str(text);
    }
    int(text, dialect).map(Scalar::Int).or_else(|| float(text, dialect).map(Scalar::Float)).unwrap_or(Scalar::Str(text))
}

/// What readers of Kubernetes hand on where a scalar is written otherwise, and whether it still takes its type from its
/// text: numbers become decimal (`0x10`, `0o17`, `1_000`), bytes (`!!binary`) text, and a tag of a type counts more than
/// quotes. As go.yaml.in/yaml/v2 does it.
pub fn handed_on(text: &str, plain: bool, tag: Option<&str>) -> Option<(String, bool)> {
    match tag {
        Some("!!binary") => return Some((String::from_utf8_lossy(&base64(text)?).into_owned(), false)),
        Some("!") if plain => return Some((text.to_owned(), false)),
        Some("!!bool" | "!!null") if !plain => return Some((text.to_owned(), true)),
        Some("!!int" | "!!float") => {}
        None if plain && odd_number(text) => {}
        _ => return None,
    }
    let number = match resolve(text, Dialect::Kubernetes) {
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) if value.is_finite() => value.to_string(),
        _ => return None,
    };
    (number != text || !plain).then_some((number, true))
}

/// Whether a plain text may be a number that is not written in plain decimal digits.
fn odd_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    match digits {
        [b'0', b'0'..=b'9' | b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..] => true,
        [b'0'..=b'9' | b'.', rest @ ..] => text.starts_with('+') || rest.contains(&b'_'),
        _ => false,
    }
}

/// What is written in base64, on one or more lines.
fn base64(text: &str) -> Option<Vec<u8>> {
    let letters: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let bare = letters.strip_suffix(b"==").or(letters.strip_suffix(b"=")).unwrap_or(&letters);
    let mut out = Vec::with_capacity(bare.len() * 3 / 4);
    let (mut bits, mut known) = (0u32, 0);
    for letter in bare {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, known) = (bits << 6 | u32::from(value), known + 6);
        if known >= 8 {
            known -= 8;
            out.push((bits >> known) as u8);
        }
    }
    letters.len().is_multiple_of(4).then_some(out)
}

fn int(text: &str, dialect: Dialect) -> Option<i64> {
    let plain;
    let text = if dialect == Dialect::Kubernetes && text.contains('_') {
        plain = text.replace('_', "");
        plain.as_str()
    } else {
        text
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] if dialect == Dialect::Kubernetes => (2, &digits[2..]),
        [b'0', _, ..] if dialect == Dialect::Kubernetes => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

fn float(text: &str, dialect: Dialect) -> Option<f64> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // `f64::from_str` also accepts "inf" and "nan", which are text in YAML.
    let shaped = |t: &str| {
        t.bytes().any(|b| b.is_ascii_digit())
            && t.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
    };
    if dialect == Dialect::Kubernetes && text.contains('_') {
        let plain = text.replace('_', "");
        return shaped(&plain).then(|| plain.parse().ok()).flatten();
    }
    shaped(text).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_reads_yaml_1_1() {
        for (text, value) in [
            ("on", Scalar::Bool(true)),
            ("0777", Scalar::Int(0o777)),
            ("1_000", Scalar::Int(1000)),
            ("0x10", Scalar::Int(16)),
            ("12.10", Scalar::Float(12.1)),
            ("1e3", Scalar::Float(1000.0)),
            ("500m", Scalar::Str("500m")),
            ("12:30", Scalar::Str("12:30")),
            ("-", Scalar::Str("-")),
            ("1.2.3", Scalar::Str("1.2.3")),
            ("", Scalar::Null),
        ] {
            assert_eq!(resolve(text, Dialect::Kubernetes), value, "{text}");
        }
    }

    #[test]
    fn numbers_and_bytes_are_handed_on_as_kubernetes_gets_them() {
        for (text, tag, handed) in [
            ("0x2", None, "2"),
            ("0b10", None, "2"),
            ("0o2", None, "2"),
            ("010", None, "8"),
            ("08", None, "8"),
            ("-0x2", None, "-2"),
            ("1_0", None, "10"),
            ("1_0.5", None, "10.5"),
            ("+1", None, "1"),
            ("+1.50", None, "1.5"),
            ("cmVzb3VyY2Vz", Some("!!binary"), "resources"),
            ("cmVz\nb3U=", Some("!!binary"), "resou"),
            ("2", Some("!!float"), ""),
            ("0x2", Some("!!str"), ""),
            ("12.10", None, ""),
            ("1_a", None, ""),
            ("0xcafe.g", None, ""),
            ("0-1", None, ""),
            ("1.2.3_4", None, ""),
        ] {
            let found = handed_on(text, true, tag);
            assert_eq!(found.as_ref().map_or("", |(text, _)| text), handed, "{text}");
        }
        assert_eq!(handed_on("2", false, Some("!!int")), Some(("2".to_owned(), true)));
        assert_eq!(handed_on("0x2", false, None), None);
    }

    #[test]
    fn core_keeps_on_and_octal_as_written() {
        assert_eq!(resolve("on", Dialect::Core), Scalar::Str("on"));
        assert_eq!(resolve("0777", Dialect::Core), Scalar::Int(777));
        assert_eq!(resolve("1_000", Dialect::Core), Scalar::Str("1_000"));
    }
}
