//! The language server: messages of an editor in, findings out as diagnostics, with the pages of their rules and the changes
//! that mend or waive them. Knows the protocol and findings; knows neither rules nor how files are found and linted.

mod actions;
mod messages;
mod place;

use crate::discover::{Unsaved, kind_of};
use crate::finding::Finding;
use crate::source::{SourceId, Sources, Units};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What lints for an editor.
pub trait Linter {
    /// Says everything in the language of a locale, if it can.
    fn speak(&mut self, locale: &str);

    /// Lints a folder, or a file that lies in none, with texts in the place of what stands in files; `about` names the files
    /// that rules are asked about, if not all of them.
    ///
    /// # Errors
    /// What keeps gpulint from its work.
    fn lint(&mut self, target: &Path, unsaved: &Unsaved, about: Option<&BTreeSet<PathBuf>>) -> Result<Linted, String>;

    /// Forgets configurations and packs: they may have changed.
    fn forget(&mut self);

    /// The page of a rule, in Markdown.
    fn page(&self, rule: &str) -> Option<String>;
}

/// What is to be shown of a folder.
#[derive(Debug, Default)]
pub struct Linted {
    /// Findings.
    pub findings: Vec<Finding>,
    /// What they point into.
    pub sources: Sources,
    /// The directory that paths of sources start from.
    pub root: PathBuf,
}

impl Linted {
    /// The file that a source was read from: of what stands in an archive, the archive.
    fn file(&self, source: SourceId) -> PathBuf {
        self.root.join(&self.sources.get(source).path)
    }
}

/// An edit is followed by others: so long after the last one files are linted, and at most so long after the first one.
const PAUSE: Duration = Duration::from_millis(30);
const LONGEST_PAUSE: Duration = Duration::from_millis(300);
/// So long after the last edit everything is asked about again, not only what was edited.
const REST: Duration = Duration::from_millis(500);

/// Serves an editor until it takes its leave.
///
/// # Errors
/// The editor breaks the protocol or goes away without a word.
pub fn serve(connection: &Connection, linter: &mut dyn Linter) -> Result<(), String> {
    let (id, asked) = connection.initialize_start().map_err(|error| error.to_string())?;
    asked["locale"].as_str().into_iter().for_each(|locale| linter.speak(locale));
    let encodings = asked.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
    let bytes = encodings.is_some_and(|encodings| encodings.iter().any(|encoding| encoding == "utf-8"));
    let answer = json!({
        "capabilities": {
            "positionEncoding": if bytes { "utf-8" } else { "utf-16" },
            "textDocumentSync": {"openClose": true, "change": 1, "save": true},
            "hoverProvider": true,
            "codeActionProvider": {"codeActionKinds": ["quickfix"]},
            "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
        },
        "serverInfo": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, answer).map_err(|error| error.to_string())?;
    let mut server = Server {
        connection,
        linter,
        units: if bytes { Units::Bytes } else { Units::Utf16 },
        folders: folders(&asked),
        open: BTreeMap::new(),
        found: BTreeMap::new(),
        published: BTreeMap::new(),
        changed: BTreeSet::new(),
        stale: BTreeMap::new(),
        due: None,
        rest: BTreeSet::new(),
        rest_due: None,
    };
    let watches = "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration";
    if asked.pointer(watches).is_some_and(|watches| watches == true) {
        server.watch();
    }
    for folder in server.targets() {
        server.lint_soon(folder);
    }
    server.run()
}

/// The folders that the editor has open.
fn folders(asked: &Value) -> Vec<PathBuf> {
    let folders = asked["workspaceFolders"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut paths: Vec<PathBuf> = folders.iter().filter_map(|folder| path(&folder["uri"])).collect();
    if folders.is_empty() {
        paths.extend(path(&asked["rootUri"]));
    }
    paths
}

/// The file at an address.
fn path(address: &Value) -> Option<PathBuf> {
    place::path(address.as_str()?)
}

/// The file that a message is about.
fn document(params: &Value) -> Option<PathBuf> {
    path(&params["textDocument"]["uri"])
}

/// A file that is open in the editor.
struct Document {
    /// As the editor writes its address.
    address: String,
    version: Value,
    text: Arc<str>,
}

struct Server<'s> {
    connection: &'s Connection,
    linter: &'s mut dyn Linter,
    units: Units,
    folders: Vec<PathBuf>,
    open: BTreeMap<PathBuf, Document>,
    /// What is known of each target.
    found: BTreeMap<PathBuf, Known>,
    /// The diagnostics that the editor knows.
    published: BTreeMap<PathBuf, Vec<Value>>,
    /// Open files whose text has changed since.
    changed: BTreeSet<PathBuf>,
    /// Targets to lint, and whether all that happened there is that open files were edited.
    stale: BTreeMap<PathBuf, bool>,
    /// When they are linted, and when they are whatever comes in between.
    due: Option<(Instant, Instant)>,
    /// Targets of which only what was edited was asked about since.
    rest: BTreeSet<PathBuf>,
    /// When the rest of them is.
    rest_due: Option<Instant>,
}

/// What was found in a target: by the last run about all of it, and since then about files that were edited.
#[derive(Default)]
struct Known {
    whole: Linted,
    edited: BTreeSet<PathBuf>,
    newer: Linted,
}

impl Known {
    /// Findings, with what they point into.
    fn findings(&self) -> impl Iterator<Item = (&Linted, &Finding)> {
        self.of(&self.whole, false).chain(self.of(&self.newer, true))
    }

    /// Those of a run that are of files that were edited, or of the others.
    fn of<'k>(&'k self, linted: &'k Linted, edited: bool) -> impl Iterator<Item = (&'k Linted, &'k Finding)> {
        let here =
            move |(_, finding): &(&Linted, &Finding)| self.edited.contains(&linted.file(finding.span.source)) == edited;
        linted.findings.iter().map(move |finding| (linted, finding)).filter(here)
    }

    /// Files, with those that what was found in them speaks of.
    fn joined(&self, files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let linted = &self.whole;
        let here = linted.findings.iter().filter(|finding| files.contains(&linted.file(finding.span.source)));
        let there = here.flat_map(|finding| finding.related.iter().map(|label| linted.file(label.span.source)));
        files.iter().cloned().chain(there).collect()
    }
}

impl Server<'_> {
    /// Answers one message after another; lints when none has come for a while.
    fn run(&mut self) -> Result<(), String> {
        let receiver = &self.connection.receiver;
        let mut leaving = false;
        loop {
            let due = self.due.map(|(due, latest)| due.min(latest)).or(self.rest_due);
            let message = match due {
                None => receiver.recv().map_err(|_| "the editor has gone".to_owned())?,
                Some(due) => match receiver.recv_deadline(due) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        match self.due {
                            Some(_) => self.settle(),
                            None => self.settle_rest(),
                        }
                        continue;
                    }
                    Err(_) => return Err("the editor has gone".to_owned()),
                },
            };
            match message {
                Message::Notification(told) if told.method == "exit" => {
                    return if leaving { Ok(()) } else { Err("the editor left without a word".to_owned()) };
                }
                Message::Notification(told) => self.notified(&told),
                Message::Request(asked) => {
                    leaving |= asked.method == "shutdown";
                    let answer = self.answer(asked);
                    self.send(answer);
                }
                Message::Response(_) => {}
            }
        }
    }

    /// There is nobody to tell when an editor has gone: then nothing more is received, either.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }

    fn tell(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Asks to be told of files that change outside of the editor.
    fn watch(&self) {
        let options = json!({"watchers": [{"globPattern": "**/*"}]});
        let method = "workspace/didChangeWatchedFiles";
        let params = json!({"registrations": [{"id": "files", "method": method, "registerOptions": options}]});
        let id = RequestId::from("watch".to_owned());
        self.send(Request { id, method: "client/registerCapability".to_owned(), params });
    }

    fn notified(&mut self, told: &Notification) {
        let params = &told.params;
        match told.method.as_str() {
            "textDocument/didOpen" | "textDocument/didChange" => self.take_text(params),
            "textDocument/didSave" => document(params).into_iter().for_each(|path| self.saved(&path)),
            "textDocument/didClose" => {
                let Some(path) = document(params).filter(|path| self.open.remove(path).is_some()) else { return };
                self.changed.remove(&path);
                self.lint_soon(self.target(&path));
            }
            "workspace/didChangeWatchedFiles" => {
                let changes = params["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
                changes.iter().filter_map(|change| path(&change["uri"])).for_each(|path| self.saved(&path));
            }
            "workspace/didChangeWorkspaceFolders" => {
                let listed = |key: &str| {
                    let folders = params["event"][key].as_array().map(Vec::as_slice).unwrap_or_default();
                    folders.iter().filter_map(|folder| path(&folder["uri"])).collect::<Vec<_>>()
                };
                let removed = listed("removed");
                self.folders.retain(|folder| !removed.contains(folder));
                self.folders.extend(listed("added"));
                self.targets().into_iter().for_each(|target| self.lint_soon(target));
            }
            _ => {}
        }
    }

    /// Takes the text of a file that was opened or edited.
    fn take_text(&mut self, params: &Value) {
        let Some(path) = document(params).filter(|path| self.concerns(path)) else { return };
        let document = &params["textDocument"];
        // Whole texts are what was agreed on.
        let edited = params["contentChanges"].as_array().and_then(|changes| changes.last());
        let Some(text) = edited.unwrap_or(document)["text"].as_str() else { return };
        let address = document["uri"].as_str().unwrap_or_default().to_owned();
        let document = Document { address, version: document["version"].clone(), text: text.into() };
        self.open.insert(path.clone(), document);
        let target = self.target(&path);
        // What else there is to lint stays so.
        let only_edited = self.stale.get(&target).is_none_or(|only_edited| *only_edited);
        self.lint_soon(target.clone());
        self.stale.insert(target, only_edited);
        self.changed.insert(path);
    }

    /// Takes note of what stands in a file now, or of a directory that went.
    fn saved(&mut self, path: &Path) {
        // What settings and ignore files are called begins with a dot.
        if self.concerns(path) || path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            self.linter.forget();
            self.lint_soon(self.target(path));
        }
    }

    /// Whether a file is linted by its name, or was read for what others name it, as was something below a directory.
    fn concerns(&self, path: &Path) -> bool {
        let read = |Known { whole, .. }: &Known| whole.sources.iter().any(|(id, _)| whole.file(id).starts_with(path));
        path.to_str().is_some_and(|path| kind_of(path).is_some())
            || self.found.get(&self.target(path)).is_some_and(read)
    }

    /// What is linted: the folders, without those in others, and open files that lie in none.
    fn targets(&self) -> BTreeSet<PathBuf> {
        let all: BTreeSet<&PathBuf> = self.folders.iter().chain(self.open.keys()).collect();
        let below = |path: &Path| path.ancestors().skip(1).any(|above| self.folders.iter().any(|f| f == above));
        all.into_iter().filter(|path| !below(path)).cloned().collect()
    }

    /// The target that a file belongs to.
    fn target(&self, path: &Path) -> PathBuf {
        let outermost = path.ancestors().filter(|above| self.folders.iter().any(|folder| folder == above)).last();
        outermost.unwrap_or(path).to_owned()
    }

    fn lint_soon(&mut self, target: PathBuf) {
        let now = Instant::now();
        let latest = self.due.map_or(now + LONGEST_PAUSE, |(_, latest)| latest);
        self.due = Some((now + PAUSE, latest));
        self.stale.insert(target, false);
    }

    /// Lints what is stale and publishes what it changes. Where files were edited, only they are asked about at first.
    fn settle(&mut self) {
        if self.due.take().is_none() {
            return;
        }
        let (stale, targets) = (std::mem::take(&mut self.stale), self.targets());
        self.found.retain(|target, _| targets.contains(target));
        self.rest.retain(|target| targets.contains(target));
        for (target, only_edited) in stale.into_iter().filter(|(target, _)| targets.contains(target)) {
            let known = self.found.get(&target).filter(|_| only_edited);
            let edited = known.map(|known| {
                let here = self.changed.iter().filter(|path| self.target(path) == target);
                known.edited.iter().chain(here).cloned().collect::<BTreeSet<PathBuf>>()
            });
            match edited {
                Some(edited) => {
                    let about = known.map(|known| known.joined(&edited));
                    let newer = self.lint(&target, &self.unsaved(), about.as_ref());
                    self.take(&target, newer, |known, newer| (known.edited, known.newer) = (edited, newer));
                    self.rest.insert(target);
                    self.rest_due = Some(Instant::now() + REST);
                }
                None => self.lint_whole(&target),
            }
        }
        self.publish();
    }

    /// Lints the rest of what was asked about in part.
    fn settle_rest(&mut self) {
        self.settle();
        self.rest_due = None;
        for target in std::mem::take(&mut self.rest) {
            self.lint_whole(&target);
        }
        self.publish();
    }

    fn lint_whole(&mut self, target: &Path) {
        self.rest.remove(target);
        let whole = self.lint(target, &self.unsaved(), None);
        self.take(target, whole, |known, whole| *known = Known { whole, ..Known::default() });
    }

    /// Takes over what was found, or tells why nothing was.
    fn take(&mut self, target: &Path, found: Result<Linted, String>, keep: impl FnOnce(&mut Known, Linted)) {
        match found {
            Ok(linted) => keep(self.found.entry(target.to_owned()).or_default(), linted),
            Err(message) => {
                self.tell("window/showMessage", json!({"type": 1, "message": format!("gpulint: {message}")}))
            }
        }
    }

    /// Texts as the editor has them.
    fn unsaved(&self) -> Unsaved {
        self.open.iter().map(|(path, document)| (path.clone(), document.text.clone())).collect()
    }

    /// Lints a target. A panic is told like anything else that keeps gpulint from its work.
    fn lint(&mut self, target: &Path, unsaved: &Unsaved, about: Option<&BTreeSet<PathBuf>>) -> Result<Linted, String> {
        catch_unwind(AssertUnwindSafe(|| self.linter.lint(target, unsaved, about)))
            .unwrap_or_else(|_| Err(format!("an internal error on {}, please report it", target.display())))
    }

    /// Tells the editor what it does not know yet.
    fn publish(&mut self) {
        let forgotten = self.published.keys().chain(&self.changed).map(|path| (path.clone(), Vec::new()));
        let mut all: BTreeMap<PathBuf, Vec<Value>> = forgotten.collect();
        for (linted, finding) in self.found.values().flat_map(Known::findings) {
            let diagnostics = all.entry(linted.file(finding.span.source)).or_default();
            diagnostics.push(messages::diagnostic(finding, linted, self.units));
        }
        let known = |path: &PathBuf| self.published.get(path).map(Vec::as_slice).unwrap_or_default();
        for (path, diagnostics) in &all {
            if self.changed.contains(path) || known(path) != diagnostics {
                let mut params = json!({"uri": self.address(path), "diagnostics": diagnostics});
                if let Some(document) = self.open.get(path) {
                    params["version"] = document.version.clone();
                }
                self.tell("textDocument/publishDiagnostics", params);
            }
        }
        all.retain(|_, diagnostics| !diagnostics.is_empty());
        self.published = all;
        self.changed.clear();
    }

    /// The address of a file, as the editor writes it.
    fn address(&self, path: &Path) -> String {
        self.open.get(path).map_or_else(|| place::address(path), |document| document.address.clone())
    }

    /// Answers a request, about texts as they are now.
    fn answer(&mut self, asked: Request) -> Response {
        let Request { id, method, params } = asked;
        let answered = catch_unwind(AssertUnwindSafe(|| {
            self.settle();
            match method.as_str() {
                "shutdown" => Some(Value::Null),
                "textDocument/hover" => Some(self.hover(&params)),
                "textDocument/codeAction" => Some(self.actions(&params)),
                _ => None,
            }
        }));
        let failed =
            |code: ErrorCode, why: &str| Response::new_err(id.clone(), code as i32, format!("{method}: {why}"));
        match answered {
            Ok(Some(answer)) => Response::new_ok(id, answer),
            Ok(None) => failed(ErrorCode::MethodNotFound, "not known"),
            Err(_) => failed(ErrorCode::InternalError, "an internal error, please report it"),
        }
    }

    /// The pages of the rules that find something at a place.
    fn hover(&self, params: &Value) -> Value {
        let position = &params["position"];
        let found = self.at(params, &json!({"start": position, "end": position}));
        let Some((linted, first)) = found.first() else { return Value::Null };
        let mut rules: Vec<&str> = found.iter().map(|(_, finding)| finding.rule.as_str()).collect();
        rules.dedup();
        let pages: Vec<String> = rules.into_iter().filter_map(|rule| self.linter.page(rule)).collect();
        json!({
            "contents": {"kind": "markdown", "value": pages.join("\n\n---\n\n")},
            "range": place::range(linted.sources.get(first.span.source), first.span, self.units),
        })
    }

    /// What is found in a range of a file.
    fn at(&self, params: &Value, range: &Value) -> Vec<(&Linted, &Finding)> {
        let Some(path) = document(params) else { return Vec::new() };
        let touches = |(linted, finding): &(&Linted, &Finding)| {
            let source = linted.sources.get(finding.span.source);
            let [start, end] = ["start", "end"].map(|end| place::offset(source, &range[end], self.units));
            linted.file(finding.span.source) == path && finding.span.start <= end && start <= finding.span.end
        };
        self.found.get(&self.target(&path)).into_iter().flat_map(Known::findings).filter(touches).collect()
    }
}

#[cfg(test)]
mod tests;
