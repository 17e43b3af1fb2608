//! Image references. Knows their grammar and the catalog's families; nothing of where they are written.

use crate::facts::Image;
use crate::facts::value::Blank;
use crate::known::{Fact, Known, Why};
use crate::parse::{View, placeholder};
use crate::source::{Span, Traced};
use std::ops::Range;

/// The image at a place: a reference as text, or a map of registry, repository and tag as Helm values have it.
pub fn at(view: View<'_>) -> Image {
    match view.traced() {
        Some(text) => {
            let mut image = reference(&text);
            // Beside it may stand a version.
            if let (Some(open), true) = (view.open(), image.digest.is_absent()) {
                image.tag.leave_open(open.why);
            }
            image
        }
        None if view.node().is_some_and(|n| n.is_map()) => from_map(view),
        None => match view.string().known {
            Known::Unknown(why) => unknown(why, view.place()),
            _ => Image { reference: view.string(), ..Image::blank(view.place()) },
        },
    }
}

/// An image that is stated at a place, and not known.
pub fn unknown(why: Why, place: Span) -> Image {
    let part = || Fact::unknown(why.clone().perhaps(), place);
    let mut image = Image::blank(place);
    (image.registry, image.repository) = (part(), part());
    (image.tag, image.digest) = (part(), part());
    image.reference = Fact::unknown(why, place);
    image
}

/// The parts of a reference, each with its own place. A part with a placeholder is unknown, the others are not.
pub fn reference(text: &Traced) -> Image {
    let whole = text.text();
    let mut image = Image::blank(text.whole());
    let place = text.span(0..whole.len());
    image.reference = match placeholder(whole) {
        Some(why) => Fact::unknown(why, place),
        None if whole.is_empty() => Fact::absent(place),
        None => Fact::value(whole.to_owned(), place),
    };
    if whole.is_empty() {
        return image;
    }
    let (rest, digest) = match whole.find('@') {
        Some(at) => (0..at, Some(at + 1..whole.len())),
        None => (0..whole.len(), None),
    };
    let name = &whole[rest.clone()];
    // A colon after the last slash starts the tag; `${X:-y}` and a registry's port hold colons too.
    let slash = outside(name, '/').last().copied();
    let colon = outside(name, ':').into_iter().rfind(|&c| slash.is_none_or(|s| c > s));
    let path = 0..colon.unwrap_or(name.len());
    let last = &name[slash.map_or(0, |s| s + 1)..];
    match (colon, placeholder(last)) {
        (Some(colon), _) => image.tag = part(text, colon + 1..name.len()),
        // A name that a variable states may bring its tag along.
        (None, Some(why)) => image.tag = Fact::unknown(why.perhaps(), text.whole()),
        (None, None) => {}
    }
    match (digest, placeholder(last)) {
        (Some(digest), _) => image.digest = part(text, digest),
        (None, Some(why)) => image.digest = Fact::unknown(why.perhaps(), text.whole()),
        (None, None) => {}
    }
    // A prefix that a template writes before the repository: `{{PREFIX}}vllm/vllm-openai`.
    let prefix = leading_placeholder(name).filter(|&end| end < path.end && !name[end..].starts_with(['/', ':']));
    let of_name = slash.map_or(0, |s| s + 1).max(prefix.unwrap_or(0));
    image.name = part(text, of_name..path.end);
    if let Some(end) = prefix.filter(|&end| placeholder(&name[end..path.end]).is_none()) {
        image.registry = part(text, 0..end);
        image.repository = part(text, end..path.end);
        finish(&mut image);
        return image;
    }
    let first_slash = outside(&name[path.clone()], '/').first().copied();
    let host = first_slash.filter(|&s| {
        let head = &name[..s];
        head.contains('.') || head.contains(':') || head == "localhost" || placeholder(head).is_some()
    });
    let repository = match host {
        Some(slash) => {
            image.registry = part(text, 0..slash);
            slash + 1..path.end
        }
        None => {
            image.registry = Fact::value("docker.io".to_owned(), text.span(path.clone()));
            path
        }
    };
    image.repository = part(text, repository).map(|r| r.strip_prefix("library/").map(str::to_owned).unwrap_or(r));
    finish(&mut image);
    image
}

/// Offsets of a character outside of `${…}`, `$(…)`, `{{…}}` and `<…>`.
fn outside(text: &str, wanted: char) -> Vec<usize> {
    let mut depth = 0i32;
    let mut out = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '{' | '(' | '<' => depth += 1,
            '}' | ')' | '>' => depth -= 1,
            _ if c == wanted && depth == 0 => out.push(i),
            _ => {}
        }
    }
    out
}

/// Where the expression ends that a text starts with: `${…}`, `$(…)`, `{{…}}`, `<…>`.
fn leading_placeholder(text: &str) -> Option<usize> {
    let closed = [("{{", "}}"), ("${", "}"), ("$(", ")"), ("<", ">")];
    let (open, close) = closed.into_iter().find(|(open, _)| text.starts_with(open))?;
    text[open.len()..].find(close).map(|at| open.len() + at + close.len())
}

fn part(text: &Traced, range: Range<usize>) -> Fact<String> {
    let (value, span) = (&text.text()[range.clone()], text.span(range));
    match placeholder(value).or_else(|| draft(value)) {
        Some(why) => Fact::unknown(why, span),
        None if value.is_empty() => Fact::absent(span),
        None => Fact::value(value.to_owned(), span),
    }
}

/// Why a part is not known that somebody is to fill in: `PROJECT_ID`, `YOUR-REGISTRY`.
fn draft(part: &str) -> Option<Why> {
    let shouts = |word: &str| {
        let letters = || word.chars().filter(char::is_ascii_alphabetic);
        // Two letters and a number are a release: `8.0.RC1`, `TR3.7`.
        let release = letters().count() == 2 && word.ends_with(|c: char| c.is_ascii_digit());
        letters().count() > 1 && letters().all(|c| c.is_ascii_uppercase()) && !release
    };
    let is_draft = part.contains(['<', '>', '%']) || part.split(['/', '.', '-', ' ', ':', '@']).any(shouts);
    is_draft.then_some(Why::Template)
}

fn from_map(view: View<'_>) -> Image {
    let Some(repository) = ["repository", "name", "image"].iter().map(|k| view.get(k)).find(|v| v.traced().is_some())
    else {
        return Image::blank(view.place());
    };
    let Some(text) = repository.traced() else { return Image::blank(view.place()) };
    let mut image = reference(&text);
    let registry = view.get("registry").string();
    if registry.get().is_some_and(|r| !r.is_empty()) {
        image.registry = registry;
    }
    let tag = view.get("tag").string();
    if !tag.is_absent() {
        image.tag = tag;
    }
    let shown = match (image.repository.get(), image.tag.get()) {
        (Some(repository), Some(tag)) => Some(format!("{repository}:{tag}")),
        _ => None,
    };
    image.reference = match shown {
        Some(shown) => Fact::value(shown, text.whole()),
        None => Fact::unknown(Why::NotStated("the tag of the image".into()), text.whole()),
    };
    image.span = text.whole();
    finish(&mut image);
    image
}

fn finish(image: &mut Image) {
    let (Some(registry), Some(repository)) = (image.registry.get(), image.repository.get()) else { return };
    let full = crate::catalog::familiar_name(registry, repository);
    let family = crate::catalog::image_family(&full).map(|f| Fact::value(f.to_owned(), image.repository.span));
    image.family = family.unwrap_or_else(|| Fact::unknown(Why::NotInCatalog(full.into()), image.repository.span));
}

/// A place in a text for tests and launchers.
pub fn text_span(text: &Traced) -> Span {
    text.span(0..text.text().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn read(text: &str) -> Image {
        reference(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0))
    }

    #[test]
    fn parts_have_their_own_places() {
        let image = read("nvcr.io:443/nvidia/cuda:12.4.1-base@sha256:ab");
        assert_eq!(image.registry.get().map(String::as_str), Some("nvcr.io:443"));
        assert_eq!(image.repository.get().map(String::as_str), Some("nvidia/cuda"));
        assert_eq!(image.tag.get().map(String::as_str), Some("12.4.1-base"));
        assert_eq!(image.tag.span.range(), 24..35);
        assert_eq!(image.digest.get().map(String::as_str), Some("sha256:ab"));
    }

    #[test]
    fn what_is_to_be_filled_in_is_not_known() {
        for text in [
            "IMAGE_NAME",
            "<YOUR ACR>.azurecr.io/a:1",
            "a.io/YOUR_ORG/b",
            "FILLED BY THE OPERATOR",
            "REGION-docker.pkg.dev/a/b/c",
        ] {
            let image = read(text);
            assert!(image.registry.is_unknown() || image.repository.is_unknown(), "{text}");
        }
        assert_eq!(read("a/MyApp:v1").repository.get().map(String::as_str), Some("a/MyApp"));
    }

    #[test]
    fn nothing_is_invented() {
        let image = read("ubuntu");
        assert!(image.tag.is_absent());
        assert_eq!(image.registry.get().map(String::as_str), Some("docker.io"));
        assert_eq!(read("localhost:5000/a/b").repository.get().map(String::as_str), Some("a/b"));
    }

    #[test]
    fn a_placeholder_hides_only_its_part() {
        let image = read("${REG}/x/y:1.2");
        assert!(image.registry.is_unknown());
        assert_eq!(image.tag.get().map(String::as_str), Some("1.2"));
        let image = read("vllm/vllm-openai:${TAG:-latest}");
        assert!(image.tag.is_unknown());
        assert_eq!(image.repository.get().map(String::as_str), Some("vllm/vllm-openai"));
        for prefix in ["{{PREFIX}}", "${PREFIX}", "$(PREFIX)", "<prefix>", "{{ PREFIX }}/", "${REGISTRY}/"] {
            let image = read(&format!("{prefix}vllm/vllm-openai:v0.10.2"));
            assert!(image.registry.is_unknown(), "{prefix}");
            assert_eq!(image.repository.get().map(String::as_str), Some("vllm/vllm-openai"), "{prefix}");
            assert_eq!(image.tag.get().map(String::as_str), Some("v0.10.2"), "{prefix}");
        }
    }

    #[test]
    fn a_name_that_a_variable_states_may_bring_its_tag_along() {
        for text in ["${IMAGE}", "$IMAGE", "{{ .Values.image }}", "registry.example/${NAME}"] {
            let image = read(text);
            assert!(image.tag.is_unknown() && image.digest.is_unknown(), "{text}");
        }
        assert!(read("${REGISTRY}/team/app").tag.is_absent());
    }
}
