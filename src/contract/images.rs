//! References of images against the grammar of the OCI distribution specification, as `github.com/distribution/reference` reads
//! it, and against the number of parts that a registry gives its repositories.

use super::{Breach, Judged};
use crate::catalog::registry_parts;
use crate::facts::{BreachClass, Image};

/// Why a reference cannot be read, and what may be meant.
type Refused = (String, Option<String>);

/// Holds the reference of an image against the grammar, and against what its registry has.
pub fn judge(image: &Image) -> Option<Judged> {
    // What somebody is to fill in is of no repository yet, and a chart may have no tag of its own.
    let (registry, repository) = (image.registry.get()?, image.repository.get()?);
    let reference = image.reference.get().filter(|reference| !reference.ends_with(':'))?;
    let (contract, (says, meant)) = match refused(reference) {
        Some(refused) => ("grammar of image references".to_owned(), refused),
        None => (format!("repositories of {registry}"), (misplaced(registry, repository)?, None)),
    };
    let place = image.reference.span;
    let class = BreachClass::ImageReferenceMalformed;
    let breach =
        Breach { class, place, field: reference.clone(), says, meant, other: None, instead: None, unknown: None };
    Some(Judged { contract, breaches: vec![breach] })
}

/// A repository with fewer or more parts than any of its registry has.
fn misplaced(registry: &str, repository: &str) -> Option<String> {
    let (least, most) = registry_parts(registry)?;
    let parts = repository.split('/').count();
    let wrong = parts < least || most.is_some_and(|most| parts > most);
    let has = match most {
        Some(most) if most == least => format!("{least}"),
        Some(most) => format!("{least} to {most}"),
        None => format!("at least {least}"),
    };
    wrong.then(|| format!("{repository} has {parts} parts; repositories of {registry} have {has}"))
}

/// Why the grammar refuses a text.
fn refused(text: &str) -> Option<Refused> {
    let plain = |says: &str| Some((says.to_owned(), None));
    if let Some((scheme, rest)) = text.split_once("://") {
        return Some((format!("a reference has no scheme ({scheme}://)"), Some(rest.to_owned())));
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return plain("a blank stands in it");
    }
    // The id of an image, which a runtime has by itself.
    if digest(text).is_ok() {
        return None;
    }
    let (named, stated) = text.split_once('@').map_or((text, None), |(named, digest)| (named, Some(digest)));
    if let Some(Err(says)) = stated.map(digest) {
        return Some((says, None));
    }
    let slash = named.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match named[slash..].split_once(':') {
        Some((last, tag)) => (&named[..slash + last.len()], Some(tag)),
        None => (named, None),
    };
    if let Some(tag) = tag {
        let meant = |hex: &str| format!("{}@sha256:{hex}", name.strip_suffix("@sha256").unwrap_or(name));
        match tag.rsplit_once(':') {
            Some((before, hex)) if before.ends_with("sha256") => {
                return Some(("an @ stands before a digest".to_owned(), Some(meant(hex))));
            }
            Some(_) => return plain("two colons stand after its name; a reference has one tag"),
            None if name.ends_with("sha256") => {
                return Some(("an @ stands before a digest".to_owned(), None));
            }
            None => {}
        }
        if let Some(says) = refused_tag(tag) {
            return Some((says, None));
        }
    }
    refused_name(name, &named[name.len()..])
}

/// What is wrong with the digest after an `@`.
fn digest(text: &str) -> Result<(), String> {
    let Some((algorithm, hex)) = text.split_once(':') else {
        return Err(format!("a digest names its algorithm, like sha256:…, and {text} does not"));
    };
    let digits = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err(format!("{algorithm} is no algorithm of digests")),
    };
    if hex.len() == digits && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(());
    }
    Err(format!("a digest of {algorithm} has {digits} hexadecimal digits, this one {}", hex.chars().count()))
}

fn refused_tag(tag: &str) -> Option<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(odd) = tag.chars().find(|&c| !word(c) && c != '.' && c != '-') {
        return Some(format!("a tag has no {odd}"));
    }
    if !tag.starts_with(word) {
        return Some("a tag starts with a letter, a digit or _".to_owned());
    }
    (tag.len() > 128).then(|| "a tag has at most 128 characters".to_owned())
}

/// What is wrong with a name, and the name in small letters where that is all; `rest` is what follows it.
fn refused_name(name: &str, rest: &str) -> Option<Refused> {
    let (host, path) = match name.split_once('/') {
        // Whoever has a dot, a port or a capital letter is a host.
        Some((host, path)) if host == "localhost" || host.contains(['.', ':']) || capital(host) => (Some(host), path),
        _ => (None, name),
    };
    if let Some(port) = host.and_then(|host| host.split_once(':')).map(|(_, port)| port)
        && (port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()))
    {
        return Some((format!("{port} is no port of a registry"), None));
    }
    for part in path.split('/') {
        let says = match part {
            "" => "nothing stands between two slashes, or at an end".to_owned(),
            part if capital(part) => {
                let host = host.map(|host| format!("{host}/")).unwrap_or_default();
                let meant = format!("{host}{}{rest}", path.to_ascii_lowercase());
                return Some(("a repository has small letters only".to_owned(), Some(meant)));
            }
            part if !is_component(part) => format!("{part} is no part of a repository's name"),
            _ => continue,
        };
        return Some((says, None));
    }
    None
}

fn capital(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_uppercase())
}

/// Letters and digits, with `.`, `_`, `__` or dashes between them.
fn is_component(part: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut between = part.split(letters).filter(|between| !between.is_empty());
    part.starts_with(letters)
        && part.ends_with(letters)
        && between.all(|b| matches!(b, "." | "_" | "__") || b.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn what_the_runtime_reads_is_left_alone() {
        let digest = "0123456789abcdef".repeat(4);
        for text in [
            "ubuntu",
            "vllm/vllm-openai:v0.9.1",
            "localhost:5000/a/b",
            "Registry/team/app:1",
            "nvcr.io:443/nvidia/cuda:12.4.1-base_x",
            &format!("a/b:1@sha256:{digest}"),
            &format!("sha256:{digest}"),
            "a/b__c.d---e:_1",
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn what_it_does_not_read_is_said() {
        let digest = "0123456789abcdef".repeat(4);
        for (text, says) in [
            ("https://ghcr.io/a/b:1", "scheme"),
            ("a/b:1:2", "two colons"),
            ("a/B:1", "small letters"),
            ("Ubuntu:22.04", "small letters"),
            ("a/b:-1", "starts with"),
            ("a/b:1+2", "has no +"),
            ("a//b", "nothing stands"),
            ("a/b/", "nothing stands"),
            ("a/-b", "no part"),
            ("a.io:x/b", "no port"),
            ("a/b@sha256:12", "64 hexadecimal"),
            ("a/b@latest", "names its algorithm"),
            (&format!("a/b:sha256:{digest}"), "an @"),
            (&format!("a/b:1:sha256:{digest}"), "an @"),
            (&format!("a/bsha256:{digest}"), "an @"),
            ("a /b", "blank"),
        ] {
            let (told, _) = refused(text).expect(text);
            assert!(told.contains(says), "{text}: {told}");
        }
        let (_, meant) = refused(&format!("a/b:sha256:{digest}")).unwrap();
        assert_eq!(meant, Some(format!("a/b@sha256:{digest}")));
    }
}
