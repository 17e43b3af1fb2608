//! Text of a template language with its directives and expressions masked, byte for byte, so that what is literal can
//! be parsed as it stands and keeps its place. Knows the signs of Go templates, Jinja, Terraform and envsubst; evaluates
//! nothing.
//!
//! Of two branches the first is kept, and told to be a condition; of a loop one turn; definitions are left out. An expression becomes a variable,
//! `$(name)`, whose value is unknown. One that has a line of its own may be any number of keys or items: it becomes a
//! merge of what is unknown, or an unknown item.

use std::ops::Range;

/// Most holes of one text.
const MAX_HOLES: usize = 100_000;

/// The text with holes, of the same length.
pub fn mask(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut values = Vec::new();
    let parts = parts(text);
    let mut hidden: Vec<bool> = Vec::new();
    let (mut at, mut i) = (0, 0);
    while let Some(part) = parts.get(i) {
        let unseen = hidden.last() == Some(&true);
        if unseen {
            blank(&mut out, at..part.range.start);
        }
        let closing = (part.sign == Sign::Open).then(|| matching(&parts, i)).flatten();
        let inline = closing.filter(|&end| !text[part.range.start..parts[end].range.end].contains('\n'));
        if let Some(end) = inline.filter(|_| !unseen) {
            at = parts[end].range.end;
            values.push(part.range.start..at);
            i = end + 1;
            continue;
        }
        match part.sign {
            Sign::Value if !unseen => values.push(part.range.clone()),
            _ => blank(&mut out, part.range.clone()),
        }
        match part.sign {
            // What is within something hidden is hidden, too.
            Sign::Open => hidden.push(unseen),
            Sign::Define => hidden.push(true),
            Sign::Else => hidden.iter_mut().last().into_iter().for_each(|top| *top = true),
            Sign::Close => drop(hidden.pop()),
            Sign::Value | Sign::Other => {}
        }
        at = part.range.end;
        i += 1;
    }
    fill(text, &mut out, &values);
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// A part of a text that may be left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// From the sign that opens it to the one that closes it.
    pub range: Range<usize>,
    /// Whether something else stands there then.
    pub otherwise: bool,
}

/// Most conditions of one text that are told.
const MAX_CONDITIONS: usize = 1000;

/// What a text holds on a condition, the inner ones first.
pub fn conditions(text: &str) -> Vec<Condition> {
    let (mut open, mut out): (Vec<Option<Condition>>, Vec<Condition>) = (vec![], vec![]);
    for part in parts(text) {
        let start = part.range.start;
        match part.sign {
            Sign::Open => {
                let asks = ["if", "unless", "with"].contains(&word(&text[part.range]).1);
                open.push(asks.then_some(Condition { range: start..start, otherwise: false }));
            }
            Sign::Define => open.push(None),
            Sign::Else => open.last_mut().into_iter().flatten().for_each(|condition| condition.otherwise = true),
            Sign::Close => {
                let closed = open.pop().flatten().filter(|_| out.len() < MAX_CONDITIONS);
                out.extend(
                    closed.map(|condition| Condition { range: condition.range.start..part.range.end, ..condition }),
                );
            }
            Sign::Value | Sign::Other => {}
        }
    }
    out
}

/// What a part of a template is for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sign {
    Value,
    Open,
    Define,
    Else,
    Close,
    Other,
}

struct Part {
    range: Range<usize>,
    sign: Sign,
}

/// Directives, comments and expressions, in order.
fn parts(text: &str) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    let mut at = 0;
    // Signs that stand nowhere further on are not looked for again.
    let mut missing: Vec<&str> = Vec::new();
    let mut closing = |rest: &str, sign: &'static str| {
        let found = if missing.contains(&sign) { None } else { rest.find(sign) };
        if found.is_none() && !missing.contains(&sign) {
            missing.push(sign);
        }
        found.map(|end| end + sign.len())
    };
    while let Some(start) = text[at..].find(['{', '%', '$']).map(|offset| at + offset) {
        let rest = &text[start..];
        let end = match rest.as_bytes() {
            _ if out.len() >= MAX_HOLES => break,
            [b'{', b'{', ..] => closing(rest, "}}"),
            [b'{', b'%', ..] => closing(rest, "%}"),
            [b'{', b'#', ..] => closing(rest, "#}"),
            [b'%' | b'$', b'{', ..] => closing(rest, "}"),
            [b'{' | b'%', ..] => formatted(&text[..start], rest),
            _ => None,
        };
        at = match end {
            Some(end) => {
                // `{{ {"a": 1}}}`: braces belong to the expression as long as they can.
                let more = rest[end..].bytes().take_while(|&b| b == b'}' && rest.starts_with("{{")).count();
                let range = start..start + end + more;
                out.push(Part { sign: sign(&text[range.clone()]), range: range.clone() });
                range.end
            }
            _ => start + 1,
        };
    }
    out
}

/// The length of `{name}` in front of more text, or of `%s` in the place of a value.
fn formatted(before: &str, rest: &str) -> Option<usize> {
    let Some(verb) = rest.strip_prefix('%') else {
        let name = rest[1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let more = rest[1 + name..]
            .strip_prefix('}')
            .is_some_and(|more| more.starts_with(|c: char| c.is_ascii_alphanumeric() || "/:-._@".contains(c)));
        return (name > 0 && more).then_some(name + 2);
    };
    let letters = verb.bytes().take_while(u8::is_ascii_alphanumeric).count();
    (letters == 1 && (before.ends_with(": ") || before.ends_with("- "))).then_some(2)
}

fn sign(part: &str) -> Sign {
    if !["{{", "{%", "{#", "%{", "${"].iter().any(|sign| part.starts_with(sign)) {
        return Sign::Value;
    }
    let directive = part.starts_with("{%") || part.starts_with("%{");
    let (inner, word) = word(part);
    match word {
        _ if part.starts_with("{#") || inner.starts_with("/*") => Sign::Other,
        _ if part.starts_with("${") => Sign::Value,
        "if" | "for" | "range" | "with" | "unless" => Sign::Open,
        "raw" | "filter" | "call" | "block" if directive => Sign::Open,
        "macro" | "define" => Sign::Define,
        "else" | "elif" | "elseif" | "elsif" => Sign::Else,
        _ if word == "end" || directive && word.starts_with("end") => Sign::Close,
        _ if directive || inner.starts_with('$') && inner.contains("=") => Sign::Other,
        _ => Sign::Value,
    }
}

/// What a part says within its signs, and its first word.
fn word(part: &str) -> (&str, &str) {
    let inner = part[2..].trim_start_matches(['-', '~', '+']).trim_start();
    (inner, inner.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default())
}

/// The directive that closes what another one opens.
fn matching(parts: &[Part], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, part) in parts.iter().enumerate().skip(open).take(64) {
        match part.sign {
            Sign::Open | Sign::Define => depth += 1,
            Sign::Close => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

fn blank(out: &mut [u8], range: Range<usize>) {
    out[range].iter_mut().filter(|b| !matches!(b, b'\n' | b'\r')).for_each(|b| *b = b' ');
}

/// `$(name---)`, as long as the expression was.
fn variable(expression: &str, length: usize) -> String {
    if let Some(verb) = expression.strip_prefix('%').filter(|_| length < 3) {
        return format!("${verb}");
    }
    let inner = expression.trim_start_matches(['{', '$', '%', '-', '~', ' ', '.']);
    let named = !expression.starts_with("{%") && !expression.starts_with('%');
    let letters = inner
        .bytes()
        .take(if named { length } else { 0 })
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        .count();
    let name = &inner[..letters.min(length.saturating_sub(3))];
    format!("$({name}{})", "-".repeat(length.saturating_sub(3 + name.len())))
}

/// Puts variables where expressions were.
fn fill(text: &str, out: &mut [u8], values: &[Range<usize>]) {
    let mut values = values.iter().peekable();
    let mut block: Option<usize> = None;
    let mut above = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        let mut holes = Vec::new();
        while let Some(hole) = values.next_if(|hole| hole.start < start + line.len()) {
            holes.push(hole.clone());
        }
        let content = String::from_utf8_lossy(&out[start..end]).trim_end().to_owned();
        let lone = match holes.as_slice() {
            [hole] => content.trim_start().len() <= hole.len() && hole.end <= end,
            _ => false,
        };
        let indent = content.len() - content.trim_start().len();
        let scalar = block.is_some_and(|parent| indent > parent || content.is_empty());
        if lone && !scalar {
            let hole = holes.swap_remove(0);
            let below = literal_below(out, &text[start + line.len()..], start + line.len());
            let place = form(indent, &above, &below);
            blank(out, hole.clone());
            if let Some((column, before)) = place
                && let Some(length) = (hole.end - start).checked_sub(column + before.len()).filter(|&l| l >= 4)
            {
                let whole = format!("{before}{}", variable(&text[hole.clone()], length));
                out[start + column..hole.end].copy_from_slice(whole.as_bytes());
            }
        } else {
            for hole in holes {
                let whole = variable(&text[hole.clone()], hole.len());
                out[hole].copy_from_slice(whole.as_bytes());
            }
        }
        let now = String::from_utf8_lossy(&out[start..end]).trim_end().to_owned();
        if !now.trim().is_empty() && !now.trim_start().starts_with('#') {
            if !scalar {
                block = opens_block(&now).then(|| key_column(&now));
            }
            above = now;
        }
        start += line.len();
    }
}

/// The next line that has more than blanks and one expression.
fn literal_below(out: &[u8], rest: &str, mut start: usize) -> String {
    for line in rest.split_inclusive('\n').take(16) {
        let now = String::from_utf8_lossy(&out[start..start + line.len()]).trim_end().to_owned();
        let content = now.trim_start();
        let lone = content.starts_with("{{") && content.ends_with("}}") || content.starts_with('#');
        if !content.is_empty() && !lone {
            return now;
        }
        start += line.len();
    }
    String::new()
}

/// Column and beginning of what an expression on a line of its own becomes; `None` when it is best left out.
fn form(indent: usize, above: &str, below: &str) -> Option<(usize, &'static str)> {
    let column = |line: &str| line.len() - line.trim_start().len();
    let item = |line: &str| line.trim_start().starts_with("- ");
    let none = |line: &str| line.is_empty() || line.starts_with("---");
    let parent = key_column(above);
    if above.ends_with(':') && !above.trim_start().starts_with('#') {
        return Some(match none(below) || column(below) < parent {
            true => (indent.max(parent + 1), ""),
            false if item(below) && column(below) >= parent => (column(below), "- "),
            false if column(below) > parent => (column(below), "<<: "),
            false => (indent.max(parent + 1), ""),
        });
    }
    let of =
        |line: &str| if item(line) && column(line) == indent { (indent, "- ") } else { (key_column(line), "<<: ") };
    match (none(above), none(below)) {
        (_, false) if column(below) == indent && indent > 0 => Some(of(below)),
        (false, _) if !above.ends_with('-') => Some(of(above)).filter(|(column, _)| *column > 0),
        _ => None,
    }
}

/// The column of the key of a line, or of what its dashes hold.
fn key_column(line: &str) -> usize {
    let mut content = line.trim_start();
    while let Some(rest) = content.strip_prefix("- ") {
        content = rest.trim_start();
    }
    line.len() - content.len()
}

fn opens_block(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or(line);
    last.starts_with(['|', '>']) && last.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::mask;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn masked(text: &str) -> String {
        let out = mask(text);
        assert_eq!(out.len(), text.len(), "{out}");
        let tree = yaml::parse(SourceId(0), &out, Dialect::Kubernetes);
        assert!(tree.problems.is_empty(), "{:?}\n{out}", tree.problems);
        out
    }

    #[test]
    fn expressions_become_variables_of_their_length() {
        assert_eq!(masked("image: {{ image | default(\"a: b\") }}\n"), "image: $(image---------------------)\n");
        assert_eq!(masked("a: [${A},${B}]\n"), "a: [$(A),$(B)]\n");
        assert_eq!(masked("{{ .Values.x }}: {{ y }}-z\n"), "$(Values.x----): $(y---)-z\n");
        assert_eq!(masked("name: %s\nimage: {user}/x:v1\n"), "name: $s\nimage: $(use)/x:v1\n");
        assert_eq!(masked("run: date +%s\na: {b: c}\nd: [{e}, f]\n"), "run: date +%s\na: {b: c}\nd: [{e}, f]\n");
    }

    #[test]
    fn of_branches_the_first_is_kept_and_of_loops_one_turn() {
        let text =
            "a: 1\n{% if x %}\nb: 1\n{% else %}\nb: 2\n{% endif %}\nc:\n{% for i in y %}\n- {{ i }}\n{% endfor %}\n";
        let lines: Vec<String> = masked(text).lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(lines, ["a: 1", "", "b: 1", "", "", "", "c:", "", "- $(i---)", ""]);
    }

    #[test]
    fn a_condition_within_a_line_leaves_its_value_open() {
        let out = masked("a: {% if x %}1{% else %}2{% endif %}\n");
        assert!(out.starts_with("a: $(") && out.ends_with("-)\n"), "{out}");
    }

    #[test]
    fn an_expression_on_its_own_line_is_whatever_fits_there() {
        let text = "spec:\n  {{- toYaml .spec | nindent 2 }}\nlist:\n  - a\n  {{- more }}\nmap:\n  k: v\n{{ labels | indent(4) }}\n  l: w\n";
        let lines: Vec<String> = masked(text).lines().map(|line| line.replace('-', "")).collect();
        assert!(lines[1].starts_with("  $(toYaml"), "{lines:?}");
        assert!(lines[4].starts_with("   $(more"), "{lines:?}");
        assert!(lines[7].starts_with("  <<: $(labels"), "{lines:?}");
    }

    #[test]
    fn scripts_in_blocks_keep_their_lines() {
        let text = "run: |\n  {{ setup }}\n  x\nnext: 1\n";
        assert_eq!(masked(text), "run: |\n  $(setup---)\n  x\nnext: 1\n");
    }

    #[test]
    fn any_text_keeps_its_length() {
        for text in
            ["{{", "}}", "{% if", "{{ a }}}", "%{ if x }é${é}", "{% endif %}{{ x", "a: {{\n}}\n", "é{{é}}:é\n", "${}"]
        {
            assert_eq!(mask(text).len(), text.len(), "{text}");
        }
    }
}
