use super::*;
use crate::parse::Problem;
use crate::parse::hcl::parse;
use crate::source::{Source, SourceId, Sources};

/// Files of a root and its modules in memory: `.tfvars` and `.tf` by name.
struct Module {
    sources: Sources,
    blocks: Vec<Block>,
    uses: Uses,
    problems: Vec<Problem>,
}

fn module(files: &[(&str, &str)]) -> Module {
    let sources = Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect());
    let read: Vec<ModuleFile> = sources
        .iter()
        .filter(|(_, s)| s.path.ends_with(".tf") || s.path.ends_with(".tfvars"))
        .map(|(id, s)| ModuleFile {
            path: s.path.clone(),
            hcl: parse(id, &s.text),
            values: s.path.ends_with(".tfvars"),
        })
        .collect();
    let problems = read.iter().flat_map(|file| file.hcl.problems.clone()).collect();
    let texts = sources.iter().map(|(id, s)| (s.path.as_str(), id, &*s.text));
    let mut all = Module { blocks: vec![], uses: Uses::default(), problems, sources: Sources::default() };
    for root in Workspace::new(read, texts).evaluate() {
        all.blocks.extend(root.blocks);
        all.uses.extend(root.uses);
    }
    Module { sources, ..all }
}

impl Module {
    fn block(&self, label: &str) -> &Block {
        self.blocks.iter().find(|b| b.labels.last().is_some_and(|(l, _)| l == label)).expect("the block is there")
    }

    fn slice(&self, span: Span) -> &str {
        self.sources.slice(span)
    }
}

/// The value of an expression, shown.
fn value(expr: &str) -> String {
    let text = format!("resource \"a\" \"b\" {{\n  v = {expr}\n}}\n");
    let module = module(&[("main.tf", &text)]);
    assert_eq!(module.problems, [], "{expr}");
    show(module.block("b").body().get("v").expect("v"))
}

fn show(node: Node<'_>) -> String {
    match node.kind() {
        Shape::Null => "null".into(),
        Shape::Scalar { text, plain: true } => text.into(),
        Shape::Scalar { text, .. } => format!("{:?}", text),
        Shape::Seq(_) => format!("[{}]", node.items().map(show).collect::<Vec<_>>().join(", ")),
        Shape::Map(_) => {
            let entries = node.entries().into_iter().map(|(k, v)| format!("{}: {}", k.text().unwrap_or("?"), show(v)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Shape::Unknown(why) => format!("?{why:?}"),
    }
}

#[test]
fn attributes_and_nested_blocks_have_one_shape() {
    let text = r#"
resource "aws_instance" "gpu" {
  instance_type = "p5.48xlarge" # eight H100
  ebs_block_device { size = 1 }
  ebs_block_device { size = 2 }
  root { size = 3 }
}
"#;
    let m = module(&[("main.tf", text)]);
    let block = m.block("gpu");
    assert_eq!((block.keyword.as_str(), block.label(0)), ("resource", Some("aws_instance")));
    assert_eq!(m.slice(block.labels[1].1), "gpu");
    assert_eq!(m.slice(block.keyword_span), "resource");
    let body = block.body();
    let (key, value) = body.entry("instance_type").unwrap();
    assert_eq!((m.slice(key.span()), m.slice(value.span())), ("instance_type", "\"p5.48xlarge\""));
    assert_eq!(m.slice(value.traced().unwrap().span(0..2)), "p5");
    assert_eq!(show(body.get("ebs_block_device").unwrap()), "[{size: 1}, {size: 2}]");
    assert_eq!(show(body.get("root").unwrap()), "[{size: 3}]");
    assert_eq!(m.slice(block.tree.comments[0]), "# eight H100");
}

#[test]
fn variables_take_the_last_tfvars_then_the_default() {
    let files = [
        (
            "main.tf",
            "variable \"a\" { default = \"one\" }\nvariable \"b\" { default = \"one\" }\nvariable \"c\" {}\nresource \"r\" \"x\" {\n  a = var.a\n  b = var.b\n  c = var.c\n  d = local.d\n}\nlocals { d = \"${var.a}-${var.b}\" }\n",
        ),
        ("terraform.tfvars", "b = \"two\"\n"),
        ("b.auto.tfvars", "b = \"three\"\n"),
    ];
    let m = module(&files);
    let body = m.block("x").body();
    assert_eq!(show(body), r#"{a: "one", b: "three", c: ?Variable("c"), d: "one-three"}"#);
    let b = body.get("b").unwrap();
    assert_eq!((m.sources.get(b.span().source).path.as_str(), m.slice(b.span())), ("b.auto.tfvars", "\"three\""));
    let uses: Vec<&str> = m.uses[&b.span()].iter().map(|used| m.slice(*used)).collect();
    assert_eq!(uses, ["var.b"]);
    assert_eq!(m.slice(body.get("d").unwrap().traced().unwrap().span(0..3)), "${var.a}");
}

#[test]
fn of_files_with_other_names_only_a_lone_one_counts() {
    let text = "variable \"a\" {}\nresource \"r\" \"x\" { v = var.a }\n";
    let shown = |files: &[(&str, &str)]| show(module(&[&[("main.tf", text)], files].concat()).block("x").body());
    assert_eq!(shown(&[("prod.tfvars", "a = 1\n")]), "{v: 1}");
    assert_eq!(shown(&[("prod.tfvars", "a = 1\n"), ("test.tfvars", "a = 2\n")]), "{v: ?Variable(\"a\")}");
}

#[test]
fn optional_attributes_are_filled_in() {
    let text = r#"
variable "pools" {
  type    = map(object({ type = string, spot = optional(bool, false), note = optional(string) }))
  default = { gpu = { type = "p5" } }
}
resource "r" "x" { v = var.pools }
"#;
    let m = module(&[("main.tf", text)]);
    assert_eq!(show(m.block("x").body().get("v").unwrap()), r#"{gpu: {type: "p5", spot: false, note: null}}"#);
}

#[test]
fn an_empty_default_is_no_value_of_what_a_template_asks_for() {
    let main = r#"
variable "cluster" { default = "" }
variable "prefix" { default = "" }
resource "r" "x" { v = templatefile("${path.module}/c.yaml", { cluster = var.cluster, prefix = var.prefix }) }
"#;
    let template = "name: \"${cluster}\"\npool: ${prefix}gpu\nempty: \"\"\n";
    let shown = |more: &[(&str, &str)]| {
        let m = module(&[&[("main.tf", main), ("c.yaml", template)], more].concat());
        show(m.block("x").body())
    };
    assert_eq!(shown(&[]), r#"{v: "name: \"${cluster}\"\npool: gpu\nempty: \"\"\n"}"#);
    let given = shown(&[("terraform.tfvars", "cluster = \"ml\"\n")]);
    assert_eq!(given, r#"{v: "name: \"ml\"\npool: gpu\nempty: \"\"\n"}"#);
}

#[test]
fn references_keep_their_text() {
    assert_eq!(value("aws_launch_template.gpu.id"), "?Remote(\"aws_launch_template.gpu.id\")");
    assert_eq!(value("\"${data.aws_ami.gpu[0].id}\""), "?Remote(\"data.aws_ami.gpu[0].id\")");
    assert_eq!(value("each.value.type"), "?Remote(\"each.value.type\")");
    assert_eq!(value("file(\"${path.module}/x.sh\")"), "?Remote(\"file(./x.sh)\")");
    let m = module(&[("m.tf", "locals { lt = aws_launch_template.gpu }\nresource \"r\" \"x\" { v = local.lt.id }\n")]);
    assert_eq!(reference(m.block("x").body().get("v").unwrap()), Some("aws_launch_template.gpu.id"));
}

#[test]
fn operators_decide_what_they_can() {
    for (expr, expected) in [
        ("1 + 2 * 3", "7"),
        ("-(7 % 4)", "-3"),
        ("1 / 0", "?Malformed(\"not a finite number\")"),
        ("2 >= 2 && 1 < 2", "true"),
        ("false && aws_x.y.on", "false"),
        ("aws_x.y.on && false", "false"),
        ("aws_x.y.on || true", "true"),
        ("aws_x.y.on || false", "?Remote(\"aws_x.y.on\")"),
        ("!true", "false"),
        ("true ? 1 : nope.x", "1"),
        ("aws_x.y.on ? 8 : 8", "8"),
        ("aws_x.y.on ? 8 : 4", "?Remote(\"aws_x.y.on\")"),
        ("[1, 2][1]", "2"),
        ("[1, 2][5]", "?Malformed(\"an index out of range\")"),
        ("{ a = { b = 3 } }.a.b", "3"),
        ("[{ a = 1 }, { a = 2 }][*].a", "[1, 2]"),
        ("[{ a = 1 }, { a = 2 }].*.a", "[1, 2]"),
        ("[for x in [\"a\", \"b\"] : upper(x) if x != \"a\"]", "[\"B\"]"),
        ("{for k, v in { a = 1, b = 2 } : k => v + 1}", "{a: 2, b: 3}"),
        ("{for x in [\"a\", \"ab\", \"c\"] : length(x) => x...}", "{1: [\"a\", \"c\"], 2: [\"ab\"]}"),
        ("\"p5.${8 * 6}xlarge\"", "\"p5.48xlarge\""),
        ("\"%{if true}yes%{else}no%{endif}\"", "\"yes\""),
        ("\"%{for x in [1, 2]}<${x}>%{endfor}\"", "\"<1><2>\""),
        (r#""a\"b\n$${c}""#, r#""a\"b\n${c}""#),
        (r#""x-${aws_x.y.id}-${1 + 1}""#, r#""x-${aws_x.y.id}-2""#),
    ] {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

#[test]
fn functions_give_what_terraform_gives() {
    for (expr, expected) in [
        ("lookup({ a = 1 }, \"a\", 2)", "1"),
        ("lookup({ a = 1 }, \"b\", 2)", "2"),
        ("length([1, 2])", "2"),
        ("length(\"abc\")", "3"),
        ("try({ a = 1 }.b, 3)", "3"),
        ("try(aws_x.y.id, 3)", "?Remote(\"aws_x.y.id\")"),
        ("can({ a = 1 }.b)", "false"),
        ("merge({ a = 1, b = 1 }, { b = 2 })", "{a: 1, b: 2}"),
        ("zipmap([\"a\"], [1])", "{a: 1}"),
        ("concat([1], [2])", "[1, 2]"),
        ("contains([\"a\", aws_x.y.id], \"a\")", "true"),
        ("contains([\"a\", aws_x.y.id], \"b\")", "?Remote(\"aws_x.y.id\")"),
        ("split(\",\", \"a,b\")", "[\"a\", \"b\"]"),
        ("join(\"-\", [\"a\", 1])", "\"a-1\""),
        ("coalesce(null, \"\", \"x\")", "\"x\""),
        ("coalescelist([], [1])", "[1]"),
        ("substr(\"hello\", 1, 3)", "\"ell\""),
        ("min(3, 1)", "1"),
        ("max([3, 1]...)", "3"),
        ("toset([\"b\", \"a\", \"b\"])", "[\"a\", \"b\"]"),
        ("tolist([1])", "[1]"),
        ("tomap({ a = 1 })", "{a: 1}"),
        ("tostring(1)", "\"1\""),
        ("tonumber(\"1.5\")", "1.5"),
        ("tobool(\"true\")", "true"),
        ("base64encode(\"abc\")", "\"abc\""),
        ("base64decode(\"aGVsbG8=\")", "\"hello\""),
        ("keys({ b = 1, a = 2 })", "[\"a\", \"b\"]"),
        ("values({ b = 1, a = 2 })", "[2, 1]"),
        ("jsonencode({ a = [1] })", "{a: [1]}"),
        ("yamlencode({ a = [1] })", "{a: [1]}"),
        ("jsondecode(\"{\\\"a\\\": [1, null]}\")", "{a: [1, null]}"),
        ("slice([1, 2, 3], 1, 2)", "[2]"),
        ("upper(\"a\")", "\"A\""),
        ("lower(\"A\")", "\"a\""),
        ("title(\"hello world\")", "\"Hello World\""),
        ("compact([\"a\", \"\", null])", "[\"a\"]"),
        ("distinct([1, 1, 2])", "[1, 2]"),
        ("flatten([[1, [2]], 3])", "[1, 2, 3]"),
        ("element([1, 2], 3)", "2"),
        ("format(\"%s-%03d %.1f%%\", \"a\", 7, 1.25)", "\"a-007 1.2%\""),
        ("formatlist(\"%s!\", [\"a\", \"b\"])", "[\"a!\", \"b!\"]"),
        ("replace(\"a-b\", \"-\", \".\")", "\"a.b\""),
        ("trimspace(\" a \")", "\"a\""),
        ("trimprefix(\"ab\", \"a\")", "\"b\""),
        ("trimsuffix(\"ab\", \"b\")", "\"a\""),
        ("startswith(\"ab\", \"a\")", "true"),
        ("endswith(\"ab\", \"a\")", "false"),
        ("uuid()", "?Remote(\"uuid()\")"),
        // Examples of Terraform's documentation.
        ("regex(\"[a-z]+\", \"53453453.345345aaabbbccc23454\")", "\"aaabbbccc\""),
        ("regex(\"(\\\\d\\\\d\\\\d\\\\d)-(\\\\d\\\\d)\", \"2019-02\")", "[\"2019\", \"02\"]"),
        ("regex(\"^(?:(?P<scheme>[^:/?#]+):)\", \"https://x\").scheme", "\"https\""),
        ("try(regex(\"a\", \"b\"), \"none\")", "\"none\""),
        ("regexall(\"[a-z]+\", \"1234abcd5678efgh9\")", "[\"abcd\", \"efgh\"]"),
        ("length(regexall(\"[a-z]+\", \"123\")) > 0", "false"),
        ("replace(\"hello world\", \"/w.*d/\", \"everybody\")", "\"hello everybody\""),
        ("setintersection([\"a\", \"b\"], [\"b\", \"c\"], [\"b\", \"d\"])", "[\"b\"]"),
        ("setsubtract([\"a\", \"b\", \"c\"], [\"a\", \"c\"])", "[\"b\"]"),
        ("setproduct([\"a\", \"b\"], [1, 2])", "[[\"a\", 1], [\"a\", 2], [\"b\", 1], [\"b\", 2]]"),
        ("setunion([\"a\", \"b\"], [\"b\", \"c\"])", "[\"a\", \"b\", \"c\"]"),
        ("matchkeys([\"i-1\", \"i-2\", \"i-3\"], [\"w\", \"e\", \"e\"], [\"e\"])", "[\"i-2\", \"i-3\"]"),
        ("transpose({ a = [\"1\", \"2\"], b = [\"2\"] })", "{1: [\"a\"], 2: [\"a\", \"b\"]}"),
        ("log(16, 2)", "4"),
        ("signum(-13)", "-1"),
        ("strrev(\"hello\")", "\"olleh\""),
        ("chomp(\"hello\\n\")", "\"hello\""),
        ("indent(2, \"a\\nb\")", "\"a\\n  b\""),
        ("trim(\"?!hello?!\", \"!?\")", "\"hello\""),
        ("basename(\"foo/bar/baz.txt\")", "\"baz.txt\""),
        ("dirname(\"foo/bar/baz.txt\")", "\"foo/bar\""),
        ("yamldecode(\"a: 1\\nb: [x, 8]\")", "{a: 1, b: [\"x\", 8]}"),
        ("strcontains(\"hello world\", \"wor\")", "true"),
        ("one([1])", "1"),
        ("one([])", "null"),
        ("abs(-1)", "1"),
        ("ceil(1.2)", "2"),
        ("floor(1.8)", "1"),
        ("sum([1, 2])", "3"),
        ("pow(2, 3)", "8"),
        ("range(1, 4)", "[1, 2, 3]"),
        ("reverse([1, 2])", "[2, 1]"),
        ("sort([\"b\", \"a\"])", "[\"a\", \"b\"]"),
        ("chunklist([1, 2, 3], 2)", "[[1, 2], [3]]"),
        ("alltrue([true, false])", "false"),
        ("anytrue([true, aws_x.y.on])", "true"),
        ("index([\"a\", \"b\"], \"b\")", "1"),
        ("parseint(\"ff\", 16)", "255"),
        ("sensitive(\"a\")", "\"a\""),
        ("nonsensitive(\"a\")", "\"a\""),
    ] {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

#[test]
fn a_heredoc_maps_line_by_line() {
    let text = "variable \"c\" { default = \"ml\" }\nresource \"r\" \"x\" {\n  user_data = base64encode(<<-EOF\n    #!/bin/bash\n    echo ${var.c} $${HOME}\n      reboot ${aws_x.y.id}\n  EOF\n  )\n}\n";
    let m = module(&[("main.tf", text)]);
    let script = m.block("x").body().get("user_data").unwrap().traced().unwrap();
    assert_eq!(script.text(), "#!/bin/bash\necho ml ${HOME}\n  reboot ${aws_x.y.id}\n");
    for word in ["#!/bin/bash", "echo", "reboot", "${aws_x.y.id}"] {
        let at = script.text().find(word).unwrap();
        assert_eq!(m.slice(script.span(at..at + word.len())), word);
    }
    let at = script.text().find("ml").unwrap();
    assert_eq!(m.slice(script.span(at..at + 2)), "${var.c}");
}

/// What Terraform 1.11 makes of each.
#[test]
fn a_heredoc_loses_the_smallest_indentation_of_its_lines() {
    let repeated = "    %{ for x in [\"x\", \"y\"] ~}\n      - ${x}\n    %{ endfor ~}\n    b\n    c\n";
    for (body, expected) in [
        (
            "spec:\n  acme:\n    email: ${\"me\"}\n    key:\n      name: a\n",
            "spec:\n  acme:\n    email: me\n    key:\n      name: a\n",
        ),
        ("    a:\n    %{ for x in [\"x\"] }\n      - ${x}\n    %{ endfor }\n    b\n", "a:\n\n  - x\n\nb\n"),
        ("      a:\n      %{ for x in [\"x\"] }\n    - ${x}\n      %{ endfor }\n      b\n", "  a:\n  \n- x\n  \n  b\n"),
        (&format!("    a:\n{repeated}"), "a:\n      - x\n      - y\n    b\nc\n"),
        (&format!("    a:\n{}", repeated.replace("%{", "%{~")), "    a:\n      - x\n      - y\n    b\n    c\n"),
        ("      a\n    ${\"me\"}\n      b\n", "  a\nme\n  b\n"),
        ("      a\n${\"me\"}\n      b\n", "      a\nme\n      b\n"),
        ("      a\n  \n        \n      b\n", "a\n  \n        \nb\n"),
        ("      a ${join(\",\", [\n  \"x\"\n])}\n        b\n", "a x\n  b\n"),
    ] {
        let m = module(&[("main.tf", &format!("resource \"r\" \"x\" {{\n  text = <<-EOT\n{body}  EOT\n}}\n"))]);
        let text = m.block("x").body().get("text").unwrap().traced().unwrap().clone();
        assert_eq!(text.text(), expected, "{body}");
        if let Some(at) = text.text().find("name: a") {
            assert_eq!(m.slice(text.span(at..at + 7)), "name: a");
        }
    }
}

#[test]
fn dynamic_blocks_and_counts() {
    let text = r#"
resource "r" "x" {
  dynamic "taint" {
    for_each = ["a", "b"]
    content { key = taint.value }
  }
  dynamic "label" {
    for_each = aws_x.y.labels
    iterator = it
    content { key = it.value }
  }
  provisioner "local-exec" { command = "ls" }
}
resource "r" "y" { for_each = toset(["a", "b"]) }
resource "r" "z" { count = aws_x.y.n }
resource "r" "none" { count = 0 }
"#;
    let m = module(&[("main.tf", text)]);
    let block = m.block("x");
    assert!(!m.blocks.iter().any(|b| b.label(1) == Some("none")));
    assert_eq!(show(block.body().get("taint").unwrap()), r#"[{key: "a"}, {key: "b"}]"#);
    assert_eq!(show(block.body().get("label").unwrap()), r#"?Perhaps(Remote("aws_x.y.labels"))"#);
    assert_eq!(show(block.body().get("provisioner").unwrap()), r#"[{local-exec: {command: "ls"}}]"#);
    let instances: Vec<_> = m.blocks.iter().filter_map(|b| b.instance.as_deref()).collect();
    assert_eq!(instances, ["a", "b"]);
    assert_eq!(m.blocks.iter().map(|b| b.count.clone()).filter(|c| *c == Known::Value(1)).count(), 3);
    assert_eq!(m.block("z").count, Known::Unknown(Why::Remote("aws_x.y.n".into())));
}

#[test]
fn instances_have_their_own_values() {
    let text = "locals { pools = { a = { type = \"p5\" }, b = { type = \"g6\" } } }\nresource \"r\" \"x\" {\n  for_each = local.pools\n  name = each.key\n  type = each.value.type\n}\n";
    let m = module(&[("main.tf", text)]);
    let shown: Vec<_> = m.blocks.iter().filter(|b| b.keyword == "resource").map(|b| b.body()).collect();
    assert_eq!(show(shown[0].get("type").unwrap()), "\"p5\"");
    assert_eq!(show(shown[1].get("type").unwrap()), "\"g6\"");
    assert_eq!(show(shown[1].get("name").unwrap()), "\"b\"");
    let place = shown[1].get("type").unwrap().span();
    assert_eq!((m.slice(place), m.slice(m.uses[&place][0])), ("\"g6\"", "each.value.type"));
}

#[test]
fn a_call_sets_the_variables_of_a_module() {
    let m = module(&[
        (
            "main.tf",
            "module \"pool\" {\n  source = \"./mod/pool\"\n  size = 4\n  subnet = aws_subnet.a.id\n  name = \"x-${aws_vpc.v.id}\"\n}\n",
        ),
        (
            "mod/pool/main.tf",
            "variable \"size\" { default = 1 }\nvariable \"subnet\" {}\nvariable \"name\" {}\nresource \"r\" \"x\" {\n  n = var.size * 2\n  s = var.subnet\n  t = var.name\n}\n",
        ),
    ]);
    let body = m.block("x").body();
    assert_eq!(show(body), r#"{n: 8, s: ?Remote("aws_subnet.a.id"), t: "x-${aws_vpc.v.id}"}"#);
    let place = body.get("t").unwrap().span();
    assert_eq!((m.sources.get(place.source).path.as_str(), m.slice(place)), ("main.tf", "\"x-${aws_vpc.v.id}\""));
    assert_eq!(m.block("x").module, "module.pool");
    // Called, so not judged with its defaults too.
    assert_eq!(m.blocks.iter().filter(|b| b.label(1) == Some("x")).count(), 1);
}

#[test]
fn values_travel_through_several_levels() {
    let m = module(&[
        (
            "env/prod/main.tf",
            "variable \"type\" { default = \"g5\" }\nmodule \"cluster\" {\n  source = \"../../modules/cluster\"\n  pools = { gpu = { type = var.type, max = 3 }, cpu = { type = \"m7i\" } }\n}\nresource \"r\" \"top\" {\n  name = module.cluster.names[\"gpu\"]\n  max = module.cluster.max\n  id = module.cluster.id\n}\n",
        ),
        ("env/prod/terraform.tfvars", "type = \"p5\"\n"),
        (
            "modules/cluster/main.tf",
            "variable \"pools\" { type = map(object({ type = string, max = optional(number, 1) })) }\nmodule \"pool\" {\n  source = \"./pool\"\n  for_each = var.pools\n  name = \"${each.key}-pool\"\n  type = each.value.type\n  max = each.value.max\n}\noutput \"names\" { value = { for k, p in module.pool : k => p.name } }\noutput \"max\" { value = sum([for p in module.pool : p.max]) }\noutput \"id\" { value = module.pool[\"gpu\"].id }\n",
        ),
        (
            "modules/cluster/pool/main.tf",
            "variable \"name\" {}\nvariable \"type\" {}\nvariable \"max\" {}\nresource \"r\" \"pool\" {\n  name = var.name\n  type = var.type\n}\noutput \"name\" { value = r.pool.name }\noutput \"max\" { value = var.max }\noutput \"id\" { value = r.pool.id }\n",
        ),
    ]);
    let shown =
        |label| m.blocks.iter().filter(|b| b.label(1) == Some(label)).map(|b| show(b.body())).collect::<Vec<_>>();
    assert_eq!(shown("pool"), [r#"{name: "cpu-pool", type: "m7i"}"#, r#"{name: "gpu-pool", type: "p5"}"#]);
    assert_eq!(shown("top"), [r#"{name: "gpu-pool", max: 4, id: ?Remote("r.pool.id")}"#]);
    let gpu =
        m.blocks.iter().rfind(|b| b.module == r#"module.cluster.module.pool["gpu"]"# && b.label(1).is_some()).unwrap();
    let place = gpu.body().get("type").unwrap().span();
    assert_eq!((m.sources.get(place.source).path.as_str(), m.slice(place)), ("env/prod/terraform.tfvars", "\"p5\""));
    assert_eq!(m.slice(m.uses[&place][0]), "var.type");
}

#[test]
fn modules_that_call_themselves_end() {
    let m = module(&[
        (
            "a/main.tf",
            "module \"b\" {\n  source = \"../b\"\n  x = module.b.y\n}\noutput \"z\" { value = module.b.y }\n",
        ),
        (
            "b/main.tf",
            "variable \"x\" {}\nmodule \"a\" {\n  source = \"../a\"\n}\noutput \"y\" { value = module.a.z }\nresource \"r\" \"x\" { v = var.x }\n",
        ),
    ]);
    assert!(m.blocks.iter().any(|b| b.label(1) == Some("x")));
}

#[test]
fn files_beside_a_module_are_read() {
    let m = module(&[
        ("env/main.tf", "module \"m\" {\n  source = \"../mod\"\n  name = \"gpu\"\n}\n"),
        (
            "mod/main.tf",
            "variable \"name\" {}\nresource \"r\" \"x\" {\n  a = file(\"${path.module}/a.txt\")\n  b = templatefile(\"${path.module}/b.yaml\", { name = var.name, zones = [\"a\", \"b\"], id = aws_x.y.id })\n  c = yamldecode(file(\"${path.module}/c.yaml\")).spec.gpus\n  d = file(\"d.txt\")\n}\n",
        ),
        ("mod/a.txt", "$${text}"),
        (
            "mod/b.yaml",
            "name: ${name}\nzones:\n%{ for zone in zones ~}\n- ${zone}\n%{ endfor ~}\nid: ${id}\nhome: $${HOME}\n",
        ),
        ("mod/c.yaml", "spec:\n  gpus: 8\n"),
    ]);
    let body = m.block("x").body();
    assert_eq!(show(body.get("a").unwrap()), r#""$${text}""#);
    let rendered = body.get("b").unwrap().traced().unwrap();
    assert_eq!(rendered.text(), "name: gpu\nzones:\n- a\n- b\nid: ${id}\nhome: ${HOME}\n");
    let place = |word: &str| {
        let at = rendered.text().find(word).unwrap();
        let span = rendered.span(at..at + word.len());
        (m.sources.get(span.source).path.as_str(), m.slice(span))
    };
    assert_eq!(place("gpu"), ("env/main.tf", "\"gpu\""));
    assert_eq!(place("zones"), ("mod/b.yaml", "zones"));
    let gpus = body.get("c").unwrap();
    assert_eq!((show(gpus), m.slice(gpus.span())), ("8".into(), "8"));
    assert_eq!(show(body.get("d").unwrap()), "?Remote(\"file(d.txt)\")");
}

#[test]
fn the_only_file_of_an_archive_is_read() {
    let m = module(&[
        (
            "a/main.tf",
            "data \"archive_file\" \"x\" {\n  source_file = \"${path.module}/f.py\"\n}\ndata \"archive_file\" \"y\" {\n  source_file = \"g.py\"\n}\n",
        ),
        ("a/f.py", "import boto3\n"),
    ]);
    let body = m.block("x").body();
    assert_eq!(body.get("source_content").unwrap().traced().unwrap().text(), "import boto3\n");
    assert!(m.block("y").body().get("source_content").is_none());
}

#[test]
fn arguments_of_other_resources_are_known() {
    let text = "resource \"c\" \"one\" { name = \"gpu\" }\ndata \"d\" \"z\" { zone = \"us-a\" }\nresource \"c\" \"many\" {\n  for_each = toset([\"a\"])\n  name = each.key\n}\nresource \"r\" \"x\" {\n  a = c.one.name\n  b = c.one.id\n  c = data.d.z.zone\n  d = c.many[\"a\"].name\n  e = c.many.name\n}\n";
    let m = module(&[("main.tf", text)]);
    assert_eq!(
        show(m.block("x").body()),
        r#"{a: "gpu", b: ?Remote("c.one.id"), c: "us-a", d: "a", e: ?Remote("c.many.name")}"#
    );
}

#[test]
fn line_ends_in_brackets_mean_nothing() {
    let text =
        "resource \"r\" \"x\" {\n  v = { for k in [\"a\"] : # all\n    k => k == \"a\" ?\n    1 :\n    2\n  }\n}\n";
    let m = module(&[("main.tf", text)]);
    assert_eq!(m.problems, []);
    assert_eq!(show(m.block("x").body().get("v").unwrap()), "{a: 1}");
}

#[test]
fn a_syntax_error_costs_one_block() {
    let text = "resource \"r\" \"a\" {\n  v = 1\n}\nresource \"r\" \"b\" {\n  v = = 2\n}\nresource \"r\" \"c\" {\n  v = \"}\" # {\n}\n";
    let m = module(&[("main.tf", text)]);
    let names: Vec<_> = m.blocks.iter().filter_map(|b| b.label(1)).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(m.problems.len(), 1);
    assert_eq!(m.sources.get(SourceId(0)).position(m.problems[0].span.start).line, 5);
    assert_eq!(m.slice(m.block("c").body().get("v").unwrap().span()), "\"}\"");
}

#[test]
fn an_unclosed_block_is_a_problem_and_others_are_kept() {
    let text = "resource \"r\" \"a\" {\n  v = {\nresource \"r\" \"b\" {\n  v = 2\n}\n";
    let m = module(&[("main.tf", text)]);
    assert_eq!(m.blocks.iter().filter_map(|b| b.label(1)).collect::<Vec<_>>(), ["b"]);
    assert_eq!(m.problems.iter().map(|p| m.slice(p.span)).collect::<Vec<_>>(), ["v = {"]);
}

#[test]
fn a_byte_order_mark_shifts_nothing() {
    let m = module(&[("main.tf", "\u{feff}resource \"r\" \"x\" {\r\n  v = \"é\" // c\r\n}\r\n")]);
    assert_eq!(m.slice(m.block("x").body().get("v").unwrap().span()), "\"é\"");
    assert_eq!(m.slice(m.block("x").tree.comments[0]), "// c");
}

#[test]
fn bombs_and_cycles_are_unknown() {
    let mut locals = String::from(
        "locals {\n  s0 = \"0123456789\"\n  l0 = []\n  d0 = []\n  loop = local.pool\n  pool = local.loop\n",
    );
    for i in 1..3000 {
        let p = i - 1;
        locals.push_str(&format!(
            "  s{i} = \"${{local.s{p}}}${{local.s{p}}}\"\n  l{i} = [local.l{p}, local.l{p}]\n  d{i} = [local.d{p}]\n  r{p} = \"${{upper([for x in [1] : local.r{i}][0])}}\"\n"
        ));
    }
    locals.push_str("}\nresource \"r\" \"x\" {\n  a = flatten(local.l60)\n  b = local.l60 == local.l60\n  c = [for i in range(20000) : [for j in range(20000) : i * j]]\n  d = range(100000000)\n  e = local.s2999\n  f = local.loop\n  g = local.r0\n}\n");
    let m = module(&[("main.tf", &locals)]);
    let body = m.block("x").body();
    for key in ["a", "b", "d", "e", "f", "g"] {
        assert!(matches!(body.get(key).unwrap().kind(), Shape::Unknown(_)), "{key}");
    }
    let deep = format!("a = {}1{}\nb = 2\n", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(parse(SourceId(0), &deep).problems.len(), 1);
}

#[test]
fn around_what_is_unknown_the_rest_of_a_merge_is_kept() {
    let of = |value: &str| {
        let text =
            format!("variable \"v\" {{}}\nresource \"r\" \"x\" {{\n  labels = {value}\n  limits = {value}\n}}\n");
        let m = module(&[("main.tf", &text)]);
        let body = m.block("x").body();
        let shown = |key: &str| {
            let map = body.get(key).unwrap();
            (show(map), map.is_open())
        };
        (shown("labels"), shown("limits"))
    };
    let unknown = r#"?Variable("v")"#;
    let open = |text: &str| (text.to_owned(), true);
    // Labels are added to; of other maps the last value may be another one.
    assert_eq!(of("merge({ a = 1 }, var.v)"), (open("{a: 1}"), open(&format!("{{a: {unknown}}}"))));
    assert_eq!(of("merge(var.v, { a = 1 })"), (open("{a: 1}"), open("{a: 1}")));
    assert_eq!(
        of("merge(merge({ a = 1 }, var.v), { b = 2 })"),
        (open("{a: 1, b: 2}"), open(&format!("{{a: {unknown}, b: 2}}")))
    );
    assert_eq!(of("merge({ a = 1 }, { a = 2 })").1, ("{a: 2}".to_owned(), false));
    // What is taken out of it is not known.
    assert_eq!(of("lookup(merge({ a = 1 }, var.v), \"a\", 3)").1.0, unknown);
}
