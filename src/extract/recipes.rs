//! Images that tools for model servers build: Cog, BentoML, Truss. Each is read as the Dockerfile that says the same. Knows
//! their YAML; what a tool chooses by itself is unknown.

use super::{compose, dockerfile, install, kubernetes, package_tables, startup};
use crate::budget::{NODE, Share};
use crate::facts::value::Blank;
use crate::facts::{Build, Facts, Image, Labels, Package, PackageManager, Variables};
use crate::known::{Fact, Why};
use crate::parse::dockerfile::Instruction;
use crate::parse::{Node, Problem, View, shell};
use crate::source::{Span, Traced};
use crate::version::Version;
use std::sync::Arc;

/// Keys of `cog.yaml`. https://cog.run/yaml
const OF_COG: [&str; 9] =
    ["build", "image", "model", "run", "predict", "train", "concurrency", "environment", "weights"];

/// Keys of `bentofile.yaml`. https://docs.bentoml.com/en/latest/reference/bentoml/bento-build-options.html
const OF_BENTO: [&str; 13] = [
    "service",
    "name",
    "description",
    "labels",
    "include",
    "exclude",
    "docker",
    "python",
    "conda",
    "models",
    "envs",
    "args",
    "readme",
];

/// Most further indexes that a recipe states: each package names all of them.
const MOST_INDEXES: usize = 8;

/// Whether a document has nothing but keys of a list.
fn within(root: Node<'_>, keys: &[&str]) -> bool {
    root.entries().iter().all(|(key, _)| key.text().is_some_and(|key| keys.contains(&key)))
}

/// Whether a document tells Cog what to build.
pub fn is_cog(root: Node<'_>) -> bool {
    let build = root.get("build").filter(|build| build.is_map());
    let own = ["gpu", "cuda", "python_version", "python_packages", "python_requirements"];
    build.is_some_and(|build| own.iter().any(|key| build.get(key).is_some())) && within(root, &OF_COG)
}

/// Whether a document tells BentoML what to build.
pub fn is_bento(root: Node<'_>) -> bool {
    let parts = ["docker", "python", "conda"];
    let service = root.get("service").and_then(Node::text).is_some();
    service && parts.iter().any(|key| root.get(key).is_some_and(Node::is_map)) && within(root, &OF_BENTO)
}

/// What a tool makes an image of.
pub(super) struct Recipe<'t> {
    pub tool: &'static str,
    /// The image to start from, or the place that leaves it to the tool.
    pub base: Result<Traced, Span>,
    /// Packages of the distribution.
    pub system: View<'t>,
    /// Requirements of Python.
    pub python: View<'t>,
    /// A requirements file.
    pub file: View<'t>,
    pub commands: Vec<Traced>,
    pub env: Variables,
}

/// The image that a recipe makes, as a stage.
pub(super) fn build(recipe: Recipe<'_>, path: &str, facts: &mut Facts) -> Option<Build> {
    let from = recipe.base.clone().unwrap_or_else(|place| Traced::opaque("base", place));
    let run = recipe.commands.iter().map(|command| Instruction::stating("RUN", command));
    let lines: Vec<Instruction> = std::iter::once(Instruction::stating("FROM", &from)).chain(run).collect();
    let (mut stages, cut) = dockerfile::stages(&lines, path, &Labels::new());
    facts.cut.extend(cut);
    let mut out = stages.pop()?;
    if let Err(place) = recipe.base {
        let why = Why::LeftTo(recipe.tool.into());
        out.base = Image::blank(place);
        out.base.leave_open(&why);
        out.from = Fact::unknown(why, place);
    }
    let mut packages = listed(recipe.system, facts, |text| {
        let words = shell::parse(text).commands.into_iter().flat_map(|command| command.words);
        install::of_distribution(&words.map(|word| word.traced().clone()).collect::<Vec<_>>(), PackageManager::Apt)
            .packages
    });
    packages.extend(listed(recipe.python, facts, install::of_requirements));
    // Commands run behind them.
    packages.append(&mut out.packages);
    out.packages = packages;
    out.package_files.extend(recipe.file.traced().iter().map(install::fact));
    out.env.extend(recipe.env.into_iter().map(|(name, variable)| (name, variable.value)));
    out.tool = Fact::value(recipe.tool.to_owned(), out.span);
    Some(out)
}

/// The packages of a list of texts; none of one that is longer than any.
pub(super) fn listed(list: View<'_>, facts: &mut Facts, read: impl Fn(&Traced) -> Vec<Package>) -> Vec<Package> {
    let Some(lines) = startup::lines(list) else { return vec![] };
    let share = Share::least(lines.whole().range().len());
    match share.make(NODE * lines.text().split_whitespace().count()) {
        Ok(()) => read(&lines),
        Err(spent) => {
            facts.cut.push(Problem { span: lines.whole(), message: format!("what is installed here: {spent}") });
            vec![]
        }
    }
}

/// Reads what Cog builds: it chooses the base by the CUDA and the Python that it is told, and takes frameworks from the
/// index of that CUDA.
pub fn cog(root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view().get("build");
    let gpu = view.get("gpu");
    let place = if gpu.is_some() { gpu.place() } else { view.place() };
    let command = |item: View<'_>| item.traced().or_else(|| item.get("command").traced());
    let recipe = Recipe {
        tool: "cog",
        base: Err(place),
        system: view.get("system_packages"),
        python: view.get("python_packages"),
        file: view.get("python_requirements"),
        commands: view.get("run").items().chain(view.get("pre_install").items()).filter_map(command).collect(),
        env: compose::variables(root.view().get("environment")),
    };
    let Some(mut out) = build(recipe, path, facts) else { return };
    let left = || Why::LeftTo("Cog".into());
    out.cuda = match (view.get("cuda").is_some(), gpu.boolean().get()) {
        (false, Some(true)) => Fact::unknown(left(), place),
        _ => view.get("cuda").parse(Version::parse),
    };
    out.python_release = view.get("python_version").parse(Version::parse);
    out.variant = Fact::unknown(left(), place);
    facts.builds.push(Arc::new(out));
}

/// Reads what BentoML builds.
pub fn bento(root: Node<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let (docker, python, conda) = (view.get("docker"), view.get("python"), view.get("conda"));
    let image = docker.get("base_image");
    let cuda = docker.get("cuda_version");
    let chooses = [cuda, docker, python].into_iter().find(|view| view.is_some()).unwrap_or(view);
    let mut env = kubernetes::environment(view.get("envs"));
    env.extend(compose::variables(docker.get("env")));
    let recipe = Recipe {
        tool: "bentoml",
        base: image.traced().ok_or(chooses.place()),
        system: docker.get("system_packages"),
        python: python.get("packages"),
        file: python.get("requirements_txt"),
        commands: vec![],
        env,
    };
    let Some(mut out) = build(recipe, path, facts) else { return };
    // An image of one's own is taken as it is.
    if !image.is_some() {
        out.cuda = cuda.parse(|text| Version::parse(text).filter(|version| version.release().len() > 1));
        out.python_release = docker.get("python_version").parse(Version::parse);
    }
    let index = python.get("index_url").traced();
    let further = ["extra_index_url", "find_links"].map(|key| python.get(key));
    let further: Vec<Traced> =
        further.iter().flat_map(|list| list.items().filter_map(View::traced)).take(MOST_INDEXES).collect();
    let share = Share::least(root.span().range().len());
    let urls: usize = index.iter().chain(&further).map(|url| url.text().len()).sum();
    for package in out.packages.iter_mut().filter(|package| package.manager.get() == Some(&PackageManager::Pip)) {
        if let Err(spent) = share.make(urls) {
            facts.cut.push(Problem { span: package.span, message: format!("the packages from here on: {spent}") });
            break;
        }
        install::set_indexes(package, index.as_ref(), &further);
    }
    facts.package_files.extend(conda.node().and_then(|conda| package_tables::conda_file(conda, path)).map(Arc::new));
    facts.builds.push(Arc::new(out));
}
