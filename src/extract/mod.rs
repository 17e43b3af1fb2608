//! Formats and launchers: trees into facts. Knows what documents mean; knows neither rules nor severities.

pub mod activated;
mod allocation;
pub mod ansible;
mod app_template;
pub mod bake;
pub mod built;
pub mod ci;
pub mod cloudformation;
pub mod clusters;
pub mod commands;
pub mod compose;
mod cut_off;
pub mod dockerfile;
mod draft;
pub mod dstack;
pub mod ecs;
pub mod eksctl;
pub mod embedded;
pub mod exports;
mod formats;
pub mod helmfile;
mod hosted;
pub mod image;
pub mod indexes;
pub mod install;
pub mod intent;
pub mod kubernetes;
pub mod launch;
pub mod llama_swap;
mod logins;
pub mod machinery;
pub mod machines;
pub mod made;
pub mod makefile;
mod managed;
pub mod nginx;
pub mod nomad;
pub mod openings;
pub mod options;
pub mod package_indexes;
pub mod package_tables;
pub mod packer;
pub mod platforms;
pub mod protection;
pub mod pulumi;
mod quadlet;
pub mod queues;
mod ray_serve;
pub mod recipes;
pub mod requirements;
pub mod runtimes;
pub mod sagemaker;
pub mod scripts;
pub mod setup;
pub mod skypilot;
pub mod slurm;
mod slurm_conf;
pub mod spelling;
pub mod startup;
pub mod terraform;
pub mod toolkit;
pub mod training;
pub mod triton;
pub mod truss;
pub mod units;
pub mod values;
mod vllm_stack;
pub mod wrappers;
pub mod written;

pub use formats::{DOCUMENTS, Format, TEXTS, TextFormat, format};

use crate::budget::Share;
use crate::discover::Kind;
use crate::facts::{Container, Facts, PackageFile, Pod, Workload, WorkloadFormat};
use crate::known::Fact;
use crate::parse::shell::Command;
use crate::parse::{Node, Problem, Raw, Tree};
use crate::render::terraform::{ModuleFile, Workspace};
use crate::source::{SourceId, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bytes of /dev/shm that a container runtime gives (64 MiB).
pub const DEFAULT_SHM: i64 = 64 << 20;

/// Facts of every document of a YAML or JSON file.
pub fn documents(tree: &Arc<Tree>, path: &str, facts: &mut Facts) {
    let first = facts.workloads.len();
    for root in tree.roots() {
        let before = facts.workloads.len();
        if before - first >= MOST_WORKLOADS {
            facts.cut.push(too_many(root.span()));
            break;
        }
        document(tree, root, path, facts);
        built::pipeline(root, path, facts);
        built::document(root, facts);
        let pods = facts.workloads[before..].iter().flat_map(|workload| &workload.pods);
        let containers = pods.flat_map(|pod| pod.init_containers.iter().chain(&pod.containers));
        let run: Vec<Vec<Command>> = containers.map(commands_of).collect();
        for commands in run {
            facts.package_files.extend(install::of_commands(&commands, path).into_iter().map(Arc::new));
            machinery::of_commands(&commands, path, facts);
        }
    }
}

/// What the command line of a container runs, before what it is for.
fn commands_of(container: &Container) -> Vec<Command> {
    let Some(spec) = &container.spec else { return vec![] };
    let view = spec.view();
    let mut words = ["entrypoint", "command", "args"].map(|key| kubernetes::words(view.get(key))).concat();
    // A text alone is split without a shell.
    if ["entrypoint", "command"].iter().all(|key| view.get(key).node().is_none_or(|node| !node.is_seq())) {
        words.iter_mut().for_each(|word| *word = word.unwrapped());
    }
    let words: Vec<_> = words.iter().collect();
    launch::commands(&words, &container.env)
}

/// Most workloads that are read of one file: what is known of one takes more room than the few words that state it.
const MOST_WORKLOADS: usize = 10_000;

/// The problem that the workloads of a file are not read from a place on.
fn too_many(span: Span) -> Problem {
    Problem { span, message: format!("what runs from here on: more than {MOST_WORKLOADS} workloads in one file") }
}

/// Most packages that are read of one file.
const MOST_PACKAGES: usize = 50_000;

/// Cuts a list of packages that is longer than any, or that grows while it is read; from where on.
fn bounded(file: &mut PackageFile, share: &Share) -> Option<Problem> {
    let place = file.packages.get(MOST_PACKAGES).or(file.packages.last())?.span;
    let more = file.packages.len() > MOST_PACKAGES;
    file.packages.truncate(MOST_PACKAGES);
    let spent = share.spent().map(|spent| spent.to_string());
    let why = spent.or(more.then(|| format!("more than {MOST_PACKAGES} packages in one file")))?;
    Some(Problem { span: place, message: format!("the packages from here on: {why}") })
}

/// Whether a YAML or JSON file is of a format that is read, as far as its text could be.
pub fn is_known(tree: &Tree, path: &str) -> bool {
    const FIRST_KEYS: [&str; 4] = ["apiVersion", "services", "Resources", "containerDefinitions"];
    let begun = |root: Node<'_>| format(root, path).is_some() || FIRST_KEYS.iter().any(|key| root.get(key).is_some());
    tree.roots().any(|root| format(root, path).is_some()) || tree.unfinished.iter().any(|&id| begun(tree.node(id)))
}

/// Whether a text that does not parse has the keys of a format that is read, wherever they stand in it.
pub fn speaks_of_a_format(text: &str) -> bool {
    const TOGETHER: [&[&str]; 5] = [
        &["apiVersion", "kind"],
        &["services", "image"],
        &["services", "build"],
        &["Resources", "Type"],
        &["containerDefinitions", "image"],
    ];
    let keys: BTreeSet<&str> = text.split(['\n', '{', ',']).filter_map(key).collect();
    TOGETHER.iter().any(|all| all.iter().all(|key| keys.contains(key)))
}

/// The key that a part of a line begins with, if it does.
fn key(part: &str) -> Option<&str> {
    let part = part.trim_start_matches([' ', '\t', '-', '\u{feff}']);
    let (key, rest) = match part.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split_once(['"', '\''])?,
        None => part.split_at(part.find(':')?),
    };
    rest.trim_start().starts_with(':').then_some(key.trim_end())
}

fn document(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    match format(root, path) {
        Some(format) => format.document(tree, root, path, facts),
        None if describes_others(root) => {}
        None => ansible::variables(tree, root, path, facts),
    }
}

/// Whether a document says what others look like, shows figures, or records what another tool found or built: a JSON
/// schema, an OpenAPI description, a dashboard, a bill of materials, a report of a scan, a list of images.
pub fn describes_others(root: Node<'_>) -> bool {
    let has = |key: &str| root.get(key).is_some();
    let map = |key: &str| root.get(key).is_some_and(Node::is_map);
    let list = |key: &str| root.get(key).is_some_and(Node::is_seq);
    let text = |key: &str| root.get(key).and_then(Node::text);
    let schema = text("$schema").is_some_and(|uri| uri.contains("json-schema.org"));
    let typed = text("type") == Some("object") && map("properties");
    let openapi = (has("openapi") || has("swagger")) && (map("paths") || map("info"));
    let dashboard = list("panels") && has("schemaVersion");
    let materials = has("spdxVersion") || text("bomFormat") == Some("CycloneDX");
    let scan = has("SchemaVersion") && has("ArtifactName") || text("$schema").is_some_and(|uri| uri.contains("sarif"));
    let image = |item: Node<'_>| ["repoTags", "RepoTags"].iter().any(|tags| item.get(tags).is_some());
    let images = |list: Node<'_>| list.items().next().is_some_and(image);
    let of_machine = root.get("imageBom").is_some_and(images);
    schema || typed || openapi || dashboard || materials || scan || images(root) || of_machine
}

/// The workload of a format without groups: one pod, on its own per replica.
fn lone((format, kind): (WorkloadFormat, &str), name: Fact<String>, pod: Pod, object: Raw) -> Workload {
    let place = pod.span;
    let mut out = Workload::blank(place);
    out.format = Fact::value(format, place);
    out.kind = Fact::value(kind.to_owned(), place);
    out.name = name;
    out.replicas = pod.replicas.clone();
    out.group_size = Fact::value(1, place);
    out.group_gpus = pod.gpus.clone();
    out.gpus = pod.gpus.clone();
    out.object = Some(object);
    out.pods.push(pod);
    out.intent = intent::of(&out);
    out
}

/// What a file in a syntax of its own gave beside facts.
#[derive(Debug, Default)]
pub struct TextFile {
    /// What was wrong with its text.
    pub problems: Vec<Problem>,
    /// From where on it is not read, as too much is made of it.
    pub cut: Option<Problem>,
    /// Keys that stand twice in one mapping, at the second one.
    pub repeated: Vec<(String, Span)>,
    /// Its comments.
    pub comments: Vec<Span>,
    /// Where it only names something, in the order of places.
    pub names: Vec<Span>,
    /// For Terraform: the file, to be evaluated with its module.
    pub module: Option<ModuleFile>,
}

/// Facts of a file that is not YAML or JSON.
pub fn text(id: SourceId, path: &str, text: &str, kind: Kind, facts: &mut Facts) -> TextFile {
    let format = TEXTS.iter().find(|format| format.kinds.contains(&kind));
    format.map_or_else(TextFile::default, |format| (format.read)(id, path, text, facts))
}

/// Files that Terraform modules take in beside their own.
pub struct TakenIn {
    /// All of them.
    pub files: BTreeSet<SourceId>,
    /// Those that they render as templates.
    pub templates: BTreeSet<SourceId>,
    /// From where on modules are not evaluated.
    pub problems: Vec<Problem>,
    /// Roots with other values.
    pub forms: Vec<terraform::Form>,
}

/// Facts of Terraform modules, from the roots down.
pub fn modules<'t>(
    files: Vec<ModuleFile>,
    texts: impl Iterator<Item = (&'t str, SourceId, &'t str)>,
    facts: &mut Facts,
) -> TakenIn {
    let workspace = Workspace::new(files, texts);
    let (problems, forms) = terraform::modules(&workspace, facts);
    let rendered = workspace.rendered();
    let templates = rendered.keys().copied().collect();
    for (template, forms) in rendered {
        // Objects that a resource of another type applies, or another tool.
        if !facts.objects.iter().any(|object| object.kind.span.source == template) {
            forms.iter().for_each(|form| kubernetes::text(form, facts));
        }
    }
    TakenIn { files: workspace.read(), templates, problems, forms }
}
