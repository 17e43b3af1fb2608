use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn options(dir: &TempDir) -> Options {
    Options::new(dir.path())
}

fn excluded(dir: &TempDir, patterns: &[&str]) -> Vec<Excluded> {
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    vec![Excluded { home: PathBuf::new(), base: dir.path().to_owned(), patterns }]
}

fn find(options: &Options, roots: &[&str]) -> Discovery {
    discover(&roots.iter().map(PathBuf::from).collect::<Vec<_>>(), options).expect("good patterns")
}

fn paths(discovery: &Discovery) -> Vec<&str> {
    discovery.found.iter().map(|f| f.path.as_str()).collect()
}

#[test]
fn files_come_sorted_and_once_whatever_the_roots() {
    let dir = tree(&[("b/x.yaml", ""), ("a.yaml", ""), ("b-c/y.yaml", ""), (".k8s/z.yaml", ""), ("notes.md", "")]);
    let all = [".k8s/z.yaml", "a.yaml", "b-c/y.yaml", "b/x.yaml"];
    assert_eq!(paths(&find(&options(&dir), &["."])), all);
    assert_eq!(paths(&find(&options(&dir), &["b", "./a.yaml", ".", "b/./x.yaml"])), all);
    let below = Options::new(dir.path().join("b"));
    assert_eq!(paths(&find(&below, &["../a.yaml"])), ["../a.yaml"]);
}

#[test]
fn what_a_kustomization_takes_data_from_is_read_whatever_its_name() {
    let kustomization = "configMapGenerator:\n- name: a\n  envs: [params.env]\n  files: [key=../shared/proxy.conf]\n";
    let files = [
        ("app/kustomization.yaml", kustomization),
        ("app/params.env", "A=1\n"),
        ("app/other.env", "B=1\n"),
        ("shared/proxy.conf", "x\n"),
    ];
    let dir = tree(&files);
    let found = find(&options(&dir), &["."]);
    assert_eq!(paths(&found), ["app/kustomization.yaml", "app/params.env", "shared/proxy.conf"]);
    assert_eq!(found.found[1].kind, Kind::Data);
}

#[test]
fn variables_of_compose_projects_are_read() {
    let dir = tree(&[
        ("compose.yaml", "services: {s: {env_file: [gpu.env]}}"),
        ("gpu.env", "A=1\n"),
        (".env", "B=1\n"),
        ("sub/.env", "C=1\n"),
    ]);
    assert_eq!(paths(&find(&options(&dir), &["."])), [".env", "compose.yaml", "gpu.env"]);
}

#[test]
fn ignore_files_hold_unless_told_otherwise() {
    let dir = tree(&[
        (".gitignore", "out/\n*.gen.yaml\n!keep.gen.yaml\n"),
        (".ignore", "ignored.yaml\n"),
        ("sub/.gpulintignore", "own.yaml\n"),
        ("out/a.yaml", ""),
        ("x.gen.yaml", ""),
        ("keep.gen.yaml", ""),
        ("ignored.yaml", ""),
        ("sub/own.yaml", ""),
        ("sub/b.yaml", ""),
        ("node_modules/c.yaml", ""),
        ("vendor/d.yaml", ""),
        ("go/vendor/modules.txt", ""),
        ("go/vendor/e.yaml", ""),
    ]);
    assert_eq!(paths(&find(&options(&dir), &["."])), ["keep.gen.yaml", "sub/b.yaml", "vendor/d.yaml"]);
    assert_eq!(paths(&find(&options(&dir), &["sub", "out/a.yaml"])), ["out/a.yaml", "sub/b.yaml"]);
    assert_eq!(find(&Options { no_ignore: true, ..options(&dir) }, &["."]).found.len(), 7);
}

#[test]
fn a_directory_of_templates_holds_templates_whatever_it_is_called() {
    let dir = tree(&[
        ("c/Chart.yaml", "name: c"),
        ("c/templates/node_modules/a.yaml", ""),
        ("c/templates/x/testdata/b.yaml", ""),
        ("c/node_modules/c.yaml", ""),
        ("templates/node_modules/d.yaml", ""),
    ]);
    let found = find(&options(&dir), &["."]);
    assert_eq!(paths(&found), ["c/Chart.yaml", "c/templates/node_modules/a.yaml", "c/templates/x/testdata/b.yaml"]);
}

#[test]
fn excludes_hold_for_named_files_only_by_force() {
    let dir = tree(&[("third/a.yaml", ""), ("b.yaml", ""), ("sub/b.yaml", "")]);
    let mut options = Options { exclude: excluded(&dir, &["third/", "/b.yaml"]), ..options(&dir) };
    assert_eq!(paths(&find(&options, &["."])), ["sub/b.yaml"]);
    assert_eq!(paths(&find(&options, &["third/a.yaml"])), ["third/a.yaml"]);
    options.force_exclude = true;
    assert!(find(&options, &["third/a.yaml", "b.yaml"]).found.is_empty());
    options.exclude = excluded(&dir, &["[z-a]"]);
    assert!(discover(&[], &options).is_err_and(|e| e.pattern == "[z-a]"));
}

#[test]
fn test_data_and_archives_are_linted_by_name_only() {
    let aside = [
        ".archive/ai/pod.yaml",
        "_archived/ds.yaml",
        "api/testdata/pod.yaml",
        "config/retired.yaml",
        "old_requirements.txt",
        "retired_benchmarks/Dockerfile",
    ];
    let here = ["archive.yaml", "goldfish/pod.yaml", "tests/pod.yaml"];
    let dir = tree(&[&aside[..], &here].concat().into_iter().map(|path| (path, "")).collect::<Vec<_>>());
    let discovery = find(&options(&dir), &["."]);
    assert_eq!(paths(&discovery), here);
    let skipped: Vec<_> = discovery.skipped.iter().map(|s| (s.path.as_str(), s.reason.clone())).collect();
    let directories = [".archive", "_archived", "api/testdata", aside[3], aside[4], "retired_benchmarks"];
    assert_eq!(skipped, directories.map(|path| (path, Reason::SetAside)));
    assert_eq!(paths(&find(&options(&dir), &["api/testdata", aside[3]])), [aside[2], aside[3]]);
}

#[test]
fn copies_and_encrypted_files_are_told_and_nothing_is_wrong_with_them() {
    let dir = tree(&[("Dockerfile.npu.patch.encrypted", ""), ("Makefile.bak", ""), ("fix.patch", "")]);
    std::fs::write(dir.path().join("secret.yaml"), b"\0GITCRYPT\0\x01apiVersion").expect("a file");
    let discovery = find(&options(&dir), &["."]);
    assert_eq!(discovery.excluded.get("copy, patch or encrypted file"), Some(&2));
    assert_eq!(discovery.found[0].read(MAX_BYTES), Err(Reason::Encrypted("git-crypt")));
}

#[test]
fn links_are_followed_inside_the_roots_only() {
    let dir = tree(&[("repo/shared/vars.tf", ""), ("repo/a/main.tf", ""), ("outside/secret.yaml", "")]);
    let at = |path: &str| dir.path().join("repo").join(path);
    symlink("../shared/vars.tf", at("a/vars.tf")).expect("a link");
    symlink("shared", at("linked")).expect("a link");
    symlink("..", at("a/up")).expect("a link");
    symlink("../outside", at("out")).expect("a link");
    symlink("../outside/secret.yaml", at("secret.yaml")).expect("a link");
    symlink("nowhere", at("gone.yaml")).expect("a link");
    symlink("nowhere", at("gone")).expect("a link");
    let discovery = find(&Options::new(dir.path().join("repo")), &["."]);
    assert_eq!(paths(&discovery), ["a/main.tf", "a/vars.tf", "linked/vars.tf", "shared/vars.tf"]);
    let skipped: Vec<_> = discovery.skipped.iter().map(|s| (s.path.as_str(), s.reason.clone())).collect();
    let [loop_, gone, out, secret] = &skipped[..] else { panic!("{skipped:?}") };
    assert_eq!(loop_, &("a/up", Reason::Loop));
    assert!(matches!(gone, ("gone.yaml", Reason::Dangling)));
    assert_eq!(out, &("out", Reason::OutsideRoots));
    assert_eq!(secret, &("secret.yaml", Reason::OutsideRoots));
}

#[test]
fn ignore_files_hold_from_the_root_of_the_repository_downwards() {
    let all = "*\n";
    let dir = tree(&[
        (".gitignore", all),
        (".ignore", all),
        (".gpulintignore", all),
        ("repo/.git/HEAD", ""),
        ("repo/.git/info/exclude", "mine.yaml\n"),
        ("repo/.gitignore", "/out.yaml\nsub/gone.yaml\n"),
        ("repo/out.yaml", ""),
        ("repo/mine.yaml", ""),
        ("repo/sub/out.yaml", ""),
        ("repo/sub/gone.yaml", ""),
        ("repo/inner/.git", "gitdir: elsewhere\n"),
        ("repo/inner/out.yaml", ""),
        ("plain/a.yaml", ""),
    ]);
    let found = |root: &str| paths(&find(&options(&dir), &[root])).join(" ");
    assert_eq!(found("repo"), "repo/inner/out.yaml repo/sub/out.yaml");
    assert_eq!(found("repo/sub"), "repo/sub/out.yaml");
    assert_eq!(found("plain"), "plain/a.yaml");
    assert_eq!(found("."), "");
}

#[test]
fn what_was_left_out_is_counted_by_what_left_it_out() {
    let dir = tree(&[
        (".gitignore", "a.yaml\nb.txt\n"),
        (".gpulintignore", "c/\n"),
        ("a.yaml", ""),
        ("b.txt", ""),
        ("c/x.yaml", ""),
        ("c/y.yaml", ""),
        ("d.yaml", ""),
        ("e.yaml", ""),
        (".git/x.yaml", ""),
        ("node_modules/x.yaml", ""),
        ("vendor/modules.txt", ""),
        ("package.json", ""),
        (".#e.yaml", ""),
        (".gpulint.yaml", ""),
        ("tsconfig.json", ""),
        ("tsconfig-deploy.yaml", ""),
    ]);
    let own = vec![".gpulint.yaml".into()];
    let discovery = find(&Options { exclude: excluded(&dir, &["d.yaml"]), own, ..options(&dir) }, &["."]);
    assert_eq!(paths(&discovery), ["e.yaml", "tsconfig-deploy.yaml"]);
    let counted: Vec<(&str, usize)> = discovery.excluded.into_iter().collect();
    let expected =
        [(".gitignore", 1), (".gpulintignore", 1), ("directory of a tool", 2), ("exclude", 1), ("file of a tool", 3)];
    assert_eq!(counted, expected);
}

#[test]
fn ignore_files_that_are_none_are_told_and_leave_nothing_out() {
    let dir = tree(&[("repo/.git/HEAD", ""), ("repo/a.yaml", ""), ("repo/sub/a.yaml", ""), ("repo/own", "b.yaml\n")]);
    let at = |path: &str| dir.path().join("repo").join(path);
    symlink("/dev/zero", at(".ignore")).expect("a link");
    fs::create_dir(at(".gitignore")).expect("a directory");
    symlink("../own", at("sub/.gpulintignore")).expect("a link");
    fs::write(at("sub/b.yaml"), "").expect("a file");
    let discovery = find(&Options::new(dir.path().join("repo")), &["."]);
    assert_eq!(paths(&discovery), ["a.yaml", "sub/a.yaml"]);
    let told: Vec<_> = discovery.skipped.iter().map(|s| (s.path.as_str(), &s.reason)).collect();
    let directory = Reason::Unreadable("not a regular file".into());
    assert_eq!(told, [(".gitignore", &directory), (".ignore", &Reason::OutsideRoots)]);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text_are_names_of_their_own() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = tree(&[("\\xff.yaml", ""), ("a\\b.yaml", "")]);
    for name in [&b"\xff.yaml"[..], b"\xfe.yaml", b"a\xc3.yaml"] {
        fs::write(dir.path().join(OsStr::from_bytes(name)), "").expect("a file");
    }
    let found = find(&options(&dir), &["."]);
    assert_eq!(paths(&found), ["\\x5cxff.yaml", "\\xfe.yaml", "\\xff.yaml", "a\\b.yaml", "a\\xc3.yaml"]);
}

#[test]
fn further_names_of_a_large_file_are_not_read_again() {
    let large = "x".repeat(3 << 20);
    let dir = tree(&[("a.json", &large), ("b/small.tf", ""), ("hidden.txt", &large)]);
    for (to, at) in [
        ("a.json", "l1.json"),
        ("a.json", "l2.json"),
        ("b", "c"),
        ("b/small.tf", "small.tf"),
        ("hidden.txt", "shown.json"),
        ("hidden.txt", "shown2.json"),
    ] {
        symlink(to, dir.path().join(at)).expect("a link");
    }
    let discovery = find(&options(&dir), &["."]);
    assert_eq!(paths(&discovery), ["a.json", "b/small.tf", "c/small.tf", "l1.json", "shown.json", "small.tf"]);
    assert_eq!(discovery.excluded.into_iter().collect::<Vec<_>>(), [("link to what is read already", 2)]);
}

#[test]
fn a_run_reads_so_much_and_tells_the_rest() {
    let dir = tree(&[("a.yaml", "1234"), ("b.yaml", "123456"), ("c.yaml", "12")]);
    let discovery = find(&Options { max_read: 7, ..options(&dir) }, &["."]);
    assert_eq!((paths(&discovery), discovery.left), (vec!["a.yaml", "c.yaml"], 1));
    assert_eq!(discovery.skipped[0].reason, Reason::RunTooLarge(7));
}

#[test]
fn links_that_multiply_paths_end() {
    let dir = tree(&[]);
    for level in 0..24 {
        let here = dir.path().join(format!("d{level:02}"));
        fs::create_dir(&here).expect("a directory");
        for link in ["a", "b"] {
            symlink(format!("../d{:02}", level + 1), here.join(link)).expect("a link");
        }
    }
    fs::create_dir(dir.path().join("d24")).expect("a directory");
    assert!(find(&options(&dir), &["."]).skipped.iter().any(|s| s.reason == Reason::TooManyLinks));
}

#[test]
fn roots_that_cannot_be_linted_are_told() {
    let dir = tree(&[("notes.md", "")]);
    let discovery = find(&options(&dir), &["notes.md", "nothing.yaml"]);
    let reasons: Vec<_> = discovery.skipped.iter().map(|s| &s.reason).collect();
    assert_eq!(reasons, [&Reason::UnknownKind, &Reason::Missing]);
}

#[test]
fn only_utf_8_text_up_to_the_limit_is_read() {
    let dir = tree(&[("bom.yaml", "\u{feff}a: 1\n"), ("big.yaml", "0123456789")]);
    fs::write(dir.path().join("le.yaml"), b"\xff\xfea\0:\0").expect("a file");
    fs::write(dir.path().join("bare.yaml"), b"a\0:\0").expect("a file");
    fs::write(dir.path().join("latin.yaml"), b"a: \xe9\n").expect("a file");
    fs::write(dir.path().join("binary.yaml"), b"abc\0").expect("a file");
    let discovery = find(&options(&dir), &["."]);
    let read: Vec<_> = discovery.found.iter().map(|f| (f.path.as_str(), f.read(9))).collect();
    assert_eq!(
        read,
        [
            ("bare.yaml", Err(Reason::NotUtf8("UTF-16"))),
            ("big.yaml", Err(Reason::TooLarge(10, 9))),
            ("binary.yaml", Err(Reason::NotUtf8("binary data"))),
            ("bom.yaml", Ok("\u{feff}a: 1\n".into())),
            ("latin.yaml", Err(Reason::NotUtf8("another encoding"))),
            ("le.yaml", Err(Reason::NotUtf8("UTF-16"))),
        ]
    );
}

#[test]
fn templates_of_a_chart_are_known_by_its_chart_file() {
    let dir = tree(&[
        ("chart/Chart.yaml", "name: x"),
        ("chart/values.yaml", ""),
        ("chart/templates/deep/job.yaml", ""),
        ("cloudformation/templates/vpc.yaml", ""),
    ]);
    let discovery = find(&options(&dir), &["."]);
    let charts: Vec<_> = discovery.found.iter().filter(|f| f.in_chart).map(|f| f.path.as_str()).collect();
    assert_eq!(charts, ["chart/templates/deep/job.yaml"]);
}
