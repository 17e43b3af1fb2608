//! File names of Python wheels: `name-version(-build)-python-abi-platform.whl`. Knows the grammar, no tags.

use crate::source::Traced;

/// What the file name of a wheel says.
#[derive(Debug, Clone)]
pub struct Wheel {
    /// The distribution.
    pub name: Traced,
    /// The version without its local part.
    pub version: Traced,
    /// The local version: `cu124` of `2.5.1+cu124`.
    pub local: Option<Traced>,
    /// The Python tags: `cp311`, `py3`.
    pub python: Vec<Traced>,
    /// The ABI tags: `cp311`, `abi3`, `none`.
    pub abi: Vec<Traced>,
    /// The platform tags: `linux_x86_64`, `manylinux_2_28_aarch64`, `any`.
    pub platform: Vec<Traced>,
}

/// Reads the file name at the end of a path or URL; a query, a fragment and an encoded `+` are understood.
pub fn parse(location: &Traced) -> Option<Wheel> {
    let text = location.text();
    let path = &text[..text.find(['?', '#']).unwrap_or(text.len())];
    let stem = path.trim_end().strip_suffix(".whl")?;
    let start = stem.rfind(['/', '\\']).map_or(0, |i| i + 1);
    let mut parts: Vec<Traced> = Vec::new();
    let mut at = start;
    for part in stem[start..].split('-') {
        parts.push(location.slice(at..at + part.len()));
        at += part.len() + 1;
    }
    let [name, version, tags @ ..] = parts.as_slice() else { return None };
    let (python, abi, platform) = match tags {
        [python, abi, platform] => (python, abi, platform),
        // A build number comes first and starts with a digit.
        [build, python, abi, platform] if build.text().starts_with(|c: char| c.is_ascii_digit()) => {
            (python, abi, platform)
        }
        _ => return None,
    };
    if parts.iter().any(|part| part.text().is_empty()) {
        return None;
    }
    let (version, local) = split_local(version);
    let (python, abi, platform) = (tags_of(python), tags_of(abi), tags_of(platform));
    Some(Wheel { name: name.clone(), version, local, python, abi, platform })
}

/// The version and what stands after its `+`.
fn split_local(version: &Traced) -> (Traced, Option<Traced>) {
    let text = version.text();
    let plus = ["+", "%2B", "%2b"].iter().find_map(|plus| text.find(plus).map(|at| (at, plus.len())));
    match plus {
        Some((at, length)) => (version.slice(0..at), Some(version.slice(at + length..text.len()))),
        None => (version.clone(), None),
    }
}

/// The tags of a compressed set: `cp310.cp311`.
fn tags_of(set: &Traced) -> Vec<Traced> {
    let mut at = 0;
    let mut tags = Vec::new();
    for tag in set.text().split('.') {
        tags.push(set.slice(at..at + tag.len()));
        at += tag.len() + 1;
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};

    fn shown(text: &str) -> Option<String> {
        let wheel = parse(&Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0))?;
        let all = [&wheel.name, &wheel.version].into_iter().chain(&wheel.local).chain(&wheel.python);
        let all: Vec<&Traced> = all.chain(&wheel.abi).chain(&wheel.platform).collect();
        for part in &all {
            assert_eq!(&text[part.whole().range()], part.text());
        }
        Some(all.iter().map(|t| t.text()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn file_names() {
        for (text, expected) in [
            ("torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl", "torch 2.5.1 cu124 cp311 cp311 linux_x86_64"),
            (
                "https://x.io/a-b/flash_attn-2.7.2.post1%2Bcu12torch2.5cxx11abiFALSE-cp311-cp311-linux_x86_64.whl#sha256=a-b",
                "flash_attn 2.7.2.post1 cu12torch2.5cxx11abiFALSE cp311 cp311 linux_x86_64",
            ),
            ("six-1.16-1b-py2.py3-none-any.whl", "six 1.16 py2 py3 none any"),
            (
                "x-1-cp38-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
                "x 1 cp38 abi3 manylinux_2_17_x86_64 manylinux2014_x86_64",
            ),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected));
        }
        for text in
            ["torch-2.5.1.tar.gz", "torch.whl", "a-1-py3-none.whl", "a--py3-none-any.whl", "a-1-x-py3-none-any.whl"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
