//! Places as the protocol writes them: addresses of files, lines and columns.

use crate::source::{Source, Span, Units};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What stands in an address as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of a file.
pub fn address(path: &Path) -> String {
    let path = path.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        let path = String::from_utf8_lossy(path).replace('\\', "/");
        return format!("file:///{}", percent_encode(path.as_bytes(), PLAIN));
    }
    format!("file://{}", percent_encode(path, PLAIN))
}

/// The file at an address; `None` for what no file holds.
pub fn path(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("file://")?;
    let path = percent_decode_str(path.strip_prefix("localhost").unwrap_or(path)).decode_utf8().ok()?;
    let path = path.strip_prefix('/').filter(|_| cfg!(windows)).unwrap_or(&path);
    Some(Path::new(path).components().collect()).filter(|path: &PathBuf| path.is_absolute())
}

/// A span as lines and columns.
pub fn range(source: &Source, span: Span, units: Units) -> Value {
    let at = |offset| {
        let (line, column) = source.line_and_column(offset, units);
        json!({"line": line, "character": column})
    };
    json!({"start": at(span.start), "end": at(span.end)})
}

/// The byte at a line and a column.
pub fn offset(source: &Source, position: &Value, units: Units) -> u32 {
    let number = |key: &str| position[key].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
    source.offset(number("line"), number("character"), units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn addresses_of_files_are_escaped_and_back() {
        let strange = Path::new("/tmp/a b/é#?%.yaml");
        assert_eq!(address(strange), "file:///tmp/a%20b/%C3%A9%23%3F%25.yaml");
        assert_eq!(path(&address(strange)).as_deref(), Some(strange));
        assert_eq!(path("file:///a/./b/").as_deref(), Some(Path::new("/a/b")));
        assert_eq!(path("untitled:Untitled-1"), None);
    }
}
