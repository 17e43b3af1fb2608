//! Small files that ask for much, and files that hide what they say: what is made of a text is bounded, what is not read for
//! that is told, and what a tool would read is read.

use super::languages::run;
use gpulint::finding::Unlinted;
use gpulint::rules::Ruleset;
use gpulint::source::SourceId;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n  containers:\n  - name: c\n    image: x/y:1\n    \
                   resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}\n";
const WRONG: &str = "resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}";

/// Whether the wrong request is found, and whether it is told that something takes too much to be read.
fn seen(path: &str, text: &str) -> (bool, bool) {
    let findings = run(&[(path, text)], &Ruleset::builtin()).evaluation.findings;
    let found = findings.iter().any(|finding| finding.rule == "gpu-request-differs-from-limit");
    (found, findings.iter().any(|finding| finding.unlinted == Some(Unlinted::Budget)))
}

#[test]
fn lines_end_where_kubernetes_ends_them() {
    for sign in ['\u{85}', '\u{2028}', '\u{2029}'] {
        let hidden = POD.replace("    resources", &format!("    # harmless{sign}    resources"));
        assert_eq!(seen("pod.yaml", &hidden), (true, false), "{sign:?}");
    }
}

#[test]
fn yaml_is_read_whatever_its_name() {
    assert_eq!(seen("pod.json", POD), (true, false));
}

#[test]
fn pods_are_found_behind_any_number_of_others_and_at_any_depth() {
    let object = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: f}\nspec:\n";
    let harmless = "{image: x, resources: {limits: {nvidia.com/gpu: 1}}}";
    let decoys: String = (0..300).map(|i| format!("  g{i}: {harmless}\n")).collect();
    assert_eq!(seen("foo.yaml", &format!("{object}{decoys}  z: {{image: x, {WRONG}}}\n")), (true, false));
    let deep = format!("{}image: x, {WRONG}{}", "a: {".repeat(150), "}".repeat(150));
    assert_eq!(seen("foo.yaml", &format!("{object}  {deep}\n")), (true, false));
    assert!(!seen("values.yaml", &format!("a:\n  {deep}\n")).1);
    let deeper = format!("{}image: x, {WRONG}{}", "a: {".repeat(198), "}".repeat(198));
    assert!(seen("foo.yaml", &format!("{object}  {deeper}\n")).1, "what is nested too deeply is told");
}

#[test]
fn what_multiplies_is_told() {
    let doubled = |first: &str, next: &dyn Fn(usize) -> String| -> String {
        std::iter::once(first.to_owned()).chain((1..60).map(next)).collect()
    };
    let bomb = doubled("a0: &a0 {x: 1}\n", &|i| format!("a{i}: &a{i} {{x: *a{p}, y: *a{p}}}\n", p = i - 1));
    let object = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: f}\n";
    assert!(seen("foo.yaml", &format!("{object}{bomb}spec: *a59\n")).1);
    let group = (0..20).map(|i| format!("g{i}: *c")).collect::<Vec<_>>().join(", ");
    let groups = (0..20).map(|i| format!("h{i}: *g")).collect::<Vec<_>>().join(", ");
    let pods = format!(
        "c: &c {{image: x, command: [x]}}\ng: &g {{{group}}}\nh: &h {{{groups}}}\nspec: {{a: *h, b: *h, c: *h}}\n"
    );
    assert!(seen("foo.yaml", &format!("{object}{pods}")).1, "pods of aliases");
    let stages = |i: usize| format!("FROM s{} AS s{i}\nRUN pip install torch=={i}\n", i - 1);
    let stages: String = (1..1000).map(stages).collect();
    assert!(seen("Dockerfile", &format!("FROM x AS s0\nRUN pip install torch\n{stages}")).1);
    for keyword in ["ARG", "ENV"] {
        let values = doubled("A0=aaaaaaaaaa\n", &|i| format!("{keyword} A{i}=$A{p}$A{p}\n", p = i - 1));
        assert!(!seen("Dockerfile", &format!("FROM x\n{keyword} {values}FROM y:$A59\n")).0);
    }
    let packages: String = (0..60_000).map(|i| format!("p{i}\n")).collect();
    assert!(seen("requirements.txt", &packages).1);
}

#[test]
fn what_terraform_multiplies_is_unknown_or_told() {
    let doubled: String =
        (1..17).map(|i| format!("  z{i} = \"${{local.z{p}}}${{local.z{p}}}\"\n", p = i - 1)).collect();
    let locals = format!("locals {{\n  z0 = \"aaaaaaaaaaaaaaaa\"\n{doubled}}}\n");
    for value in [
        "[for i in range(20000) : local.z16]",
        "[for i in range(20000) : [for j in range(90) : length(upper(local.z16))]]",
        "length(setproduct(range(20000), range(20000), range(20000)))",
        "join(\"\", [for i in range(20000) : local.z16])",
        "split(\"\", local.z16)",
        "format(\"%s%s\", indent(256, replace(local.z16, \"a\", \"\\n\")), local.z16)",
        "flatten([for i in range(1000) : range(1000)])",
    ] {
        let text = format!("{locals}resource \"x\" \"y\" {{\n  a = {value}\n}}\nresource \"x\" \"z\" {{}}\n");
        let outcome = run(&[("main.tf", &text)], &Ruleset::builtin());
        let resources = outcome.facts.resources.len();
        let told = outcome.evaluation.findings.iter().any(|finding| finding.unlinted == Some(Unlinted::Budget));
        assert!(resources == 2 || told, "{value}: {resources} resources");
    }
    let calls: String = (0..90).map(|i| format!("module \"m{i}\" {{\n  source = \"./big\"\n}}\n")).collect();
    let big = "resource \"a\" \"b\" {}\n".repeat(1000);
    let outcome = run(&[("main.tf", &calls), ("big/main.tf", &big)], &Ruleset::builtin());
    assert!(outcome.evaluation.findings.iter().any(|finding| finding.unlinted == Some(Unlinted::Budget)));
}

#[test]
fn a_rule_that_grows_is_told_of_the_file() {
    let page = "id: it\npack: p\nseverity: error\nmessage: m\nhelp: h\nwhy: w\nreferences: ['https://a.example']\n\
                examples: [{fires: {a.yaml: ''}}]\napplies_to: container\n";
    let told = |rule: &str| {
        let mut rules = Ruleset::empty();
        let problems = rules.add(SourceId(1), "it.yaml", &format!("{page}{rule}"));
        assert!(problems.is_empty(), "{problems:?}");
        let evaluation = run(&[("pod.yaml", POD)], &rules).evaluation;
        evaluation.findings.iter().filter(|finding| finding.unlinted == Some(Unlinted::Budget)).count()
    };
    let grown = |first: &str, next: &str, forbid: &str| {
        let lets: String =
            (1..60).map(|i| format!("  a{i}: \"{}\"\n", next.replace('$', &format!("a{}", i - 1)))).collect();
        told(&format!("let:\n  a0: \"{first}\"\n{lets}forbid: \"{forbid}\"\n"))
    };
    assert_eq!(grown("'aaaaaaaaaaaaaaaa'", "$ + $", "a59 == 'x'"), 1);
    assert_eq!(grown("'aaaaaaaaaaaaaaaa'", "replace($, 'a', 'aa')", "a59 == 'x'"), 1);
    assert_eq!(grown("[1]", "$ + $", "a59.size() == 1"), 1);
    assert_eq!(grown("[1]", "[$, $].flatten()", "a59.size() == 1"), 1);
    assert_eq!(grown("[1]", "[$, $]", "string(a59) == 'x'"), 1);
    assert_eq!(grown("['a']", "[$.join($.first()), 'a']", "a59 == a58"), 1);
    assert_eq!(told("forbid: \"'a'.split('').map(a, a).size() == 99\"\n"), 0);
    let turns = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let nested = |inner: &str| (0..9).fold(inner.to_owned(), |body, i| format!("{turns}.all(x{i}, {body})"));
    assert_eq!(told(&format!("forbid: \"{}\"\n", nested("true"))), 0, "what no loop decides is asked once");
    assert_eq!(told(&format!("forbid: \"{}\"\n", nested("x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 > 0"))), 1);
}

#[test]
fn dashboards_of_one_chart_among_many_are_no_bomb() {
    let panel = "  {\n    \"type\": \"graph\",\n    \"title\": \"GPU\",\n    \"expr\": \"sum(rate(x{gpu=\\\"0\\\"}[5m]))\"\n  },\n";
    let dashboard = format!("[\n{}  {{}}\n]\n", panel.repeat(10_000));
    let template = "{{ range $path, $_ := .Files.Glob \"files/*.json\" }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata:\n  \
                    d.json: {{ $.Files.Get $path | toJson }}\n{{ end }}";
    let charts: Vec<(String, String)> = (0..40)
        .flat_map(|i| {
            [
                (format!("c{i}/Chart.yaml"), format!("name: c{i}\nversion: 1.0.0\n")),
                (format!("c{i}/templates/p.yaml"), POD.to_owned()),
            ]
        })
        .collect();
    let mut files: Vec<(&str, &str)> = charts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([("c0/files/d.json", dashboard.as_str()), ("c0/templates/d.yaml", template)]);
    let outcome = run(&files, &Ruleset::builtin());
    let cut: Vec<&str> = outcome
        .evaluation
        .findings
        .iter()
        .filter(|f| f.unlinted == Some(Unlinted::Budget))
        .map(|f| f.message.as_str())
        .collect();
    assert_eq!(cut, [""; 0]);
}
