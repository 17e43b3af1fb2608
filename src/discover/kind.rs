//! What a file is by its name. Knows names, not contents.

use std::collections::BTreeSet;

/// What a file is by its name; what a YAML file is for shows in its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Kubernetes, Helm values, Compose, CloudFormation, conda, …
    Yaml,
    /// The same in JSON.
    Json,
    /// `Dockerfile`, `Containerfile` and their variants.
    Dockerfile,
    /// Requirements and constraints of pip.
    Requirements,
    /// `pyproject.toml`, `Pipfile`, `pixi.toml` and lock files in TOML, and configurations that a command names.
    Toml,
    /// `setup.cfg` and `setup.py`
    Setup,
    /// `.tf`
    Terraform,
    /// `.tf.json`
    TerraformJson,
    /// `.tfvars` and `.tfvars.json`
    TerraformVars,
    /// `docker-bake.hcl`
    Bake,
    /// Jobs of Nomad: `.nomad`, and what other file in HCL holds one.
    Nomad,
    /// Templates of Packer: `.pkr.hcl`.
    Packer,
    /// Shell and batch scripts.
    Shell,
    /// Makefiles.
    Makefile,
    /// Services of systemd.
    Unit,
    /// `config.pbtxt` of a model that Triton serves.
    Pbtxt,
    /// `slurm.conf`, `gres.conf` and `cgroup.conf`.
    Slurm,
    /// Configurations of nginx.
    Nginx,
    /// Files of which only the images that they make and the indexes of packages that they name are read, as text:
    /// `Earthfile`, `Tiltfile`, `Jenkinsfile`, `justfile`, `BUILD.bazel`, `pip.conf`.
    Text,
    /// A template, or another file that only the Helm chart it stands in reads.
    Chart,
    /// A file without a kind that a kustomization takes data from.
    Data,
}

impl Kind {
    /// Whether its tool reads bytes in any encoding, so that a comment in another one than UTF-8 harms nothing.
    pub fn is_bytes(self) -> bool {
        matches!(self, Kind::Dockerfile | Kind::Requirements | Kind::Shell | Kind::Makefile | Kind::Unit | Kind::Nginx)
    }
}

/// Ends of names in HCL that hold no job of Nomad.
const NOT_JOBS: &[&str] = &[".terraform.lock", ".pkrvars", ".pkrvars.auto", ".tflint", ".tftest"];

/// JSON and YAML that configures tools of developers: large or with comments, and never deployed.
const NOT_DEPLOYED: &[&str] = &[
    ".eslintrc.json",
    ".pre-commit-config.yaml",
    "composer.json",
    "devcontainer.json",
    "jsconfig.json",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "renovate.json",
    "tslint.json",
];

/// YAML and JSON under a name of its own.
const FORMAT_NAMES: &[&str] = &[
    "chart.yaml",
    "conda-lock",
    "conda-lock.yml",
    "environment.yaml",
    "environment.yml",
    "kustomization",
    "kustomization.yaml",
    "kustomization.yml",
    "pipfile.lock",
    "pixi.lock",
];

const TEMPLATE_SUFFIXES: &[&str] =
    &[".j2", ".jinja", ".jinja2", ".tmpl", ".tpl", ".tftpl", ".gotmpl", ".template", "-template"];

/// Ends of names of what was made of a file and is not in its syntax, or not in use.
const COPIES: &[&str] = &[
    "age",
    "asc",
    "backup",
    "bak",
    "diff",
    "enc",
    "encrypted",
    "gpg",
    "old",
    "orig",
    "patch",
    "pgp",
    "rej",
    "save",
    "swp",
];

/// The kind of a file, from its name and the directory that it stands in; `None` for files that are not linted.
pub fn kind_of(path: &str) -> Option<Kind> {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let directory = parts.next().unwrap_or_default();
    // Lock files of editors.
    if name.starts_with(".#") {
        return None;
    }
    if let Some(inner) = without_template_suffix(&name) {
        let text = [
            Kind::Yaml,
            Kind::Json,
            Kind::Dockerfile,
            Kind::Requirements,
            Kind::Shell,
            Kind::TerraformVars,
            Kind::Unit,
            Kind::Nginx,
        ];
        return kind_of_name(inner, directory).filter(|kind| text.contains(kind));
    }
    // What people copy and fill in.
    let draft = [".example", ".sample", ".dist"].iter().find_map(|suffix| name.strip_suffix(suffix));
    if draft.is_some_and(|inner| inner.ends_with(".tfvars")) {
        return Some(Kind::TerraformVars);
    }
    kind_of_name(&name, directory)
}

/// Whether the start of a file may show what its name leaves open: a template, or a name without an ending.
pub(super) fn may_show(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let inner = without_template_suffix(name).unwrap_or(name);
    !inner.contains('.') && kind_of(path).is_none()
}

/// What a file whose name does not say it is shows at its start: a script, or a template of an object of Kubernetes.
pub(super) fn kind_by_start(path: &str, start: &str) -> Option<Kind> {
    if !may_show(path) {
        return None;
    }
    let first = start.lines().next().unwrap_or_default().trim_end();
    let shell = first.starts_with("#!") && first.ends_with("sh");
    // What tools write to find out about a machine states nothing of one.
    if shell && !start.contains("Generated by GNU Autoconf") {
        return Some(Kind::Shell);
    }
    let keys = ["apiVersion:", "kind:"];
    let object = keys.iter().all(|key| start.lines().any(|line| line.starts_with(key)));
    (object && without_template_suffix(path).is_some()).then_some(Kind::Yaml)
}

/// Whether a file would be linted if its name were not one that tools of developers use.
pub(super) fn is_of_a_tool(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let bare = name.strip_prefix(".#").unwrap_or(&name);
    kind_of(path).is_none() && (is_not_deployed(bare) || kind_of(bare).is_some())
}

/// Whether it is a copy, a patch or an encrypted form of a file that would be linted.
pub(super) fn is_copy(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let mut inner = name.as_str();
    while let Some(before) = of_copy(inner) {
        inner = before;
    }
    inner.len() < name.len()
        && kind_of(path).is_none()
        && kind_of(&path[..path.len() - name.len() + inner.len()]).is_some()
}

/// The name of what a file is a copy of.
fn of_copy(name: &str) -> Option<&str> {
    name.strip_suffix('~')
        .or_else(|| name.rsplit_once('.').filter(|(_, end)| COPIES.contains(end)).map(|(name, _)| name))
}

/// Whether the name alone says what reads the file. What other YAML and JSON files are for shows in their content.
pub fn is_named_format(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    match kind_of(path) {
        Some(Kind::Yaml | Kind::Json) => {
            let (stem, _) = name.rsplit_once('.').unwrap_or((&name, ""));
            let mut words = stem.split(['.', '-', '_']);
            FORMAT_NAMES.contains(&name.as_str()) || words.any(|word| matches!(word, "compose" | "values"))
        }
        kind => kind.is_some(),
    }
}

/// The directories of the charts among some paths, each with a `/` at its end unless it is the working directory.
pub fn charts<'p>(paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let directories = paths.filter_map(|path| path.strip_suffix("Chart.yaml"));
    directories.filter(|d| d.is_empty() || d.ends_with('/')).map(str::to_owned).collect()
}

/// The kind of a file in a run with these charts (directories that end in `/`): templates are read with their chart,
/// and so is what has no kind of its own.
pub fn kind_in(charts: &BTreeSet<String>, path: &str) -> Option<Kind> {
    let mut ends = path.match_indices('/').map(|(at, _)| at + 1).chain([0]);
    let mut above = ends.clone().map(|end| &path[..end]).filter(|d| charts.contains(*d));
    let template = ends.any(|end| charts.contains(&path[..end]) && path[end..].starts_with("templates/"));
    match kind_of(path) {
        Some(kind) if !template => Some(kind),
        _ => above.next().map(|_| Kind::Chart),
    }
}

/// Whether a file without a kind of its own is named as what `templatefile` reads.
pub(super) fn is_terraform_template(path: &str) -> bool {
    [".tftpl", ".tpl", ".tmpl"].iter().any(|suffix| path.ends_with(suffix))
}

/// The name without the suffix of a template language: `job.yaml.j2` is `job.yaml`.
pub fn without_template_suffix(name: &str) -> Option<&str> {
    TEMPLATE_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix))
}

fn kind_of_name(name: &str, directory: &str) -> Option<Kind> {
    if is_not_deployed(name) || of_copy(name).is_some() || is_wanted_by_a_test(name, directory) {
        return None;
    }
    match name {
        "pyproject.toml" | "pipfile" | "pixi.toml" | "uv.toml" | "uv.lock" | "poetry.lock" | "pdm.lock" => {
            return Some(Kind::Toml);
        }
        "setup.cfg" | "setup.py" => return Some(Kind::Setup),
        "pixi.lock" | "conda-lock" | "kustomization" => return Some(Kind::Yaml),
        "pipfile.lock" => return Some(Kind::Json),
        name if name.starts_with("docker-bake.") && name.ends_with(".hcl") => return Some(Kind::Bake),
        "requirements.lock" => return Some(Kind::Requirements),
        "earthfile" | "tiltfile" | "jenkinsfile" | "justfile" | "build.bazel" | "pip.conf" | "pip.ini" => {
            return Some(Kind::Text);
        }
        "slurm.conf" | "gres.conf" | "cgroup.conf" => return Some(Kind::Slurm),
        "makefile" | "gnumakefile" => return Some(Kind::Makefile),
        _ => {}
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match extension {
        "yaml" | "yml" => Some(Kind::Yaml),
        "tf" | "tofu" => Some(Kind::Terraform),
        "tfvars" => Some(Kind::TerraformVars),
        "json" if stem.ends_with(".tfvars") => Some(Kind::TerraformVars),
        "json" if stem.ends_with(".tf") || stem.ends_with(".tofu") => Some(Kind::TerraformJson),
        "json" => Some(Kind::Json),
        "sh" | "bash" | "slurm" | "slrm" | "sbatch" | "sb" | "sub" | "pbs" | "lsf" | "bsub" | "qsub" | "sge" => {
            Some(Kind::Shell)
        }
        "nomad" => Some(Kind::Nomad),
        "pbtxt" if stem == "config" => Some(Kind::Pbtxt),
        "hcl" if stem.ends_with(".pkr") => Some(Kind::Packer),
        "hcl" if !NOT_JOBS.iter().any(|other| stem.ends_with(other)) => Some(Kind::Nomad),
        "mk" | "mak" => Some(Kind::Makefile),
        "service" | "container" => Some(Kind::Unit),
        "conf" if is_nginx(stem, directory) => Some(Kind::Nginx),
        "conf" if directory.ends_with(".service.d") => Some(Kind::Unit),
        "dockerfile" | "containerfile" => Some(Kind::Dockerfile),
        "txt" | "in" if is_requirements(stem, directory) => Some(Kind::Requirements),
        "toml" if stem == "pylock" || stem.starts_with("pylock.") => Some(Kind::Toml),
        // What autoconf and automake fill in is no Makefile yet.
        _ if stem == "makefile" && !["in", "am", "md", "txt"].contains(&extension) => Some(Kind::Makefile),
        "" if name.starts_with("makefile-") => Some(Kind::Makefile),
        _ => is_dockerfile(name, extension).then_some(Kind::Dockerfile),
    }
}

fn is_not_deployed(name: &str) -> bool {
    NOT_DEPLOYED.contains(&name) || name.starts_with("tsconfig") && name.ends_with(".json")
}

/// Whether it is what a test compares its output with.
fn is_wanted_by_a_test(name: &str, directory: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    matches!(directory, "test" | "tests") && (stem.ends_with(".expected") || stem.ends_with(".golden"))
}

fn is_nginx(stem: &str, directory: &str) -> bool {
    stem.contains("nginx")
        || directory.contains("nginx")
        || matches!(directory, "conf.d" | "sites-available" | "sites-enabled")
}

/// Lists of pip; those of conda are in a syntax of its own.
fn is_requirements(stem: &str, directory: &str) -> bool {
    let is_list = stem.contains("requirements")
        || stem.starts_with("constraints")
        || stem.ends_with("-constraints")
        || matches!(directory, "requirements" | "constraints");
    is_list && !stem.contains("conda")
}

/// `Dockerfile`, `Dockerfile.cuda`, `Dockerfile-gpu`, but not `dockerfile_parser.py`.
fn is_dockerfile(name: &str, extension: &str) -> bool {
    let Some(variant) = name.strip_prefix("dockerfile").or_else(|| name.strip_prefix("containerfile")) else {
        return false;
    };
    const OTHER: &[&str] = &[
        "dockerignore",
        "md",
        "rst",
        "txt",
        "html",
        "pdf",
        "py",
        "go",
        "rs",
        "js",
        "ts",
        "toml",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "svg",
        "drawio",
        "ico",
        "gz",
        "tgz",
        "zip",
    ];
    let variant = variant.strip_prefix("template").unwrap_or(variant);
    variant.is_empty() || variant.starts_with(['.', '-', '_']) && !OTHER.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_kind() {
        for (path, kind) in [
            ("k8s/job.yaml", Some(Kind::Yaml)),
            ("tsconfig-deploy.yaml", Some(Kind::Yaml)),
            ("job.yml.j2", Some(Kind::Yaml)),
            ("eks.yaml-template", Some(Kind::Yaml)),
            ("values.yaml.gotmpl", Some(Kind::Yaml)),
            ("task.json", Some(Kind::Json)),
            ("Pipfile.lock", Some(Kind::Json)),
            ("Dockerfile", Some(Kind::Dockerfile)),
            ("docker/Dockerfile.cu128", Some(Kind::Dockerfile)),
            ("Dockerfile-gpu", Some(Kind::Dockerfile)),
            ("Dockerfile.j2", Some(Kind::Dockerfile)),
            ("server.Dockerfile", Some(Kind::Dockerfile)),
            ("Containerfile", Some(Kind::Dockerfile)),
            ("requirements_versions.txt", Some(Kind::Requirements)),
            ("requirements_conda_forge.txt", None),
            ("dev-requirements.in", Some(Kind::Requirements)),
            ("requirements/cuda.txt", Some(Kind::Requirements)),
            ("constraints.txt", Some(Kind::Requirements)),
            ("pyproject.toml", Some(Kind::Toml)),
            ("main.tf", Some(Kind::Terraform)),
            ("main.tf.json", Some(Kind::TerraformJson)),
            ("prod.auto.tfvars", Some(Kind::TerraformVars)),
            ("prod.auto.tfvars.json", Some(Kind::TerraformVars)),
            ("docker-bake.hcl", Some(Kind::Bake)),
            ("train.sbatch", Some(Kind::Shell)),
            ("nccl.slrm", Some(Kind::Shell)),
            ("constraints/cuda.txt", Some(Kind::Requirements)),
            ("terraform.tfvars.example", Some(Kind::TerraformVars)),
            ("terraform.tfvars.template", Some(Kind::TerraformVars)),
            ("job.template", None),
            ("Makefile", Some(Kind::Makefile)),
            ("build/Makefile.gpu", Some(Kind::Makefile)),
            ("server/Makefile-flash-att", Some(Kind::Makefile)),
            ("common.mk", Some(Kind::Makefile)),
            ("llm.service", Some(Kind::Unit)),
            ("quadlet/llm.container", Some(Kind::Unit)),
            ("templates/llm.service.j2", Some(Kind::Unit)),
            ("systemd/llm.service.d/override.conf", Some(Kind::Unit)),
            ("systemd/override.conf", None),
            ("user_data.sh.tftpl", Some(Kind::Shell)),
        ] {
            assert_eq!(kind_of(path), kind, "{path}");
        }
    }

    #[test]
    fn files_whose_names_leave_it_open_show_what_they_are() {
        for (path, start, kind) in [
            ("submit.template", "#!/bin/bash\n#SBATCH -N 2\n", Some(Kind::Shell)),
            ("job.tpl", "# a job\napiVersion: batch/v1\nkind: Job\n", Some(Kind::Yaml)),
            ("letter.template", "Dear {{ name }}\n", None),
            ("values.tpl", "image: x\n", None),
            ("backend.tf.tftpl", "#!/bin/bash\n", None),
            ("bin/serve", "#!/bin/bash\n", Some(Kind::Shell)),
            ("bin/serve", "#!/usr/bin/env bash\r\n", Some(Kind::Shell)),
            ("bin/tool", "#!/usr/bin/env python3\n", None),
            ("configure", "#! /bin/sh\n# Generated by GNU Autoconf 2.72.\n", None),
            ("notes", "apiVersion: v1\nkind: Pod\n", None),
            ("LICENSE", "a licence\n", None),
        ] {
            assert_eq!(kind_by_start(path, start), kind, "{path}");
        }
    }

    #[test]
    fn templates_and_what_has_no_kind_belong_to_the_chart() {
        let charts = BTreeSet::from(["a/".to_owned()]);
        for (path, kind) in [
            ("a/templates/x.yaml", Some(Kind::Chart)),
            ("a/templates/_helpers.tpl", Some(Kind::Chart)),
            ("a/files/tool.py", Some(Kind::Chart)),
            ("a/values.yaml", Some(Kind::Yaml)),
            ("a/crds/x.yaml", Some(Kind::Yaml)),
            ("b/templates/x.yaml", Some(Kind::Yaml)),
            ("b/files/tool.py", None),
        ] {
            assert_eq!(kind_in(&charts, path), kind, "{path}");
        }
        assert_eq!(kind_in(&BTreeSet::from([String::new()]), "templates/x.yaml"), Some(Kind::Chart));
    }

    #[test]
    fn copies_patches_and_encrypted_files_are_of_what_would_be_linted() {
        for path in ["d/Dockerfile.npu.patch.encrypted", "values.yaml.gpg", "Dockerfile~", "main.tf.bak", "a.yaml.enc"]
        {
            assert!(is_copy(path), "{path}");
        }
        for path in ["fix.patch", "photo.png.bak", "secrets.enc.yaml", "Dockerfile", "old"] {
            assert!(!is_copy(path), "{path}");
        }
    }

    #[test]
    fn what_is_never_deployed_has_no_kind() {
        for path in [
            "README.md",
            "notes.txt",
            "package-lock.json",
            "tsconfig.build.json",
            "Dockerfile.dockerignore",
            "dockerfile_parser.py",
            "images/dockerfile.png",
            "dockerfiles",
            "Makefile.am",
            "_helpers.tpl",
            ".#job.yaml",
            ".terraform.lock.hcl",
            "Cargo.toml",
            "docker/Dockerfile.npu.patch.encrypted",
            "Dockerfile.gpu.orig",
            "Dockerfile~",
            "Makefile.bak",
            "values.yaml.gpg",
            "",
        ] {
            assert_eq!(kind_of(path), None, "{path}");
        }
    }
}
