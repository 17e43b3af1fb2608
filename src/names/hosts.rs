//! Services that are named by their hosts: in URLs of variables, arguments and ConfigMaps. Knows how the DNS of a cluster calls
//! a Service.

use super::references::Asked;
use crate::budget::{STEP, Share, Spent};
use crate::catalog::{Reference, references};
use crate::known::Fact;
use crate::parse::View;
use crate::source::Traced;

/// A host and its port in a text, by where they stand.
struct Host<'t> {
    labels: Vec<&'t str>,
    /// Where its first label starts.
    at: usize,
    port: Option<(usize, &'t str)>,
}

/// What the URLs in a container name.
pub fn of_container(
    container: View<'_>,
    (of, namespace): (&Fact<String>, &Fact<String>),
    share: &Share,
    out: &mut Vec<Asked>,
) -> Result<(), Spent> {
    let variables = container.get("env").items().map(|variable| variable.get("value"));
    let words = container.get("command").items().chain(container.get("args").items());
    for text in variables.chain(words).filter_map(View::traced) {
        of_text(&text, (of, namespace), share, out)?;
    }
    Ok(())
}

/// What the URLs in the data of a ConfigMap name.
pub fn of_data(
    map: View<'_>,
    (of, namespace): (&Fact<String>, &Fact<String>),
    share: &Share,
    out: &mut Vec<Asked>,
) -> Result<(), Spent> {
    let texts = map.get("data").entries().into_iter().filter_map(|(_, value)| value.traced());
    texts.into_iter().try_for_each(|text| of_text(&text, (of, namespace), share, out))
}

fn of_text(
    text: &Traced,
    (of, namespace): (&Fact<String>, &Fact<String>),
    share: &Share,
    out: &mut Vec<Asked>,
) -> Result<(), Spent> {
    share.work(STEP + text.text().len())?;
    let Some(row) = references("core", "URL").first() else { return Ok(()) };
    for host in hosts(text.text()) {
        let span = |at: usize, part: &str| text.span(at..at + part.len());
        let name = (host.labels[0].to_owned(), span(host.at, host.labels[0]));
        let namespace = match host.labels[..] {
            [_] => namespace.clone(),
            // Two labels may be a domain of anybody's.
            [_, other, "svc", ..] => Fact::value(other.to_owned(), name.1),
            _ => continue,
        };
        if namespace.is_unknown() {
            continue;
        }
        share.make(size_of::<Asked>())?;
        let parts = host.port.map(|(at, port)| (port.to_owned(), span(at, port)));
        let row: &'static Reference = row;
        out.push(Asked {
            row,
            of: of.clone(),
            file: name.1.source,
            namespace,
            kind: "core/Service",
            name,
            parts: parts.into_iter().collect(),
        });
    }
    Ok(())
}

/// Whether what stands at a place in a text is part of a comment, in most languages that have any.
pub fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    line.contains(" #") || ["#", "//", ";", "-- "].iter().any(|sign| line.trim_start().starts_with(sign))
}

/// The hosts of the URLs in a text.
fn hosts(text: &str) -> impl Iterator<Item = Host<'_>> {
    text.match_indices("://").filter_map(|(before, sign)| {
        if is_comment(text, before) {
            return None;
        }
        let scheme = text[..before].rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
        let at = before + sign.len();
        let rest = &text[at..];
        let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-.".contains(letter);
        let end = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
        let (host, behind) = rest.split_at(end);
        let digits = behind
            .strip_prefix(':')
            .map(|port| &port[..port.find(|c: char| !c.is_ascii_digit()).unwrap_or(port.len())]);
        let ends = match digits {
            Some(port) => &behind[1 + port.len()..],
            None => behind,
        };
        // Anything but the end of the authority behind it makes it a part of another word: an expression, a user's name.
        let whole = ends.is_empty() || ends.starts_with(['/', '?', '#', '"', '\'', ',', ' ', '\n', ']', '}', ')', ';']);
        let labels: Vec<&str> = host.split('.').collect();
        let named =
            labels.iter().all(|label| !label.is_empty()) && labels[0].starts_with(|c: char| c.is_ascii_lowercase());
        let port = digits.filter(|port| !port.is_empty()).map(|port| (at + end + 1, port));
        (whole && named && scheme.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(Host { labels, at, port })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_stands_between_scheme_and_path() {
        let found = |text: &str| -> Vec<String> {
            let shown =
                |host: Host<'_>| format!("{} {}", host.labels.join("."), host.port.map_or("", |(_, port)| port));
            hosts(text).map(shown).collect()
        };
        assert_eq!(found("http://vllm:8000/v1"), ["vllm 8000"]);
        assert_eq!(
            found("a=redis://cache.ml.svc.cluster.local:6379,b=http://x"),
            ["cache.ml.svc.cluster.local 6379", "x "]
        );
        assert_eq!(found("http://${HOST}:80 http://user:pw@db:5432 http://10.0.0.1:80 ://x http://$(A)"), [""; 0]);
        assert_eq!(found("http://vllm-{{ x }}:80 http://Vllm:80 http://a:b"), [""; 0]);
        assert_eq!(found("serve \\\n  --url=http://new:80"), ["new 80"], "an option is no comment");
        assert_eq!(found("# http://old:80\na: http://new:80\n  // http://old:80"), ["new 80"], "comments name nothing");
    }
}
