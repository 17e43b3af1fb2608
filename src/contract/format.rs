//! Texts of a format, as the API server takes them: what `format` of a schema says (`k8s.io/kube-openapi/pkg/validation/strfmt`),
//! and what the library `format` of CEL asks for (`k8s.io/apiserver/pkg/cel/library`).

use super::uri::Uri;
use regex::Regex;
use std::net::IpAddr;
use std::sync::LazyLock;

/// The formats that schemas state and the API server asks for, with what is said of them.
pub const FORMATS: [(&str, &str); 7] = [
    ("byte", "base64"),
    ("cidr", "a network in CIDR notation"),
    ("date-time", "a time like 2006-01-02T15:04:05Z"),
    ("duration", "a duration like 1h30m"),
    ("ipv4", "an IPv4 address"),
    ("ipv6", "an IPv6 address"),
    ("uri", "a URI"),
];

/// The texts that `argparse` makes something else of: numbers as Python reads them, and words that are true or false.
pub const PYTHON: [(&str, &str); 3] =
    [("python-bool", "true or false"), ("python-float", "a number"), ("python-int", "a whole number")];

/// Numbers of older YAML stand without quotes among them, and words for nothing.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| python("[0-9][0-9_:]*|0[box][0-9a-f_]+"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    python(r"(?:[0-9][0-9_:]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9_]+)?|0[box][0-9a-f_]+|\.?inf|infinity|\.?nan")
});
static TRUTH: LazyLock<Regex> = LazyLock::new(|| python("yes|true|t|y|1|on|no|false|f|n|0|off"));

fn python(words: &str) -> Regex {
    Regex::new(&format!(r"(?i)^\s*(?:[+-]?(?:{words})|none|null|~)?\s*$")).expect("a pattern")
}

static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let day = r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
    let time = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})";
    Regex::new(&format!("(?i)^{day}t{time}$")).expect("a pattern")
});

/// A number with its unit somewhere; the long names of units may go on.
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    let short = "(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)(?:[^a-zµ]|$)";
    Regex::new(&format!(r"(?i)^[+-]?0$|[0-9]\s*(?:{short}|nano|micro|milli|sec|min|hour|day|week)")).expect("a pattern")
});

/// Whether a text has a format of a schema; also where the format is none that is asked for.
pub fn fits(format: &str, text: &str) -> bool {
    match format {
        "byte" => is_base64(text),
        "cidr" => text.split_once('/').is_some_and(|(ip, length)| {
            let bits = ip_address(ip).map(|ip| if ip.is_ipv4() { 32 } else { 128 });
            let length = Some(length).filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
            bits.zip(length.and_then(|length| length.parse::<u32>().ok())).is_some_and(|(bits, length)| length <= bits)
        }),
        "date-time" => TIME.captures(text).is_some_and(|found| is_day(&found[1], &found[2], &found[3])),
        "duration" => DURATION.is_match(text),
        "ipv4" => ip_address(text).is_some() && text.contains('.'),
        "ipv6" => ip_address(text).is_some() && text.contains(':'),
        "uri" => Uri::parse(text).is_some(),
        "python-bool" => TRUTH.is_match(text),
        "python-float" => NUMBER.is_match(text),
        "python-int" => WHOLE.is_match(text),
        _ => true,
    }
}

/// Whether a text is the name of what somebody puts in its place: `AWS_REGION`, `sample_key`. Samples and default values of
/// charts hold such names where a Secret wants base64, and nobody applies them as they are. What is a placeholder by its form
/// is no text to begin with.
pub fn is_stand_in(text: &str) -> bool {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        let words = "sample|example|dummy|your|todo|xxx+";
        Regex::new(&format!("^[A-Z][A-Z0-9_]*$|(?i)(?:^|[^a-z])(?:{words})(?:[^a-z]|$)")).expect("a pattern")
    });
    NAMES.is_match(text)
}

/// An address; the parts of an IPv4 address may begin with zeros.
fn ip_address(text: &str) -> Option<IpAddr> {
    let plain = |part: &str| {
        if part.trim_start_matches('0').is_empty() { "0" } else { part.trim_start_matches('0') }.to_owned()
    };
    let is_part = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split('.').all(|part| is_part(&part)) {
        true => text.split('.').map(plain).collect::<Vec<_>>().join(".").parse().ok(),
        false => text.parse().ok(),
    }
}

/// Whether a month has a day.
fn is_day(year: &str, month: &str, day: &str) -> bool {
    let year: u32 = year.parse().unwrap_or_default();
    let leaps = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        "02" if leaps => "29",
        "02" => "28",
        "04" | "06" | "09" | "11" => "30",
        _ => "31",
    };
    day <= last
}

/// Whether a text is base64 with its padding. Lines may end in it, which Go reads over.
fn is_base64(text: &str) -> bool {
    let letters: Vec<u8> = text.bytes().filter(|byte| !b"\r\n".contains(byte)).collect();
    let padding = letters.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    letters.len().is_multiple_of(4) && padding <= 2 && letters[..letters.len() - padding].iter().all(is_letter)
}

/// What a text lacks to be a name as the library of CEL calls it; nothing where that is no name of its.
pub fn of_library(name: &str, text: &str) -> Option<Option<&'static str>> {
    let (fits, lacks) = match name {
        "dns1123Label" => (is_label(text, 63, false), "a lowercase RFC 1123 label"),
        "dns1123Subdomain" => (is_subdomain(text), "a lowercase RFC 1123 subdomain"),
        "dns1035Label" => (is_label(text, 63, true), "a DNS-1035 label"),
        "qualifiedName" => (is_qualified(text), "a qualified name"),
        "labelValue" => (text.is_empty() || is_name(text), "the value of a label"),
        "uri" => (Uri::parse(text).is_some(), "a URI"),
        _ => return None,
    };
    Some((!fits).then_some(lacks))
}

/// Small letters, digits and dashes, the latter inside only; the first one a letter where that is asked for.
fn is_label(text: &str, most: usize, letter: bool) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = text.as_bytes();
    let inner = |byte: &u8| is_end(Some(byte)) || *byte == b'-';
    let starts = !letter || bytes.first().is_some_and(u8::is_ascii_lowercase);
    bytes.len() <= most && starts && is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(inner)
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(|part| is_label(part, 253, false))
}

/// A name as that of a label, without its prefix.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()].iter().all(|byte| byte.is_some_and(u8::is_ascii_alphanumeric));
    bytes.len() <= 63 && ends && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_qualified(text: &str) -> bool {
    text.split_once('/').map_or_else(|| is_name(text), |(prefix, name)| is_subdomain(prefix) && is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the libraries of the API server say of texts (`tests/oracles/cel/formats.py`).
    #[test]
    fn texts_have_the_formats_that_the_api_server_takes() {
        let said: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/formats.json")).expect("JSON");
        let texts = |list: &serde_json::Value| -> Vec<String> {
            list.as_array().expect("a list").iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        // Its own kinds take no text and several lines for base64, which definitions refuse.
        let asked = |format: &str, text: &str| format != "byte" || !text.is_empty() && !text.contains('\n');
        for (format, _) in FORMATS {
            let asked = |text: &String| asked(format, text);
            let taken: Vec<String> =
                texts(&said["texts"]).into_iter().filter(asked).filter(|t| fits(format, t)).collect();
            assert_eq!(taken, texts(&said["taken"][format]), "{format}");
        }
        assert!(fits("byte", "YWJj\nZGVm\n") && fits("byte", ""));
        let names = ["AWS_REGION", "sample_aws_key_id", "<your-token>", "example"];
        assert!(names.iter().all(|name| is_stand_in(name)) && !is_stand_in("s3cret-pw") && !is_stand_in("samples"));
    }

    #[test]
    fn texts_are_what_python_makes_of_them() {
        let taken = |format: &str, texts: &[&str]| texts.iter().all(|text| fits(format, text));
        let refused = |format: &str, texts: &[&str]| texts.iter().all(|text| !fits(format, text));
        assert!(
            taken("python-int", &["10", " -1_000 ", "0x10", "none"]) && refused("python-int", &["10k", "1e3", "1.5"])
        );
        assert!(taken("python-float", &["2e-5", "1.", ".5", "-inf", "1_0.5E+3"]));
        assert!(refused("python-float", &["10%", "2e-", "auto", "."]));
        assert!(taken("python-bool", &["Yes", "0"]) && refused("python-bool", &["auto", "2"]));
    }

    #[test]
    fn names_are_those_of_kubernetes() {
        let is = |name: &str, text: &str| of_library(name, text) == Some(None);
        assert!(is("qualifiedName", "nvidia.com/gpu.count") && is("qualifiedName", "A_b"));
        assert!(
            !is("qualifiedName", "nvidia.com/")
                && !is("qualifiedName", "Nvidia.com/a")
                && !is("qualifiedName", "a/b/c")
        );
        assert!(is("dns1123Label", "1-a") && !is("dns1035Label", "1-a") && !is("dns1123Label", "a.b"));
        assert!(is("dns1123Subdomain", "a.b-c") && !is("dns1123Subdomain", "a..b") && !is("dns1123Subdomain", "-a.b"));
        assert_eq!(of_library("mime", "a"), None);
    }
}
