//! What functions answer, class by class, as `helm template` does.

use super::shown;

const VALUES: &str = "num: 3\nlist: [p, q, 3]\nmap: {k: v}\ntext: héllo\nnone: null\n";

fn answers(table: &[(&str, &str)]) {
    for (expression, answer) in table {
        let template = if expression.starts_with("{{") {
            (*expression).to_owned()
        } else {
            format!("{{{{ printf \"%v\" ({expression}) }}}}")
        };
        assert_eq!(shown(&template, VALUES), *answer, "{expression}");
    }
}

#[test]
fn numbers_are_read_as_go_reads_them() {
    answers(&[
        ("0x1.8p3", "12"),
        ("-0X2P-1", "-1"),
        ("1_0", "10"),
        ("0b11", "3"),
        ("0o17", "15"),
        ("'b'", "98"),
        ("1e3", "1000"),
        ("int \"1_000\"", "1000"),
        ("int \"0x1F\"", "31"),
        ("int \"2.0\"", "2"),
        ("int \"2.5\"", "0"),
        ("float64 \"inf\"", "+Inf"),
        ("div -7 2", "-3"),
        ("mod -7 3", "-1"),
        ("round 123.5555 3", "123.556"),
        ("seq 2 -2", "2 1 0 -1 -2"),
        ("seq 1 2 3 4", ""),
        ("untilStep 3 6 2", "[3 5]"),
    ]);
}

#[test]
fn formats_have_indexes_widths_and_precisions() {
    answers(&[
        ("printf \"%[2]v-%[1]v\" 1 2", "2-1"),
        ("printf \"%d %[1]d\" 7", "7 7"),
        ("printf \"%[3]v\" 1", "%!v(BADINDEX)"),
        ("printf \"%[2]*[1]d|\" 4 3", "  4|"),
        ("printf \"%-*d|\" 3 4", "4  |"),
        ("printf \"%*s\" \"x\" \"y\"", "%!(BADWIDTH)y"),
        ("printf \"%.*f\" 1 2.55", "2.5"),
        ("printf \"%6.2v|\" \"abc\"", "    ab|"),
        ("printf \"%3d\" (list 1 2)", "[  1   2]"),
        ("printf \"%d\" (dict \"a\" 1)", "map[%!d(string=a):1]"),
        ("printf \"%#v\" (list 1 \"a\" nil)", "[]interface {}{1, \"a\", interface {}(nil)}"),
        ("printf \"%#x|%#o|%O|%+d|% d|%.3d\" 255 8 8 1 1 7", "0xff|010|0o10|+1| 1|007"),
        ("printf \"% X|%#q|%+q\" \"ab\" \"ab\" \"é\"", "61 62|`ab`|\"\\u00e9\""),
        ("printf \"%E|%G|%.3g\" 12345.678 1e20 1234567.0", "1.234568E+04|1E+20|1.23e+06"),
        ("printf \"%d\" 1 2", "1%!(EXTRA int=2)"),
        ("printf \"%T\" (add 1 1)", "int64"),
        ("printf \"%s %s\" 1", "%!s(int=1) %!s(MISSING)"),
        ("println 1 2", "1 2\n"),
    ]);
}

#[test]
fn texts_are_cut_and_changed_as_go_does() {
    answers(&[
        ("wrapWith 2 \"|\" \"abcde f\"", "ab|cd|e|f"),
        ("wrap 2 \"abcde f g\"", "abcde\nf\ng"),
        ("wrapWith 4 \"\" \"ab cd ef\"", "ab\ncd\nef"),
        ("snakecase \"HTTP20xOK\"", "http_20x_ok"),
        ("snakecase \"Bld4Floor3rd\"", "bld4_floor_3rd"),
        ("snakecase \"_a__B\"", "_a__b"),
        ("kebabcase \"someWords/HERE\"", "some-words/here"),
        ("camelcase \"GOLANG_IS--great\"", "GolangIs-Great"),
        ("upper \"ß\"", "ß"),
        ("abbrev 6 \"abcdefgh\"", "abc..."),
        ("abbrevboth 5 9 \"abcdefghijklmnop\"", "...fgh..."),
        ("js \"a<b>'\\n\"", "a\\u003Cb\\u003E\\'\\u000A"),
        ("html \"<\" 1", "&lt;1"),
        ("urlquery \"a b\" \"c\"", "a+bc"),
        ("quote 1 nil \"x\"", "\"1\" \"x\""),
        ("squote (list 1)", "'[1]'"),
        ("cat 1 nil \"a\"", "1 a"),
        ("b32dec (b32enc \"hello\")", "hello"),
        ("b32enc \"a\"", "ME======"),
        ("b64dec \"aGk=\"", "hi"),
        ("b64dec \"aGk\"", "illegal base64 data at input byte $(offset)"),
        ("substr 1 -1 .Values.text", "éllo"),
    ]);
}

#[test]
fn types_and_kinds_are_those_of_go() {
    answers(&[
        ("typeOf (add 1 1)", "int64"),
        ("typeOf (int 1)", "int"),
        ("typeOf .Values.num", "float64"),
        ("typeOf (splitList \",\" \"a\")", "[]string"),
        ("typeOf (until 2)", "[]int"),
        ("typeOf (split \",\" \"a\")", "map[string]string"),
        ("typeOf (chunk 1 (list 1))", "[][]interface {}"),
        ("typeOf (index \"a\" 0)", "uint8"),
        ("typeOf (semver \"1.2\")", "*semver.Version"),
        ("kindOf .Values.none", "invalid"),
        ("kindIs \"slice\" (keys .Values.map)", "true"),
        ("typeIsLike \"semver.Version\" (semver \"1.2\")", "true"),
        ("deepEqual (add 1 1) 2", "false"),
        ("has 2 (list 1 2)", "true"),
        ("eq (add 1 1) 2", "true"),
    ]);
}

#[test]
fn nothing_has_fields_of_nothing() {
    answers(&[
        ("{{ (.Values.nope).x.y | quote }}", ""),
        ("{{ $x := .Values.nope }}{{ if $x.y }}a{{ else }}b{{ end }}", "b"),
        ("{{ ((.Values.nope).x | not) }}", "true"),
        ("{{ .Values.nope.x }}", "3..17: nil pointer evaluating interface {}.x"),
        ("{{ (split \",\" \"a\")._3 | quote }}", "\"\""),
    ]);
}

#[test]
fn regular_expressions_are_those_of_go() {
    answers(&[
        ("regexMatch \"^\\\\d+$\" \"٣\"", "false"),
        ("regexMatch \"^[\\\\w-]+$\" \"a_1-b\"", "true"),
        ("regexMatch \"^[\\\\w-\\\\.]+$\" \"my-master.1\"", "true"),
        ("mustRegexMatch \"^[[:alnum:]-_]+\\\\z\" \"a-_1\"", "true"),
        ("regexMatch \"\\\\Qa.b\\\\E\" \"axb a.b\"", "true"),
        ("regexMatch \"[a&&b]\" \"&\"", "true"),
        ("regexMatch \"[]x]\" \"]\"", "true"),
        ("regexMatch \"a**\" \"a\"", "false"),
        ("regexMatch \"(?x) a\" \"a\"", "false"),
        ("regexMatch \"a{1,2}?b\" \"aab\"", "true"),
        ("regexMatch \"a{,2}\" \"a{,2}\"", "true"),
        ("regexMatch \"\\\\bx\\\\b\" \"an x.\"", "true"),
        ("regexFindAll \"[[:alpha:]]\" \"a1b\" -1", "[a b]"),
        ("regexSplit \"\" \"abc\" -1", "[a b c]"),
        ("regexSplit \"b*\" \"abbc\" -1", "[a c]"),
        ("regexSplit \",\" \"\" -1", "[]"),
        ("regexQuoteMeta \"a-b.c#\"", "a-b\\.c#"),
        ("regexReplaceAll \"(a)\" \"ba\" \"<${1}>\"", "b<a>"),
    ]);
}

#[test]
fn versions_have_methods() {
    answers(&[
        ("semver \"v1.2\"", "1.2.0"),
        ("toJson (semver \"v1.2\")", "\"1.2.0\""),
        ("(semver \"1.2.3-rc.1+m\").Metadata", "m"),
        ("(semver \"1.2.3-rc.1\").IncPatch", "1.2.3"),
        ("((semver \"1.2.3\").IncMinor).String", "1.3.0"),
        ("(semver \"1.2.3\").Compare (semver \"1.3.0\")", "-1"),
        ("semver \"1.3.0\" | (semver \"1.2.3\").LessThan", "true"),
        ("(semver \"v1.2\").Original", "v1.2"),
        ("((semver \"1.2.3\").SetPrerelease \"x\").Prerelease", "x"),
    ]);
}

#[test]
fn encodings_and_addresses() {
    answers(&[
        ("(urlParse \"mailto:a@b\").opaque", "a@b"),
        ("(urlParse \"http://[::1]:80/a%20b\").hostname", "::1"),
        ("(urlParse \"http://h/a%20b\").path", "/a b"),
        ("urlJoin (dict \"host\" \"h\" \"path\" \"p q\")", "//h/p%20q"),
        ("urlJoin (urlParse \"https://u@h:1/p?q#f\")", "https://u@h:1/p?q#f"),
        ("toToml (dict \"d\" (dict \"e\" (dict \"f\" 1)) \"a\" 1)", "a = 1\n\n[d]\n  [d.e]\n    f = 1\n"),
        ("toToml \"a\"", "\"a\""),
        ("mustFromJson \"[1, 2]\"", "[1 2]"),
        ("{{ if (fromYaml \"- a\").Error }}bad{{ end }}", "bad"),
        ("toYamlPretty (dict \"a\" 1)", "a: 1"),
        ("sortAlpha nil", "[<nil>]"),
    ]);
}

#[test]
fn maps_are_merged_as_helm_merges_them() {
    let json = |table: &[(&str, &str)]| {
        for (expression, answer) in table {
            assert_eq!(shown(&format!("{{{{ {expression} | toJson }}}}"), VALUES), *answer, "{expression}");
        }
    };
    json(&[
        // null is nothing to add, and takes the place of what is there where it may.
        ("merge (dict) (dict \"a\" nil)", "{}"),
        ("merge (dict \"a\" nil) (dict \"a\" 1)", "{\"a\":1}"),
        ("mergeOverwrite (dict \"a\" 1) (dict \"a\" nil)", "{\"a\":null}"),
        ("merge (dict \"a\" (dict \"b\" nil)) (dict \"a\" (dict \"b\" nil \"c\" nil))", "{\"a\":{\"b\":null}}"),
        // A map that is there is filled, and one that is not is shared.
        (
            "$a := dict \"x\" (dict \"y\" 1) }}{{ $b := merge (dict \"x\" (dict)) $a }}{{ $_ := set $b.x \"z\" 2 }}{{ $a",
            "{\"x\":{\"y\":1}}",
        ),
        (
            "$a := dict \"x\" (dict \"y\" 1) }}{{ $b := merge (dict) $a }}{{ $_ := set $b.x \"z\" 2 }}{{ $a",
            "{\"x\":{\"y\":1,\"z\":2}}",
        ),
        // A list that Go never made.
        ("concat (list) (list)", "null"),
        ("concat (list) (list 1)", "[1]"),
        ("rest (list)", "null"),
        ("rest (list 1)", "[]"),
        ("initial (list)", "null"),
        ("slice (list)", "null"),
        ("regexFindAll \"x\" \"a\" -1", "null"),
        ("mergeOverwrite (dict \"a\" (list 1)) (dict \"a\" (concat (list)))", "{\"a\":null}"),
        ("deepCopy (concat (list))", "null"),
    ]);
    for refused in ["merge (dict \"a\" 1) .Values.none", "merge (dict) (split \",\" \"a\")", "deepCopy .Values.none"] {
        let answer = shown(&format!("{{{{ {refused} | toJson }}}}"), VALUES);
        assert!(answer.contains("error calling"), "{refused}: {answer}");
    }
}
