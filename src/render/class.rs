//! The Go types of what Helm hands to templates: their names, kinds and fields. Knows names only.

/// What a mapping is in Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Class {
    /// `map[string]interface {}`
    #[default]
    Plain,
    /// A mapping with methods: `.Values`, `.Template` and what templates are handed as a whole.
    Values,
    /// `map[string]string`
    Texts,
    /// `.Chart`
    Chart,
    /// What `.Chart` is made of, but for `IsRoot`.
    Metadata,
    /// One of `.Chart.Maintainers`.
    Maintainer,
    /// One of `.Chart.Dependencies`.
    Dependency,
    /// `.Capabilities`
    Capabilities,
    /// `.Capabilities.KubeVersion`
    KubeVersion,
    /// `.Capabilities.HelmVersion`
    HelmVersion,
    /// What `semver` makes.
    Version,
}

/// A field: its name, its key in JSON, and whether it is written where it is empty.
pub type Field = (&'static str, &'static str, bool);

const METADATA: &[Field] = &[
    ("Name", "name", false),
    ("Home", "home", false),
    ("Sources", "sources", false),
    ("Version", "version", false),
    ("Description", "description", false),
    ("Keywords", "keywords", false),
    ("Maintainers", "maintainers", false),
    ("Icon", "icon", false),
    ("APIVersion", "apiVersion", false),
    ("Condition", "condition", false),
    ("Tags", "tags", false),
    ("AppVersion", "appVersion", false),
    ("Deprecated", "deprecated", false),
    ("Annotations", "annotations", false),
    ("KubeVersion", "kubeVersion", false),
    ("Dependencies", "dependencies", false),
    ("Type", "type", false),
    ("IsRoot", "IsRoot", true),
];

const MAINTAINER: &[Field] = &[("Name", "name", false), ("Email", "email", false), ("URL", "url", false)];

const DEPENDENCY: &[Field] = &[
    ("Name", "name", true),
    ("Version", "version", false),
    ("Repository", "repository", true),
    ("Condition", "condition", false),
    ("Tags", "tags", false),
    ("Enabled", "enabled", false),
    ("ImportValues", "import-values", false),
    ("Alias", "alias", false),
];

const CAPABILITIES: &[Field] =
    &[("KubeVersion", "KubeVersion", true), ("APIVersions", "APIVersions", true), ("HelmVersion", "HelmVersion", true)];

const KUBE_VERSION: &[Field] = &[("Version", "Version", true), ("Major", "Major", true), ("Minor", "Minor", true)];

const HELM_VERSION: &[Field] = &[
    ("Version", "version", false),
    ("GitCommit", "git_commit", false),
    ("GitTreeState", "git_tree_state", false),
    ("GoVersion", "go_version", false),
];

impl Class {
    /// Its name, as `%T` writes it in Helm 3. Helm 4 has those of its own in other packages.
    pub fn name(self) -> &'static str {
        match self {
            Class::Plain => "map[string]interface {}",
            Class::Values => "chartutil.Values",
            Class::Texts => "map[string]string",
            Class::Chart => "struct { chart.Metadata; IsRoot bool }",
            Class::Metadata => "chart.Metadata",
            Class::Maintainer => "*chart.Maintainer",
            Class::Dependency => "*chart.Dependency",
            Class::Capabilities => "*chartutil.Capabilities",
            Class::KubeVersion => "chartutil.KubeVersion",
            Class::HelmVersion => "version.BuildInfo",
            Class::Version => "*semver.Version",
        }
    }

    /// Its kind, in the words of `reflect`.
    pub fn kind(self) -> &'static str {
        match self {
            Class::Plain | Class::Values | Class::Texts => "map",
            _ if self.name().starts_with('*') => "ptr",
            _ => "struct",
        }
    }

    /// Whether it has fields and no keys.
    pub fn is_struct(self) -> bool {
        self.kind() != "map"
    }

    /// Its fields in their order; none where it has keys.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Class::Plain | Class::Values | Class::Texts | Class::Version => &[],
            Class::Chart => METADATA,
            Class::Metadata => &METADATA[..METADATA.len() - 1],
            Class::Maintainer => MAINTAINER,
            Class::Dependency => DEPENDENCY,
            Class::Capabilities => CAPABILITIES,
            Class::KubeVersion => KUBE_VERSION,
            Class::HelmVersion => HELM_VERSION,
        }
    }
}
