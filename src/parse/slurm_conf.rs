//! Lines of Slurm's configuration files: `Key=Value` pairs, quoted values, comments, and lines that go on behind a `\`.

use std::ops::Range;

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The key in small letters, as Slurm does not tell them apart.
    pub key: String,
    /// Where the key stands.
    pub at: Range<usize>,
    /// Where the value stands, without quotes.
    pub value: Range<usize>,
}

/// A line: the pairs of one node, partition or setting.
pub type Line = Vec<Pair>;

/// The lines of a text and the places of its comments; nothing of a line that has no `=`, but of `Include`.
pub fn parse(text: &str) -> (Vec<Line>, Vec<Range<usize>>) {
    let mut plain = text.as_bytes().to_vec();
    let mut comments = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let sign = line.match_indices('#').map(|(at, _)| at).find(|at| !line[..*at].ends_with('\\'));
        if let Some(at) = sign.filter(|at| start + at < end) {
            comments.push(start + at..end);
            plain[start + at..end].fill(b' ');
        } else if line.trim_end().ends_with('\\') {
            plain[end - 1..start + line.len()].fill(b' ');
        }
        start += line.len();
    }
    let plain = String::from_utf8(plain).unwrap_or_default();
    let (mut lines, mut start) = (Vec::new(), 0);
    for line in plain.split_inclusive('\n') {
        let pairs = pairs(line, start);
        lines.extend((!pairs.is_empty()).then_some(pairs));
        start += line.len();
    }
    (lines, comments)
}

/// The pairs of a line that begins at an offset.
fn pairs(line: &str, start: usize) -> Line {
    let (mut out, mut at) = (Line::new(), 0);
    let skip = |at: usize| at + (line[at..].len() - line[at..].trim_start().len());
    loop {
        at = skip(at);
        let length = line[at..].find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line[at..].len());
        let word = &line[at..at + length];
        let key = start + at..start + at + length;
        at = skip(at + length);
        let include = out.is_empty() && word.eq_ignore_ascii_case("include");
        if word.is_empty() || !include && !line[at..].starts_with('=') {
            return out;
        }
        at = skip(at + usize::from(!include));
        let quoted = line[at..].strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let from = at + usize::from(quoted.is_some());
        let end = line[at..].find(char::is_whitespace).unwrap_or(line[at..].len());
        let length = quoted.map_or(end, |(value, _)| value.len());
        out.push(Pair {
            // `TaskPlugin+=` adds to what stands before.
            key: word.trim_end_matches(['+', '-', '*', '/']).to_ascii_lowercase(),
            at: key,
            value: start + from..start + from + length,
        });
        at = from + length + usize::from(quoted.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stand_on_lines_that_may_go_on() {
        let text = "ClusterName=ml # mine\nNodeName=gpu[01-04] \\\n  Gres = gpu:a100:8 \\\n  Reason=\"new # é\"\nInclude /etc/x.conf\ncommand sbatch\n";
        let (lines, comments) = parse(text);
        let shown: Vec<Vec<(&str, &str)>> = lines
            .iter()
            .map(|line| line.iter().map(|pair| (pair.key.as_str(), &text[pair.value.clone()])).collect())
            .collect();
        assert_eq!(shown[0], [("clustername", "ml")]);
        assert_eq!(shown[2], [("include", "/etc/x.conf")]);
        assert_eq!(shown[1][..2], [("nodename", "gpu[01-04]"), ("gres", "gpu:a100:8")]);
        assert_eq!(comments.len(), 2);
        assert_eq!(&text[comments[0].clone()], "# mine");
    }
}
