//! URLs, taken apart and put together as Go does.

use super::{Call, Function, Outcome};
use crate::render::gotemplate::print;
use crate::render::text::Text;
use crate::render::value::{Map, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "urlParse" => (parse, 1, 1),
        "urlJoin" => (join, 1, 1),
        _ => return None,
    })
}

fn parse(call: &Call<'_>) -> Outcome {
    let text = call.text(0)?;
    let (rest, fragment) = text.as_str().split_once('#').unwrap_or((text.as_str(), ""));
    let named = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let (scheme, rest) = rest.split_once(':').filter(|(scheme, _)| named(scheme)).unwrap_or(("", rest));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let opaque = if !scheme.is_empty() && !rest.starts_with('/') { rest } else { "" };
    let rest = &rest[opaque.len()..];
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => after.split_at(after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    };
    let (userinfo, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let hostname = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let whole = |part: &str| text.part(part);
    let parts = [
        ("scheme", text.part(scheme).derived(scheme.to_ascii_lowercase())),
        ("userinfo", whole(userinfo)),
        ("host", whole(host)),
        ("hostname", whole(hostname)),
        ("path", decoded(text, path)?),
        ("query", whole(query)),
        ("opaque", whole(opaque)),
        ("fragment", decoded(text, fragment)?),
    ];
    Ok(parts.into_iter().map(|(name, part)| (name, Value::from(part))).collect::<Map>().into())
}

/// A part of a URL without its percent signs.
fn decoded(text: &Text, part: &str) -> Result<Text, String> {
    if !part.contains('%') {
        return Ok(text.part(part));
    }
    let (mut out, mut bytes) = (Vec::new(), part.bytes());
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16));
        out.push(match byte {
            b'%' => match (digit(), digit()) {
                (Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => return Err(format!("unable to parse url: {part:?}")),
            },
            byte => byte,
        });
    }
    Ok(text.part(part).derived(String::from_utf8_lossy(&out).into_owned()))
}

/// A path or fragment with percent signs for what may not stand there.
fn encoded(part: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&b);
    let byte = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    part.bytes().map(byte).collect()
}

fn join(call: &Call<'_>) -> Outcome {
    let map = call.map(0)?;
    let part =
        |name: &str| map.get(name).map(|value| print::text(&value, call.share).as_str().to_owned()).unwrap_or_default();
    let (scheme, user, host, path) = (part("scheme"), part("userinfo"), part("host"), part("path"));
    call.make(3 * (path.len() + part("fragment").len()))?;
    let after = |mark: &str, part: &str| if part.is_empty() { String::new() } else { format!("{mark}{part}") };
    let mut out = if scheme.is_empty() { String::new() } else { format!("{scheme}:") };
    if part("opaque").is_empty() {
        let authority = !host.is_empty() || !user.is_empty();
        if authority || !scheme.is_empty() && !path.is_empty() {
            out.push_str("//");
        }
        if !user.is_empty() {
            out.push_str(&format!("{user}@"));
        }
        out.push_str(&host);
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        out.push_str(&encoded(&path));
    } else {
        out.push_str(&part("opaque"));
    }
    out.push_str(&after("?", &part("query")));
    out.push_str(&after("#", &encoded(&part("fragment"))));
    Ok(out.into())
}
