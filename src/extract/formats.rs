//! The formats that are read: how each is recognised, and what reads it. Adding one is a row here.

use super::{
    TextFile, ansible, bake, bounded, ci, cloudformation, clusters, commands, compose, describes_others, dockerfile,
    dstack, ecs, embedded, helmfile, hosted, kubernetes, llama_swap, makefile, nginx, nomad, options, package_indexes,
    package_tables, packer, platforms, protection, pulumi, ray_serve, recipes, requirements, setup, skypilot, slurm,
    slurm_conf, startup, terraform, toolkit, training, triton, truss, units, values,
};
use crate::budget::Share;
use crate::discover::{self, Kind};
use crate::facts::{Document, Facts, Object};
use crate::known::Fact;
use crate::parse::{DEEPEST, Dialect, Node, Raw, Tree, View, hcl, toml, yaml};
use crate::paths;
use crate::render::{self, terraform::ModuleFile};
use crate::source::SourceId;
use std::sync::Arc;

/// A format of documents in YAML or JSON.
pub struct Format {
    /// What it is called; a folder of `fixtures/formats/` has this name.
    pub name: &'static str,
    /// What is of it.
    pub about: &'static str,
    /// What shows that a document at a path is of it.
    pub is: fn(Node<'_>, &str) -> bool,
    /// The kinds of objects as which rules may ask for such documents as they are written. Where there are several, its reader
    /// chooses.
    pub objects: &'static [&'static str],
    /// Reads such a document.
    pub read: fn(&Arc<Tree>, Node<'_>, &str, &mut Facts),
}

/// The formats of documents, in the order in which they are recognised.
pub static DOCUMENTS: &[Format] = &[
    Format {
        name: "ansible",
        about: "playbooks and lists of tasks",
        is: |root, _| ansible::is_tasks(root),
        objects: &["AnsibleTasks"],
        read: ansible::read,
    },
    Format {
        name: "kubernetes",
        about: "objects of Kubernetes and of what extends it",
        is: |root, _| kubernetes::is_object(root),
        objects: &[],
        read: |tree, root, _, facts| kubernetes::document(tree, root, facts),
    },
    Format {
        name: "cloudformation",
        about: "templates of AWS CloudFormation and Alibaba Cloud ROS",
        is: |root, _| cloudformation::is_template(root),
        objects: &[],
        read: cloudformation::read,
    },
    Format {
        name: "ecs",
        about: "task definitions of Amazon ECS",
        is: |root, _| ecs::is_task(root),
        objects: &["EcsTaskDefinition"],
        read: |tree, root, _, facts| ecs::read(tree, root, facts),
    },
    Format {
        name: "ci",
        about: "workflows of GitHub, GitLab, Azure Pipelines, Buildkite and CircleCI",
        is: ci::is_workflow,
        objects: ci::KINDS,
        read: |tree, root, path, facts| {
            let kind = ci::kind(root, path);
            facts.objects.extend(kind.map(|kind| Arc::new(embedded::object(tree, root, kind, path))));
            if kind == Some("GitHubWorkflow") {
                hosted::read(root, path, facts);
            }
            ci::read(root, path, facts);
        },
    },
    Format {
        name: "cloud-setting",
        about: "a scaling policy or encryption setting that a command of a cloud takes",
        is: |root, _| cloud_setting(root).is_some(),
        objects: &[],
        read: |tree, root, _, facts| {
            if let Some(key) = cloud_setting(root) {
                setting(tree, root, key, facts);
            }
        },
    },
    Format {
        name: "cloud-init",
        about: "what cloud-init does when a machine starts (`#cloud-config`): packages, files, commands",
        is: |root, _| startup::is_cloud_config(root),
        objects: &["CloudConfig"],
        read: |_, root, path, facts| startup::document(root, path, facts),
    },
    Format {
        name: "skypilot",
        about: "tasks of SkyPilot",
        is: |root, _| skypilot::is_task(root),
        objects: &["SkyPilotTask"],
        read: skypilot::read,
    },
    Format {
        name: "dstack",
        about: "tasks, services and development environments of dstack",
        is: |root, _| dstack::is_run(root),
        objects: &["DstackRun"],
        read: dstack::read,
    },
    Format {
        name: "truss",
        about: "models that Baseten serves (`config.yaml` of a Truss)",
        is: |root, _| truss::is_truss(root),
        objects: &["TrussConfig"],
        read: truss::read,
    },
    Format {
        name: "determined",
        about: "experiments of Determined",
        is: |root, _| platforms::is_experiment(root),
        objects: &["DeterminedExperiment"],
        read: platforms::experiment,
    },
    Format {
        name: "mosaicml",
        about: "runs of MosaicML",
        is: |root, _| platforms::is_run(root),
        objects: &[],
        read: platforms::run,
    },
    Format {
        name: "databricks",
        about: "workloads of Databricks' AI Runtime",
        is: |root, _| platforms::is_databricks(root),
        objects: &[],
        read: platforms::databricks,
    },
    Format {
        name: "packer",
        about: "templates of Packer in JSON",
        is: |root, _| packer::is_template(root),
        objects: &[packer::TEMPLATE],
        read: packer::document,
    },
    Format {
        name: "cog",
        about: "images of model servers that Cog builds",
        is: |root, _| recipes::is_cog(root),
        objects: &["CogConfig"],
        read: |_, root, path, facts| recipes::cog(root, path, facts),
    },
    Format {
        name: "bentoml",
        about: "images of model servers that BentoML builds",
        is: |root, _| recipes::is_bento(root),
        objects: &["BentoConfig"],
        read: |_, root, path, facts| recipes::bento(root, path, facts),
    },
    Format {
        name: "blueprint",
        about: "blueprints of Google's Cluster Toolkit",
        is: |root, _| toolkit::is_blueprint(root),
        objects: &["ClusterBlueprint"],
        read: toolkit::blueprint,
    },
    Format {
        name: "hyperpod",
        about: "clusters of SageMaker HyperPod, as the command line of AWS takes them",
        is: |root, _| clusters::is_hyperpod(root),
        objects: &[],
        read: |tree, root, _, facts| {
            let groups = clusters::hyperpod(tree, root.view(), "AWS::SageMaker::Cluster");
            facts.pools.extend(groups.into_iter().map(Arc::new));
        },
    },
    Format {
        name: "parallelcluster",
        about: "clusters of AWS ParallelCluster",
        is: |root, _| clusters::is_parallel(root),
        objects: &["ParallelCluster"],
        read: |tree, root, _, facts| clusters::parallel(tree, root, facts),
    },
    Format {
        name: "pulumi",
        about: "programs of Pulumi in YAML",
        is: |root, _| pulumi::is_program(root),
        objects: &[],
        read: pulumi::read,
    },
    Format {
        name: "ray",
        about: "configurations of Ray's cluster launcher",
        is: |root, _| toolkit::is_ray(root),
        objects: &["RayClusterConfig"],
        read: toolkit::ray,
    },
    Format {
        name: "compose",
        about: "projects of Docker Compose",
        is: compose::is_project,
        objects: &["ComposeProject"],
        read: |tree, root, _, facts| compose::project(tree, root, facts),
    },
    Format {
        name: "docker-bake",
        about: "targets of docker buildx bake",
        is: bake::is_file,
        objects: &["BakeFile"],
        read: |tree, root, _, facts| bake::read(tree, root, facts),
    },
    Format {
        name: "helmfile",
        about: "releases of Helmfile",
        is: |root, _| helmfile::is_helmfile(root),
        objects: &["Helmfile"],
        read: |tree, root, _, facts| helmfile::read(tree, root, facts),
    },
    Format {
        name: "conda",
        about: "environments of conda and what is locked of them",
        is: |root, _| package_tables::is_conda(root),
        objects: &["CondaEnvironment"],
        read: |_, root, path, facts| facts.package_files.extend(package_tables::conda_file(root, path).map(Arc::new)),
    },
    Format {
        name: "python-env",
        about: "environments of MLflow (`python_env.yaml`)",
        is: |root, _| package_tables::is_python_env(root),
        objects: &[],
        read: |_, root, path, facts| {
            let file = package_tables::python_env(root, path, facts);
            facts.package_files.push(Arc::new(file));
        },
    },
    Format {
        name: "llama-swap",
        about: "configurations of llama-swap",
        is: |root, _| llama_swap::is_config(root),
        objects: &["LlamaSwapConfig"],
        read: |_, root, path, facts| llama_swap::read(root, path, facts),
    },
    Format {
        name: "ray-serve",
        about: "configurations of Ray Serve, in files and in RayServices",
        is: |root, _| ray_serve::is_config(root),
        objects: &["RayServeConfig"],
        read: ray_serve::read,
    },
    Format {
        name: "model",
        about: "`config.json` of a model",
        is: |root, path| path.ends_with("config.json") && root.get("architectures").is_some_and(Node::is_seq),
        objects: &[],
        read: |tree, root, _, facts| facts.model_configs.push(Raw::new(tree, root.view())),
    },
    Format {
        name: "training",
        about: "configurations of trainers",
        is: |root, _| training::kind(root).is_some(),
        objects: &[],
        read: |tree, root, path, facts| {
            embedded::component(tree, root, path, facts);
            let trainer = training::kind(root);
            facts.trainings.extend(trainer.map(|trainer| Arc::new(training::document(trainer, root, path))));
        },
    },
    Format {
        name: "server-options",
        about: "files of options that vLLM, SGLang and TensorRT-LLM are told to read (`--config`), and what Triton's backend for vLLM reads (`model.json`)",
        is: options::is_file,
        objects: &[],
        read: |_, root, path, facts| options::read(root, path, facts),
    },
    Format {
        name: "component",
        about: "configurations of LiteLLM, Frigate, LibreChat, Talos, k3s, Docker, the device plugin, the MIG manager and the scheduler of Volcano, jobs of Vertex AI, compute, deployments and jobs of Azure ML, jobs and endpoint configurations of SageMaker as its command line takes them, and `dataset_info.json` of LLaMA-Factory",
        is: |root, path| embedded::kind(root, path).is_some(),
        objects: &[],
        read: embedded::component,
    },
    Format { name: "values", about: "values of Helm charts", is: values::is_values, objects: &[], read: values::read },
];

/// What rules ask for as the `pyproject.toml` of a project.
const PYTHON_PROJECT: &str = "PythonProject";

/// A format with a syntax of its own, which the name of a file shows.
pub struct TextFormat {
    /// What it is called; a folder of `fixtures/formats/` has this name.
    pub name: &'static str,
    /// What is of it.
    pub about: &'static str,
    /// The kinds of objects as which rules may ask for such files as they are written.
    pub objects: &'static [&'static str],
    /// The kinds of files that are of it.
    pub kinds: &'static [Kind],
    /// Reads such a file.
    pub read: fn(SourceId, &str, &str, &mut Facts) -> TextFile,
}

/// The formats of other files.
pub static TEXTS: &[TextFormat] = &[
    TextFormat {
        name: "terraform",
        about: "Terraform and OpenTofu modules with the values for them, evaluated from their roots down",
        objects: &[],
        kinds: &[Kind::Terraform, Kind::TerraformVars],
        read: terraform_file,
    },
    TextFormat {
        name: "terraform-json",
        about: "the same as JSON",
        objects: &[],
        kinds: &[Kind::TerraformJson],
        read: terraform_file,
    },
    TextFormat {
        name: "docker-bake",
        about: "the same in HCL, with the defaults of variables",
        objects: &[],
        kinds: &[Kind::Bake],
        read: bake_file,
    },
    TextFormat { name: "nomad", about: "jobs of Nomad", objects: &[], kinds: &[Kind::Nomad], read: nomad::read },
    TextFormat {
        name: "packer",
        about: "templates of Packer in HCL",
        objects: &[packer::TEMPLATE],
        kinds: &[Kind::Packer],
        read: packer::read,
    },
    TextFormat {
        name: "dockerfile",
        about: "Dockerfiles and Containerfiles",
        objects: &[],
        kinds: &[Kind::Dockerfile],
        read: dockerfile::read,
    },
    TextFormat {
        name: "pyproject",
        about: "`pyproject.toml`, `Pipfile`, `pixi.toml` and lock files in TOML, and configurations of torchtitan that a command names",
        objects: &[PYTHON_PROJECT],
        kinds: &[Kind::Toml],
        read: toml_file,
    },
    TextFormat {
        name: "shell-script",
        about: "shell scripts (by their endings, or by the first line of a file without one), and batch jobs of Slurm, PBS, LSF and Grid Engine",
        objects: &[commands::SCRIPT, "SlurmScript"],
        kinds: &[Kind::Shell],
        read: slurm::read,
    },
    TextFormat {
        name: "slurm-configuration",
        about: "`slurm.conf`, `gres.conf` and `cgroup.conf` of Slurm",
        objects: &[],
        kinds: &[Kind::Slurm],
        read: slurm_conf::read,
    },
    TextFormat {
        name: "nginx",
        about: "configurations of nginx: where each location passes requests on to",
        objects: &[],
        kinds: &[Kind::Nginx],
        read: nginx::read,
    },
    TextFormat {
        name: "setup",
        about: "`setup.cfg`, and lists of packages that `setup.py` writes out",
        objects: &[],
        kinds: &[Kind::Setup],
        read: setup::read,
    },
    TextFormat {
        name: "systemd",
        about: "services of systemd (`.service`): what they start, with their environment; their settings, and those of drop-ins (`.service.d/*.conf`); containers that podman runs for it (`.container`)",
        objects: &[],
        kinds: &[Kind::Unit],
        read: units::read,
    },
    TextFormat {
        name: "makefile",
        about: "recipes of Makefiles",
        objects: &[],
        kinds: &[Kind::Makefile],
        read: makefile::read,
    },
    TextFormat {
        name: "triton",
        about: "`config.pbtxt` of models that Triton serves",
        objects: &[],
        kinds: &[Kind::Pbtxt],
        read: triton::read,
    },
    TextFormat {
        name: "requirements",
        about: "requirements and constraints of pip",
        objects: &[],
        kinds: &[Kind::Requirements],
        read: requirements::read,
    },
];

/// The format of a document; `None` for what is of none that is read.
pub fn format(root: Node<'_>, path: &str) -> Option<&'static Format> {
    if describes_others(root) {
        return None;
    }
    DOCUMENTS.iter().find(|format| (format.is)(root, path))
}

/// The format of documents that is called so.
pub fn named(name: &str) -> Option<&'static Format> {
    DOCUMENTS.iter().find(|format| format.name == name)
}

impl Format {
    /// Reads a document of this format.
    pub fn document(&self, tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
        if let [kind] = self.objects {
            facts.objects.push(Arc::new(embedded::object(tree, root, kind, path)));
        }
        (self.read)(tree, root, path, facts);
        let kind = match self.name {
            "component" => embedded::kind(root, path),
            "training" if training::is_of_trl(root) => Some("trl"),
            "training" => training::kind(root),
            "values" if paths::name(path) == "Chart.yaml" => Some("chart"),
            name => Some(name),
        };
        if kind == Some("torchtune") && !paths::directory(path).contains("recipes/configs") {
            training::components(tree, root.view(), DEEPEST, facts);
        }
        facts.documents.extend(kind.map(|kind| Document::new(kind, Raw::new(tree, root.view()))));
    }
}

/// The key under which a setting of a cloud stands in a file of its own.
fn cloud_setting(root: Node<'_>) -> Option<&'static str> {
    let stated = ["ScalingPolicy", "EncryptionConfig"].into_iter().find(|key| root.get(key).is_some());
    // What `aws application-autoscaling put-scaling-policy` takes is the configuration by itself.
    let metric = ["PredefinedMetricSpecification", "CustomizedMetricSpecification"];
    let lone = root.get("TargetValue").is_some() && metric.iter().any(|key| root.get(key).is_some());
    stated.or(lone.then_some("ScalingPolicy"))
}

/// A cloud's setting in a file of its own, as a raw object whose kind is the key it stands under, or would.
fn setting(tree: &Arc<Tree>, root: Node<'_>, key: &str, facts: &mut Facts) {
    let body = if root.get(key).is_some() { root.view().get(key) } else { View::new(Some(root), root.head()) };
    let mut out = Object::blank(body.place());
    out.kind = Fact::value(key.to_owned(), body.place());
    out.name = body.get("PolicyName").string();
    out.body = Some(Raw::new(tree, body));
    let stated = protection::Stated {
        kind: out.kind.clone(),
        name: out.name.clone(),
        shape: key,
        region: Fact::absent(body.place()),
    };
    protection::read(tree, body, &stated, facts);
    facts.objects.push(Arc::new(out));
}

/// A file of a Terraform module, which is evaluated with the others of the module.
fn terraform_file(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let values = discover::kind_of(path) == Some(Kind::TerraformVars);
    let json = discover::without_template_suffix(path).unwrap_or(path).ends_with(".json");
    let mut hcl = match (json, values) {
        (false, _) => hcl::parse(id, text),
        (true, true) => hcl::parse_values(id, text),
        (true, false) => hcl::parse_json(id, text),
    };
    if json {
        hcl.problems.extend(yaml::parse(id, text, Dialect::Typed).problems);
    }
    let (problems, comments) = (std::mem::take(&mut hcl.problems), std::mem::take(&mut hcl.comments));
    let repeated = std::mem::take(&mut hcl.repeated);
    terraform::named::read(&hcl, path, values, facts);
    let module = ModuleFile { path: path.to_owned(), hcl, values };
    TextFile { problems, repeated, comments, module: Some(module), ..TextFile::default() }
}

fn bake_file(id: SourceId, _: &str, text: &str, facts: &mut Facts) -> TextFile {
    let hcl = hcl::parse(id, text);
    let tree = Arc::new(render::bake::tree(&hcl));
    tree.roots().for_each(|root| bake::read(&tree, root, facts));
    TextFile { names: hcl.names(), problems: hcl.problems, comments: hcl.comments, ..TextFile::default() }
}

fn toml_file(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let tree = toml::parse(id, text);
    let share = Share::least(text.len());
    if paths::name(path) == "pyproject.toml" {
        let tree = Arc::new(tree.clone());
        facts.objects.extend(tree.roots().map(|root| Arc::new(embedded::object(&tree, root, PYTHON_PROJECT, path))));
    }
    if paths::name(path) == "uv.toml" {
        facts.indexes.extend(tree.roots().flat_map(|root| package_indexes::of_configuration(root.view())));
    }
    let training = tree.roots().find_map(|root| training::of_toml(root, path));
    if let Some(training) = training {
        facts.trainings.push(Arc::new(training));
        return TextFile { problems: tree.problems, comments: tree.comments, ..TextFile::default() };
    }
    let mut file = package_tables::toml_file(&tree, path, &share);
    let cut = file.as_mut().and_then(|file| bounded(file, &share));
    facts.package_files.extend(file.map(Arc::new));
    TextFile { problems: tree.problems, comments: tree.comments, cut, ..TextFile::default() }
}
