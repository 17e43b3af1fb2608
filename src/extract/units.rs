//! Units of systemd: the commands of a service as what a script launches, with the environment that the unit states. Knows
//! the syntax of units and how a service starts; places nothing on machines. What stands in a drop-in (`x.service.d/*.conf`) is
//! read as a raw object alone: what its unit starts stands elsewhere.
//! <https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html>

use super::{TextFile, commands, embedded, install, quadlet, scripts};
use crate::budget::{NODE, Share};
use crate::facts::Facts;
use crate::parse::Problem;
use crate::parse::shell::{self, Arms, Command, Script};
use crate::parse::{Builder, Dialect, Entry, NodeKind};
use crate::source::{SourceId, Span, Traced};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Settings that say what is run before a service, and as it. What runs afterwards serves nobody.
const COMMANDS: [&str; 2] = ["ExecStart", "ExecStartPre"];

/// Signs before a program that say how it is run, and no part of its name.
const SIGNS: [char; 6] = ['-', '@', ':', '+', '!', '|'];

/// What stands for the part of a unit's name by which one is made of a template: no file says it.
const INSTANCE: [&str; 4] = ["%i", "%I", "%j", "%J"];

/// Reads a unit; one that starts nothing states nothing.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    match path.ends_with(".container") {
        true => quadlet::read(id, text, facts),
        false => unit(&Traced::verbatim(text, Span::new(id, 0..text.len()), 0), path, facts),
    }
}

/// Whether a text in another document is a unit, or a part of one, by its name.
pub fn is_file(at: &str) -> bool {
    at.ends_with(".service") || at.contains(".service.d/") && at.ends_with(".conf")
}

/// Reads a text in another document.
pub fn embedded(text: &Traced, at: &str, facts: &mut Facts) {
    let read = unit(text, at, facts);
    facts.cut.extend(read.cut);
}

fn unit(whole: &Traced, path: &str, facts: &mut Facts) -> TextFile {
    let text = whole.text();
    let (settings, comments) = settings(text, "[Service]");
    let mut script = Script::default();
    let mut set: BTreeMap<&str, Traced> = BTreeMap::new();
    for (_, value) in settings.iter().filter(|(key, _)| *key == "Environment") {
        if text[value.clone()].trim().is_empty() {
            set.clear();
        }
        set.extend(assignments(text, value).map(|(name, value)| (name, whole.slice(value))));
    }
    object(path, whole, &settings, &set, facts);
    let comments = comments.into_iter().map(|comment| whole.span(comment)).collect();
    if path.ends_with(".conf") {
        return TextFile { comments, ..TextFile::default() };
    }
    // An empty one takes back those before it.
    let is_empty = |(_, value): &Setting<'_>| text[value.clone()].trim().is_empty();
    let last_empty = COMMANDS.map(|key| settings.iter().rposition(|setting| setting.0 == key && is_empty(setting)));
    let share = Share::least(text.len());
    let mut cut = None;
    for (number, (index, (key, value))) in (0..).zip(settings.iter().enumerate()) {
        let Some(which) = COMMANDS.iter().position(|command| command == key) else { continue };
        let stated = &text[value.clone()];
        if last_empty[which] >= Some(index) || INSTANCE.iter().any(|sign| stated.contains(sign)) {
            continue;
        }
        if let Err(spent) = share.make(set.len() * NODE) {
            let message = format!("commands from here on: {spent}");
            cut = Some(Problem { span: whole.span(value.clone()), message });
            break;
        }
        let start = value.start + stated.len() - stated.trim_start_matches(SIGNS).len();
        let one = shell::parse(&whole.slice(start..value.end)).resolved_within(&|name| set.get(name).cloned());
        // Each command has a process of its own.
        let arms = Arms::alone(number);
        let handed = set.iter().map(|(name, value)| (*name, value.clone()));
        script.commands.extend(Command::exporting(handed, whole.span(value.clone()), &arms));
        script.append(one, &arms);
    }
    facts.package_files.extend(install::of_script(&script, path).into_iter().map(Arc::new));
    commands::read(&script, facts);
    let read = scripts::read(&script, path, facts);
    TextFile { comments, cut: cut.or(read), ..TextFile::default() }
}

/// The settings of a service as a raw object: under each name the values in order that an empty one has not taken back, and
/// under `Environment` its variables.
fn object(path: &str, whole: &Traced, settings: &[Setting<'_>], set: &BTreeMap<&str, Traced>, facts: &mut Facts) {
    let text = whole.text();
    let mut values: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    for (key, value) in settings.iter().filter(|(key, _)| *key != "Environment") {
        let stated = values.entry(key).or_default();
        if text[value.clone()].trim().is_empty() {
            stated.clear();
        } else {
            stated.push(value.clone());
        }
    }
    let mut builder = Builder::new(whole.whole().source, Dialect::Core);
    let name = |builder: &mut Builder, key: &str, place: Span| {
        builder.add(NodeKind::Scalar { text: Traced::opaque(key, place), plain: false }, place)
    };
    let mut entries: Vec<Entry> = Vec::new();
    for (key, values) in values.into_iter().filter(|(_, values)| !values.is_empty()) {
        let place = whole.span(values[0].clone());
        let scalars = values.into_iter().map(|value| {
            let text = whole.slice(value.clone());
            builder.add(NodeKind::Scalar { text, plain: false }, whole.span(value))
        });
        let scalars = scalars.collect();
        let value = builder.add(NodeKind::Seq(scalars), place);
        entries.push(Entry { key: name(&mut builder, key, place), value });
    }
    let mut variables: Vec<Entry> = Vec::new();
    for (key, value) in set {
        let place = value.whole();
        let scalar = builder.add(NodeKind::Scalar { text: value.clone(), plain: false }, place);
        variables.push(Entry { key: name(&mut builder, key, place), value: scalar });
    }
    let whole = whole.span(0..text.trim_end().len());
    if !variables.is_empty() {
        let value = builder.add(NodeKind::Map(variables), whole);
        entries.push(Entry { key: name(&mut builder, "Environment", whole), value });
    }
    if entries.is_empty() {
        return;
    }
    let root = builder.add(NodeKind::Map(entries), whole);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    for root in tree.roots() {
        facts.objects.push(Arc::new(embedded::object(&tree, root, "SystemdUnit", path)));
    }
}

/// A setting of a unit: its name, and where its value stands.
type Setting<'t> = (&'t str, Range<usize>);

/// The settings of a section, lines that are continued included, and the comments of the unit.
pub fn settings<'t>(text: &'t str, section: &str) -> (Vec<Setting<'t>>, Vec<Range<usize>>) {
    let mut out: Vec<Setting<'_>> = Vec::new();
    let mut comments = Vec::new();
    let (mut offset, mut inside, mut continued) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (offset, offset + line.trim_end().len());
        offset += line.len();
        let stated = line.trim();
        if stated.starts_with(['#', ';']) {
            comments.push(start + line.len() - line.trim_start().len()..end);
            continue;
        }
        if continued {
            if let Some((_, value)) = out.last_mut().filter(|_| inside) {
                value.end = end;
            }
        } else if stated.starts_with('[') {
            inside = stated == section;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside) {
            let from = start + key.len() + 1 + value.len() - value.trim_start_matches([' ', '\t']).len();
            out.push((key.trim(), from.min(end)..end));
        }
        continued = stated.ends_with('\\');
    }
    (out, comments)
}

/// The assignments of a setting, separated by blanks, each maybe in quotes: the name, and where the value stands.
pub fn assignments<'t>(text: &'t str, setting: &Range<usize>) -> impl Iterator<Item = Setting<'t>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let (mut quote, mut from) = (None, None);
    for (at, sign) in text[setting.clone()].char_indices().map(|(at, sign)| (setting.start + at, sign)) {
        match (quote, from) {
            (Some(open), Some(start)) if sign == open => {
                words.push(start..at);
                (quote, from) = (None, None);
            }
            (Some(_), _) => {}
            (None, None) if sign == '"' || sign == '\'' => (quote, from) = (Some(sign), Some(at + 1)),
            (None, None) if !sign.is_whitespace() && sign != '\\' => from = Some(at),
            (None, Some(start)) if sign.is_whitespace() => {
                words.push(start..at);
                from = None;
            }
            (None, _) => {}
        }
    }
    words.extend(from.filter(|_| quote.is_none()).map(|start| start..setting.end));
    words.into_iter().filter_map(|word| {
        let (name, value) = text[word.clone()].split_once('=')?;
        let quotes = |value: &str| value.len() - value.trim_start_matches(['"', '\'']).len();
        let start = word.start + name.len() + 1 + quotes(value);
        let end = word.end - (value.len() - value.trim_end_matches(['"', '\'']).len());
        let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        named.then(|| (name, start.min(end)..end.max(start.min(end))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(text: &str) -> Facts {
        let mut facts = Facts::default();
        read(SourceId(0), "llm.service", text, &mut facts);
        facts
    }

    #[test]
    fn a_service_launches_what_it_starts_with_its_environment() {
        let text = "[Unit]\nDescription=vllm serve other\n\n[Service]\n# the model\nEnvironment=HF_HOME=/srv/hf \"CUDA_VISIBLE_DEVICES=0,1\"\n\
                    ExecStartPre=-/bin/mkdir -p /srv/hf\nExecStart=/opt/vllm/bin/vllm serve org/model \\\n    --port 8001 \\\n    --max-model-len 4096\n\
                    Restart=always\n\n[Install]\nWantedBy=multi-user.target\n";
        let facts = launched(text);
        assert_eq!(facts.workloads.len(), 1);
        let container = &facts.workloads[0].pods[0].containers[0];
        let launch = container.launch.as_ref().expect("a launch");
        assert_eq!(launch.engine.get().map(String::as_str), Some("vllm"));
        assert_eq!(&text[launch.max_model_len.span.range()], "4096");
        assert_eq!(container.env["HF_HOME"].value.get().map(String::as_str), Some("/srv/hf"));
        assert_eq!(&text[container.env["CUDA_VISIBLE_DEVICES"].value.span.range()], "0,1");
    }

    #[test]
    fn a_drop_in_is_an_object_that_starts_nothing() {
        let mut facts = Facts::default();
        let text =
            "[Service]\nEnvironment=\"OLLAMA_MODELS=/home/a/models\"\nExecStart=\nExecStart=/usr/bin/ollama serve\n";
        read(SourceId(0), "ollama.service.d/models.conf", text, &mut facts);
        assert_eq!((facts.workloads.len(), facts.objects.len()), (0, 1));
        let body = facts.objects[0].body.as_ref().expect("a body").view();
        assert_eq!(body.path("Environment.OLLAMA_MODELS").string().get().map(String::as_str), Some("/home/a/models"));
        assert_eq!(body.get("ExecStart").items().count(), 1);
    }

    #[test]
    fn what_is_taken_back_or_made_of_a_template_is_not_read() {
        let serve = "/opt/vllm/bin/vllm serve org/model";
        for text in [
            format!("[Service]\nExecStart={serve}\nExecStart=\n"),
            format!("[Service]\nExecStart={serve} --port %i\n"),
            format!("[Other]\nExecStart={serve}\n"),
            format!("[Service]\nExecStop={serve}\n"),
        ] {
            assert_eq!(launched(&text).workloads.len(), 0, "{text}");
        }
        assert_eq!(launched(&format!("[Service]\nExecStart=\nExecStart={serve}\n")).workloads.len(), 1);
    }
}
