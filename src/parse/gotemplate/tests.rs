use super::*;

/// The template in one line, for comparison.
fn show(nodes: &[Node], text: &str) -> String {
    let pipe = |p: &Pipe| {
        let names = p.variables.iter().map(|v| format!("${v}")).collect::<Vec<_>>().join(",");
        let sign = if p.assigns { "=" } else { ":=" };
        let commands: Vec<String> =
            p.commands.iter().map(|c| c.operands.iter().map(expr).collect::<Vec<_>>().join(" ")).collect();
        format!("{names}{}{}", if names.is_empty() { "" } else { sign }, commands.join("|"))
    };
    let branch = |name: &str, b: &Branch| {
        format!("({name} {} [{}] [{}])", pipe(&b.pipe), show(&b.body, text), show(&b.otherwise, text))
    };
    let choice = |name: &str, c: &Choice| {
        c.arms.iter().rev().fold(show(&c.otherwise, text), |rest, (p, body)| {
            format!("({name} {} [{}] [{rest}])", pipe(p), show(body, text))
        })
    };
    let each = nodes.iter().map(|node| match node {
        Node::Text(range) => format!("{:?}", &text[range.clone()]),
        Node::Action(p) => format!("<{}>", pipe(p)),
        Node::If(c) => choice("if", c),
        Node::Range(b) => branch("range", b),
        Node::With(c) => choice("with", c),
        Node::Template { name, pipe: p, .. } => format!("({name}! {})", p.as_ref().map(pipe).unwrap_or_default()),
        Node::Break => "break".to_owned(),
        Node::Continue => "continue".to_owned(),
    });
    each.collect::<Vec<_>>().join(" ")
}

fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Dot => ".".to_owned(),
        ExprKind::Nil => "nil".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Field(names) => format!(".{}", names.join(".")),
        ExprKind::Variable(name, names) => [&[format!("${name}")], names.as_slice()].concat().join("."),
        ExprKind::Function(name) => name.clone(),
        ExprKind::Pipe(p) => {
            let commands: Vec<String> =
                p.commands.iter().map(|c| c.operands.iter().map(expr).collect::<Vec<_>>().join(" ")).collect();
            format!("({})", commands.join("|"))
        }
        ExprKind::Chain(inner, names) => format!("{}.{}", expr(inner), names.join(".")),
    }
}

fn parsed(text: &str) -> String {
    match parse(text) {
        Ok(template) => show(&template.body, text),
        Err(fault) => format!("{:?}: {}", fault.at, fault.message),
    }
}

#[test]
fn pipelines_and_operands() {
    for (text, tree) in [
        ("a{{.X.y | f 1 \"s\\n\" `r`}}b", r#""a" <.X.y|f 1 "s\n" "r"> "b""#),
        ("{{ ($.A).b.c }}", "<($.A).b.c>"),
        ("{{ f .a.b (g 1.5 | h).c nil true 'x' }}", "<f .a.b (g 1.5|h).c nil true 120>"),
        ("{{ -3 }}{{-3}}{{ 0x1F }}{{ 1e3 }}", "<-3> <-3> <31> <1000.0>"),
        ("{{ $x := 1 }}{{ $x = .a }}{{ $x.y }}", "<$x:=1> <$x=.a> <$x.y>"),
        ("{{ f\n  . }}", "<f .>"),
    ] {
        assert_eq!(parsed(text), tree, "{text}");
    }
}

#[test]
fn white_space_is_trimmed_beside_marked_braces_only() {
    assert_eq!(parsed("a \n {{- 1 -}} \n b {{ 2 }} c"), r#""a" <1> "b " <2> " c""#);
    assert_eq!(parsed("a {{- /* x }} */ -}} b"), r#""a" "b""#);
    assert_eq!(parsed("a {{/* x */}} b"), r#""a " " b""#);
}

#[test]
fn blocks_nest_and_share_ends_with_else_if() {
    for (text, tree) in [
        ("{{if .a}}1{{else if .b}}2{{else}}3{{end}}", r#"(if .a ["1"] [(if .b ["2"] ["3"])])"#),
        ("{{with .a}}1{{else with .b}}2{{end}}", r#"(with .a ["1"] [(with .b ["2"] [])])"#),
        (
            "{{range $k, $v := .m}}{{$k}}{{break}}{{continue}}{{else}}0{{end}}",
            r#"(range $k,$v:=.m [<$k> break continue] ["0"])"#,
        ),
        ("{{template \"a\" .}}{{template \"b\"}}", "(a! .) (b! )"),
    ] {
        assert_eq!(parsed(text), tree, "{text}");
    }
    let template = parse("{{define \"a\"}}x{{end}}{{block \"b\" .}}y{{end}}").unwrap();
    assert_eq!(template.defined.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn faults_have_places() {
    for (text, fault) in [
        ("a{{ .x", "1..3: unclosed action"),
        ("{{ (f }}", "3..4: unclosed left paren"),
        ("{{if .a}}", "0..9: {{if}} has no {{end}}"),
        ("x{{end}}", "1..8: unexpected {{end}}"),
        ("{{ $x }}", "3..5: undefined variable \"$x\""),
        ("{{if $x := 1}}{{end}}{{$x}}", "23..25: undefined variable \"$x\""),
        ("{{ .a | 1 }}", "8..9: non executable command in pipeline stage 2"),
        ("{{ \"a }}", "3..4: unterminated quoted string"),
        ("{{ 1x }}", "3..5: bad number syntax: \"1x\""),
        ("{{break}}", "0..9: {{break}} outside {{range}}"),
        ("{{ }}", "3..5: missing value for command"),
        ("{{if .a}}{{define \"x\"}}{{end}}{{end}}", "9..23: unexpected {{define}}"),
    ] {
        assert_eq!(parsed(text), fault, "{text}");
    }
}

#[test]
fn no_text_is_read_too_deeply() {
    assert!(parsed(&"{{if .a}}".repeat(5000)).contains("nested too deeply"));
    assert!(parsed(&format!("{{{{ {}1", "(".repeat(5000))).contains("unclosed action"));
    assert!(parsed(&format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000))).contains("nested too deeply"));
    let chain = "{{if .a}}".to_owned() + &"{{else if .b}}".repeat(5000) + "{{end}}";
    assert!(parse(&chain).is_ok(), "a chain nests nothing");
}
