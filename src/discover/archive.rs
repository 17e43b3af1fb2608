//! Packed charts (`charts/name-1.2.3.tgz`) into their texts. Knows gzip and tar; writes nothing to disk.

use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Most bytes that one archive may unpack to, with all archives in it; a bomb ends here.
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
/// `charts/name-1.tgz/templates/a.yaml`; what is not UTF-8 is left out. What is unpacked is taken from `left`.
///
/// # Errors
/// What is not a gzipped tar, or larger than a chart may be.
pub fn unpack(path: &str, packed: impl Read, left: &mut u64) -> io::Result<Vec<(String, String)>> {
    let given = (*left).min(MAX_UNPACKED);
    let (counted, mut texts) = (Cell::new(given), BTreeMap::new());
    let done = add(path, packed, MAX_DEPTH, &counted, &mut texts);
    *left -= given - counted.get();
    done.map(|()| texts.into_iter().collect())
}

/// What is unpacked, counted: of all archives in an archive together, whatever becomes of it.
struct Metered<'a, R> {
    from: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("unpacks to more than a chart may hold, or than is left for the run"));
        }
        let most = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.from.read(&mut into[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

fn add(
    path: &str,
    packed: impl Read,
    depth: usize,
    left: &Cell<u64>,
    texts: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    // The type of the reader must not grow with the depth.
    let packed: Box<dyn Read + '_> = Box::new(packed);
    let mut archive = tar::Archive::new(Metered { from: MultiGzDecoder::new(packed), left });
    for entry in archive.entries()? {
        let mut entry = entry?;
        if texts.len() >= MAX_MEMBERS {
            return Err(io::Error::other("too many members"));
        }
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let Some(inner) = inner(&String::from_utf8_lossy(&entry.path_bytes())) else { continue };
        let member = format!("{path}/{inner}");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        if is_archive(&member) && depth > 1 {
            let mut below = BTreeMap::new();
            match add(&member, bytes.as_slice(), depth - 1, left, &mut below) {
                Err(error) if left.get() == 0 => return Err(error),
                // A chart in the archive that cannot be read is missing, as if it had not been packed.
                Err(_) => {}
                Ok(()) => texts.append(&mut below),
            }
        } else if let Some(text) = text(bytes) {
            // The last of a name holds.
            texts.insert(member, text);
        }
    }
    Ok(())
}

/// Where a member stands in the chart, as Helm reads its name: without its first part, and cleaned.
fn inner(name: &str) -> Option<String> {
    let delimiter = if name.contains('\\') { '\\' } else { '/' };
    let (_, inner) = name.trim_start_matches("./").split_once(delimiter)?;
    let mut parts = Vec::new();
    for part in inner.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// A text, with a mark for each byte that is none; nothing for what is no text.
fn text(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
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
        unpack("charts/a-1.tgz", bytes, &mut MAX_UNPACKED.clone())
            .expect("an archive")
            .into_iter()
            .map(|(path, _)| path)
            .collect()
    }

    #[test]
    fn members_stand_below_the_archive() {
        let inner = packed(&[("b/Chart.yaml", b"name: b")]);
        let bytes = packed(&[("a/Chart.yaml", b"name: a"), ("a/logo.png", &[0x89, 0]), ("a/charts/b-2.tgz", &inner)]);
        assert_eq!(names(&bytes), ["charts/a-1.tgz/Chart.yaml", "charts/a-1.tgz/charts/b-2.tgz/Chart.yaml"]);
    }

    #[test]
    fn names_are_cleaned_and_the_last_of_a_name_holds() {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let members = [
            ("a/values.yaml", "x: 1"),
            ("a/x/../templates/./p.yaml", "\u{feff}p"),
            ("a\\templates\\w.yaml", "w"),
            ("a/../../out.yaml", "o"),
            ("a/values.yaml", "x: 2"),
        ];
        for (path, text) in members {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_size(text.len() as u64);
            header.set_cksum();
            tar.append(&header, text.as_bytes()).expect("a member");
        }
        let bytes = tar.into_inner().and_then(GzEncoder::finish).expect("an archive");
        let texts = unpack("charts/a-1.tgz", bytes.as_slice(), &mut MAX_UNPACKED.clone()).expect("an archive");
        let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&path[15..], text.as_str())).collect();
        assert_eq!(texts, [("templates/p.yaml", "\u{feff}p"), ("templates/w.yaml", "w"), ("values.yaml", "x: 2")]);
    }

    #[test]
    fn what_is_no_archive_or_too_large_is_an_error() {
        assert!(unpack("a.tgz", &b"not packed"[..], &mut 99).is_err());
        let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
        let mut header = tar::Header::new_gnu();
        header.set_path("a/zeros").expect("a name");
        header.set_size(MAX_UNPACKED * 4);
        header.set_cksum();
        bomb.write_all(header.as_bytes()).expect("a header");
        io::copy(&mut io::repeat(b'0').take(MAX_UNPACKED * 4), &mut bomb).expect("bytes");
        let bomb = bomb.finish().expect("an archive");
        assert!(unpack("a.tgz", bomb.as_slice(), &mut MAX_UNPACKED.clone()).is_err());
        // Each archive of these is small enough, but not all of them together.
        let zeros = packed(&[("b/zeros", &vec![b'0'; MAX_UNPACKED as usize / 3])]);
        let names: Vec<String> = (0..4).map(|i| format!("a/charts/b-{i}.tgz")).collect();
        let of = |count: usize| {
            packed(&names[..count].iter().map(|name| (name.as_str(), zeros.as_slice())).collect::<Vec<_>>())
        };
        let mut left = MAX_UNPACKED * 2;
        assert!(unpack("a.tgz", of(2).as_slice(), &mut left).is_ok());
        assert!(left < MAX_UNPACKED * 2 - MAX_UNPACKED / 3 * 2);
        assert!(unpack("a.tgz", of(4).as_slice(), &mut left).is_err());
        assert!(unpack("a.tgz", of(2).as_slice(), &mut left).is_err(), "nothing is left for the run");
    }
}
