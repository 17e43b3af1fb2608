//! Jobs of GitHub Actions that build images from Dockerfiles, as raw objects of kind GitHubJob: `runs_on`, `dockerfiles` with
//! the path of each as displayed, and `frees`, whether a step makes room on the disk or builds elsewhere. Knows the keys of
//! workflows; which runner has how much room is a question of rules.

use super::built;
use crate::facts::{Facts, Object};
use crate::known::Fact;
use crate::parse::{Builder, Dialect, Entry, Node, NodeId, NodeKind, Raw, View};
use crate::paths;
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Parts of commands that make room on the disk of a runner, move what is built to another one, or build elsewhere.
const ROOM: [&str; 18] = [
    "rm -rf /usr",
    "rm -rf /opt",
    "rm -fr /",
    "rm -rf \"$AGENT",
    "rm -rf $AGENT",
    "rm -rf ${",
    "dotnet",
    "hostedtoolcache",
    "/usr/local/lib/android",
    "prune",
    "docker rmi",
    "data-root",
    "/mnt",
    "apt-get remove",
    "apt-get purge",
    "apt-get autoremove",
    "free_disk",
    "free-disk",
];

/// Reads the jobs of a workflow of GitHub.
pub fn read(root: Node<'_>, path: &str, facts: &mut Facts) {
    let home = paths::join(paths::directory(path), "../..");
    for (name, job) in root.view().get("jobs").entries() {
        let runner = job.get("runs-on");
        let (Some(label), false) = (runner.string().get().cloned(), job.get("container").is_some()) else { continue };
        let mut built = Facts::default();
        built::job(job, (&home, &home), &mut built);
        let mut files: Vec<(String, Span)> =
            built.images.iter().filter_map(|(_, by)| Some((by.get()?.clone(), by.span))).collect();
        files.dedup_by(|one, other| one.0 == other.0);
        if !files.is_empty() {
            facts.objects.push(Arc::new(object(name, (&label, runner.place()), &files, makes_room(job))));
        }
    }
}

/// Whether a step of a job makes room, or may: what an action of the repository does is not read.
fn makes_room(job: View<'_>) -> bool {
    let step = |step: View<'_>| {
        let uses = step.get("uses").string();
        let action = uses.get().is_some_and(|action| {
            let action = action.to_lowercase();
            action.starts_with("./")
                || action.starts_with("depot/")
                || ["disk", "space", "clean", "maximize"].iter().any(|word| action.contains(word))
        });
        let remote = ["driver", "endpoint"].iter().any(|key| step.get("with").get(key).is_some());
        let run = step.get("run").string();
        let run = run.get().is_some_and(|text| ROOM.iter().any(|part| text.contains(part)));
        action || remote || run || run_is_unknown(step)
    };
    job.get("steps").items().any(step)
}

fn run_is_unknown(step: View<'_>) -> bool {
    step.get("run").string().is_unknown() || step.get("uses").string().is_unknown()
}

fn object(name: &str, (label, place): (&str, Span), files: &[(String, Span)], frees: bool) -> Object {
    let mut builder = Builder::new(place.source, Dialect::Typed);
    let scalar = |builder: &mut Builder, text: &str, span: Span| {
        builder.add(NodeKind::Scalar { text: Traced::opaque(text, span), plain: true }, span)
    };
    let runs_on = scalar(&mut builder, label, place);
    let frees = scalar(&mut builder, if frees { "true" } else { "false" }, place);
    let listed: Vec<NodeId> = files.iter().map(|(file, span)| scalar(&mut builder, file, *span)).collect();
    let dockerfiles = builder.add(NodeKind::Seq(listed), place);
    let entries = [("runs_on", runs_on), ("frees", frees), ("dockerfiles", dockerfiles)];
    let entries =
        entries.into_iter().map(|(key, value)| Entry { key: scalar(&mut builder, key, place), value }).collect();
    let root = builder.add(NodeKind::Map(entries), place);
    builder.tree().documents.push(root);
    let tree = Arc::new(builder.finish());
    let mut out = Object::blank(place);
    out.kind = Fact::value("GitHubJob".to_owned(), place);
    out.name = Fact::value(name.to_owned(), place);
    out.body = Some(Raw::new(&tree, tree.node(root).view()));
    out
}
