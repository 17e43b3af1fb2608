//! Which Dockerfile makes which image, as Compose, Skaffold and pipelines of continuous integration say it, and which images others make. Knows where
//! each of them says so and from where its paths count; joins nothing.

use crate::facts::Facts;
use crate::known::Fact;
use crate::parse::shell::{self, Command};
use crate::parse::{DEEPEST, Node, View};
use crate::paths;
use crate::source::{Span, Traced};

/// Pipelines by their directory or name, with the way from there to the directory that their steps run in.
const PIPELINES: &[(&str, &str)] = &[
    (".github/workflows", "../.."),
    (".circleci", ".."),
    (".gitlab-ci.yml", "."),
    ("azure-pipelines.yml", "."),
    ("bitbucket-pipelines.yml", "."),
    ("cloudbuild.yaml", "."),
    ("cloudbuild.yml", "."),
];

/// Programs that build images from Dockerfiles.
const BUILDERS: &[&str] = &["docker", "podman", "nerdctl", "buildah"];

/// Options of theirs without a value.
const FLAGS: &[&str] =
    &["--no-cache", "--pull", "--push", "--load", "-q", "--quiet", "--rm", "--force-rm", "--squash", "--compress"];

/// Takes down that a Dockerfile, as seen from the file that says so, makes an image, or that something else does. A tag that
/// is put together leaves the name; a name that is put together says nothing, a path that is leaves the Dockerfile open.
fn made(facts: &mut Facts, image: &str, (dockerfile, place): (Option<String>, Span)) {
    const OPEN: [char; 4] = ['$', '{', '<', '%'];
    let untagged = |at: usize| {
        let (name, tag) = image[..at].rsplit_once(':')?;
        (!tag.contains('/')).then_some(name)
    };
    let image = &super::made::left_open(image);
    let name = image.find(OPEN).map_or(Some(image.as_str()), untagged);
    let Some(name) = name.filter(|name| !name.is_empty()) else { return };
    let dockerfile = dockerfile.filter(|path| !path.contains(OPEN) && !path.contains("://"));
    let by = dockerfile.map_or_else(|| super::made::left(place), |path| Fact::value(path, place));
    facts.images.push((name.to_owned(), by));
}

/// Takes down that something here makes an image, by whatever means.
pub fn by_others(image: View<'_>, facts: &mut Facts) {
    if let Some(name) = image.string().get() {
        made(facts, name, (None, image.place()));
    }
}

/// Images that a document says something makes: builds and streams of OpenShift, DevSpace, pipelines of Tekton and of
/// Cloud Build.
pub fn document(root: Node<'_>, facts: &mut Facts) {
    let view = root.view();
    let text = |view: View<'_>| view.string().get().cloned().unwrap_or_default();
    let (kind, version) = (text(view.get("kind")), text(view.get("apiVersion")));
    match kind.as_str() {
        "BuildConfig" => by_others(view.path("spec.output.to.name"), facts),
        "ImageStream" => by_others(view.path("metadata.name"), facts),
        _ if version.starts_with("tekton.dev/") => params(view.get("spec"), DEEPEST, facts),
        // https://www.devspace.sh/docs/configuration/reference
        _ if text(view.get("version")).contains("beta") && view.get("images").node().is_some_and(Node::is_map) => {
            view.get("images").entries().into_iter().for_each(|(_, image)| by_others(image.get("image"), facts));
        }
        _ if kind.is_empty() && view.get("steps").is_some() => {
            view.get("images").items().for_each(|image| by_others(image, facts));
        }
        _ => {}
    }
}

/// The images that tasks of Tekton are told to push: <https://hub.tekton.dev/> calls the parameter IMAGE.
fn params(view: View<'_>, depth: usize, facts: &mut Facts) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for param in view.get("params").items() {
        let named = param.get("name").string().get().is_some_and(|name| name.to_lowercase().contains("image"));
        if named && param.get("value").is_some() {
            by_others(param.get("value"), facts);
        }
    }
    view.items().for_each(|item| params(item, depth, facts));
    view.entries().into_iter().for_each(|(_, child)| params(child, depth, facts));
}

/// A service of Compose that is built and has a name for what it is built to.
pub fn service(view: View<'_>, facts: &mut Facts) {
    let build = view.get("build");
    let text = |key: &str| build.get(key).string().get().cloned();
    if !build.is_some() {
        return;
    }
    let other = ["target", "dockerfile_inline"].iter().any(|key| build.get(key).is_some());
    let context = build.string().get().cloned().or_else(|| text("context")).unwrap_or_else(|| ".".to_owned());
    let file = format!("{context}/{}", text("dockerfile").unwrap_or_else(|| "Dockerfile".to_owned()));
    for image in [view.get("image")].into_iter().chain(build.get("tags").items()) {
        if let Some(name) = image.string().get() {
            made(facts, name, ((!other).then(|| file.clone()), image.place()));
        }
    }
}

/// A target of bake that has names for what it builds.
pub fn target(view: View<'_>, facts: &mut Facts) {
    let other = ["target", "dockerfile-inline"].iter().any(|key| view.get(key).is_some());
    let text = |key: &str, default: &str| view.get(key).string().get().cloned().unwrap_or_else(|| default.to_owned());
    let file = format!("{}/{}", text("context", "."), text("dockerfile", "Dockerfile"));
    for tag in view.get("tags").items() {
        if let Some(name) = tag.traced() {
            made(facts, name.text(), ((!other).then(|| file.clone()), tag.place()));
        }
    }
}

/// The artifacts of Skaffold, with the Dockerfile of those that are built with Docker or kaniko.
pub fn skaffold(view: View<'_>, facts: &mut Facts) {
    const OTHERS: &[&str] = &["bazel", "jib", "buildpacks", "ko", "custom"];
    for artifact in view.path("build.artifacts").items() {
        let other = OTHERS.iter().any(|key| artifact.get(key).is_some());
        let by = if artifact.get("kaniko").is_some() { artifact.get("kaniko") } else { artifact.get("docker") };
        let text = |view: View<'_>, default: &str| view.string().get().cloned().unwrap_or_else(|| default.to_owned());
        let file = format!("{}/{}", text(artifact.get("context"), "."), text(by.get("dockerfile"), "Dockerfile"));
        let image = artifact.get("image");
        if let Some(name) = image.string().get() {
            let file = (!other && !by.get("target").is_some()).then_some(file);
            made(facts, name, (file, image.place()));
        }
    }
}

/// The images that a pipeline builds.
pub fn pipeline(root: Node<'_>, path: &str, facts: &mut Facts) {
    let (directory, name) = paths::split(path);
    let is = |key: &str| name == key || directory == key || directory.ends_with(&format!("/{key}"));
    if let Some((_, home)) = PIPELINES.iter().find(|(key, _)| is(key)) {
        steps(root.view(), (home, home), DEEPEST, facts);
    }
}

/// The images that one job builds, seen from where its steps run. A build that has no name counts as well.
pub fn job(job: View<'_>, (home, here): (&str, &str), facts: &mut Facts) {
    for step in job.get("steps").items() {
        let uses = step.get("uses").string();
        let with = step.get("with");
        let unnamed = !with.get("tags").is_some() && !with.get("target").is_some();
        if unnamed && uses.get().is_some_and(|action| action.starts_with("docker/build-push-action")) {
            let text = |key: &str| with.get(key).string().get().cloned();
            let context = text("context").unwrap_or_else(|| ".".to_owned());
            let file = text("file").unwrap_or_else(|| format!("{context}/Dockerfile"));
            made(facts, "unnamed", (Some(paths::join(home, &file)), step.get("uses").place()));
        }
    }
    steps(job, (home, here), DEEPEST, facts);
}

/// Looks for steps. Actions run in the first directory, commands in the second.
fn steps(view: View<'_>, (home, mut here): (&str, &str), depth: usize, facts: &mut Facts) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let moved = [view.path("defaults.run.working-directory"), view.get("working-directory"), view.get("dir")];
    let inner;
    if let Some(moved) = moved.into_iter().find(|view| view.is_some()) {
        let Some(directory) = moved.string().get().cloned() else { return };
        inner = paths::join(home, &directory);
        here = &inner;
    }
    for step in view.get("steps").items() {
        let uses = step.get("uses").string();
        if uses.get().is_some_and(|action| action.starts_with("docker/build-push-action")) {
            action(step.get("with"), (view, home), facts);
        }
        // https://github.com/redhat-actions/buildah-build, https://github.com/redhat-actions/push-to-registry
        if uses.get().is_some_and(|action| action.starts_with("redhat-actions/")) {
            by_others(step.path("with.image"), facts);
        }
        let image = step.get("name").string();
        let words: Vec<Traced> = step.get("args").items().filter_map(|word| word.traced()).collect();
        if image.get().is_some_and(|image| image.ends_with("/docker"))
            && let Some(command) = Command::of_arguments(&words)
        {
            built(&command, 0, here, facts);
        }
    }
    for key in ["run", "script", "before_script", "command"] {
        let texts = view.get(key);
        for text in texts.items().chain([texts]).filter_map(View::traced) {
            commands(&text, here, facts);
        }
    }
    view.items().for_each(|item| steps(item, (home, here), depth, facts));
    view.entries().into_iter().for_each(|(_, child)| steps(child, (home, here), depth, facts));
}

/// What GitHub's action for builds makes; the tags may be those of a step that lists images.
fn action(with: View<'_>, (job, home): (View<'_>, &str), facts: &mut Facts) {
    let steps = job.get("steps");
    let text = |key: &str| with.get(key).traced().map(|text| text.text().to_owned());
    let context = text("context").unwrap_or_else(|| ".".to_owned());
    let file = text("file").unwrap_or_else(|| format!("{context}/Dockerfile"));
    let tags = text("tags").unwrap_or_default();
    let listed = tags.split("steps.").nth(1).and_then(|rest| rest.split_once(".outputs.tags")).and_then(|(id, _)| {
        let step = steps.items().find(|step| step.get("id").string().get().is_some_and(|own| own == id))?;
        Some(step.path("with.images").traced()?.text().to_owned())
    });
    let names = listed.unwrap_or(tags);
    for name in names.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()) {
        for name in of_matrix(name, job) {
            let file = (!with.get("target").is_some()).then(|| paths::join(home, &file));
            made(facts, &name, (file, with.get("tags").place()));
        }
    }
}

/// Most names that the matrix of a job makes of one.
const MOST_NAMES: usize = 64;

/// Most variables of a matrix in one name.
const MOST_VARIABLES: usize = 3;

/// A name with each value that the matrix of its job gives a variable of it.
/// <https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations>
fn of_matrix(name: &str, job: View<'_>) -> Vec<String> {
    let matrix = job.path("strategy.matrix");
    let filled = |name: String| match variable(&name) {
        None => vec![name],
        Some((before, key, after)) => {
            let listed = matrix.get(&key).items().map(|value| value.string());
            let included = matrix.get("include").items().map(|one| one.get(&key).string());
            let values = listed.chain(included).filter_map(|value| value.get().cloned());
            let names: Vec<String> = values.map(|value| format!("{before}{value}{after}")).collect();
            // What makes the matrix may only be known when it runs.
            if names.is_empty() { vec![name] } else { names }
        }
    };
    let mut names = vec![name.to_owned()];
    for _ in 0..MOST_VARIABLES {
        names = names.into_iter().flat_map(filled).take(MOST_NAMES).collect();
    }
    names
}

/// The first variable of a matrix in a name, with what stands before and after it.
fn variable(name: &str) -> Option<(String, String, String)> {
    name.match_indices("${{").find_map(|(at, _)| {
        let (inner, after) = name[at + 3..].split_once("}}")?;
        let key = inner.trim().strip_prefix("matrix.")?;
        Some((name[..at].to_owned(), key.to_owned(), after.to_owned()))
    })
}

/// What the commands of a script build, as long as it can be told where they run.
fn commands(text: &Traced, here: &str, facts: &mut Facts) {
    let mut here = here.to_owned();
    for command in shell::parse(text).commands {
        let words: Vec<&str> = command.words.iter().map(|word| word.text()).collect();
        match words[..] {
            ["cd", to] if !text.text().contains('(') && !to.contains(['$', '-', '~']) => here = paths::join(&here, to),
            ["cd" | "pushd" | "popd", ..] => return,
            _ => {}
        }
        if let Some(program) = words.iter().position(|word| BUILDERS.contains(word)).filter(|at| *at < 2) {
            built(&command, program + 1, &here, facts);
        }
    }
}

/// What a command line builds whose words from `start` on are those of a builder.
fn built(command: &Command, start: usize, here: &str, facts: &mut Facts) {
    let mut words = command.words.iter().skip(start).peekable();
    while words.next_if(|word| matches!(word.text(), "buildx" | "image")).is_some() {}
    if !words.next().is_some_and(|word| matches!(word.text(), "build" | "bud")) {
        return;
    }
    let (mut names, mut file, mut contexts) = (Vec::new(), None, Vec::new());
    while let Some(word) = words.next() {
        let (option, value) = match word.text().split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value.to_owned())),
            _ => (word.text(), None),
        };
        if !option.starts_with('-') {
            contexts.push(option);
            continue;
        }
        if FLAGS.contains(&option) {
            continue;
        }
        let Some(value) = value.or_else(|| words.next().map(|word| word.text().to_owned())) else { return };
        match option {
            "-t" | "--tag" => names.push((value, word.span())),
            "-f" | "--file" => file = Some(value),
            "--target" => return,
            _ => {}
        }
    }
    let [context] = contexts[..] else { return };
    let file = paths::join(here, &file.unwrap_or_else(|| format!("{context}/Dockerfile")));
    names.into_iter().for_each(|(name, place)| made(facts, &name, (Some(file.clone()), place)));
}
