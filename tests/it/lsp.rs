//! `gpulint lsp` as an editor meets it: over a pipe, one message after another. What it says is read by the types of another
//! implementation of the protocol.
#![allow(clippy::type_complexity, clippy::mutable_key_type)] // types of the protocol

use crate::cli::directory;
use lsp_types::{
    CodeActionOrCommand, CodeActionResponse, Diagnostic, DiagnosticSeverity, DiagnosticTag, Hover, HoverContents,
    InitializeResult, NumberOrString, PositionEncodingKind, PublishDiagnosticsParams, Range, TextEdit, Uri,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An editor that has a folder open.
struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// What the server told that nobody has asked for yet.
    told: VecDeque<(String, Value)>,
    asked: i32,
}

impl Editor {
    /// Starts a server for a folder and shakes hands, with an editor that knows these encodings of positions.
    fn new(folder: &Path, encodings: &[&str]) -> (Self, InitializeResult) {
        let mut server = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let server = server.arg("lsp").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.stderr(Stdio::null()).spawn().expect("the server starts");
        let to = server.stdin.take().expect("a pipe");
        let from = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Self { server, to, from, told: VecDeque::new(), asked: 0 };
        let capabilities = json!({
            "general": {"positionEncodings": encodings},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
        });
        let folders = json!([{"uri": uri(folder), "name": "it"}]);
        let answer = editor.ask(
            "initialize",
            json!({"processId": null, "rootUri": uri(folder), "workspaceFolders": folders, "capabilities": capabilities}),
        );
        editor.tell("initialized", json!({}));
        (editor, serde_json::from_value(answer).expect("what servers answer to that"))
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        self.to.flush().expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("the server writes"), 0, "the server has gone");
            if line == "\r\n" {
                break;
            }
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim_end().parse().expect("a number");
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).expect("the server writes");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params}));
    }

    /// Answers a request of the server, or keeps what it told.
    fn keep(&mut self, message: Value) {
        let method = message["method"].as_str().expect("a method").to_owned();
        if let Some(id) = message.get("id") {
            self.send(json!({"id": id, "result": null}));
        }
        self.told.push_back((method, message["params"].clone()));
    }

    fn answered(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(json!({"id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id);
                return message;
            }
            self.keep(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answered(method, params);
        assert_eq!(answer.get("error"), None);
        answer["result"].clone()
    }

    /// What the server tells next by a method.
    fn heard(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|(told, _)| told == method) {
                return self.told.remove(at).expect("it is there").1;
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    /// The diagnostics that are published next, which are those of a file.
    fn published(&mut self, file: &Path) -> Vec<Diagnostic> {
        let params = self.heard("textDocument/publishDiagnostics");
        let params: PublishDiagnosticsParams = serde_json::from_value(params).expect("diagnostics");
        assert_eq!(params.uri.as_str(), uri(file));
        params.diagnostics
    }

    fn open(&mut self, file: &Path, text: &str) {
        let document = json!({"uri": uri(file), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn edit(&mut self, file: &Path, text: &str) {
        let document = json!({"uri": uri(file), "version": 2});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": text}]}));
    }

    fn saved_elsewhere(&mut self, file: &Path, text: &str) {
        fs::write(file, text).expect("files are written");
        self.tell("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": uri(file), "type": 2}]}));
    }

    /// What is offered at the start of a range: titles and changes.
    fn offered(&mut self, file: &Path, range: Range) -> Vec<(String, Vec<(Uri, Vec<TextEdit>)>)> {
        let range = Range::new(range.start, range.start);
        let context = json!({"diagnostics": [], "only": ["quickfix"]});
        let params = json!({"textDocument": {"uri": uri(file)}, "range": range, "context": context});
        let answer = self.ask("textDocument/codeAction", params);
        let actions: CodeActionResponse = serde_json::from_value(answer).expect("actions");
        let action = |action| match action {
            CodeActionOrCommand::CodeAction(action) => action,
            CodeActionOrCommand::Command(command) => panic!("{command:?}"),
        };
        let changes = |action: lsp_types::CodeAction| {
            let changes = action.edit.and_then(|edit| edit.changes).expect("changes");
            (action.title, changes.into_iter().collect())
        };
        actions.into_iter().map(action).map(changes).collect()
    }

    /// Takes leave; the server ends by itself.
    fn leave(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.wait().expect("the server ends").success());
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The text after edits that stand in it from the front to the back, of an editor that counts bytes.
fn edited(text: &str, edits: &[TextEdit]) -> String {
    let offset = |position: lsp_types::Position| {
        let lines = text.split_inclusive('\n').take(position.line as usize);
        lines.map(str::len).sum::<usize>() + position.character as usize
    };
    let mut out = text.to_owned();
    for edit in edits.iter().rev() {
        out.replace_range(offset(edit.range.start)..offset(edit.range.end), &edit.new_text);
    }
    out
}

fn code(diagnostic: &Diagnostic) -> &str {
    match &diagnostic.code {
        Some(NumberOrString::String(code)) => code,
        other => panic!("{other:?}"),
    }
}

/// Fires `gpu-limit-missing` at the quantity, and nothing else.
const GUILTY: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: main
      image: registry.example/trainer:1
      resources:
        requests: {cpu: 1, nvidia.com/gpu: 1}
";

fn mended() -> String {
    GUILTY.replace("requests: {cpu: 1, nvidia.com/gpu: 1}", "limits: {nvidia.com/gpu: 1}")
}

#[test]
fn a_finding_comes_as_it_is_typed_says_why_and_goes_when_it_is_mended() {
    let root = directory(&[("pod.yaml", &mended())]);
    let pod = root.path().join("pod.yaml");
    let (mut editor, server) = Editor::new(root.path(), &["utf-16", "utf-8"]);
    assert_eq!(server.capabilities.position_encoding, Some(PositionEncodingKind::UTF8));
    editor.open(&pod, GUILTY);
    let [found] = &editor.published(&pod)[..] else { panic!("one finding") };
    assert_eq!((code(found), found.severity), ("gpu-limit-missing", Some(DiagnosticSeverity::ERROR)));
    let page = found.code_description.as_ref().expect("a page").href.as_str();
    assert_eq!(page, "https://gpulint.github.io/rules/gpu-limit-missing/");
    assert!(found.message.contains("help: "), "{}", found.message);
    let line = GUILTY.lines().nth(found.range.start.line as usize).expect("a line of the file");
    assert_eq!(&line[found.range.start.character as usize..found.range.end.character as usize], "1");

    let position = json!({"textDocument": {"uri": uri(&pod)}, "position": found.range.start});
    let hover: Hover = serde_json::from_value(editor.ask("textDocument/hover", position)).expect("a hover");
    let HoverContents::Markup(page) = hover.contents else { panic!("{:?}", hover.contents) };
    assert!(page.value.contains("gpu-limit-missing") && page.value.contains("References:"), "{}", page.value);
    let elsewhere = json!({"textDocument": {"uri": uri(&pod)}, "position": {"line": 0, "character": 0}});
    assert_eq!(editor.ask("textDocument/hover", elsewhere), Value::Null);

    editor.edit(&pod, &mended());
    assert_eq!(editor.published(&pod), []);
    editor.edit(&pod, GUILTY);
    assert_eq!(editor.published(&pod).len(), 1);
    // The file itself is clean.
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri(&pod)}}));
    assert_eq!(editor.published(&pod), []);
    editor.leave();
}

#[test]
fn a_comment_that_is_offered_waives_the_finding() {
    let root = directory(&[]);
    let (mut editor, _) = Editor::new(root.path(), &["utf-8"]);
    for (name, text) in [("pod.yaml", GUILTY.to_owned()), ("crlf.yaml", GUILTY.replace('\n', "\r\n"))] {
        let file = root.path().join(name);
        editor.open(&file, &text);
        let found = editor.published(&file);
        let offered = editor.offered(&file, found[0].range);
        let [(title, changes)] = &offered[..] else { panic!("{offered:?}") };
        assert_eq!(title, "Ignore gpu-limit-missing on this line");
        let [(changed, edits)] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!(changed.as_str(), uri(&file));
        let waived = edited(&text, edits);
        assert!(waived.contains("        # gpulint: ignore[gpu-limit-missing] reason=\"\""), "{waived}");
        assert_eq!(waived.contains("\r\n"), waived.matches('\n').count() == waived.matches("\r\n").count());
        editor.edit(&file, &waived);
        assert_eq!(editor.published(&file), []);
    }
    editor.leave();
}

/// A script in a manifest: a comment there is a part of it.
const SCRIPTED: &str = "\
# what serves
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: vllm/vllm-openai:v0.6.0
      command: [sh, -c]
      args:
        - |
          vllm serve Qwen/Qwen2.5-7B-Instruct --tensor-parallel-size 3
      resources: {limits: {nvidia.com/gpu: 2}}
";

#[test]
fn where_a_line_takes_no_comment_one_for_the_file_is_offered_and_none_in_json() {
    let root = directory(&[]);
    let (mut editor, _) = Editor::new(root.path(), &["utf-8"]);
    let script = root.path().join("script.yaml");
    editor.open(&script, SCRIPTED);
    let found = editor.published(&script);
    let found = found.iter().find(|found| code(found) == "tensor-parallel-exceeds-gpus").expect("it is found");
    let offered = editor.offered(&script, found.range);
    let of_rule = |(title, _): &&(String, _)| title == "Ignore tensor-parallel-exceeds-gpus in this file";
    let (_, changes) = offered.iter().find(of_rule).unwrap_or_else(|| panic!("{offered:?}"));
    let comment = "# gpulint: ignore-file[tensor-parallel-exceeds-gpus] reason=\"\"\napiVersion";
    assert_eq!(edited(SCRIPTED, &changes[0].1), SCRIPTED.replace("apiVersion", comment));
    let json = root.path().join("pod.json");
    editor.open(
        &json,
        "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\"containers\": [{\"name\": \"a\", \
         \"image\": \"a.example/a:1\", \"resources\": {\"requests\": {\"nvidia.com/gpu\": 1}}}]}}\n",
    );
    let found = editor.published(&json);
    assert_eq!(code(&found[0]), "gpu-limit-missing");
    assert_eq!(editor.offered(&json, found[0].range), []);
    editor.leave();
}

/// A pod, and a pool whose taint it does not tolerate.
const POD: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeSelector: {tier: gpu}
  containers:
    - name: main
      image: registry.example/trainer:1
      resources: {limits: {nvidia.com/gpu: 1}}
";

const POOL: &str = "\
resource \"google_container_node_pool\" \"gpu\" {
  name    = \"gpu\"
  cluster = \"c\"
  node_config {
    machine_type = \"a2-highgpu-1g\"
    labels       = { tier = \"gpu\" }
    guest_accelerator {
      type  = \"nvidia-tesla-a100\"
      count = 1
    }
    taint {
      key    = \"dedicated\"
      value  = \"ml\"
      effect = \"NO_SCHEDULE\"
    }
  }
}
";

#[test]
fn an_edit_of_one_file_changes_what_is_found_in_another() {
    let untainted: String = {
        let (before, rest) = POOL.split_once("    taint {").expect("a taint");
        let (_, after) = rest.split_once("    }\n").expect("its end");
        [before, after].concat()
    };
    let root = directory(&[("k8s/pod.yaml", POD), ("infra/pool.tf", &untainted)]);
    let (pod, pool) = (root.path().join("k8s/pod.yaml"), root.path().join("infra/pool.tf"));
    let (mut editor, _) = Editor::new(root.path(), &["utf-8"]);
    editor.open(&pool, POOL);
    // Files without a finding that are open are told of, too.
    let mut told = std::collections::BTreeMap::new();
    while !told.contains_key(&uri(&pod)) {
        let params = editor.heard("textDocument/publishDiagnostics");
        let params: PublishDiagnosticsParams = serde_json::from_value(params).expect("diagnostics");
        told.insert(params.uri.as_str().to_owned(), params.diagnostics);
    }
    let found = &told[&uri(&pod)];
    let taint = found.iter().find(|found| code(found) == "taint-not-tolerated").expect("the taint");
    let related = taint.related_information.as_deref().expect("the other half");
    let half =
        related.iter().find(|half| half.location.uri.as_str() == uri(&pool)).expect("it stands in the other file");
    let line = POOL.lines().nth(half.location.range.start.line as usize).expect("a line");
    assert!(["dedicated", "taint"].iter().any(|word| line.contains(word)), "{line}");
    editor.edit(&pool, &untainted);
    while told[&uri(&pod)].iter().any(|found| code(found) == "taint-not-tolerated") {
        let params = editor.heard("textDocument/publishDiagnostics");
        let params: PublishDiagnosticsParams = serde_json::from_value(params).expect("diagnostics");
        told.insert(params.uri.as_str().to_owned(), params.diagnostics);
    }
    editor.leave();
}

#[test]
fn columns_count_what_was_agreed_on() {
    let (before, _) = GUILTY.split_once("    - name").expect("a container");
    let text =
        format!("{before}    - {{name: é𝄞, image: a.example/a:1, resources: {{requests: {{nvidia.com/gpu: 1}}}}}}\n");
    let column = |encodings: &[&str]| {
        let root = directory(&[("pod.yaml", &text)]);
        let (mut editor, server) = Editor::new(root.path(), encodings);
        let found = editor.published(&root.path().join("pod.yaml"));
        let at = found.iter().find(|found| code(found) == "gpu-limit-missing").expect("it is found").range.start;
        editor.leave();
        (server.capabilities.position_encoding.expect("it is said").as_str().to_owned(), at.character as usize)
    };
    let line = text.lines().nth(6).expect("the line");
    let before = &line[..line.rfind('1').expect("the quantity")];
    assert_eq!(column(&["utf-8", "utf-16"]), ("utf-8".to_owned(), before.len()));
    assert_eq!(column(&["utf-16"]), ("utf-16".to_owned(), before.encode_utf16().count()));
    assert_eq!(column(&[]), ("utf-16".to_owned(), before.encode_utf16().count()));
}

#[test]
fn what_changes_outside_of_the_editor_is_linted_too() {
    let root = directory(&[("pod.yaml", GUILTY)]);
    let (pod, settings) = (root.path().join("pod.yaml"), root.path().join(".gpulint.yaml"));
    let (mut editor, _) = Editor::new(root.path(), &["utf-8"]);
    let watched = editor.heard("client/registerCapability");
    assert_eq!(watched["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    assert_eq!(editor.published(&pod).len(), 1);
    editor.saved_elsewhere(&settings, "rules: {gpu-limit-missing: info}\n");
    assert_eq!(editor.published(&pod)[0].severity, Some(DiagnosticSeverity::INFORMATION));
    // A configuration that cannot be used is told; what was found before stays.
    editor.saved_elsewhere(&settings, "rules: {gpu-limit-mising: info}\n");
    let told = editor.heard("window/showMessage");
    assert!(told["message"].as_str().expect("a text").contains("did you mean `gpu-limit-missing`"), "{told}");
    editor.saved_elsewhere(&settings, "rules: {gpu-limit-missing: off}\n");
    assert_eq!(editor.published(&pod), []);
    editor.saved_elsewhere(&settings, "");
    assert_eq!(editor.published(&pod)[0].severity, Some(DiagnosticSeverity::ERROR));
    editor.saved_elsewhere(&pod, &mended());
    assert_eq!(editor.published(&pod), []);
    editor.saved_elsewhere(&pod, &format!("# gpulint: ignore-file[gpu-limit-missing] reason=\"x\"\n{}", mended()));
    let found = editor.published(&pod);
    assert_eq!((code(&found[0]), &found[0].tags), ("unused-suppression", &Some(vec![DiagnosticTag::UNNECESSARY])));
    editor.leave();
}

#[test]
fn folders_come_and_go_and_a_file_in_none_is_linted_by_itself() {
    let (one, other) = (directory(&[]), directory(&[("pod.yaml", GUILTY)]));
    let pod = other.path().join("pod.yaml");
    let (mut editor, _) = Editor::new(one.path(), &["utf-8"]);
    let changed = |added: Value, removed: Value| json!({"event": {"added": added, "removed": removed}});
    let folder = json!([{"uri": uri(other.path()), "name": "other"}]);
    editor.tell("workspace/didChangeWorkspaceFolders", changed(folder.clone(), json!([])));
    assert_eq!(editor.published(&pod).len(), 1);
    editor.tell("workspace/didChangeWorkspaceFolders", changed(json!([]), folder));
    assert_eq!(editor.published(&pod), []);
    editor.open(&pod, GUILTY);
    assert_eq!(editor.published(&pod).len(), 1);
    let new = other.path().join("new.yaml");
    editor.open(&new, GUILTY);
    assert_eq!(editor.published(&new).len(), 1);
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri(&new)}}));
    assert_eq!(editor.published(&new), []);
    editor.leave();
}

#[test]
fn what_it_does_not_know_is_answered_and_ignored() {
    let root = directory(&[]);
    let (mut editor, _) = Editor::new(root.path(), &[]);
    let answer = editor.answered("textDocument/definition", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    editor.tell("$/setTrace", json!({"value": "off"}));
    editor.tell("textDocument/didChange", json!({"nonsense": true}));
    let document = json!({"uri": "untitled:Untitled-1", "languageId": "yaml", "version": 1, "text": GUILTY});
    editor.tell("textDocument/didOpen", json!({"textDocument": document}));
    let hover = json!({"textDocument": {"uri": "untitled:Untitled-1"}, "position": {"line": 9, "character": 44}});
    assert_eq!(editor.ask("textDocument/hover", hover), Value::Null);
    editor.leave();
}

/// A fix is offered with its own words and does what they say.
#[test]
fn the_fix_of_a_finding_is_offered() {
    let rule = "\
id: tag-floats
pack: acme
severity: warning
applies_to: container
forbid: \"image.tag == 'latest'\"
at: image.tag
message: \"{image.tag} is another image tomorrow\"
help: name a release
why: w
references: ['https://a.example']
fix: {at: image.tag, replace: '1.0', safe: true}
examples:
  - fires: {pod.yaml: 'x'}
";
    let text = mended().replace("trainer:1", "trainer:latest");
    let root = directory(&[(".gpulint.yaml", "packs: [acme]\n"), ("acme/tag-floats.yaml", rule)]);
    let pod = root.path().join("pod.yaml");
    let (mut editor, _) = Editor::new(root.path(), &["utf-8"]);
    editor.open(&pod, &text);
    let found = editor.published(&pod);
    let found = found.iter().find(|found| code(found) == "tag-floats").expect("the rule fires");
    let offered = editor.offered(&pod, found.range);
    let (_, changes) = &offered[0];
    assert_eq!(edited(&text, &changes[0].1), text.replace("latest", "1.0"));
    editor.leave();
}
