//! Addresses as Go reads those of requests (`net/url.ParseRequestURI`), which is what the API server takes for a URI.

/// The parts of an address that rules ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    /// What stands before the first colon, in small letters; empty where there is none.
    pub scheme: String,
    /// The host with its port, decoded; empty where there is none.
    pub host: String,
}

impl Uri {
    /// Reads an address: a path, or what begins with a scheme.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return None;
        }
        let (scheme, rest) = scheme(text)?;
        let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
        let mut uri = Uri { scheme: scheme.to_ascii_lowercase(), host: String::new() };
        if !rest.starts_with('/') {
            // Behind a scheme anything may stand: `mailto:a@example.com`.
            return (!scheme.is_empty() || text == "*").then_some(uri);
        }
        let authority = rest.strip_prefix("//").and_then(authority);
        let path = match (&authority, scheme.is_empty() || !rest.starts_with("//")) {
            (Some((_, path)), false) => path,
            (None, false) => return None,
            (_, true) => rest,
        };
        // A host without a scheme is one to those who ask for it; three slashes are none.
        uri.host = authority.map(|(host, _)| host).unwrap_or_default();
        decoded(path).map(|_| uri)
    }

    /// The host without its port and without brackets.
    pub fn hostname(&self) -> &str {
        let host = match self.host.rfind(':') {
            Some(at) if is_port(&self.host[at..]) => &self.host[..at],
            _ => &self.host,
        };
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    /// The port; empty where none is stated.
    pub fn port(&self) -> &str {
        let at = self.host.rfind(':').filter(|at| is_port(&self.host[*at..]));
        at.map_or("", |at| &self.host[at + 1..])
    }
}

/// The host, and the path behind it.
fn authority(rest: &str) -> Option<(String, &str)> {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_of_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    let fits = user.bytes().all(is_of_user) && decoded(user).is_some();
    of_host(host).filter(|_| fits).map(|host| (host, path))
}

/// The scheme, and what stands behind it.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    match text.split_once(':') {
        Some(("", _)) => None,
        Some((scheme, rest)) if scheme.as_bytes()[0].is_ascii_alphabetic() && scheme.bytes().all(is_scheme) => {
            Some((scheme, rest))
        }
        _ => Some(("", text)),
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The host with its port.
fn of_host(text: &str) -> Option<String> {
    if text.starts_with('[') {
        let port = &text[text.rfind(']')? + 1..];
        return (port.is_empty() || is_port(port)).then(|| text.to_owned());
    }
    if text.rfind(':').is_some_and(|at| !is_port(&text[at..])) {
        return None;
    }
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte) || byte >= 0x80;
    // Only what no letter of ASCII is may be encoded there.
    let escapes = || text.split('%').skip(1).all(|rest| rest.as_bytes().first().is_some_and(|digit| *digit >= b'8'));
    (text.bytes().all(is_plain) && escapes()).then(|| decoded(text))?
}

/// The text that percent signs and two digits stand for.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        out.push(u8::from_str_radix(digits, 16).ok()?);
        out.extend(part[2..].bytes());
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_go_reads() {
        for text in
            ["/path", "http://a", "http://a:80/b?c=%zz", "https://u:p@[::1]:8080/", "file:///a", "mailto:a@b", "*"]
        {
            assert!(Uri::parse(text).is_some(), "{text}");
        }
        for text in
            ["", "a", "a/b", ":80", "http://a:b/", "http://a b/", "http://a/%zz", "//\n", "http://[::1", "a.b/c:d"]
        {
            assert!(Uri::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn parts_of_an_address_are_told() {
        let uri = Uri::parse("HTTPS://u@Example.com:8443/a").expect("an address");
        assert_eq!((uri.scheme.as_str(), uri.hostname(), uri.port()), ("https", "Example.com", "8443"));
        let uri = Uri::parse("//a/b").expect("a host");
        assert_eq!((uri.scheme.as_str(), uri.host.as_str()), ("", "a"));
        assert_eq!(Uri::parse("oci://[::1]:5000").expect("an address").hostname(), "::1");
    }
}
