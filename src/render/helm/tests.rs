use super::chart::find;
use super::*;
use crate::render::gotemplate::Doubts;

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\nannotations: {an: x}\nkeywords: [k]\n\
                     maintainers: [{name: mn, email: m@e.x}]\n";
const VALUES: &str = "a: {b: 1}\nm: {k: v}\n";

/// What a template of a chart comes to in each of its turns, told once.
fn turns(template: &str) -> Vec<String> {
    let files = [("Chart.yaml", CHART), ("values.yaml", VALUES), ("d/f.txt", "x\ny\n"), ("templates/a.yaml", template)];
    let file = |(i, (path, text))| File { source: SourceId(i as u32), path, text };
    let files: Vec<File<'_>> = files.into_iter().enumerate().map(file).collect();
    let charts = find(&files);
    let set = sets::sets(&charts, &files, KUBERNETES).remove(0).remove(0);
    let (doubts, share) = (Doubts::default(), Share::of(1, 0));
    let mut out: Vec<String> = Vec::new();
    loop {
        let rendered = render(&charts[0], &set, &doubts, &share);
        let unread = rendered.unread.first().map(|(_, why)| why.clone());
        let text = rendered.documents.first().map(|document| document.text.trim().to_owned());
        out.extend(unread.or(text).filter(|text| !out.contains(text)));
        if !doubts.again() {
            return out;
        }
    }
}

#[test]
fn objects_have_the_fields_and_methods_that_go_gives_them() {
    for (expression, output) in [
        (".Values.AsMap.a.b", "1"),
        (".Values.YAML", "a:\n  b: 1\nm:\n  k: v\n"),
        ("(.Values.Table \"m\").k", "v"),
        (".Values.PathValue \"a.b\"", "1"),
        (".Values.PathValue \"m\"", "template error: \"m\" is not a value"),
        ("(.Values.Table \"x\").k", "template error: \"x\" is not a table"),
        (".AsMap.Release.Name", "c"),
        (".Template.AsMap.BasePath", "c/templates"),
        (".Chart.Metadata.Name", "c"),
        ("(index .Chart.Maintainers 0).Email", "m@e.x"),
        ("toJson .Chart.Maintainers", "[{\"name\":\"mn\",\"email\":\"m@e.x\"}]"),
        (".Chart.Annotations.an", "x"),
        (".Chart.Annotations.no | quote", "\"\""),
        (".Chart.Nope", "template error: can't evaluate field Nope in type struct { chart.Metadata; IsRoot bool }"),
        (".Chart.Keywords", "[k]"),
        ("kindOf .Chart", "struct"),
        ("kindOf .Capabilities", "ptr"),
        ("kindOf .Values", "map"),
        ("typeOf .Chart.Keywords", "[]string"),
        ("typeIs \"string\" .Values", "false"),
        ("index .Files \"d/f.txt\" | toString | trim", "x\ny"),
        ("index .Files \"d/f.txt\"", "[120 10 121 10]"),
        ("(.Files.Glob \"d/*\").AsSecrets", "f.txt: eAp5Cg=="),
        (".Files.Lines \"d/f.txt\"", "[x y]"),
    ] {
        let shown = turns(&format!("v: {{{{ printf \"%v\" ({expression}) | quote }}}}"));
        let output = if output.starts_with("template error") { output.to_owned() } else { format!("v: {output:?}") };
        assert_eq!(shown, [output], "{expression}");
    }
}

#[test]
fn what_only_an_installation_tells_is_looked_at_from_both_sides() {
    for condition in [
        ".Release.IsUpgrade",
        "not .Release.IsInstall",
        "gt .Release.Revision 1",
        "index .Release (printf \"Is%s\" \"Upgrade\")",
        "lookup \"v1\" \"Secret\" \"n\" \"x\"",
        "(lookup \"v1\" \"Secret\" \"n\" \"x\").data",
        "semverCompare \"<1.20-0\" .Capabilities.KubeVersion.Version",
        "eq .Capabilities.KubeVersion.Minor \"7\"",
        "eq .Capabilities.KubeVersion.String \"v1\"",
        "semverCompare \"<3\" .Capabilities.HelmVersion.Version",
        ".Capabilities.APIVersions.Has \"batch/v7\"",
        "has \"batch/v7\" .Capabilities.APIVersions",
        "and .Release.IsUpgrade .Release.IsInstall",
        "ternary true false .Release.IsUpgrade",
        "typeIs \"chartutil.Values\" .Values",
        "eq (now | date \"2006\") \"1999\"",
    ] {
        let shown = turns(&format!("{{{{ if {condition} }}}}\na: 1\n{{{{ else }}}}\na: 2\n{{{{ end }}}}"));
        assert_eq!(shown, ["a: 2", "a: 1"], "{condition}");
    }
    let nested = "{{ if .Release.IsUpgrade }}{{ if lookup \"a\" \"b\" \"c\" \"d\" }}a: 1{{ else }}a: 2{{ end }}{{ else }}a: 3{{ end }}";
    assert_eq!(turns(nested), ["a: 3", "a: 2", "a: 1"]);
    let within = "{{ if .Release.IsInstall }}{{ if lookup \"a\" \"b\" \"c\" \"d\" }}a: 1{{ else }}a: 2{{ end }}{{ else }}a: 3{{ end }}";
    assert_eq!(turns(within), ["a: 2", "a: 3", "a: 1"]);
}

#[test]
fn a_condition_that_values_decide_has_one_side() {
    for condition in [".Values.a", "and .Values.a .Release.Name", "or (eq .Values.a.b 1.0) .Release.IsUpgrade"] {
        let shown = turns(&format!("{{{{ if {condition} }}}}a: 1{{{{ else }}}}a: 2{{{{ end }}}}"));
        assert_eq!(shown, ["a: 1"], "{condition}");
    }
    assert_eq!(turns("{{ if and .Release.IsUpgrade .Values.no }}a: 1{{ else }}a: 2{{ end }}"), ["a: 2"]);
}

#[test]
fn what_a_chart_refuses_hides_nothing() {
    let refused = "{{ if not .Values.ack }}{{ fail \"set ack\" }}{{ end }}\na: 1\n";
    assert_eq!(turns(refused), ["values that are not stated: error calling fail: set ack", "a: 1"]);
}
