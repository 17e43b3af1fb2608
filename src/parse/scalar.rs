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
    fn core_keeps_on_and_octal_as_written() {
        assert_eq!(resolve("on", Dialect::Core), Scalar::Str("on"));
        assert_eq!(resolve("0777", Dialect::Core), Scalar::Int(777));
        assert_eq!(resolve("1_000", Dialect::Core), Scalar::Str("1_000"));
    }
}
