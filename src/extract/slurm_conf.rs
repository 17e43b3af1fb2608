//! `slurm.conf`, `gres.conf` and `cgroup.conf`: the configuration of a cluster of Slurm as raw objects. Knows host lists, lists
//! of generic resources and times as Slurm writes them.
//! https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/gres.conf.html

use super::{TextFile, embedded};
use crate::facts::Facts;
use crate::parse::slurm_conf::{self, Line, Pair};
use crate::parse::{Builder, Dialect, Entry, NodeId, NodeKind, Tree};
use crate::paths;
use crate::source::{SourceId, Span, Traced};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names that a host list may stand for; a longer one is not written out.
const MOST_HOSTS: usize = 1024;

/// Hosts that are written out in one file.
const MOST_IN_FILE: usize = 16 * MOST_HOSTS;

/// Lines of several keys that are about neither nodes nor partitions.
const OTHERS: [&str; 5] = ["downnodes", "frontendname", "nodeset", "switchname", "slurmdbd"];

/// Reads a file.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let comments = slurm_conf::parse(text).1.into_iter().map(|at| Span::new(id, at)).collect();
    if let Some(tree) = tree(id, path, text) {
        document(tree, path, facts);
    }
    TextFile { comments, ..TextFile::default() }
}

/// Whether a text in another document is such a file by its name.
pub fn is_file(at: &str) -> bool {
    kind(at).is_some()
}

/// Reads a text in another document.
pub fn embedded(text: &Traced, at: &str, facts: &mut Facts) {
    if let Some(mut tree) = tree(text.whole().source, at, text.text()) {
        tree.retrace(text);
        document(tree, at, facts);
    }
}

/// The kind of object that a file is by its name.
fn kind(path: &str) -> Option<&'static str> {
    match paths::name(path) {
        "slurm.conf" => Some("SlurmConfig"),
        "gres.conf" => Some("GresConfig"),
        "cgroup.conf" => Some("CgroupConfig"),
        _ => None,
    }
}

fn document(tree: Tree, path: &str, facts: &mut Facts) {
    let (tree, Some(kind)) = (Arc::new(tree), kind(path)) else { return };
    for root in tree.roots() {
        facts.objects.push(Arc::new(embedded::object(&tree, root, kind, path)));
    }
}

/// The settings of a file under their names in small letters, and its lines of nodes (`nodes`), partitions (`partitions`)
/// and devices (`devices`); `None` where statements of a template decide which lines there are, and for what is no
/// configuration of Slurm.
fn tree(id: SourceId, path: &str, text: &str) -> Option<Tree> {
    let kind = kind(path)?;
    let (lines, _) = slurm_conf::parse(text);
    if ["{%", "{{-", "{{ range", "{{range", "{{#", "%{", "<%"].iter().any(|sign| text.contains(sign))
        || lines.is_empty()
    {
        return None;
    }
    let whole = Span::new(id, 0..text.len());
    let mut file = File { text, id, builder: Builder::new(id, Dialect::Typed), left: MOST_IN_FILE };
    let mut settings: BTreeMap<&str, (Span, NodeId)> = BTreeMap::new();
    let mut lists: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    let mut defaults: BTreeMap<&str, Line> = BTreeMap::new();
    for line in &lines {
        let first = line[0].key.as_str();
        let list = match (kind, first) {
            (_, other) if OTHERS.contains(&other) => continue,
            ("SlurmConfig", "nodename") => "nodes",
            ("SlurmConfig", "partitionname") => "partitions",
            ("GresConfig", _) if line.iter().any(|pair| pair.key == "name") => "devices",
            _ => {
                for pair in line {
                    let node = file.scalar(pair);
                    settings.insert(pair.key.as_str(), (file.place(pair), node));
                }
                continue;
            }
        };
        if list != "devices" && &text[line[0].value.clone()] == "DEFAULT" {
            let rest = line[1..].iter().cloned();
            let known = defaults.entry(list).or_default();
            known.retain(|old| !line.iter().any(|new| new.key == old.key));
            known.extend(rest);
            continue;
        }
        let inherited = defaults.get(list).into_iter().flatten();
        let inherited = inherited.filter(|old| !line.iter().any(|own| own.key == old.key));
        let pairs: Vec<&Pair> = line.iter().chain(inherited).collect();
        let node = file.line(&pairs);
        lists.entry(list).or_default().push(node);
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (key, (place, value)) in settings {
        entries.push(Entry { key: file.key(key, place), value });
    }
    for (key, items) in lists {
        let value = file.builder.add(NodeKind::Seq(items), whole);
        entries.push(Entry { key: file.key(key, whole), value });
    }
    let end = lines.iter().flatten().map(|pair| pair.value.end).max().unwrap_or_default();
    let root = file.builder.add(NodeKind::Map(entries), Span::new(id, lines[0][0].at.start..end));
    file.builder.tree().documents.push(root);
    Some(file.builder.finish())
}

/// A file whose tree is built.
struct File<'t> {
    text: &'t str,
    id: SourceId,
    builder: Builder,
    /// Hosts that may still be written out.
    left: usize,
}

impl File<'_> {
    fn place(&self, pair: &Pair) -> Span {
        Span::new(self.id, pair.at.clone())
    }

    fn key(&mut self, name: &str, place: Span) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: Traced::opaque(name, place), plain: false }, place)
    }

    fn scalar(&mut self, pair: &Pair) -> NodeId {
        let span = Span::new(self.id, pair.value.clone());
        self.builder.scalar(&self.text[pair.value.clone()], true, span, pair.value.start)
    }

    /// A line with what its texts mean: `hosts` of `nodename`, `gpus` of `gres`, `count` of `file`, `minutes` of `maxtime`.
    fn line(&mut self, pairs: &[&Pair]) -> NodeId {
        let start = pairs[0].at.start;
        let span = Span::new(self.id, start..pairs[0].value.end);
        let mut entries = Vec::new();
        let stated = |key: &str| pairs.iter().find(|pair| pair.key == key).map(|pair| &self.text[pair.value.clone()]);
        let counted = stated("count").is_some() || stated("multiplefiles").is_some();
        for pair in pairs {
            let (place, value) = (self.place(pair), self.scalar(pair));
            entries.push(Entry { key: self.key(&pair.key, place), value });
            let text = &self.text[pair.value.clone()];
            let at = Span::new(self.id, pair.value.clone());
            let meant = match pair.key.as_str() {
                "nodename" => hosts(text).filter(|hosts| hosts.len() <= self.left).map(|hosts| {
                    self.left -= hosts.len();
                    let hosts = hosts.iter().map(|host| self.derived(host, at)).collect();
                    ("hosts", self.builder.add(NodeKind::Seq(hosts), at))
                }),
                "gres" => gpus(text).map(|gpus| {
                    let gpus = gpus.iter().map(|(card, count)| self.gpus((card.as_deref(), *count), at)).collect();
                    ("gpus", self.builder.add(NodeKind::Seq(gpus), at))
                }),
                "file" if !counted => hosts(text).map(|files| ("count", self.derived(&files.len().to_string(), at))),
                "maxtime" => minutes(text).map(|minutes| ("minutes", self.derived(&minutes.to_string(), at))),
                _ => None,
            };
            if let Some((name, value)) = meant {
                entries.push(Entry { key: self.key(name, at), value });
            }
        }
        self.builder.add(NodeKind::Map(entries), span)
    }

    /// What a text means, at the place of the text.
    fn derived(&mut self, text: &str, at: Span) -> NodeId {
        self.builder.add(NodeKind::Scalar { text: Traced::opaque(text, at), plain: true }, at)
    }

    fn gpus(&mut self, (card, count): (Option<&str>, i64), at: Span) -> NodeId {
        let mut entries = vec![Entry { key: self.key("count", at), value: self.derived(&count.to_string(), at) }];
        if let Some(card) = card {
            entries.push(Entry { key: self.key("type", at), value: self.derived(card, at) });
        }
        self.builder.add(NodeKind::Map(entries), at)
    }
}

/// The names of a host list, `gpu[01-03,7],login`, also of device files; `None` for what is no such list or too long.
fn hosts(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    for part in outside(text, ('[', ']')) {
        let mut some = vec![String::new()];
        let mut rest = part;
        while let Some((head, tail)) = rest.split_once('[') {
            let (ranges, after) = tail.split_once(']')?;
            let mut numbers = Vec::new();
            for range in ranges.split(',') {
                let (from, to) = range.split_once('-').unwrap_or((range, range));
                let (first, last): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
                let count = last.checked_sub(first)?;
                if count >= MOST_HOSTS || from.len() > MOST_HOSTS.ilog10() as usize * 4 {
                    return None;
                }
                numbers.extend((first..=last).map(|number| format!("{number:0width$}", width = from.len())));
            }
            if some.len().saturating_mul(numbers.len()) > MOST_HOSTS {
                return None;
            }
            some = some
                .iter()
                .flat_map(|name| numbers.iter().map(move |number| format!("{name}{head}{number}")))
                .collect();
            rest = after;
        }
        out.extend(some.into_iter().map(|name| name + rest));
        if part.is_empty() || part.contains(['{', '$', '<']) || out.len() > MOST_HOSTS {
            return None;
        }
    }
    Some(out)
}

/// The GPUs of a list of generic resources, with their type and count: `gpu:a100:8(S:0-1),mps:400`. `None` where one is not
/// told.
fn gpus(text: &str) -> Option<Vec<(Option<String>, i64)>> {
    let of_gpus = |part: &&str| part.split([':', '(']).next() == Some("gpu");
    let one = |part: &str| {
        let plain = part.split('(').next().unwrap_or(part);
        let mut words: Vec<&str> = plain.split(':').skip(1).filter(|word| *word != "no_consume").collect();
        let count = match words.last()?.parse() {
            Ok(count) => {
                words.pop();
                count
            }
            Err(_) => 1,
        };
        let plain = |word: &&&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        match words[..] {
            [] => Some((None, count)),
            [ref card] if plain(&card) => Some((Some((*card).to_owned()), count)),
            _ => None,
        }
    };
    outside(text, ('(', ')'))
        .into_iter()
        .filter(of_gpus)
        .map(|part| if part == "gpu" { Some((None, 1)) } else { one(part) })
        .collect()
}

/// The parts of a list between commas that stand outside of brackets.
fn outside(text: &str, (open, close): (char, char)) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = move |c: char| {
        depth += i32::from(c == open) - i32::from(c == close);
        c == ',' && depth == 0
    };
    text.split(split).collect()
}

/// The minutes of a time limit: `90`, `90:00`, `1:30:00`, `2-12`, `2-12:00:00`; `None` for no limit and what is no time.
pub fn minutes(text: &str) -> Option<i64> {
    let (days, rest) = text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
    let parts: Vec<i64> = rest.split(':').map(|part| part.parse().ok().filter(|n| *n >= 0)).collect::<Option<_>>()?;
    let of_days = |days: &str| days.parse::<i64>().ok()?.checked_mul(24 * 60);
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        _ => return None,
    };
    let whole = hours.checked_mul(60)?.checked_add(minutes)?.checked_add((seconds + 59) / 60)?;
    days.map_or(Some(0), of_days)?.checked_add(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_lists_are_written_out() {
        let named = |text: &str| hosts(text).map(|names| names.join(" "));
        assert_eq!(named("gpu[01-03,10],login").as_deref(), Some("gpu01 gpu02 gpu03 gpu10 login"));
        assert_eq!(named("r[1-2]n[1-2]").as_deref(), Some("r1n1 r1n2 r2n1 r2n2"));
        assert_eq!(named("/dev/nvidia[0-3]").as_deref(), Some("/dev/nvidia0 /dev/nvidia1 /dev/nvidia2 /dev/nvidia3"));
        for open in ["n[1-", "n[a-b]", "n[3-1]", "n[1-99999999]", "n[1-900]m[1-900]", "{{ host }}", ""] {
            assert_eq!(hosts(open), None, "{open}");
        }
    }

    #[test]
    fn gpus_of_a_node_have_types_and_counts() {
        let all = |text: &str| {
            gpus(text).expect("told").into_iter().map(|(t, n)| (t.unwrap_or_default(), n)).collect::<Vec<_>>()
        };
        assert_eq!(all("gpu:a100:8(S:0,1),mps:400"), [("a100".to_owned(), 8)]);
        assert_eq!(
            all("gpu,gpu:2,gpu:h100,gpumem:3"),
            [(String::new(), 1), (String::new(), 2), ("h100".to_owned(), 1)]
        );
        assert_eq!(gpus("gpu:{{ type }}:8"), None);
    }

    #[test]
    fn times_are_minutes() {
        for (text, expected) in [("90", 90), ("90:00", 90), ("1:30:00", 90), ("2-12", 3600), ("1-00:30:01", 1471)] {
            assert_eq!(minutes(text), Some(expected), "{text}");
        }
        assert_eq!(minutes("INFINITE"), None);
        assert_eq!(minutes("9223372036854775807-0"), None);
    }
}
