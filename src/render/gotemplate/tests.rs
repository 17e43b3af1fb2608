mod functions;

use super::super::value::Map;
use super::*;
use crate::budget::Share;
use crate::parse::{Dialect, yaml};

const TEMPLATE: SourceId = SourceId(0);
const VALUES: SourceId = SourceId(1);

fn dot(values: &str) -> Value {
    let tree = yaml::parse(VALUES, values, Dialect::Kubernetes);
    let values =
        yaml::root(&tree).map(|root| Value::from_node(root, &Share::of(1, 0))).unwrap_or_else(|| Map::new().into());
    Map::from_iter([("Values", values)]).into()
}

fn render(template: &str, values: &str) -> Result<Text, RenderError> {
    let (templates, problems) = Templates::parse(&[("c/t".to_owned(), TEMPLATE, template)]);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    templates.render("c/t", &dot(values), &Doubts::default(), &Share::of(1000, 0))
}

fn shown(template: &str, values: &str) -> String {
    match render(template, values) {
        Ok(text) => text.as_str().to_owned(),
        Err(error) => format!("{:?}: {}", error.span.range(), error.message),
    }
}

#[test]
fn a_value_leads_to_the_line_that_states_it_and_to_the_expression() {
    let (template, values) = ("limits:\n  nvidia.com/gpu: {{ .Values.gpus }}\n", "gpus: 8\n");
    let text = render(template, values).unwrap();
    let tree = yaml::parse_traced(&text.traced(Span::new(TEMPLATE, 0..template.len())), Dialect::Kubernetes);
    let root = yaml::root(&tree).unwrap();
    let gpus = root.get("limits").and_then(|l| l.get("nvidia.com/gpu")).unwrap();
    assert_eq!(gpus.span(), Span::new(VALUES, 6..7));
    let key = root.get("limits").unwrap().entries()[0].0;
    assert_eq!(key.span(), Span::new(TEMPLATE, 10..24));
    assert_eq!(text.routes().collect::<Vec<_>>(), [(Span::new(VALUES, 6..7), Span::new(TEMPLATE, 26..44))]);
}

#[test]
fn the_language() {
    let values = "a: {b: x}\nnum: 3\nl: [p, q]\nt: true\nz: ''\n";
    for (template, output) in [
        ("{{ .Values.a.b }}", "x"),
        ("{{ .Values.nope }}|{{ .Values.a.nope | quote }}", "|"),
        ("{{ if .Values.t }}1{{ else }}2{{ end }}", "1"),
        ("{{ if .Values.z }}1{{ else if eq .Values.a.b \"x\" }}2{{ end }}", "2"),
        ("{{ with .Values.a }}{{ .b }}{{ $.Values.num }}{{ end }}", "x3"),
        ("{{ range $i, $v := .Values.l }}{{ $i }}{{ $v }},{{ end }}", "0p,1q,"),
        ("{{ range .Values.l }}{{ . }}{{ break }}{{ end }}", "p"),
        ("{{ range .Values.l }}{{ if eq . \"p\" }}{{ continue }}{{ end }}{{ . }}{{ end }}", "q"),
        ("{{ range .Values.none }}x{{ else }}none{{ end }}", "none"),
        ("{{ range $k, $v := .Values.a }}{{ $k }}={{ $v }}{{ end }}", "b=x"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ define \"f\" }}<{{ . }}>{{ end }}{{ template \"f\" 1 }}{{ include \"f\" .Values.num | upper }}", "<1><3>"),
        ("{{ block \"g\" .Values.a }}{{ .b }}{{ end }}", "x"),
        ("{{ tpl \"{{ .Values.num }}\" . }}", "3"),
        ("{{ $d := dict \"a\" 1 }}{{ $_ := set $d \"b\" 2 }}{{ $d }}", "map[a:1 b:2]"),
        ("{{ and 1 0 (fail \"x\") }}{{ or 0 \"a\" (fail \"x\") }}", "0a"),
        ("{{ (dict \"a\" (dict \"b\" 1)).a.b }}", "1"),
        ("{{ index .Values.l 1 }}{{ index .Values \"a\" \"b\" }}", "qx"),
        ("{{ printf \"%s-%05.1f|%-3d|%q|%v\" \"a\" .Values.num 7 \"c\" .Values.l }}", "a-003.0|7  |\"c\"|[p q]"),
        ("{{ .Values.num.x }}", "3..16: can't evaluate field x in type float64"),
        ("{{ .Values.no.x }}", "3..15: nil pointer evaluating interface {}.x"),
        ("{{ nosuch 1 }}", "3..11: function \"nosuch\" not defined"),
        ("{{ include \"no\" . }}", "3..17: error calling include: no template \"no\""),
        ("{{ eq .Values.num 3 }}", "3..19: error calling eq: incompatible types for comparison"),
        ("a\n{{ fail \"stop\" }}", "5..16: error calling fail: stop"),
    ] {
        assert_eq!(shown(template, values), output, "{template}");
    }
}

#[test]
fn yaml_of_values_is_written_as_helm_writes_it() {
    let values = "v:\n  z: [1, {b: 1, a: [x]}]\n  a10: \"true\"\n  a9: ''\n  m: {}\n  t: \"a\\nb\\n\"\n  q: 'a: b'\n";
    let output = "a9: \"\"\na10: \"true\"\nm: {}\nq: 'a: b'\nt: |\n  a\n  b\nz:\n- 1\n- a:\n  - x\n  b: 1";
    assert_eq!(shown("{{ toYaml .Values.v }}", values), output);
    let folded = format!("{0} {0}\n  {0}", "x".repeat(45));
    assert_eq!(shown(&format!("{{{{ toYaml \"{}\" }}}}", folded.replace("\n  ", " ")), ""), folded);
}

#[test]
fn what_is_unknown_stays_visible() {
    assert_eq!(shown("p: {{ randAlphaNum 8 | b64enc | quote }}", ""), "p: \"$(randAlphaNum)\"");
    assert_eq!(shown("{{ printf \"a-%s\" (required \"need it\" .Values.x) }}", ""), "a-$(template)");
    assert_eq!(shown("{{ toYaml (dict \"t\" now) }}{{ if now }}1{{ else }}2{{ end }}", ""), "t: $(now)2");
}

#[test]
fn a_helper_keeps_the_places_of_the_values_it_writes() {
    let template =
        "{{ define \"r\" }}limits:\n{{ toYaml .r | indent 2 }}{{ end }}x:{{ include \"r\" .Values | nindent 2 }}\n";
    let values = "r:\n  nvidia.com/gpu: \"8\"\n";
    let text = render(template, values).unwrap();
    assert_eq!(text.as_str(), "x:\n  limits:\n    nvidia.com/gpu: \"8\"\n");
    let tree = yaml::parse_traced(&text.traced(Span::new(TEMPLATE, 0..template.len())), Dialect::Kubernetes);
    let limits = yaml::root(&tree).and_then(|r| r.get("x")).and_then(|x| x.get("limits")).unwrap();
    let (key, gpus) = limits.entries()[0];
    assert_eq!((key.span(), gpus.traced().unwrap().span(0..1)), (Span::new(VALUES, 5..19), Span::new(VALUES, 22..23)));
}

#[test]
fn an_image_is_labelled_at_its_parts() {
    let text = render("image: \"{{ .Values.r }}:{{ .Values.t }}\"", "r: nginx\nt: \"1.2\"\n").unwrap();
    let tree = yaml::parse_traced(&text.traced(Span::new(TEMPLATE, 0..40)), Dialect::Kubernetes);
    let image = yaml::root(&tree).and_then(|r| r.get("image")).and_then(|i| i.traced()).unwrap().clone();
    assert_eq!(image.text(), "nginx:1.2");
    assert_eq!((image.span(0..5), image.span(6..9)), (Span::new(VALUES, 3..8), Span::new(VALUES, 13..16)));
}

#[test]
fn rendering_ends() {
    for (template, message) in [
        ("{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}", "nested too deeply"),
        (
            "{{ define \"x\" }}{{ if true }}{{ with 1 }}{{ (tpl \"{{ template \\\"x\\\" . }}\" .) }}{{ end }}{{ end }}{{ end }}{{ template \"x\" }}",
            "nested too deeply",
        ),
        (
            "{{ range until 1000 }}{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}{{ end }}",
            "than one file may",
        ),
        ("{{ $x := \"ab\" }}{{ range until 100 }}{{ $x = printf \"%s%s\" $x $x }}{{ end }}", "than one file may"),
        ("{{ $x := list 1 2 }}{{ range until 100 }}{{ $x = concat $x $x }}{{ end }}", "than one file may"),
        ("{{ repeat 1000000000 \"x\" }}", "than one file may"),
        ("{{ \"x\" | nindent 1000000000 }}", "than one file may"),
        ("{{ until 1000000000 }}", "than one file may"),
        ("{{ printf \"%1000000000d\" 1 }}", "than one file may"),
        (
            "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ toYaml $d | len }}{{ toJson $d | len }}{{ $d | toString | len }}",
            "",
        ),
    ] {
        let output = shown(template, "");
        assert!(output.contains(message), "{template}: {output}");
    }
}

/// Pieces of templates, sound and unsound.
const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "if",
    "else",
    "end",
    "range",
    "with",
    "define",
    "block",
    "template",
    "break",
    ".Values",
    ".a",
    ".l",
    "$x",
    ":=",
    "=",
    "|",
    "(",
    ")",
    ",",
    "\"é\"",
    "`x`",
    "'",
    "1",
    "-1",
    "1.5",
    "nil",
    "true",
    "é",
    "{{ end }}",
    "{{ if .Values.a }}",
    "{{ range .Values.l }}",
    "{{ .Values.a }}",
    "/*",
    "*/",
    "{{ toYaml .Values }}",
    "printf \"%5.1f%s\"",
    "trunc",
    "nindent",
    "toYaml",
    "fromYaml",
    "dict",
    "set",
    "index",
    "tpl",
    "include \"x\"",
    "splitList",
    "substr",
    "slice",
    "repeat",
    "regexReplaceAll",
    "semverCompare",
    "until",
    "seq",
    "dig",
    "merge",
];

/// Functions that cut, count or convert.
const FUNCTIONS: &str = "trunc substr abbrev wrap repeat indent nindent trimAll trimSuffix replace split splitn \
                         splitList join slice index chunk first last rest initial append concat without has uniq until \
                         untilStep seq round add div mod mul max printf print quote toYaml fromYaml fromJson toJson toToml \
                         b64enc b64dec sha256sum regexFind regexFindAll regexReplaceAll regexSplit semverCompare semver \
                         dict get set unset dig merge mergeOverwrite pick omit pluck keys values deepCopy camelcase \
                         snakecase title initials base dir clean ext urlParse urlJoin ternary default required eq lt len";

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn no_template_panics(picks in proptest::collection::vec(0..PIECES.len(), 0..30)) {
        let template: String = picks.iter().map(|i| PIECES[*i]).collect::<Vec<_>>().join(" ");
        let _ = render(&template, "a: é\nl: [1, x]\n");
    }

    #[test]
    fn no_call_panics(pick in 0..1000usize, args in proptest::collection::vec(0..8usize, 0..4)) {
        let names: Vec<&str> = FUNCTIONS.split_whitespace().collect();
        let name = names[pick % names.len()];
        let args: Vec<&str> =
            args.iter().map(|i| ["\"éa-é\"", "-3", "2", "1.5", "nil", ".Values", ".Values.l", "\"\""][*i]).collect();
        let _ = render(&format!("{{{{ {name} {} }}}}", args.join(" ")), "a: é\nl: [1, x]\n");
    }
}
