//! What templates see: `.Chart`, `.Release`, `.Capabilities`, `.Files`, `.Values`. Knows their shapes; evaluates
//! nothing.

use super::chart::{Chart, Dependency, File};
use super::install::Install;
use super::sets::Release;
use super::values::{self, Table};
use crate::budget::{NODE, Share};
use crate::known::Why;
use crate::parse::Node;
use crate::render::class::Class;
use crate::render::gotemplate::Doubts;
use crate::render::text::{Origin, Text};
use crate::render::value::{Data, Files, Items, Map, Value};
use crate::source::Span;
use std::cell::Cell;
use std::rc::Rc;

/// Group versions that Helm 3.16 takes every cluster to serve when it asks none.
const API_VERSIONS: &[&str] = &[
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1beta1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "autoscaling/v2beta1",
    "autoscaling/v2beta2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1alpha1",
    "certificates.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "coordination.k8s.io/v1alpha1",
    "coordination.k8s.io/v1beta1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "internal.apiserver.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1alpha1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1alpha1",
    "rbac.authorization.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1",
    "scheduling.k8s.io/v1alpha1",
    "scheduling.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storage.k8s.io/v1beta1",
    "storagemigration.k8s.io/v1alpha1",
    "v1",
];

/// Version of Helm that templates are told.
const HELM: &str = "v3.16.4";

/// The objects of a chart and of the charts below it.
pub struct Scope<'c> {
    /// The chart with its name here.
    pub install: &'c Install<'c>,
    /// `.Template.BasePath` without `/templates`: `parent/charts/child`.
    pub path: String,
    /// What `.` is in its templates; each template adds `.Template`.
    pub dot: Map,
    /// Scopes of its subcharts.
    pub children: Vec<Scope<'c>>,
}

/// The objects of a chart and its subcharts.
pub fn scope<'c>(
    root: &'c Install<'c>,
    values: &Table<'c>,
    release: &Release,
    (doubts, share): (&Doubts, &Share),
) -> Scope<'c> {
    let shared = Shared { release: self::release(release, doubts), capabilities: capabilities(release, doubts), share };
    shared.scope(root, root.name.to_owned(), table(values, (share, 1)).as_class(Class::Values).into(), true)
}

struct Shared<'s> {
    release: Value,
    capabilities: Value,
    share: &'s Share,
}

impl Shared<'_> {
    fn scope<'c>(&self, install: &'c Install<'c>, path: String, values: Value, root: bool) -> Scope<'c> {
        // What templates see of a chart has some dozens of entries.
        let _ = self.share.make(64 * NODE);
        let below = |name: &str| {
            let found = values.as_map()?.get(name)?;
            let table = found.as_map()?.as_class(Class::Values);
            Some(Value { data: Data::Map(table), origin: found.origin })
        };
        let below = |name: &str| below(name).unwrap_or_else(|| Map::new().as_class(Class::Values).into());
        let children: Vec<Scope<'c>> = install
            .children
            .iter()
            .map(|child| self.scope(child, format!("{path}/charts/{}", child.name), below(child.name), false))
            .collect();
        let subcharts: Map =
            children.iter().map(|c| (c.install.name, Value::from(c.dot.as_class(Class::Plain)))).collect();
        let dot: Map = [
            ("Chart", metadata(install, root, self.share)),
            ("Files", files(install.chart, self.share)),
            ("Release", self.release.clone()),
            ("Capabilities", self.capabilities.clone()),
            ("Values", values),
            ("Subcharts", subcharts.into()),
        ]
        .into_iter()
        .collect();
        let dot = dot.as_class(Class::Values);
        Scope { install, path, dot, children }
    }
}

/// Values as templates see them.
fn table(table: &Table<'_>, (share, level): (&Share, usize)) -> Map {
    let out = Map::new();
    for (name, entry) in table {
        // What is spent is told by whoever renders.
        if share.nest(level).and_then(|()| share.make(2 * NODE + name.len())).is_err() {
            return out;
        }
        let value = match &entry.value {
            values::Value::Table(inner) => Value::from(self::table(inner, (share, level + 1))).at(entry.key),
            values::Value::Leaf(node) => Value::from_node(*node, share),
        };
        out.insert(name, entry.key, value);
    }
    out
}

/// What a dry run takes for granted: it is watched, and not known where all is doubted.
fn granted(map: &Map, names: &[&str], what: &str, (doubts, watch): (&Doubts, &Rc<Cell<bool>>)) {
    for name in names {
        if doubts.doubts_all() {
            map.insert(name, None, Why::Remote(what.into()).into());
        }
        map.watch(name, watch);
    }
}

fn release(release: &Release, doubts: &Doubts) -> Value {
    let text = |text: &str| Value::from(text);
    let map: Map = [
        ("Name", text(&release.name)),
        ("Namespace", text(&release.namespace)),
        ("IsInstall", true.into()),
        ("IsUpgrade", false.into()),
        ("Revision", 1.into()),
        ("Service", text("Helm")),
    ]
    .into_iter()
    .collect();
    granted(&map, &["IsInstall", "IsUpgrade", "Revision"], "what was installed before", (doubts, doubts.granted()));
    map.into()
}

fn capabilities(release: &Release, doubts: &Doubts) -> Value {
    let number = release.kubernetes.trim_start_matches('v');
    let mut parts = number.split(['.', '-', '+']);
    let mut part = || Value::from(parts.next().unwrap_or("0"));
    let kube: Map =
        [("Major", part()), ("Minor", part()), ("Version", Value::from(format!("v{number}")))].into_iter().collect();
    let helm: Map = [("Version", HELM.into())].into_iter().collect();
    for name in ["GitCommit", "GitTreeState", "GoVersion"] {
        helm.insert(name, None, Why::Remote("Helm".into()).into());
    }
    granted(&helm, &["Version"], "Helm", (doubts, doubts.granted()));
    let apis = API_VERSIONS.iter().map(|version| (*version).to_owned()).chain(release.apis.iter().cloned());
    let map: Map = [
        ("KubeVersion", kube.as_class(Class::KubeVersion).into()),
        ("HelmVersion", helm.as_class(Class::HelmVersion).into()),
        ("APIVersions", Data::Versions(Rc::new(apis.collect())).into()),
    ]
    .into_iter()
    .collect();
    granted(&map, &["KubeVersion"], "the cluster", (doubts, doubts.cluster()));
    if doubts.doubts_all() {
        map.insert("APIVersions", None, Why::Remote("the cluster".into()).into());
    }
    map.as_class(Class::Capabilities).into()
}

/// `.Chart`: what `Chart.yaml` says, absent texts being empty.
fn metadata(install: &Install<'_>, root: bool, share: &Share) -> Value {
    const TEXTS: &[(&str, &str)] = &[
        ("Home", "home"),
        ("Version", "version"),
        ("Description", "description"),
        ("Icon", "icon"),
        ("APIVersion", "apiVersion"),
        ("Condition", "condition"),
        ("Tags", "tags"),
        ("AppVersion", "appVersion"),
        ("KubeVersion", "kubeVersion"),
        ("Type", "type"),
    ];
    let text = |node: Node<'_>| text(node, share);
    let meta = install.chart.meta();
    let get = |key: &str| meta.and_then(|m| m.get(key));
    let map = Map::new();
    map.insert("Name", None, Value::from(install.name).at(get("name").map(Node::span)));
    map.insert("IsRoot", None, root.into());
    for (name, key) in TEXTS {
        map.insert(name, None, get(key).map_or_else(|| "".into(), text));
    }
    for (name, key) in [("Keywords", "keywords"), ("Sources", "sources")] {
        let items = get(key).into_iter().flat_map(Node::items).map(text).collect();
        map.insert(name, None, Items::of(items, "string").into());
    }
    let annotations = get("annotations").map_or_else(Vec::new, Node::entries);
    let annotations: Map = annotations.into_iter().filter_map(|(k, v)| Some((k.text()?, text(v)))).collect();
    map.insert("Annotations", None, annotations.as_class(Class::Texts).into());
    let deprecated = get("deprecated").and_then(Node::as_bool).unwrap_or(false);
    map.insert("Deprecated", None, deprecated.into());
    let people = get("maintainers").into_iter().flat_map(Node::items).map(|node| maintainer(node, share));
    map.insert("Maintainers", None, Items::of(people.collect(), "*chart.Maintainer").into());
    let installed = |d: &&Dependency| install.children.iter().any(|child| child.name == d.known_as());
    let dependencies = install.chart.dependencies.iter().filter(installed).map(dependency).collect();
    map.insert("Dependencies", None, Items::of(dependencies, "*chart.Dependency").into());
    map.as_class(Class::Chart).into()
}

fn dependency(dependency: &Dependency) -> Value {
    let text = |text: &str| Value::from(text);
    let tags = dependency.tags.iter().map(|tag| text(tag)).collect();
    let map: Map = [
        ("Name", text(dependency.known_as())),
        // What the list says beyond that is not kept.
        ("Version", Why::Template.into()),
        ("Repository", text(&dependency.repository)),
        ("Condition", text(&dependency.conditions.join(","))),
        ("Tags", Items::of(tags, "string").into()),
        ("Enabled", true.into()),
        ("ImportValues", Why::Template.into()),
        ("Alias", text(&dependency.alias)),
    ]
    .into_iter()
    .collect();
    map.as_class(Class::Dependency).into()
}

fn maintainer(node: Node<'_>, share: &Share) -> Value {
    let field = |key: &str| node.get(key).map_or_else(|| "".into(), |node| text(node, share));
    let map: Map =
        [("Name", "name"), ("Email", "email"), ("URL", "url")].into_iter().map(|(n, key)| (n, field(key))).collect();
    map.as_class(Class::Maintainer).into()
}

/// The text of a scalar, whatever its type.
fn text(node: Node<'_>, share: &Share) -> Value {
    let paid = share.make(NODE + node.text().map_or(0, str::len)).is_ok();
    node.traced().filter(|_| paid).map_or_else(|| Value::from(""), |traced| Text::read(&traced).into())
}

fn files(chart: &Chart<'_>, share: &Share) -> Value {
    let read = |file: &File<'_>| {
        let place = Span::new(file.source, 0..file.text.len());
        let origin = Origin { verbatim: true, ..Origin::whole(Some(place)) };
        (file.path.to_owned(), Rc::new(Text::of(file.text, origin)))
    };
    let paid = |file: &&File<'_>| share.make(NODE + file.text.len()).is_ok();
    let files: Files = chart.extra_files().take_while(paid).map(read).collect();
    Data::Files(Rc::new(files)).into()
}

#[cfg(test)]
mod tests {
    use super::super::chart::{File, find};
    use super::super::install::install;
    use super::*;
    use crate::source::SourceId;

    fn at(map: &Map, path: &str) -> Value {
        path.split('.')
            .fold(Value::from(map.clone()), |value, key| value.as_map().and_then(|m| m.get(key)).unwrap_or_default())
    }

    #[test]
    fn a_subchart_sees_its_part_of_the_values() {
        let files = [
            ("Chart.yaml", "name: a\nversion: 1.2"),
            ("README.md", "hello"),
            ("charts/b/Chart.yaml", "name: b"),
            ("charts/b/values.yaml", "x: 1"),
            ("values.yaml", "b: {x: two}"),
        ];
        let file =
            |(i, (path, text)): (usize, &(&'static str, &'static str))| File { source: SourceId(i as u32), path, text };
        let charts = find(&files.iter().enumerate().map(file).collect::<Vec<_>>());
        let (root, values) = install(&charts[0], &Table::new(), &Share::of(1, 0)).unwrap();
        let release = Release {
            name: "r".to_owned(),
            assumed: false,
            namespace: "n".to_owned(),
            kubernetes: "1.30.2".to_owned(),
            apis: Vec::new(),
        };
        let scope = scope(&root, &values, &release, (&Doubts::default(), &Share::of(1, 0)));
        let child = &scope.children[0];
        assert_eq!(child.path, "a/charts/b");
        assert_eq!(at(&child.dot, "Values.x").as_str(), Some("two"));
        assert_eq!(at(&child.dot, "Values.x").origin.map(|s| s.source), Some(SourceId(4)));
        assert_eq!(at(&scope.dot, "Subcharts.b.Values.x").as_str(), Some("two"));
        assert_eq!(at(&scope.dot, "Chart.Version").as_str(), Some("1.2"));
        assert_eq!(at(&scope.dot, "Chart.AppVersion").as_str(), Some(""));
        assert_eq!(at(&scope.dot, "Capabilities.KubeVersion.Minor").as_str(), Some("30"));
        let Data::Files(files) = at(&scope.dot, "Files").data else { panic!("files") };
        assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), ["README.md"]);
    }
}
