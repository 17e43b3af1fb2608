//! Formats and launchers: trees into facts. Knows what documents mean; knows neither rules nor severities.

pub mod allocation;
pub mod ansible;
pub mod app_template;
pub mod built;
pub mod cloudformation;
pub mod commands;
pub mod compose;
pub mod dockerfile;
pub mod ecs;
pub mod eksctl;
pub mod embedded;
pub mod exports;
pub mod helmfile;
pub mod image;
pub mod install;
pub mod intent;
pub mod kubernetes;
pub mod launch;
pub mod machines;
pub mod package_tables;
pub mod protection;
pub mod requirements;
pub mod scripts;
pub mod skypilot;
pub mod slurm;
pub mod terraform;
pub mod training;
pub mod values;
pub mod wrappers;

use crate::budget::Share;
use crate::discover::Kind;
use crate::facts::{Container, Facts, Object, PackageFile, Pod, Workload, WorkloadFormat};
use crate::known::Fact;
use crate::parse::{Node, Problem, Raw, Tree, hcl, shell};
use crate::render::terraform::{ModuleFile, Workspace};
use crate::source::{SourceId, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

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
        let containers = facts.workloads[before..].iter().flat_map(|w| &w.pods).flat_map(|pod| &pod.containers);
        let installed: Vec<PackageFile> = containers.flat_map(|container| installed_by(container, path)).collect();
        facts.package_files.extend(installed.into_iter().map(Arc::new));
    }
}

/// What the command line of a container installs before it runs anything.
fn installed_by(container: &Container, path: &str) -> Vec<PackageFile> {
    let Some(spec) = &container.spec else { return vec![] };
    let view = spec.view();
    let words = ["entrypoint", "command", "args"].map(|key| kubernetes::words(view.get(key))).concat();
    let words: Vec<_> = words.iter().collect();
    install::of_commands(&launch::commands(&words, &container.env), path)
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

/// What a document is, by its content and the name of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Playbooks and lists of tasks.
    Ansible,
    /// Objects of Kubernetes and of its tools.
    Kubernetes,
    /// Templates.
    CloudFormation,
    /// Task definitions.
    Ecs,
    /// A setting of a cloud in a file of its own, under this key.
    CloudSetting(&'static str),
    /// Tasks.
    SkyPilot,
    /// Projects.
    Compose,
    /// Releases of charts.
    Helmfile,
    /// Environments.
    Conda,
    /// Configuration of a component, as a raw object of this kind.
    Component(&'static str),
    /// The configuration of a model.
    Model,
    /// The configuration of this trainer.
    Training(&'static str),
    /// Values of a chart, or what a chart or kustomization consists of.
    Values,
}

/// The format of a document; `None` for what is of none that is read.
pub fn format(root: Node<'_>, path: &str) -> Option<Format> {
    let setting = |key: &&&str| root.get(key).is_some();
    if describes_others(root) {
        None
    } else if ansible::is_tasks(root) {
        Some(Format::Ansible)
    } else if kubernetes::is_object(root) {
        Some(Format::Kubernetes)
    } else if cloudformation::is_template(root) {
        Some(Format::CloudFormation)
    } else if ecs::is_task(root) {
        Some(Format::Ecs)
    } else if let Some(key) = ["ScalingPolicy", "EncryptionConfig"].iter().find(setting) {
        Some(Format::CloudSetting(key))
    } else if skypilot::is_task(root) {
        Some(Format::SkyPilot)
    } else if compose::is_project(root, path) {
        Some(Format::Compose)
    } else if helmfile::is_helmfile(root) {
        Some(Format::Helmfile)
    } else if package_tables::is_conda(root) {
        Some(Format::Conda)
    } else if let Some(kind) = embedded::kind(root) {
        Some(Format::Component(kind))
    } else if path.ends_with("config.json") && root.get("architectures").is_some_and(Node::is_seq) {
        Some(Format::Model)
    } else if let Some(trainer) = training::kind(root) {
        Some(Format::Training(trainer))
    } else {
        values::is_values(root, path).then_some(Format::Values)
    }
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
        Some(Format::Ansible) => ansible::read(tree, root, path, facts),
        Some(Format::Kubernetes) => kubernetes::document(tree, root, facts),
        Some(Format::CloudFormation) => cloudformation::read(tree, root, facts),
        Some(Format::Ecs) => ecs::read(tree, root, facts),
        Some(Format::CloudSetting(key)) => facts.objects.push(Arc::new(part(tree, root, key))),
        Some(Format::SkyPilot) => {
            skypilot::read(tree, root, facts);
            let scripts = ["setup", "run"].into_iter().filter_map(|key| root.view().get(key).traced());
            let installed = scripts.flat_map(|script| install::of_script(&shell::parse(&script), path));
            facts.package_files.extend(installed.map(Arc::new));
        }
        Some(Format::Compose) => compose::project(tree, root, facts),
        Some(Format::Helmfile) => helmfile::read(tree, root, facts),
        Some(Format::Conda) => facts.package_files.extend(package_tables::conda_file(root, path).map(Arc::new)),
        Some(Format::Component(kind)) => {
            facts.objects.push(Arc::new(embedded::object(tree, root, kind, (path, root.head()))));
        }
        Some(Format::Model) => facts.model_configs.push(Raw::new(tree, root.view())),
        Some(Format::Training(trainer)) => {
            facts.trainings.push(Arc::new(training::document(trainer, root, path)));
        }
        Some(Format::Values) => values::read(tree, root, path, facts),
        None if describes_others(root) => {}
        None => ansible::variables(tree, root, path, facts),
    }
}

/// Whether a document says what others look like, or shows figures: a JSON schema, an OpenAPI description, a dashboard.
fn describes_others(root: Node<'_>) -> bool {
    let map = |key: &str| root.get(key).is_some_and(Node::is_map);
    let text = |key: &str| root.get(key).and_then(Node::text);
    let schema = text("$schema").is_some_and(|uri| uri.contains("json-schema.org"));
    let typed = text("type") == Some("object") && map("properties");
    let openapi = (root.get("openapi").is_some() || root.get("swagger").is_some()) && (map("paths") || map("info"));
    let dashboard = root.get("panels").is_some_and(Node::is_seq) && root.get("schemaVersion").is_some();
    schema || typed || openapi || dashboard
}

/// A cloud's setting in a file of its own, as a raw object whose kind is the key it stands under.
fn part(tree: &Arc<Tree>, root: Node<'_>, key: &str) -> Object {
    let body = root.view().get(key);
    let mut out = Object::blank(body.place());
    out.kind = Fact::value(key.to_owned(), body.place());
    out.name = body.get("PolicyName").string();
    out.body = Some(Raw::new(tree, body));
    out
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
    /// For Terraform: the file, to be evaluated with its module.
    pub module: Option<ModuleFile>,
}

/// Facts of a file that is not YAML or JSON.
pub fn text(id: SourceId, path: &str, text: &str, kind: Kind, facts: &mut Facts) -> TextFile {
    match kind {
        Kind::Terraform | Kind::TerraformVars => {
            let json = path.ends_with(".json");
            let mut hcl = if json { hcl::parse_json(id, text) } else { hcl::parse(id, text) };
            let (problems, comments) = (std::mem::take(&mut hcl.problems), std::mem::take(&mut hcl.comments));
            let repeated = std::mem::take(&mut hcl.repeated);
            let module = ModuleFile { path: path.to_owned(), hcl, values: kind == Kind::TerraformVars };
            TextFile { problems, repeated, comments, module: Some(module), cut: None }
        }
        Kind::TerraformJson => {
            let tree = crate::parse::yaml::parse(id, text, crate::parse::Dialect::Typed);
            let problems = tree.problems.clone();
            terraform::json(&Arc::new(tree), facts);
            TextFile { problems, ..TextFile::default() }
        }
        Kind::Dockerfile => dockerfile::read(id, path, text, facts),
        Kind::Toml => {
            let tree = crate::parse::toml::parse(id, text);
            let share = Share::least(text.len());
            let mut file = package_tables::toml_file(&tree, path, &share);
            let cut = file.as_mut().and_then(|file| bounded(file, &share));
            facts.package_files.extend(file.map(Arc::new));
            TextFile { problems: tree.problems, comments: tree.comments, cut, ..TextFile::default() }
        }
        Kind::Shell => slurm::read(id, path, text, facts),
        Kind::Requirements => requirements::read(id, path, text, facts),
        _ => TextFile::default(),
    }
}

/// Files that Terraform modules take in beside their own.
pub struct TakenIn {
    /// All of them.
    pub files: BTreeSet<SourceId>,
    /// Those that they render as templates.
    pub templates: BTreeSet<SourceId>,
    /// From where on modules are not evaluated.
    pub problems: Vec<Problem>,
}

/// Facts of Terraform modules, from the roots down.
pub fn modules<'t>(
    files: Vec<ModuleFile>,
    texts: impl Iterator<Item = (&'t str, SourceId, &'t str)>,
    facts: &mut Facts,
) -> TakenIn {
    let workspace = Workspace::new(files, texts);
    let problems = terraform::modules(&workspace, facts);
    let rendered = workspace.rendered();
    let templates = rendered.keys().copied().collect();
    for (template, forms) in rendered {
        // Objects that a resource of another type applies, or another tool.
        if !facts.objects.iter().any(|object| object.kind.span.source == template) {
            forms.iter().for_each(|form| kubernetes::text(form, facts));
        }
    }
    TakenIn { files: workspace.read(), templates, problems }
}
