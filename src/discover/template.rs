//! Tells text of a template language from text that merely holds placeholders. Knows where `{{ … }}` breaks
//! YAML; evaluates nothing.

use super::Kind;
use super::kind::without_template_suffix;
use std::fmt;

/// A template language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Go's `text/template` in a Helm chart.
    Helm,
    /// Go's `text/template`, or a language that looks like it.
    Go,
    /// Jinja, as Ansible uses it.
    Jinja,
    /// Terraform's `%{ … }` directives.
    Terraform,
    /// `${…}` where only its value would be YAML: envsubst, `templatefile`.
    Variables,
    /// What a program formats, or a person fills in: `%s`, `{name}/image`.
    Format,
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Template::Helm => "Helm",
            Template::Go => "Go",
            Template::Jinja => "Jinja",
            Template::Terraform => "Terraform",
            Template::Variables => "variable",
            Template::Format => "format string",
        })
    }
}

const SIGNS: [&str; 4] = ["{{", "{%", "{#", "%{"];

fn starts_with_sign(text: &str) -> bool {
    SIGNS.iter().any(|sign| text.starts_with(sign))
}

fn has_sign(text: &str) -> bool {
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// The language that has to be run before the text of a file is what its name says; `in_chart` tells the templates of
/// a chart.
pub(super) fn detect(path: &str, kind: Kind, in_chart: bool, text: &str) -> Option<Template> {
    if kind == Kind::Chart || !may_be_template(text.as_bytes()) {
        return None;
    }
    let name = path.to_ascii_lowercase();
    let breaks = match kind {
        Kind::Yaml => in_chart && text.contains("{{") || breaks_yaml(text),
        Kind::Json => breaks_yaml(text) || text.lines().any(|line| value_of(line.trim_start(), 0).0.starts_with("${")),
        Kind::Dockerfile | Kind::Requirements => has_directive_line(text),
        // Heredocs and formats of other tools start lines with braces.
        _ => without_template_suffix(&name).is_some() && has_directive_line(text),
    };
    breaks.then(|| {
        if in_chart {
            Template::Helm
        } else if text.contains("{%") || [".j2", ".jinja", ".jinja2"].iter().any(|suffix| name.ends_with(suffix)) {
            Template::Jinja
        } else if !has_sign(text) {
            if text.contains("${") { Template::Variables } else { Template::Format }
        } else if !text.contains("{{") {
            Template::Terraform
        } else {
            Template::Go
        }
    })
}

/// Whether something stands in a text that makes a template in some place: signs, `${`, `%s` and `{name}/image`.
fn may_be_template(text: &[u8]) -> bool {
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    memchr::memchr2_iter(b'{', b'%', text).any(|at| {
        let (before, after) = (at.checked_sub(1).map(|before| text[before]), &text[at + 1..]);
        match (text[at], after.first()) {
            (b'%', next) => next.is_some_and(|next| *next == b'{' || next.is_ascii_alphabetic()),
            (_, Some(b'{' | b'%' | b'#')) => true,
            _ if before == Some(b'$') => true,
            _ => {
                let end = after.iter().take_while(|byte| name(byte)).count();
                end > 0
                    && after[end..].first() == Some(&b'}')
                    && after[end + 1..]
                        .first()
                        .is_some_and(|next| next.is_ascii_alphanumeric() || b"/:-._@".contains(next))
            }
        }
    })
}

fn has_directive_line(text: &str) -> bool {
    text.lines().any(|line| starts_with_sign(line.trim_start()))
}

/// Whether the name alone says that something is run over the text first.
pub fn is_template_name(path: &str) -> bool {
    without_template_suffix(&path.to_ascii_lowercase()).is_some()
}

/// A line of YAML without its comment.
fn uncommented(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return &line[..at],
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {}
        }
        before = c;
    }
    line
}

/// Whether an action stands where YAML would read it as a mapping or not at all: in front of a line or a value,
/// in a flow collection, or with quotes inside a quoted scalar. In plain, quoted and block scalars it is text.
fn breaks_yaml(text: &str) -> bool {
    // The indentation that a block scalar's lines exceed, and the quote that a scalar over several lines ends with.
    let mut block: Option<usize> = None;
    let mut quote: Option<char> = None;
    let mut awaits_value = false;
    for line in text.lines() {
        let content = line.trim_start();
        if content.is_empty() {
            continue;
        }
        let indent = line.len() - content.len();
        if block.is_some_and(|parent| indent > parent) {
            continue;
        }
        block = None;
        if let Some(open) = quote {
            match after_quote(content, open) {
                Some(_) => quote = None,
                None => continue,
            }
            continue;
        }
        let (line, content) = (uncommented(line), uncommented(content));
        if content.is_empty() {
            continue;
        }
        if is_lone_variable(content) && !awaits_value {
            return true;
        }
        awaits_value = content.trim_end().ends_with(':');
        let (value, indent) = value_of(content, indent);
        if splits_value(content.trim_start_matches("- ")) || splits_value(value) || is_formatted(value) {
            return true;
        }
        match value.chars().next() {
            Some('#') | None => {}
            Some('|' | '>') => block = Some(indent),
            Some(open @ ('"' | '\'')) => match after_quote(&value[1..], open) {
                Some(rest) if rest.trim_start().starts_with('#') => {}
                Some(rest) if !may_follow_scalar(rest.trim_start()) && has_sign(line) => return true,
                Some(rest) if outside_quotes(rest, has_sign) => return true,
                Some(_) => {}
                None => quote = Some(open),
            },
            Some(_) if starts_with_sign(value) => {
                if value.len() == content.len() || !is_lone_name(value) {
                    return true;
                }
            }
            Some('[' | '{') if outside_quotes(value, |t| has_sign(t) || t.contains("${")) => return true,
            Some(_) => {}
        }
    }
    false
}

/// `{{ name }}` as a whole value: YAML reads it, as a mapping that stands for nothing else.
fn is_lone_name(value: &str) -> bool {
    let Some((name, rest)) = value.strip_prefix("{{").and_then(|v| v.split_once("}}")) else { return false };
    let rest = rest.trim_start();
    let letter = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    name.trim().starts_with(letter) && name.trim().chars().all(letter) && (rest.is_empty() || rest.starts_with('#'))
}

/// `${LINES}` on a line of its own, where YAML wants a key or an item.
fn is_lone_variable(content: &str) -> bool {
    content.starts_with("${") && content.trim_end().ends_with('}')
}

/// What stands after the dashes, the key, tags and anchors of a line, with the indentation of the innermost.
fn value_of(content: &str, indent: usize) -> (&str, usize) {
    let (mut value, mut column) = (content, indent);
    let mut innermost = indent;
    while let Some(rest) = value.strip_prefix("- ") {
        innermost = column;
        let next = rest.trim_start();
        column += value.len() - next.len();
        value = next;
    }
    if let Some(rest) = after_key(value) {
        innermost = column;
        value = rest.trim_start();
    }
    while value.starts_with(['!', '&']) {
        value = value.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    (value, innermost)
}

/// What follows `key:`, if the text starts with a key.
fn after_key(text: &str) -> Option<&str> {
    if starts_with_sign(text) || text.starts_with(['[', '{', '#', '|', '>']) {
        return None;
    }
    let rest = match text.chars().next() {
        Some(open @ ('"' | '\'')) => after_quote(&text[1..], open)?.trim_start().strip_prefix(':')?,
        _ => match text.find(": ") {
            Some(colon) => &text[colon + 1..],
            None => text.trim_end().strip_suffix(':').map(|_| "")?,
        },
    };
    Some(rest)
}

/// What follows the closing quote.
fn after_quote(text: &str, quote: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                chars.next();
            }
            '\'' if quote == '\'' && text[at + 1..].starts_with('\'') => {
                chars.next();
            }
            _ if c == quote => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

fn may_follow_scalar(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([',', ']', '}', ':'])
}

/// `${a ? "x" : "y"}`: the colon makes a plain scalar a key.
fn splits_value(value: &str) -> bool {
    value.strip_prefix("${").and_then(|v| v.split_once('}')).is_some_and(|(inner, _)| inner.contains(": "))
}

/// `%s` and `{name}/image`: YAML reads no value, or a mapping with text behind it.
fn is_formatted(value: &str) -> bool {
    let verb = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = |(name, rest): (&str, &str)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "/:-._@".contains(c))
    };
    value.strip_prefix('%').is_some_and(verb)
        || value.strip_prefix('{').and_then(|rest| rest.split_once('}')).is_some_and(name)
}

fn outside_quotes(text: &str, holds: impl Fn(&str) -> bool) -> bool {
    let mut rest = text;
    loop {
        let Some(at) = rest.find(['"', '\'']) else { return holds(rest) };
        if holds(&rest[..at]) {
            return true;
        }
        let open = if rest[at..].starts_with('"') { '"' } else { '\'' };
        match after_quote(&rest[at + 1..], open) {
            Some(after) => rest = after,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Option<Template> {
        let kind = super::super::kind_of(path).expect("a kind");
        detect(path, kind, path.contains("templates/"), text)
    }

    #[test]
    fn variables_where_only_their_value_is_yaml_make_a_template() {
        for text in [
            "zones: [${A},${B}]",
            "labels: { app: ${NAME} }",
            "a: {}\n${REST}\n",
            "a: 1\n${indent(2, yamlencode(b))}\n",
            "- ${v6 ? \"IPv6\" : \"IPv4\"}",
            "ip: ${v6 ? 6 : 4}",
        ] {
            assert_eq!(of("a.yaml", text), Some(Template::Variables), "{text}");
        }
        for text in [
            "name: ${NAME}-api",
            "labels: { app: \"${NAME}\" }",
            "run: |\n  [ ${A} ]\n  ${B}",
            "a: ${B:-c}",
            "a:\n  ${B}",
        ] {
            assert_eq!(of("a.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn what_a_program_formats_makes_a_template() {
        for text in ["name: %s\n", "args:\n  - %d\n", "image: {user}/server:v1\n", "- {REGISTRY}.example/x\n"] {
            assert_eq!(of("a.yaml", text), Some(Template::Format), "{text}");
        }
        for text in ["run: date +%s\n", "a: {b}\n", "a: {b: c}\n", "a: [{b}, {c}]\n", "name: '%s'\n", "a: {b} # c\n"] {
            assert_eq!(of("a.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn placeholders_that_are_text_stay_yaml() {
        for text in [
            "args: [\"{{workflow.parameters.x}}\", '{{ y }}']\n",
            "image: \"{{ image }}\" # {{ note }}\n",
            "image: repo/{{ name }}:v1\n",
            "image: ${IMAGE}\nname: ${{ matrix.x }}\n",
            "run: |\n  {{ define \"x\" }}\n    {% raw %}\nnext: 1\n",
            "- key: >-\n    {{ $labels.pod }}\n",
            "- |\n  {{ a }}\n- b\n",
            "# {{ comment }}\na: 1\n",
            "a: \"first\n  {{ second }}\n  third\"\nb: 1\n",
            "{\"a\": \"{{ x }}\",\n \"b\": [\"{{ y }}\"]}\n",
            "a: 'it''s {{ x }}'\n",
            "a: {b: {c: {}}}\n",
            "image: {{ .Values.image }} # note\n- {{NAME}}\n",
        ] {
            assert_eq!(of("a.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn actions_that_yaml_would_misread_make_a_template() {
        for text in [
            "{{- if .Values.gpu }}\na: 1\n{{- end }}\n",
            "image: {{ .Values.image | quote }}\n",
            "image: {{ .Values.image }}:{{ .Values.tag }}\n",
            "- {{ include \"x\" . }}\n",
            "{{ .Values.all }}\n",
            "args: [{{ .x }}]\n",
            "env: {a: {{ .x }}}\n",
            "image: \"{{ .Values.image | default \"x\" }}\"\n",
            "run: |\n  a\n{{ end }}\n",
            "a: !Sub {{- x }}\n",
            "\"quoted\": {{ x | y }}\n",
        ] {
            assert_eq!(of("a.yaml", text), Some(Template::Go), "{text}");
        }
    }

    #[test]
    fn the_language_is_named() {
        assert_eq!(of("chart/templates/a.yaml", "image: \"{{ .Values.x }}\"\n"), Some(Template::Helm));
        assert_eq!(of("chart/templates/a.yaml", "a: 1\n"), None);
        assert_eq!(of("a.yaml.j2", "a: {{ x | y }}\n"), Some(Template::Jinja));
        assert_eq!(of("a.yaml", "{% if x %}\na: {{ x }}\n{% endif %}\n"), Some(Template::Jinja));
        assert_eq!(of("a.yaml.tftpl", "%{ if x }\na: ${x}\n%{ endif }\n"), Some(Template::Terraform));
        assert_eq!(of("Dockerfile.j2", "FROM x\n{% if gpu %}\nRUN y\n{% endif %}\n"), Some(Template::Jinja));
        assert_eq!(of("Dockerfile", "RUN docker inspect --format '{{.Id}}'\n"), None);
        assert_eq!(of("a.sh", "cat <<EOF\n{{ x }}\nEOF\n"), None);
    }
}
