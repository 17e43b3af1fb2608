//! The vocabulary: what is so about GPU workloads, as spanned three-valued facts. Knows nothing of where
//! facts came from beyond a span, and nothing of rules.
//!
//! Every entity is declared once, by [`value::entities`]: the Rust struct, the names and types that rules
//! use, and the documentation that `gpulint facts` and the rule reference show are the same text.

mod infra;
mod objects;
mod software;
mod training;
pub mod value;
pub mod words;
mod workload;

pub use infra::{Cluster, Gpu, HelmRelease, Node, NodePool, Taint};
pub use objects::{Autoscaler, Budget, Metric, Object, Resource, Route, Service};
pub use software::{Build, Image, Instruction, Package, PackageFile, Software};
pub use training::Training;
pub use words::{
    ContainerRole, EnvSource, InfraFormat, Intent, PackageFileKind, PackageManager, ReleaseFormat, ResourceFormat,
    SharedMemory, WorkloadFormat,
};
pub use workload::{Container, EnvVar, Launch, Mount, Pod, Port, Probe, Requirement, Toleration, Volume, Workload};

use crate::known::Fact;
use crate::parse::Raw;
use crate::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and their string values: labels, annotations, selectors, build arguments.
pub type Labels = BTreeMap<String, Fact<String>>;

/// Everything that was extracted from one file, one module or the whole run. Lists keep file order.
#[derive(Debug, Default)]
pub struct Facts {
    /// Things that run, whatever the format that states them.
    pub workloads: Vec<Workload>,
    /// Groups of machines of one shape.
    pub pools: Vec<Arc<NodePool>>,
    /// Clusters.
    pub clusters: Vec<Arc<Cluster>>,
    /// Images built here: one per Dockerfile stage.
    pub builds: Vec<Arc<Build>>,
    /// Files that list Python packages.
    pub package_files: Vec<Arc<PackageFile>>,
    /// Charts installed by any means, with their values.
    pub releases: Vec<Arc<HelmRelease>>,
    /// HPAs, ScaledObjects and their kin.
    pub autoscalers: Vec<Arc<Autoscaler>>,
    /// Services.
    pub services: Vec<Arc<Service>>,
    /// Ingresses, HTTPRoutes and their kin.
    pub routes: Vec<Arc<Route>>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<Arc<Budget>>,
    /// Every Kubernetes document, raw.
    pub objects: Vec<Arc<Object>>,
    /// Every infrastructure resource (Terraform, CloudFormation, ROS), raw.
    pub resources: Vec<Arc<Resource>>,
    /// Image names and the Dockerfiles that are declared to build them, relative to the file that declares it.
    pub images: Vec<(String, Fact<String>)>,
    /// What configuration files of trainers state, by display path, or by `ConfigMap/name/key`.
    pub trainings: Vec<(String, Training)>,
    /// What models say of themselves in their `config.json`.
    pub model_configs: Vec<Raw>,
    /// What scripts in ConfigMaps launch, by `ConfigMap/name/key`.
    pub scripts: Vec<(String, Launch, Option<Training>)>,
    /// Expressions that use a value which is written elsewhere (a default, an argument), by the place of that value.
    pub uses: BTreeMap<Span, Vec<Span>>,
}

impl Facts {
    /// What further entities may be joined with: everything but what runs and what belongs to it. Of workloads only
    /// their places are kept, which tell how the repository is laid out.
    pub fn context(&self) -> Facts {
        Facts {
            workloads: self.workloads.iter().map(|workload| Workload::blank(workload.span)).collect(),
            pools: self.pools.clone(),
            clusters: self.clusters.clone(),
            builds: self.builds.clone(),
            package_files: self.package_files.clone(),
            releases: self.releases.clone(),
            objects: self.objects.clone(),
            resources: self.resources.clone(),
            images: self.images.clone(),
            model_configs: self.model_configs.clone(),
            uses: self.uses.clone(),
            ..Facts::default()
        }
    }

    /// The expression that uses a value written elsewhere: of several the first one of the entity at `from`.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        let uses = self.uses.get(&value)?;
        let here = uses.iter().filter(|used| used.source == from.source && used.start >= from.start).min();
        here.or(uses.first()).copied()
    }

    /// Takes over everything of `other`, after what is already here.
    pub fn append(&mut self, other: Facts) {
        self.workloads.extend(other.workloads);
        self.pools.extend(other.pools);
        self.clusters.extend(other.clusters);
        self.builds.extend(other.builds);
        self.package_files.extend(other.package_files);
        self.releases.extend(other.releases);
        self.autoscalers.extend(other.autoscalers);
        self.services.extend(other.services);
        self.routes.extend(other.routes);
        self.budgets.extend(other.budgets);
        self.objects.extend(other.objects);
        self.resources.extend(other.resources);
        self.images.extend(other.images);
        self.trainings.extend(other.trainings);
        self.model_configs.extend(other.model_configs);
        self.scripts.extend(other.scripts);
        for (value, uses) in other.uses {
            self.uses.entry(value).or_default().extend(uses);
        }
    }
}
