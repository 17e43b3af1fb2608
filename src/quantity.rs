//! Quantities and durations as Kubernetes writes them. Knows nothing else.

/// A quantity in base units: cores, bytes, devices. `500m` is 0.5, `64Gi` is 2^36, `1E` is 10^18, `1e3` is 1000.
pub fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text
        .char_indices()
        .find(|&(i, c)| !(c.is_ascii_digit() || c == '.' || (i == 0 && matches!(c, '+' | '-'))))
        .map_or(text.len(), |(i, _)| i);
    let (number, suffix) = text.split_at(split);
    let value: f64 = number.parse().ok()?;
    let factor = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => f64::from(1u32 << 10),
        "Mi" => f64::from(1u32 << 20),
        "Gi" => f64::from(1u32 << 30),
        "Ti" => (1u64 << 40) as f64,
        "Pi" => (1u64 << 50) as f64,
        "Ei" => (1u64 << 60) as f64,
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            return Some(value * 10f64.powi(exponent.clamp(-300, 300)));
        }
    };
    Some(value * factor)
}

/// Seconds of a duration in Go's notation: `300s`, `5m30s`, `1.5h`, `720h`; a bare number is seconds.
pub fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    if let Ok(value) = rest.parse() {
        return Some(value);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += value
            * match &rest[..unit] {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    (!text.trim().is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_in_base_units() {
        for (text, value) in [
            ("8", 8.0),
            ("500m", 0.5),
            ("64Gi", 68_719_476_736.0),
            ("1E", 1e18),
            ("1e3", 1000.0),
            ("12k", 12_000.0),
            ("1.5Gi", 1_610_612_736.0),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        assert!(["", "Gi", "1 Gi", "8x", "abc"].iter().all(|t| parse(t).is_none()));
    }

    #[test]
    fn durations_in_seconds() {
        assert_eq!(seconds("5m30s"), Some(330.0));
        assert_eq!(seconds("720h"), Some(2_592_000.0));
        assert_eq!(seconds("7776000s"), Some(7_776_000.0));
        assert_eq!(seconds("Never"), None);
    }
}
