//! Indexes of packages that an environment, a configuration or an install command names for what others list. Knows the
//! variables and options of pip and uv as text, in whatever format they stand.

use crate::catalog;
use crate::facts::IndexSetting;
use crate::known::{Fact, Why};
use crate::source::{SourceId, Span};
use regex::Regex;
use std::sync::OnceLock;

/// A variable, a key or an option, and what it is given; an environment may state the value as a key of its own.
/// <https://pip.pypa.io/en/stable/cli/pip_install/>, <https://docs.astral.sh/uv/reference/environment/>
const SETTING: &str = r#"(?x)
    (?:PIP_(?:EXTRA_)?INDEX_URL | UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)? | (?:PIP|UV)_FIND_LINKS
     | (?P<option>--)?(?:(?:extra-|default-)?index-url | default-index | find-links) | (?P<short>--index|\ -i)\b)
    ["']?(?:[\ \t]*[:=\ ][\ \t]*|[\ \t]*\r?\n[\ \t]*value:[\ \t]*)["']?(?P<url>(?:[a-z+]+://|\$)[^\s"'`\\]+)"#;

/// What installs what another file lists.
const OF_FILES: [&str; 6] = [" -r ", " --requirement", " -c ", " sync", " -e .", " install ."];

/// The indexes that a text names for packages which it does not name with them; those that everybody knows are left out.
pub fn of_text(id: SourceId, text: &str) -> Vec<IndexSetting> {
    static FOUND: OnceLock<Option<Regex>> = OnceLock::new();
    if !["INDEX", "index", "FIND_LINKS", "find-links", " -i http"].iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let Some(setting) = FOUND.get_or_init(|| Regex::new(SETTING).ok()) else { return Vec::new() };
    let read = |found: regex::Captures<'_>| {
        let (all, url) = (found.get(0)?, found.name("url")?);
        let option = found.name("option").is_some() || found.name("short").is_some();
        if option && !installs_files(text, all.start()) || catalog::is_public_index(url.as_str()) {
            return None;
        }
        let span = Span::new(id, url.range());
        let open = url.as_str().starts_with('$');
        // What an option is given by a variable is most often one build of PyTorch or another.
        let named = match (open, option) {
            (true, true) => return None,
            (true, false) => Fact::unknown(Why::Variable(url.as_str().into()), span),
            (false, _) => Fact::value(url.as_str().to_owned(), span),
        };
        Some(IndexSetting { url: named, of_command: option })
    };
    setting.captures_iter(text).filter_map(read).collect()
}

/// What an index that a file names is for the other files of one command.
pub fn for_others(url: &Fact<String>) -> Option<IndexSetting> {
    let public = url.get().is_none_or(|url| catalog::is_public_index(url));
    (!public).then(|| IndexSetting { url: url.clone(), of_command: true })
}

/// Whether the command that an option stands in installs what a file lists.
fn installs_files(text: &str, at: usize) -> bool {
    let ends_line = |end: &usize| !text[..*end].ends_with('\\') && !text[..*end].ends_with("\\\r");
    let start = text[..at].rmatch_indices('\n').map(|(end, _)| end).find(ends_line).map_or(0, |end| end + 1);
    let end = text[at..].match_indices('\n').map(|(end, _)| at + end).find(ends_line).unwrap_or(text.len());
    OF_FILES.iter().any(|sign| text[start..end].contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let said = |setting: IndexSetting| setting.url.get().cloned().unwrap_or_else(|| "?".to_owned());
        of_text(SourceId(0), text).into_iter().map(said).collect()
    }

    #[test]
    fn what_is_named_for_others() {
        for (text, index) in [
            ("[global]\nindex-url = https://wheels.example.com/simple\n", "https://wheels.example.com/simple"),
            ("ENV PIP_EXTRA_INDEX_URL=\"https://pypi.nvidia.com\"\n", "https://pypi.nvidia.com"),
            ("env:\n  - name: UV_INDEX\n    value: https://a.example.com/simple\n", "https://a.example.com/simple"),
            ("RUN pip install \\\n  --index-url https://b/simple \\\n  -r requirements.txt\n", "https://b/simple"),
            ("\tpip install -i https://c/simple -r all.txt\n", "https://c/simple"),
            ("  PIP_INDEX_URL: ${MIRROR}\n", "?"),
            ("pip config set global.index-url https://d/simple\n", "https://d/simple"),
        ] {
            assert_eq!(named(text), [index], "{text}");
        }
    }

    #[test]
    fn what_is_named_for_one_or_known_to_all() {
        for text in [
            "pip install torch --index-url https://wheels.example.com/simple\npip install -r requirements.txt\n",
            "ENV PIP_INDEX_URL=https://pypi.org/simple\n",
            "ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu126\n",
            "RUN pip install -r requirements.txt --extra-index-url $TORCH_INDEX\n",
            "the index of chapters: https://example.com\n",
        ] {
            assert!(named(text).is_empty(), "{text}");
        }
    }
}
