//! Files that other files name: their readers open them whatever they are called, wherever they stand. Knows where such
//! names are written and what is read there; opens nothing.

use super::Input;
use crate::budget::NODE;
use crate::discover::Kind;
use crate::extract;
use crate::facts::Facts;
use crate::known::Fact;
use crate::link;
use crate::parse::{Dialect, Node, View, yaml};
use crate::paths;
use crate::source::{SourceId, Traced};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A file that another one names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it may stand: the first path with a file is meant. A directory stands for the kustomization in it.
    pub paths: Vec<String>,
    /// What it is read as.
    pub kind: Kind,
}

/// The files that a file names. What a failure hides is told where the file is read.
pub fn named(input: &Input) -> Vec<Named> {
    catch_unwind(AssertUnwindSafe(|| names(input))).unwrap_or_default()
}

fn names(input: &Input) -> Vec<Named> {
    let says = |signs: &[&str]| signs.iter().any(|sign| input.text.contains(sign));
    let mut out = Names { directory: paths::directory(&input.path), out: Vec::new() };
    match input.kind {
        Kind::Yaml | Kind::Json if paths::is_kustomization(&input.path) => out.documents(input, Names::kustomization),
        Kind::Yaml if says(&["apiVersion: builtin"]) => out.documents(input, Names::transformer),
        Kind::Yaml if says(&["services"]) && says(&["dockerfile", "extends", "include"]) => {
            out.documents(input, Names::compose);
        }
        Kind::Yaml if says(&["apiVersion: skaffold/"]) => out.documents(input, Names::skaffold),
        Kind::Json if says(&["\"target\""]) && says(&["\"dockerfile\""]) => out.documents(input, Names::bake),
        Kind::Requirements if says(&["-r", "-c", "--requirement", "--constraint"]) => out.installed(input),
        Kind::Dockerfile | Kind::Shell if says(&[" -r", " -c", "requirement", "constraint"]) => out.installed(input),
        Kind::Shell | Kind::Yaml if says(&[".toml"]) && says(&TRAINED) => out.trained(&input.text),
        Kind::Terraform if says(&["file(", "filebase64(", "source_file"]) => out.terraform(&input.text),
        Kind::Bake if says(&["dockerfile"]) => out.bake_text(&input.text),
        _ => {}
    }
    out.out
}

/// Dockerfiles that stand as texts in a project of Compose or in a bake file, as files of their own: every line on the line
/// that it is written on.
pub fn inline(input: &Input) -> Vec<Input> {
    let sign = ["dockerfile_inline", "dockerfile-inline"].iter().any(|sign| input.text.contains(sign));
    if !sign || !matches!(input.kind, Kind::Yaml | Kind::Json) {
        return Vec::new();
    }
    catch_unwind(AssertUnwindSafe(|| inlined(input))).unwrap_or_default()
}

/// Bytes that Dockerfiles in one file take with the lines before them, for each byte of it.
const MOST_PADDED: usize = 8;

fn inlined(input: &Input) -> Vec<Input> {
    let tree = yaml::parse(SourceId(0), &input.text, Dialect::Kubernetes);
    let (mut out, mut made) = (Vec::new(), 0);
    for root in tree.roots().map(Node::view) {
        let services = root.get("services").entries().into_iter().map(|(_, one)| one.path("build.dockerfile_inline"));
        let targets = root.get("target").entries().into_iter().map(|(_, one)| one.get("dockerfile-inline"));
        for text in services.chain(targets).filter_map(View::traced) {
            // Where there are very many, lines are not worth what it takes to keep them.
            let few = made < MOST_PADDED * (NODE + input.text.len());
            let text = if few { at_its_lines(&text, &input.text) } else { text.text().to_owned() };
            made += text.len();
            out.push(Input { path: input.path.clone(), kind: Kind::Dockerfile, text, repository: input.repository });
        }
    }
    out
}

/// A text that stands in another one, with every line on the line that it is written on there.
fn at_its_lines(text: &Traced, file: &str) -> String {
    let (mut out, mut at, mut row, mut walked, mut reached) = (String::new(), 0, 0, 0, 0);
    for line in text.text().split_inclusive('\n') {
        let start = text.span(at..at + line.trim_end().len()).range().start;
        let ahead = file.get(walked..start).map_or(0, |between| between.matches('\n').count());
        (reached, walked) = (reached + ahead, walked.max(start));
        while row < reached {
            out.push('\n');
            row += 1;
        }
        out.push_str(line);
        at += line.len();
        row += 1;
    }
    out
}

/// The flag behind which commands of torchtitan name their configuration.
const TRAINED: [&str; 2] = ["job.config_file", "job.config-file"];

/// A path, and what is left of it without the directories that lead there: where the directory that a command runs in was
/// copied from is not known.
fn ends(path: &str) -> impl Iterator<Item = String> {
    let parts: Vec<&str> = paths::parts(path).filter(|part| *part != "..").collect();
    (0..parts.len()).map(move |from| parts[from..].join("/"))
}

/// What is found in one file.
struct Names<'d> {
    directory: &'d str,
    out: Vec<Named>,
}

impl Names<'_> {
    fn documents(&mut self, input: &Input, read: impl Fn(&mut Self, View<'_>)) {
        let tree = yaml::parse(SourceId(0), &input.text, Dialect::Kubernetes);
        tree.roots().for_each(|root| read(self, root.view()));
    }

    /// Adds a file that is named as seen from a directory. What is elsewhere, and what a variable decides, is not looked for.
    fn add(&mut self, directory: &str, path: &str, kind: Kind) {
        let path = path.trim();
        if !path.is_empty() && !path.contains(['\n', '$', '{', '*']) && !path.contains("://") {
            self.out.push(Named { paths: vec![paths::join(directory, path)], kind });
        }
    }

    /// Adds the files that texts name.
    fn all(&mut self, list: View<'_>, kind: Kind) {
        for path in list.strings() {
            path.get().into_iter().for_each(|path| self.add(self.directory, path, kind));
        }
    }

    fn kustomization(&mut self, root: View<'_>) {
        const FILES: [&str; 9] = [
            "resources",
            "bases",
            "components",
            "crds",
            "configurations",
            "generators",
            "transformers",
            "validators",
            "patchesStrategicMerge",
        ];
        FILES.iter().for_each(|key| self.all(root.get(key), Kind::Yaml));
        for key in ["patches", "patchesJson6902", "replacements"] {
            root.get(key).items().for_each(|item| self.all(item.get("path"), Kind::Yaml));
        }
        self.all(root.path("openapi.path"), Kind::Yaml);
        for chart in root.get("helmCharts").items().chain(root.get("helmChartInflationGenerator").items()) {
            ["valuesFile", "values", "additionalValuesFiles"]
                .iter()
                .for_each(|key| self.all(chart.get(key), Kind::Yaml));
        }
    }

    /// The configuration of a transformer that kustomize brings along.
    fn transformer(&mut self, root: View<'_>) {
        ["path", "paths"].iter().for_each(|key| self.all(root.get(key), Kind::Yaml));
    }

    fn compose(&mut self, root: View<'_>) {
        for (_, service) in root.get("services").entries() {
            self.build(self.directory, service.get("build"));
            self.all(service.path("extends.file"), Kind::Yaml);
        }
        for item in root.get("include").items() {
            self.all(if item.get("path").is_some() { item.get("path") } else { item }, Kind::Yaml);
        }
    }

    /// The Dockerfile of a build by Compose or bake.
    fn build(&mut self, directory: &str, build: View<'_>) {
        if build.get("dockerfile").is_some() {
            self.add(directory, &link::named_by(build).0, Kind::Dockerfile);
        }
    }

    fn skaffold(&mut self, root: View<'_>) {
        for artifact in root.path("build.artifacts").items() {
            let context = artifact.get("context").string();
            let directory = paths::join(self.directory, context.get().map_or(".", String::as_str));
            for by in ["docker", "kaniko"] {
                let file = artifact.get(by).get("dockerfile").string();
                file.get().into_iter().for_each(|file| self.add(&directory, file, Kind::Dockerfile));
            }
        }
        for manifests in ["manifests.rawYaml", "deploy.kubectl.manifests"] {
            self.all(root.path(manifests), Kind::Yaml);
        }
    }

    fn bake(&mut self, root: View<'_>) {
        root.get("target").entries().into_iter().for_each(|(_, target)| self.build(self.directory, target));
    }

    /// The same in HCL, where a context is written beside the Dockerfile.
    fn bake_text(&mut self, text: &str) {
        for block in text.split("target ") {
            let value = |key: &str| {
                let line =
                    block.lines().find_map(|line| line.trim_start().strip_prefix(key)?.trim_start().strip_prefix('='));
                line.map(|value| value.trim().trim_matches('"'))
            };
            if let Some(file) = value("dockerfile") {
                let context = paths::join(self.directory, value("context").unwrap_or("."));
                self.add(&context, file, Kind::Dockerfile);
            }
        }
    }

    /// Files of requirements: as seen from the file itself, or from a directory above where a command runs there.
    fn installed(&mut self, input: &Input) {
        let mut facts = Facts::default();
        extract::text(SourceId(0), &input.path, &input.text, input.kind, &mut facts);
        for file in &facts.package_files {
            file.includes.iter().chain(&file.constraints).for_each(|name| self.requirements(name, &[], input.kind));
        }
        for build in &facts.builds {
            let copies: Vec<&str> = build.copies.iter().filter_map(|copy| copy.get()).map(String::as_str).collect();
            let names = build.package_files.iter().chain(&build.constraints);
            names.for_each(|name| self.requirements(name, &copies, input.kind));
        }
    }

    fn requirements(&mut self, name: &Fact<String>, copies: &[&str], by: Kind) {
        const OTHERS: [&str; 4] = [".py", ".toml", ".cfg", ".lock"];
        let Some(name) =
            name.get().filter(|name| !name.contains("://") && !OTHERS.iter().any(|end| name.ends_with(end)))
        else {
            return;
        };
        if by == Kind::Requirements {
            return self.add(self.directory, name, Kind::Requirements);
        }
        let called = |copy: &&&str| paths::name(copy) == paths::name(name);
        let copied = copies.iter().filter(called).map(|copy| copy.trim_start_matches('/').to_owned());
        let places = self.above(copied.chain(ends(name)));
        self.out.push(Named { paths: places, kind: Kind::Requirements });
    }

    /// Paths as seen from the file's directory and from each one above.
    fn above(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        let above: Vec<&str> = paths::above(self.directory).collect();
        names.flat_map(|name| above.iter().map(move |directory| paths::join(directory, &name))).collect()
    }

    /// Configurations in TOML that commands name.
    fn trained(&mut self, text: &str) {
        let named = TRAINED.iter().flat_map(|flag| text.split(flag).skip(1));
        for name in named.filter_map(|rest| {
            rest.split(|c: char| c.is_whitespace() || "=,\"'[]".contains(c))
                .find(|word| !word.is_empty() && *word != "-")
        }) {
            if name.ends_with(".toml") && !name.contains(['$', '{', '*']) {
                let places = self.above(ends(name));
                self.out.push(Named { paths: places, kind: Kind::Toml });
            }
        }
    }

    /// What functions read that stands beside the module, as far as the name is written out.
    fn terraform(&mut self, text: &str) {
        let functions = text.match_indices("file(").chain(text.match_indices("filebase64("));
        let packed = text.match_indices("source_file");
        let behind = functions.chain(packed).map(|(at, found)| text[at + found.len()..].trim_start());
        for rest in behind {
            let Some(quoted) = rest.strip_prefix('=').unwrap_or(rest).trim_start().strip_prefix('"') else { continue };
            let Some((path, _)) = quoted.split_once('"') else { continue };
            let own =
                ["${path.module}/", "${path.root}/", "${path.cwd}/"].iter().find_map(|own| path.strip_prefix(own));
            self.add(self.directory, own.unwrap_or(path), Kind::Data);
        }
    }
}
