use super::*;
use crate::parse::scalar::Scalar;

fn read(text: &str) -> Tree {
    parse(SourceId(0), text, Dialect::Kubernetes)
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.range()]
}

#[test]
fn spans_slice_to_what_was_written() {
    let text = "\u{feff}a: 'x y' # note\nb:\n  - \"é\"\n  - {c: 1, d: }\ne:\n";
    let tree = read(text);
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let root = root(&tree).expect("a document");
    assert_eq!(slice(text, root.get("a").expect("a").span()), "'x y'");
    let items: Vec<_> = root.get("b").expect("b").items().collect();
    assert_eq!(slice(text, items[0].span()), "\"é\"");
    assert_eq!(slice(text, items[1].span()), "{c: 1, d: }");
    assert!(root.get("e").expect("e").is_null());
    assert!(items[1].get("d").expect("d").is_null());
    assert_eq!(slice(text, tree.comments[0]), "# note");
    let word = items[0].traced().expect("text").span(0..2);
    assert_eq!(slice(text, word), "é");
}

#[test]
fn block_scalars_lead_back_to_their_lines() {
    let text = "run: |\n  pip install torch\n\n    vllm serve x\nnext: 1\n";
    let tree = read(text);
    let run = root(&tree).and_then(|r| r.get("run")).expect("run");
    let value = run.text().expect("text");
    assert_eq!(value, "pip install torch\n\n  vllm serve x\n");
    let at = value.find("serve").expect("serve");
    assert_eq!(slice(text, run.traced().expect("traced").span(at..at + 5)), "serve");
    assert!(slice(text, run.span()).ends_with("serve x"));
}

#[test]
fn folded_lines_lead_back_to_where_they_were_written() {
    let text = "args: >-\n  vllm serve x\n  --port 1\n\n  end  \nplain: one\n  two\nquoted: \"three\n  four\"\n\
                tail: |\n  a  \n  b  ";
    let tree = read(text);
    let root = root(&tree).expect("a document");
    for (key, word) in [("args", "--port"), ("args", "end"), ("plain", "two"), ("quoted", "four"), ("tail", "b")] {
        let traced = root.get(key).and_then(Node::traced).expect("a scalar");
        let at = traced.text().find(word).expect("the word");
        assert_eq!(slice(text, traced.span(at..at + word.len())), word);
    }
}

#[test]
fn escapes_are_labelled_as_a_whole() {
    let text = "a: \"x\\ty\"\nb: 'it''s'\n";
    let tree = read(text);
    let root = root(&tree).expect("a document");
    for (key, whole) in [("a", "\"x\\ty\""), ("b", "'it''s'")] {
        let traced = root.get(key).and_then(Node::traced).expect("a scalar");
        assert_eq!(slice(text, traced.span(1..2)), whole);
    }
}

#[test]
fn unquoted_template_values_are_unknown() {
    let text = "image: {{ .Values.x }}\nargs: [{{name}}, a]\nempty: {}\nnested: {a: {b: 1}}\n";
    let tree = read(text);
    let root = root(&tree).expect("a document");
    let image = root.get("image").expect("image");
    assert_eq!(image.kind(), Shape::Unknown(&Why::Template));
    assert_eq!(slice(text, image.span()), "{{ .Values.x }}");
    assert!(matches!(root.get("args").and_then(|a| a.items().next()).expect("a").kind(), Shape::Unknown(_)));
    assert!(root.get("empty").expect("empty").is_map());
    assert_eq!(root.path("nested.a.b").and_then(Node::as_int), Some(1));
}

#[test]
fn errors_say_what_to_look_for() {
    let message = |text: &str| read(text).problems.first().map(|p| p.message.clone()).unwrap_or_default();
    assert!(message("a:\n  - b\n c: 1\n").contains("indented"));
    assert!(message("a: b: c\n").contains("inside another value"));
    assert!(message("a: [1, 2\n").contains('['));
    assert!(message("a: \"x\n").contains("quote"));
    assert!(message("a:\n\t- b\n").contains("tab"), "{}", message("a:\n\t- b\n"));
    assert!(message(&"[".repeat(300)).contains("nested"));
    let json = parse(SourceId(0), "{\"a\": 1}\nb\n", Dialect::Typed);
    assert!(json.problems[0].message.contains("JSON"));
}

#[test]
fn a_broken_document_does_not_lose_the_others() {
    let tree = read("a: [1\n---\nb: 2\n---\n  c: {\n---\nd: 4\n");
    assert_eq!(tree.problems.len(), 2);
    let keys: Vec<_> = tree.roots().map(|r| r.entries()[0].0.text().unwrap_or("")).collect();
    assert_eq!(keys, ["b", "d"]);
}

#[test]
fn merges_and_aliases_are_followed_and_cycles_refused() {
    let tree = read("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n");
    let y = root(&tree).and_then(|r| r.get("y")).expect("y");
    assert_eq!(y.get("a").and_then(Node::as_int), Some(1));
    assert_eq!(y.get("b").and_then(Node::as_int), Some(3));
    assert_eq!(y.entries().len(), 2);
    assert!(duplicate_keys(&tree).is_empty());
    assert_eq!(read("&a [*a]").problems.len(), 1);
}

#[test]
fn an_alias_ends_before_the_colon_of_the_key_that_it_is() {
    let tree = read("app: &app web\nlabels:\n  *app: x\n  other: *app\n");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let labels = root(&tree).and_then(|r| r.get("labels")).expect("labels");
    assert_eq!(labels.entries().len(), 2);
    assert_eq!(labels.get("other").and_then(Node::text), Some("web"));
    assert_eq!(read("a: *gone\n").problems.len(), 1);
}

#[test]
fn duplicates_are_told_where_they_are_written_again_and_whether_they_say_the_same() {
    let found = |text: &str| -> Vec<(String, u32, bool)> {
        duplicate_keys(&read(text)).into_iter().map(|d| (d.key, d.span.start, d.same)).collect()
    };
    assert_eq!(found("a: 1\nb: 2\na: 3\n"), [("a".to_owned(), 10, false)]);
    assert_eq!(found("a: {x: [1, {y: z}]}\na: {x: [1, {y: z}]}\n"), [("a".to_owned(), 20, true)]);
    assert_eq!(found("a: {x: [1, {y: z}]}\na: {x: [1, {y: q}]}\n"), [("a".to_owned(), 20, false)]);
    assert_eq!(found("a: !Ref x\na: !Ref x\n"), [("a".to_owned(), 10, false)]);
}

#[test]
fn control_characters_of_json_are_themselves() {
    let tree = parse(SourceId(0), "{\"?\": 1, \"\u{7f}\": 2, \"a\u{80}\": 3, \"a\u{85}\": 4}", Dialect::Typed);
    assert_eq!((tree.problems.len(), duplicate_keys(&tree).len()), (0, 0));
    assert_eq!(root(&tree).and_then(|r| r.get("a\u{85}")).and_then(Node::as_int), Some(4));
}

#[test]
fn what_was_read_of_a_broken_document_is_kept_beside_the_documents() {
    let tree = read("kind: A\n---\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: x\n   image: y\n");
    assert_eq!((tree.documents.len(), tree.unfinished.len(), tree.problems.len()), (1, 1, 1));
    let begun = tree.node(tree.unfinished[0]);
    assert_eq!(begun.get("kind").and_then(Node::text), Some("Pod"));
    assert!(begun.get("spec").is_some_and(Node::is_map));
}

#[test]
fn hostile_input_ends_quickly_with_a_problem() {
    assert!(!read(&"[".repeat(200_000)).problems.is_empty());
    assert!(!read(&"- ".repeat(200_000)).problems.is_empty());
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for i in 1..40 {
        bomb.push_str(&format!("a{i}: &a{i} [*a{}, *a{}]\n", i - 1, i - 1));
    }
    let tree = read(&bomb);
    assert!(tree.documents.is_empty() && tree.len() < 1000);
    assert_eq!(tree.cut.as_ref(), tree.problems.first());
    let first = tree.cut.expect("a problem").span;
    assert!(slice(&bomb, first).starts_with("*a1"), "where there is too much for the first time");
    let chain: String = (1..300).map(|i| format!("- &a{i} [*a{}]\n", i - 1)).collect();
    assert!(read(&format!("- &a0 [x]\n{chain}")).cut.is_some(), "aliases nest, too");
    let shared = "- *a0\n".repeat(1000);
    assert!(read(&format!("- &a0 [x, y]\n{shared}")).problems.is_empty());
    let long = format!("a: \"{}\"", "x".repeat(6_000_000));
    assert_eq!(root(&read(&long)).and_then(|r| r.get("a")).and_then(Node::text).map(str::len), Some(6_000_000));
    read("a: \u{1b}[31m\n");
}

#[test]
fn json_is_read_with_the_same_spans() {
    let text = "{\"a\": [1, true, null, \"x\"],\n\t\"b\": -1.5e3}";
    let tree = parse(SourceId(0), text, Dialect::Typed);
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let root = root(&tree).expect("a document");
    assert_eq!(root.get("b").and_then(Node::scalar), Some(Scalar::Float(-1500.0)));
    assert_eq!(slice(text, root.get("b").expect("b").span()), "-1.5e3");
}

#[test]
fn values_agree_with_another_parser() {
    let text = "a: |-\n  x\n  y\nb: >\n  folded\n  text\nc: [1, 'two', \"th\\tree\"]\nd: {e: null}\n";
    let tree = parse(SourceId(0), text, Dialect::Core);
    let theirs: serde_yaml::Value = serde_yaml::from_str(text).expect("valid");
    let root = root(&tree).expect("a document");
    assert_eq!(root.get("a").and_then(Node::text), theirs["a"].as_str());
    assert_eq!(root.get("b").and_then(Node::text), theirs["b"].as_str());
    let items: Vec<_> = root.get("c").expect("c").items().collect();
    assert_eq!(items[2].text(), theirs["c"][2].as_str());
}

#[test]
fn a_block_at_the_end_of_a_file_without_a_line_end_has_none() {
    for text in
        ["a: |\n  x", "a: |\n  x\n  ", "a: |+\n  x", "a: >\n  x\n  y", "a: |\n  x\n# c", "a: |\n  x  ", "a: |\n\n"]
    {
        let theirs: serde_yaml::Value = serde_yaml::from_str(text).expect("valid");
        let tree = read(text);
        let value = root(&tree).and_then(|root| root.get("a")).and_then(Node::text).unwrap_or_default();
        assert_eq!(value, theirs["a"].as_str().expect("text"), "{text:?}");
    }
}

/// Documents with what is easily misplaced: line ends, byte order marks, multibyte text, comments, tags, anchors.
const TRICKY: &[&str] = &[
    "\u{feff}a: 1 # é\r\nb: |\r\n  one\r\n  two\r\nc: >\r\n  three\r\n  four\r\n",
    "# only a comment\n---\n---\na: &x 'é'\nb: &x \"ü\"\nc: *x\n...\n",
    "? complex key\n: - a\n  - b: c\n    d: |2-\n        kept\n      more\n\n",
    "Type: !Sub '${A}-x'\nList: !GetAtt [A, B]\nMap: !Join\n  - ','\n  - [a, !Ref B]\n",
    "nvidia.com/gpu : \"8\"\nempty:\n- \n- ~\n- ''\n- ! x\n",
    "{\"a\":[1,2,{\"b\":\"c\\u00e9\"}],\n\t\"d\":null}",
    "a: word\n  and more\n\n  after a gap # end\nb: 'x\n\n  y'\n",
];

#[test]
fn every_word_is_found_where_its_span_points() {
    for text in TRICKY {
        let tree = read(text);
        assert!(tree.problems.is_empty(), "{text:?}: {:?}", tree.problems);
        for node in tree.nodes() {
            assert!(text.get(node.span().range()).is_some(), "{text:?}: {node:?}");
            // What is put together of several texts stands in several places.
            let Some(traced) = node.traced().filter(|_| node.tag() != Some("!Join")) else { continue };
            for word in traced.text().split_whitespace() {
                // The offset of the word in the scalar, by address: words may repeat.
                let at = word.as_ptr() as usize - traced.text().as_ptr() as usize;
                let span = traced.span(at..at + word.len());
                assert!(span == traced.whole() || slice(text, span) == word, "{text:?}: {word} at {span:?}");
            }
        }
    }
}

#[test]
fn containers_reach_around_their_children() {
    for text in TRICKY {
        let tree = read(text);
        for node in tree.nodes() {
            for (key, value) in node.entries() {
                assert!(node.span().contains(key.span()) && node.span().contains(value.span()), "{text:?}: {node:?}");
            }
            for item in node.items() {
                assert!(node.span().contains(item.span()), "{text:?}: {node:?}");
            }
        }
    }
}

#[test]
fn tags_stay_as_written_and_anchors_may_repeat() {
    let tree = read(TRICKY[3]);
    let top = root(&tree).expect("a document");
    assert_eq!(top.get("Type").and_then(Node::tag), Some("!Sub"));
    assert_eq!(top.get("List").and_then(Node::tag), Some("!GetAtt"));
    let tree = read(TRICKY[1]);
    let last = tree.roots().last().expect("a document");
    assert_eq!(last.get("c").and_then(Node::text), Some("ü"));
}

#[test]
fn quoted_text_may_continue_where_libyaml_lets_it() {
    let tree = read("a:\n  b: 'one\ntwo'\n  c: 3\n");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let top = root(&tree).expect("a document");
    assert_eq!(top.get("a").and_then(|a| a.get("b")).and_then(Node::text), Some("one two"));
    assert_eq!(read("a:\n  - \"one\n  - \"two\"\n").problems.len(), 1);
    let tree = read("a:\n  b: \"one\ntwo\nthree\"\n  c: \"it\\'s\"\n");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let text = |key| root(&tree).and_then(|top| top.get("a")?.get(key)?.text().map(str::to_owned));
    assert_eq!(text("b").as_deref(), Some("one two three"));
    assert_eq!(text("c").as_deref(), Some("it 's"), "the backslash leaves a space");
    assert_eq!(read("a: \"\\d\"\n").problems.len(), 1);
}

#[test]
fn json_values_that_follow_each_other_are_documents() {
    let text = "{\"a\": 1}\n{\"a\": \"é\"}";
    let tree = parse(SourceId(0), text, Dialect::Typed);
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    let last = tree.roots().last().and_then(|root| root.get("a")).expect("a second document");
    assert_eq!(slice(text, last.span()), "\"é\"");
}

#[test]
fn functions_that_put_texts_together_are_texts_with_names_where_something_is_filled_in() {
    let text = "a: {Fn::Base64: {Fn::Join: ['', ['#!/bin/sh; ', 'echo ', {Ref: X}, !GetAtt [A, B]]]}}\n\
                b: !Join ['-', [x, y]]\nc: {Fn::Sub: 'n ${Y}'}\nd: !Sub ['m ${Z}', {Z: 1}]\ne: !Join [',', !Ref L]\n\
                f: {Fn::Join: ['', [{Fn::If: [q, r, s]}, t]]}\ng: !Sub ['${Z}-${Q}', {Z: !Ref X}]\nResources: {}\n";
    let tree = read(text);
    let root = root(&tree).expect("a document");
    let of = |key: &str| root.get(key).and_then(Node::text).map(str::to_owned);
    let expected = [
        Some("#!/bin/sh; echo ${X}${}"),
        Some("x-y"),
        Some("n ${Y}"),
        Some("m 1"),
        None,
        Some("${}t"),
        Some("${X}-${Q}"),
    ];
    assert_eq!(["a", "b", "c", "d", "e", "f", "g"].map(of), expected.map(|text| text.map(str::to_owned)));
    let joined = root.get("b").and_then(Node::traced).expect("a text");
    assert_eq!(slice(text, joined.span(2..3)), "y");
}

#[test]
fn a_key_called_ref_is_a_reference_in_templates_only() {
    let of = |text: &str| root(&read(text)).and_then(|root| root.path("a.Ref")).and_then(Node::text).map(str::to_owned);
    assert_eq!(of("a: {Ref: main}\n").as_deref(), Some("main"));
    assert_eq!(of("a: {Ref: main}\nResources: {}\n"), None);
}

#[test]
fn texts_that_aliases_multiply_are_not_put_together_beyond_all_measure() {
    let joined = |times: usize| {
        let items = vec!["*a"; times].join(", ");
        let tree = read(&format!("a: &a {}\nb: {{'Fn::Join': ['', [{items}]]}}\n", "x".repeat(20_000)));
        root(&tree).and_then(|root| root.get("b")).and_then(Node::text).map(str::len)
    };
    assert_eq!((joined(20), joined(60)), (Some(400_000), None));
}
