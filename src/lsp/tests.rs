//! What editors cannot bring about from outside: gpulint fails.

use super::*;
use crate::finding::Severity;
use crate::source::{Source, Span};

/// Finds one thing in every file that is open, and fails on some texts.
struct Fragile;

impl Linter for Fragile {
    fn lint(&mut self, target: &Path, unsaved: &Unsaved, _: Option<&BTreeSet<PathBuf>>) -> Result<Linted, String> {
        let text = unsaved.values().next().ok_or("nothing is open")?;
        assert_ne!(&**text, "panic");
        let span = Span::new(SourceId(0), 0..1);
        let sources = Sources::new(vec![Source::new("a.yaml", text.clone())]);
        let findings = vec![Finding::own("syntax-error", Severity::Error, span, text.to_string())];
        Ok(Linted { findings, sources, root: target.to_owned() })
    }

    fn speak(&mut self, _: &str) {}

    fn forget(&mut self) {}

    fn page(&self, _: &str) -> Option<String> {
        panic!("no page")
    }
}

/// Notes which files each run asks about.
#[derive(Default)]
struct Notes(Vec<Option<BTreeSet<PathBuf>>>);

impl Linter for Notes {
    fn lint(&mut self, _: &Path, _: &Unsaved, about: Option<&BTreeSet<PathBuf>>) -> Result<Linted, String> {
        self.0.push(about.cloned());
        Ok(Linted::default())
    }

    fn speak(&mut self, _: &str) {}

    fn forget(&mut self) {}

    fn page(&self, _: &str) -> Option<String> {
        None
    }
}

/// What a server says to an editor that sends these messages and leaves.
fn said(messages: Vec<Message>) -> Vec<Message> {
    said_by(&mut Fragile, messages)
}

fn said_by(linter: &mut dyn Linter, messages: Vec<Message>) -> Vec<Message> {
    let (server, editor) = Connection::memory();
    let asks = |id: i32, method: &str, params: Value| Request::new(id.into(), method.to_owned(), params).into();
    let tells = |method: &str| Notification::new(method.to_owned(), json!({})).into();
    let folders = json!({"rootUri": "file:///it", "capabilities": {}});
    let before = [asks(0, "initialize", folders), tells("initialized")];
    let after = [asks(99, "shutdown", Value::Null), tells("exit")];
    for message in before.into_iter().chain(messages).chain(after) {
        editor.sender.send(message).expect("the server listens");
    }
    assert_eq!(serve(&server, linter), Ok(()));
    drop(server);
    editor.receiver.iter().skip(1).collect()
}

fn edit(version: i32, text: &str) -> Message {
    let document = json!({"uri": "file:///it/a.yaml", "version": version});
    let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
    Notification::new("textDocument/didChange".to_owned(), params).into()
}

fn hover(id: i32) -> Message {
    let position = json!({"line": 0, "character": 0});
    let params = json!({"textDocument": {"uri": "file:///it/a.yaml"}, "position": position});
    Request::new(id.into(), "textDocument/hover".to_owned(), params).into()
}

#[test]
fn a_run_that_fails_is_told_and_the_next_one_is_done_all_the_same() {
    let said = said(vec![edit(1, "one"), hover(1), edit(2, "panic"), hover(2), edit(3, "three"), hover(3)]);
    let told = |message: &Message| match message {
        Message::Notification(told) => Some((told.method.clone(), told.params.clone())),
        _ => None,
    };
    let told: Vec<(String, Value)> = said.iter().filter_map(told).collect();
    let published = |version: i32| {
        let of_version = |(_, params): &&(String, Value)| params["version"] == version;
        told.iter().find(of_version).map(|(_, params)| params["diagnostics"][0]["message"].clone())
    };
    assert_eq!(published(1), Some(json!("one")));
    assert!(told.iter().any(|(method, params)| method == "window/showMessage" && params["type"] == 1));
    assert_eq!(published(3), Some(json!("three")));
}

#[test]
fn a_request_that_fails_is_answered_with_an_error() {
    let said = said(vec![edit(1, "one"), hover(1)]);
    let failed = |message: &Message| matches!(message, Message::Response(answer) if answer.response_result.is_err());
    assert_eq!(said.iter().filter(|message| failed(message)).count(), 1);
    assert!(matches!(said.last(), Some(Message::Response(answer)) if answer.response_result.is_ok()), "it goes on");
}

#[test]
fn a_file_that_is_edited_is_asked_about_before_all_the_others() {
    let mut notes = Notes::default();
    said_by(&mut notes, vec![edit(1, "one"), hover(1), edit(2, "two"), hover(2), edit(3, "three"), hover(3)]);
    let edited = Some(BTreeSet::from([PathBuf::from("/it/a.yaml")]));
    assert_eq!(notes.0, [None, edited.clone(), edited]);
}
