//! The vocabulary: what is so about GPU workloads, as spanned three-valued facts. Knows nothing of where
//! facts came from beyond a span, and nothing of rules.
//!
//! Every entity is declared once, by [`value::entities`], and every list of entities once, by `lists` below: what rules
//! are asked about, the variables that they have, the functions that list entities and what `gpulint facts` shows follow
//! from that, and so does the reference of the rule language.

mod claims;
mod infra;
mod listing;
mod machinery;
mod objects;
mod promises;
mod protection;
mod settings;
mod software;
mod subject;
mod training;
pub mod value;
pub mod words;
mod workload;

pub use claims::{DeviceClaim, DeviceClass, DeviceRequest};
pub use infra::{Cluster, Gpu, HelmRelease, Node, NodePool, ServerOptions, Taint, UnknownValue};
pub use listing::{DockerRuntime, Listing, NamedPath, PathRole};
pub use machinery::{Compilation, ContainerRuntime, DeviceSetting, NamedImage, NamedMachine, StatedVersion};
pub use objects::{Autoscaler, Breach, Budget, Metric, Object, Resource, Route, ScalingPolicy, Service};
pub use promises::{ClusterQueue, DataClass, Flavor, Quota, ServiceLevel, SpendingLimit};
pub use protection::{Endpoint, Key, KeyReference, Opening, PortRange, StartScript, Store};
pub use software::{Build, Image, Instruction, Package, PackageFile, Software};
pub use subject::{List, Subject, Variable, is_joined, list, subjects};
pub use training::Training;
pub use words::{
    BreachClass, ContainerRole, EnvSource, InfraFormat, Intent, PackageFileKind, PackageManager, PythonHome,
    ReleaseFormat, ResourceFormat, SharedMemory, StoreRole, WorkloadFormat,
};
pub use workload::{
    Container, EnvVar, Launch, Mount, Pod, Port, Probe, Requirement, Setting, Toleration, Volume, Workload, is_of_host,
    of_host,
};

use crate::known::Fact;
use crate::parse::dockerfile::Dockerfile;
use crate::parse::{Problem, Raw};
use crate::source::{SourceId, Span, Traced};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use subject::{Listed, subject};

/// Names and their string values: labels, annotations, selectors, build arguments.
pub type Labels = BTreeMap<String, Fact<String>>;

/// Environment variables by their names.
pub type Variables = BTreeMap<String, Box<EnvVar>>;

/// A document that is no object of Kubernetes, in a file of its own or as a text in another document.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it is called: the name of its format, or of the trainer that it is for; of the component or module that it configures.
    pub kind: Cow<'static, str>,
    /// Where that is written, where it is.
    pub named: Option<Span>,
    /// Its keys that the command which reads it states again: what it says there is not what is used.
    pub overridden: BTreeSet<String>,
    /// The document.
    pub body: Raw,
}

impl Document {
    /// A document of a kind that nothing in it names.
    pub fn new(kind: impl Into<Cow<'static, str>>, body: Raw) -> Self {
        Self { kind: kind.into(), named: None, overridden: BTreeSet::new(), body }
    }
}

/// A resource of Terraform as written.
#[derive(Debug, Clone)]
pub struct ResourceBlock {
    /// Its type.
    pub kind: Fact<String>,
    /// Its type and name: `aws_instance.gpu`.
    pub address: String,
    /// Its arguments and blocks.
    pub body: Raw,
    /// What its module, and those that it is applied with, ask of providers.
    pub providers: Arc<[ProviderRequirement]>,
}

/// What a module of Terraform asks of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRequirement {
    /// The name in the module, which its resources begin with.
    pub name: String,
    /// Its address: `hashicorp/aws`.
    pub address: String,
    /// The versions that may be installed: `~> 5.0, != 5.3.0`; empty where all may.
    pub versions: String,
}

/// A text in a document whose name says what it is.
#[derive(Debug, Clone)]
pub struct NamedText {
    /// Where it stands: `ConfigMap/name/key`.
    pub at: String,
    /// The text.
    pub text: Traced,
}

/// Options that a script hands to a program that submits jobs: one line of directives, or one command.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The program.
    pub program: &'static str,
    /// The words behind it.
    pub words: Vec<Traced>,
    /// Whether it is a line of directives, which hold options alone.
    pub directive: bool,
    /// Whether what follows can be no value of its last option.
    pub ends: bool,
}

/// Declares the lists of entities: the fields of [`Facts`], how they come together, and what rules are asked about.
/// `shared` lists are what any deployment may be joined with; the others belong to one.
macro_rules! lists {
    ($($(#[doc = $doc:literal])+ $shared:ident $list:ident: Vec<$entity:ty> = $subject:expr;)*) => {
        /// Everything that was extracted from one file, one module or the whole run. Lists keep file order.
        #[derive(Debug, Clone, Default)]
        pub struct Facts {
            $($(#[doc = $doc])+ pub $list: Vec<$entity>,)*
            /// Image names and the Dockerfiles that are declared to build them, relative to the file that declares it.
            pub images: Vec<(String, Fact<String>)>,
            /// What models say of themselves in their `config.json`.
            pub model_configs: Vec<Raw>,
            /// Documents that are no objects of Kubernetes, as they are written.
            pub documents: Vec<Document>,
            /// Resources of Terraform as written.
            pub blocks: Vec<ResourceBlock>,
            /// Texts in documents whose names say what they are.
            pub texts: Vec<NamedText>,
            /// Dockerfiles as they are written.
            pub dockerfiles: Vec<Arc<Dockerfile>>,
            /// Options of programs that submit jobs, as they are written.
            pub submissions: Vec<Submission>,
            /// What scripts in ConfigMaps launch, by `ConfigMap/name/key`.
            pub scripts: Vec<(String, Box<Launch>, Option<Box<Training>>)>,
            /// Options that files state for servers, by the path of the file or `ConfigMap/name/key`.
            pub options: Vec<(String, Labels)>,
            /// Indexes that are named for packages which are listed elsewhere.
            pub indexes: Vec<IndexSetting>,
            /// Expressions that use a value which is written elsewhere (a default, an argument), by the place of that value.
            pub uses: BTreeMap<Span, Vec<Span>>,
            /// Files of modules that are there to be called, and that nobody here calls.
            pub uncalled: BTreeSet<SourceId>,
            /// Files that could not be read as a whole: templates that were not rendered, text that does not parse.
            pub unread: BTreeSet<SourceId>,
            /// Paths that files name, as seen from where they are used.
            pub paths: Vec<NamedPath>,
            /// What stands in the repositories of the run, where that was looked at.
            pub listing: Option<Arc<Listing>>,
            /// What scripts and pages say of the NVIDIA runtime of Docker.
            pub docker_runtime: Option<DockerRuntime>,
            /// Directories with a configuration of their own, and the sources that it is read from, where there are several: what
            /// those state holds for nothing else.
            pub governed: Vec<(String, Range<u32>)>,
            /// From where on a file is not read, as too much is made of its text.
            pub cut: Vec<Problem>,
        }

        /// Every list of entities.
        pub static LISTS: &[List] = &[$(List {
            name: stringify!($list),
            doc: concat!($($doc),+),
            shared: lists!(@is $shared),
            subject: &$subject,
            entities: |facts| facts.$list.iter().map(Listed::entity).collect(),
        },)*];

        impl Facts {
            /// Takes over everything of `other`, after what is already here.
            pub fn append(&mut self, other: Facts) {
                $(self.$list.extend(other.$list);)*
                self.images.extend(other.images);
                self.model_configs.extend(other.model_configs);
                self.documents.extend(other.documents);
                self.blocks.extend(other.blocks);
                self.texts.extend(other.texts);
                self.dockerfiles.extend(other.dockerfiles);
                self.submissions.extend(other.submissions);
                self.scripts.extend(other.scripts);
                self.options.extend(other.options);
                self.indexes.extend(other.indexes);
                for (value, uses) in other.uses {
                    self.uses.entry(value).or_default().extend(uses);
                }
                self.uncalled.extend(other.uncalled);
                self.unread.extend(other.unread);
                self.paths.extend(other.paths);
                self.listing = self.listing.take().or(other.listing);
                self.docker_runtime = self.docker_runtime.max(other.docker_runtime);
                self.governed.extend(other.governed);
                self.cut.extend(other.cut);
            }
        }
    };
    (@is shared) => { true };
    (@is own) => { false };
}

lists! {
    /// Things that run, whatever the format that states them.
    own workloads: Vec<Workload> = Subject {
        named: &["kind", "namespace", "name"],
        parts: &[(&["pods"], &Subject {
            short: &[("node", "node")],
            named: &[],
            parts: &[(&["containers", "init_containers"], &Subject {
                short: &[("image", "image"), ("launch", "launch"), ("software", "software")],
                ..subject("container", Container::TYPE)
            })],
            ..subject("pod", Pod::TYPE)
        })],
        ..subject("workload", Workload::TYPE)
    };
    /// Groups of machines of one shape.
    shared pools: Vec<Arc<NodePool>> = subject("pool", NodePool::TYPE);
    /// Clusters.
    shared clusters: Vec<Arc<Cluster>> = subject("cluster", Cluster::TYPE);
    /// Images built here: one per Dockerfile stage.
    shared builds: Vec<Arc<Build>> = Subject {
        short: &[("software", "software"), ("image", "base")],
        named: &["path"],
        ..subject("build", Build::TYPE)
    };
    /// Files that list Python packages.
    shared package_files: Vec<Arc<PackageFile>> = Subject {
        variable: "file",
        named: &["path"],
        ..subject("package_file", PackageFile::TYPE)
    };
    /// Configuration files of trainers and of the libraries below them.
    shared trainings: Vec<Arc<Training>> = Subject { named: &["path"], ..subject("training", Training::TYPE) };
    /// Charts installed by any means, with their values.
    shared releases: Vec<Arc<HelmRelease>> = subject("release", HelmRelease::TYPE);
    /// HPAs, ScaledObjects and their kin.
    own autoscalers: Vec<Arc<Autoscaler>> = Subject { of_workload: true, ..subject("autoscaler", Autoscaler::TYPE) };
    /// Services.
    own services: Vec<Arc<Service>> = Subject { of_workload: true, ..subject("service", Service::TYPE) };
    /// Ingresses, HTTPRoutes and their kin.
    own routes: Vec<Arc<Route>> = Subject { of_workload: true, ..subject("route", Route::TYPE) };
    /// PodDisruptionBudgets.
    own budgets: Vec<Arc<Budget>> = Subject { of_workload: true, ..subject("budget", Budget::TYPE) };
    /// Kubernetes documents as written, and what other files state in their shape.
    shared objects: Vec<Arc<Object>> = Subject {
        short: &[("body", "body")],
        named: &["kind", "name"],
        kind: Some("kind"),
        ..subject("object", Object::TYPE)
    };
    /// Claims of devices (Dynamic Resource Allocation), and templates of them.
    shared device_claims: Vec<Arc<DeviceClaim>> = Subject {
        variable: "claim",
        named: &["kind", "name"],
        ..subject("device_claim", DeviceClaim::TYPE)
    };
    /// Classes of devices that files state (Dynamic Resource Allocation).
    shared device_classes: Vec<Arc<DeviceClass>> = Subject {
        variable: "class",
        named: &["name"],
        ..subject("device_class", DeviceClass::TYPE)
    };
    /// ClusterQueues of Kueue.
    shared queues: Vec<Arc<ClusterQueue>> = Subject { named: &["name"], ..subject("queue", ClusterQueue::TYPE) };
    /// Flavors of the resources that they hand out.
    shared flavors: Vec<Arc<Flavor>> = Subject { named: &["name"], ..subject("flavor", Flavor::TYPE) };
    /// Files of options that servers are told to read.
    shared server_options: Vec<Arc<ServerOptions>> = Subject {
        variable: "file",
        named: &["path"],
        ..subject("server_options", ServerOptions::TYPE)
    };
    /// What breaks the contracts that software publishes about itself.
    own breaches: Vec<Breach> = Subject { named: &["of"], ..subject("breach", Breach::TYPE) };
    /// Infrastructure resources (Terraform, CloudFormation, ROS) as written.
    shared resources: Vec<Arc<Resource>> = Subject {
        short: &[("body", "body")],
        named: &["type", "name"],
        joint: ".",
        kind: Some("type"),
        ..subject("resource", Resource::TYPE)
    };
    /// What keeps data, in any cloud.
    shared stores: Vec<Arc<Store>> = Subject { named: &["kind", "name"], joint: ".", ..subject("store", Store::TYPE) };
    /// Keys of key management services, in any cloud.
    shared crypto_keys: Vec<Arc<Key>> = Subject { named: &["kind", "name"], joint: ".", ..subject("key", Key::TYPE) };
    /// Where keys of key management services are named, in any cloud and in clusters.
    shared key_references: Vec<Arc<KeyReference>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("key_reference", KeyReference::TYPE)
    };
    /// Where clients connect with TLS, in any cloud and in clusters.
    shared endpoints: Vec<Arc<Endpoint>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("endpoint", Endpoint::TYPE)
    };
    /// What networks let in, in any cloud.
    shared openings: Vec<Arc<Opening>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("opening", Opening::TYPE)
    };
    /// What machines run when they start.
    shared start_scripts: Vec<Arc<StartScript>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("start_script", StartScript::TYPE)
    };
    /// Policies by which clouds scale something.
    shared scaling_policies: Vec<Arc<ScalingPolicy>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("scaling_policy", ScalingPolicy::TYPE)
    };
    /// Limits of spending, in any cloud.
    shared spending_limits: Vec<Arc<SpendingLimit>> = Subject {
        named: &["kind", "name"],
        joint: ".",
        ..subject("spending_limit", SpendingLimit::TYPE)
    };
    /// What is compiled for GPUs, by commands and by variables of builds.
    shared compilations: Vec<Arc<Compilation>> = Subject {
        named: &["path", "option"],
        ..subject("compilation", Compilation::TYPE)
    };
    /// Versions that files state in variables.
    shared stated_versions: Vec<Arc<StatedVersion>> = Subject {
        named: &["path", "variable"],
        ..subject("stated_version", StatedVersion::TYPE)
    };
    /// Images that files name in variables and in values.
    shared named_images: Vec<Arc<NamedImage>> = Subject {
        short: &[("image", "image")],
        named: &["variable"],
        ..subject("named_image", NamedImage::TYPE)
    };
    /// Machine types and accelerators that files name in variables and in values.
    shared named_machines: Vec<Arc<NamedMachine>> = Subject {
        named: &["variable"],
        ..subject("named_machine", NamedMachine::TYPE)
    };
    /// What commands set GPUs to.
    shared device_settings: Vec<Arc<DeviceSetting>> = Subject {
        named: &["program", "setting"],
        ..subject("device_setting", DeviceSetting::TYPE)
    };
    /// How runtimes of containers are set up.
    shared container_runtimes: Vec<Arc<ContainerRuntime>> = Subject {
        named: &["program"],
        ..subject("container_runtime", ContainerRuntime::TYPE)
    };
}

/// An index of packages that a variable, a configuration or an option names for packages which it does not name.
#[derive(Debug, Clone)]
pub struct IndexSetting {
    /// The index.
    pub url: Fact<String>,
    /// Whether it is about one command, not about all of its file.
    pub of_command: bool,
}

impl Facts {
    /// The expression that uses a value written elsewhere: of several the first one of the entity at `from`.
    pub fn use_of(&self, value: Span, from: Span) -> Option<Span> {
        let uses = self.uses.get(&value)?;
        let here = uses.iter().filter(|used| used.source == from.source && used.start >= from.start).min();
        here.or(uses.first()).copied()
    }
}
