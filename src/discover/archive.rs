//! Packed charts (`charts/name-1.2.3.tgz`) into their texts. Knows gzip and tar; writes nothing to disk.

use flate2::read::GzDecoder;
use std::io::{self, Read};

/// Most bytes that one archive may unpack to; a bomb ends here.
const MAX_UNPACKED: u64 = 32 << 20;

/// Most members of one archive.
const MAX_MEMBERS: usize = 4_096;

/// Deepest nesting of archives in archives.
const MAX_DEPTH: usize = 3;

/// Whether a path is that of a packed chart: Helm looks for them right under `charts/`.
pub fn is_archive(path: &str) -> bool {
    let packed = path.ends_with(".tgz") || path.ends_with(".tar.gz");
    packed && path.rsplit('/').nth(1) == Some("charts")
}

/// The texts of a packed chart. A member `name/templates/a.yaml` of `charts/name-1.tgz` is called
/// `charts/name-1.tgz/templates/a.yaml`; what is not UTF-8 is left out.
///
/// # Errors
/// What is not a gzipped tar, or larger than a chart may be.
pub fn unpack(path: &str, packed: impl Read) -> io::Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    add(path, packed, MAX_DEPTH, &mut texts)?;
    Ok(texts)
}

fn add(path: &str, packed: impl Read, depth: usize, texts: &mut Vec<(String, String)>) -> io::Result<()> {
    let mut archive = tar::Archive::new(GzDecoder::new(packed).take(MAX_UNPACKED));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if texts.len() >= MAX_MEMBERS {
            return Err(io::Error::other("too many members"));
        }
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).replace('\\', "/");
        let Some((_, inner)) = name.trim_start_matches("./").split_once('/') else { continue };
        if inner.split('/').any(|part| part.is_empty() || part == "..") {
            continue;
        }
        let member = format!("{path}/{inner}");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        if is_archive(&member) && depth > 1 {
            // A chart in the archive that cannot be read is missing, as if it had not been packed.
            let _ = add(&member, bytes.as_slice(), depth - 1, texts);
        } else if let Ok(text) = String::from_utf8(bytes) {
            texts.push((member, text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, *bytes).expect("a member");
        }
        tar.into_inner().and_then(GzEncoder::finish).expect("an archive")
    }

    fn names(bytes: &[u8]) -> Vec<String> {
        unpack("charts/a-1.tgz", bytes).expect("an archive").into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn members_stand_below_the_archive() {
        let inner = packed(&[("b/Chart.yaml", b"name: b")]);
        let bytes =
            packed(&[("a/Chart.yaml", b"name: a"), ("a/logo.png", &[0xff, 0xfe]), ("a/charts/b-2.tgz", &inner)]);
        assert_eq!(names(&bytes), ["charts/a-1.tgz/Chart.yaml", "charts/a-1.tgz/charts/b-2.tgz/Chart.yaml"]);
    }

    #[test]
    fn what_is_no_archive_or_too_large_is_an_error() {
        assert!(unpack("a.tgz", &b"not packed"[..]).is_err());
        let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
        let mut header = tar::Header::new_gnu();
        header.set_path("a/zeros").expect("a name");
        header.set_size(MAX_UNPACKED * 4);
        header.set_cksum();
        bomb.write_all(header.as_bytes()).expect("a header");
        io::copy(&mut io::repeat(b'0').take(MAX_UNPACKED * 4), &mut bomb).expect("bytes");
        assert!(unpack("a.tgz", bomb.finish().expect("an archive").as_slice()).is_err());
    }
}
