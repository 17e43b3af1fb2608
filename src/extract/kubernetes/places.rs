//! Where a kind carries pods: at the places that the catalog has of it, else wherever something looks like a pod.
//! What no schema says to stand nowhere else is unknown where it is missing.

use super::{containers, drafts, kaito, kubeai, pods, runai, servers};
use crate::budget::{NODE, STEP, Share};
use crate::catalog::{self, Absence, PodPlace, Stands};
use crate::facts::{ContainerRole, Pod, SharedMemory};
use crate::known::{Fact, Why};
use crate::parse::{DEEPEST, Missing, Node, Open, Problem, Raw, Tree, View};
use std::cell::OnceCell;
use std::sync::{Arc, LazyLock};

/// What a pod costs that is found by its shape: aliases may multiply it.
const POD: usize = 8 * NODE;

/// Why what an object of a kind of its own leaves out is unknown.
static OPERATOR: LazyLock<Why> = LazyLock::new(|| Why::LeftTo("the operator of this kind".into()));

/// Why the containers of pods are unknown that values of a chart only place.
static CHART: LazyLock<Why> = LazyLock::new(|| Why::NotStated("what the chart runs there".into()));

/// Nothing that is missing is known to be absent.
pub fn open() -> Option<Open> {
    Some(Open { why: &OPERATOR, missing: Missing::AllBut(&[]) })
}

/// The pods of an object.
pub struct Found {
    /// The groups of equal pods.
    pub pods: Vec<Pod>,
    /// Whether all pods of one replica work as one.
    pub together: bool,
    /// Replicas of the whole.
    pub replicas: Fact<i64>,
    /// Why what the object leaves out is unknown, if it is.
    pub open: Option<Open>,
    /// Where too many pods are found.
    pub cut: Option<Problem>,
}

/// Reads the pods of an object.
pub fn read(tree: &Arc<Tree>, view: View<'_>, (api_version, kind): (&str, &str)) -> Found {
    let Some(rows) = catalog::pod_places(api_version, kind) else { return by_shape(tree, view) };
    let shape = |row: &PodPlace| row.stands == Stands::Shape;
    if rows.iter().any(shape) {
        return by_shape(tree, view);
    }
    let (mut found, mut together) = (Vec::new(), false);
    for row in &rows {
        let pods: Vec<Pod> = resolve(view, row.path).into_iter().flat_map(|place| place.pods(tree, row)).collect();
        together |= row.together && !pods.is_empty();
        found.extend(pods);
    }
    let first = &rows[0];
    let replicas = match first.replicas {
        "" => Fact::value(1, view.place()),
        path => view.opened(open_of(first.absence)).path(path).int().or_default(1),
    };
    let open =
        rows.iter().find_map(|row| open_of(row.absence).filter(|open| matches!(open.missing, Missing::AllBut(_))));
    Found { pods: found, together, replicas, open, cut: None }
}

/// Objects that stand inside an object of another kind.
pub fn objects<'t>(view: View<'t>, (api_version, kind): (&str, &str)) -> Vec<Node<'t>> {
    let rows = catalog::pod_places(api_version, kind).unwrap_or_default();
    let rows = rows.into_iter().filter(|row| row.stands == Stands::Object);
    rows.flat_map(|row| resolve(view, row.path)).filter_map(|place| place.view.node()).collect()
}

fn open_of(absence: Absence) -> Option<Open> {
    let missing = match absence {
        Absence::Api => return None,
        Absence::ApiBut(fields) => Missing::Only(fields),
        Absence::Only(fields) => Missing::AllBut(fields),
    };
    Some(Open { why: &OPERATOR, missing })
}

/// A place of a kind in an object at hand.
struct Place<'t> {
    /// What stands there.
    view: View<'t>,
    /// The map that it stands in.
    holder: View<'t>,
    /// The item or entry that it stands in, else the object.
    item: View<'t>,
    /// The key of that entry.
    key: &'t str,
}

/// Follows a path of keys; `[]` steps into each item, `{}` into each value.
fn resolve<'t>(root: View<'t>, path: &str) -> Vec<Place<'t>> {
    let mut places = vec![Place { view: root, holder: root, item: root, key: "" }];
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let below = |place: Place<'t>| -> Vec<Place<'t>> {
            let holder = place.view;
            if let Some(list) = step.strip_suffix("[]") {
                holder.get(list).items().map(|view| Place { view, holder, item: view, key: "" }).collect()
            } else if let Some(map) = step.strip_suffix("{}") {
                let entries = holder.get(map).entries().into_iter();
                entries.map(|(key, view)| Place { view, holder, item: view, key }).collect()
            } else {
                vec![Place { view: holder.get(step), holder, ..place }]
            }
        };
        places = places.into_iter().flat_map(below).collect();
    }
    places.retain(|place| place.view.node().is_some_and(Node::is_map));
    places
}

impl Place<'_> {
    fn pods(&self, tree: &Arc<Tree>, row: &PodPlace) -> Vec<Pod> {
        let open = open_of(row.absence);
        let view = self.view.opened(open);
        let pod = match row.stands {
            Stands::Template | Stands::RayGroup => {
                let spec = if view.get("spec").node().is_some() { view.get("spec") } else { view };
                if !spec.get("containers").is_some() {
                    return Vec::new();
                }
                let mut pod = pods::template(tree, view, &self.role(row), self.count(row));
                if row.stands == Stands::RayGroup {
                    object_store(&mut pod);
                }
                pod
            }
            Stands::Spec if view.get("containers").is_some() => {
                Pod { replicas: self.count(row), ..pods::spec_of(tree, view, &self.role(row)) }
            }
            Stands::Container => {
                Pod { replicas: self.count(row), ..self.lone(tree, (view, self.holder.opened(open)), row) }
            }
            Stands::Trainer => trainer(tree, view),
            Stands::LeaderWorker => return leader_workers(tree, view),
            Stands::Preset if kaito::is_stated(self.holder, view) => return kaito::pods(tree, self.holder, view),
            Stands::Dynamo => Pod { replicas: self.count(row), ..drafts::dynamo(tree, view, &self.role(row)) },
            Stands::Spark => {
                Pod { replicas: self.count(row), ..drafts::spark(tree, (view, self.holder), &self.role(row)) }
            }
            Stands::VllmRuntime => Pod { replicas: self.count(row), ..servers::vllm(tree, view, &self.role(row)) },
            Stands::LlmKube => Pod { replicas: self.count(row), ..servers::llmkube(tree, view, &self.role(row)) },
            Stands::Llmaz => Pod { replicas: self.count(row), ..servers::llmaz(tree, view, &self.role(row)) },
            Stands::NimCache => servers::nim_cache(tree, view, &self.role(row)),
            Stands::Nim => {
                let mut pod = self.lone(tree, (view, self.holder.opened(open)), row);
                servers::model_store(&mut pod, view);
                Pod { replicas: self.count(row), ..pod }
            }
            Stands::RunAi => runai::pod(tree, view, &self.role(row)),
            Stands::Model if view.get("engine").is_some() => kubeai::pod(tree, view),
            _ => return Vec::new(),
        };
        vec![pod]
    }

    fn lone(&self, tree: &Arc<Tree>, (view, holder): (View<'_>, View<'_>), row: &PodPlace) -> Pod {
        let role = self.role(row);
        lone_container(tree, (view, &role), || pods::spec_of(tree, holder, &role))
    }

    fn role(&self, row: &PodPlace) -> String {
        match row.role {
            "{key}" => self.key.to_lowercase(),
            "{name}" => self.item.get("name").string().get().cloned().unwrap_or_else(|| "task".to_owned()),
            word => word.to_owned(),
        }
    }

    fn count(&self, row: &PodPlace) -> Fact<i64> {
        let item = self.item.opened(open_of(row.absence));
        let factor = |text: &str| -> Fact<i64> {
            if text == "?" {
                return Fact::unknown(OPERATOR.clone(), self.view.place());
            }
            let (paths, less) = text.strip_suffix("-1").map_or((text, 0), |paths| (paths, 1));
            let stated = paths.split('|').map(|path| item.path(path)).find(|view| view.is_some());
            let stated = stated.unwrap_or_else(|| item.path(paths.split('|').next().unwrap_or(paths)));
            stated.int().or_default(1).map(|n| (n - less).max(0))
        };
        let factors = row.count.split(' ').filter(|text| !text.is_empty()).map(factor);
        factors.reduce(|a, b| a.times(&b)).unwrap_or_else(|| Fact::value(1, self.view.place()))
    }
}

/// KubeRay mounts a memory volume at /dev/shm of the first container, for the object store (`BuildPod` in its
/// controllers/ray/common/pod.go).
fn object_store(pod: &mut Pod) {
    if let Some(container) = pod.containers.first_mut().filter(|c| c.shm.get() == Some(&SharedMemory::Default)) {
        container.shm = Fact::value(SharedMemory::Volume, container.span);
        container.shm_bytes = Fact::absent(container.span);
    }
}

/// The trainer of a TrainJob: one container per node; what it leaves out comes from the runtime.
fn trainer(tree: &Arc<Tree>, view: View<'_>) -> Pod {
    let mut pod = pods::spec_of(tree, view, "node");
    pod.replicas = view.get("numNodes").int();
    let mut container = containers::container(tree, view, ContainerRole::Main, &pod);
    containers::resources(&mut container, view.get("resourcesPerNode"));
    pod.containers.push(container);
    pod.gpus = pods::gpus(&pod);
    pod
}

/// A leader and its workers; without a template of its own the leader is as the workers are.
fn leader_workers(tree: &Arc<Tree>, group: View<'_>) -> Vec<Pod> {
    let size = group.get("size").int().or_default(1);
    let worker = group.get("workerTemplate");
    let leader = if group.get("leaderTemplate").is_some() { group.get("leaderTemplate") } else { worker };
    let mut out = vec![pods::template(tree, leader, "leader", Fact::value(1, leader.place()))];
    if size.get() != Some(&1) {
        out.push(pods::template(tree, worker, "worker", size.map(|n| n - 1)));
    }
    out
}

/// A container that stands without a pod: it is placed as it says itself, else as the map around it says.
fn lone_container(tree: &Arc<Tree>, (view, role): (View<'_>, &str), around: impl FnOnce() -> Pod) -> Pod {
    let placed = ["nodeSelector", "tolerations", "affinity"].iter().any(|key| view.get(key).is_some());
    let mut pod = if placed { pods::spec_of(tree, view, role) } else { around() };
    pod.span = view.place();
    pod.spec = Some(Raw::new(tree, view));
    pod.init_containers.clear();
    pod.containers = vec![containers::container(tree, view, ContainerRole::Main, &pod)];
    pod.gpus = pods::gpus(&pod);
    pod
}

/// Whether values of a chart say at a place where its pods are put.
pub fn places_pods(view: View<'_>) -> bool {
    let is = |key: &str, shape: fn(Node<'_>) -> bool| view.get(key).node().is_some_and(shape);
    is("nodeSelector", |node| node.is_map() && !node.entries().is_empty())
        || is("tolerations", |node| node.is_seq() && node.items().any(Node::is_map))
        || is("runtimeClassName", |node| node.text().is_some_and(|name| !name.is_empty()))
}

/// Pods of any other kind: every map with a list of containers, and maps that look like a container; in values of a chart
/// also those that say where its pods are put, whose containers the chart states.
fn by_shape(tree: &Arc<Tree>, view: View<'_>) -> Found {
    let spec = view.opened(open()).get("spec");
    let values = view.get("kind").string().get().is_some_and(|kind| kind == "HelmRelease");
    let unstated = Fact::unknown(OPERATOR.clone(), spec.place());
    let share = Share::least(tree.len() * STEP);
    let mut search = Search { tree, values, share, pods: Vec::new(), cut: None };
    search.below((spec, &Around(spec, OnceCell::new())), (DEEPEST, unstated));
    let Search { pods, cut, .. } = search;
    Found { pods, together: false, replicas: spec.get("replicas").int(), open: open(), cut }
}

/// The role of a pod that is found by its shape.
const MAIN: &str = "main";

/// A map as the pod around the containers that stand in it, which is read once however many they are.
struct Around<'v>(View<'v>, OnceCell<Pod>);

impl Around<'_> {
    fn pod(&self, tree: &Arc<Tree>) -> Pod {
        self.1.get_or_init(|| pods::spec_of(tree, self.0, MAIN)).clone()
    }
}

/// Pods that are found by their shape.
struct Search<'t> {
    tree: &'t Arc<Tree>,
    /// Whether what is searched is values of a chart.
    values: bool,
    share: Share,
    pods: Vec<Pod>,
    cut: Option<Problem>,
}

impl Search<'_> {
    /// Looks for pods in what stands in a map; `replicas` is the nearest number of replicas below the top.
    fn below(&mut self, (view, around): (View<'_>, &Around<'_>), (depth, replicas): (usize, Fact<i64>)) {
        let Some(node) = view.node().filter(|_| depth > 0 && self.cut.is_none()) else { return };
        if node.is_seq() {
            view.items().for_each(|item| self.below((item, around), (depth - 1, replicas.clone())));
            return;
        }
        if !node.is_map() {
            return;
        }
        let top = depth == DEEPEST;
        let stated = ["replicas", "minReplicas"].iter().map(|key| view.get(key)).find(|v| v.is_some() && !top);
        let replicas = stated.map_or(replicas, |stated| stated.int());
        let list = view.get("containers");
        if list.node().is_some_and(Node::is_seq) && list.items().any(|c| c.node().is_some_and(Node::is_map)) {
            self.found(view, |tree| Pod { replicas, ..pods::spec_of(tree, view, MAIN) });
            return;
        }
        if containers::looks_like_container(view) {
            let replicas = replicas.clone();
            self.found(view, |tree| Pod { replicas, ..lone_container(tree, (view, MAIN), || around.pod(tree)) });
        } else if self.values && places_pods(view) {
            let replicas = replicas.clone();
            self.found(view, |tree| Pod {
                replicas,
                gpus: Fact::unknown(CHART.clone(), view.place()),
                ..pods::spec_of(tree, view, MAIN)
            });
        }
        let around = Around(view, OnceCell::new());
        for (key, child) in view.entries() {
            if !matches!(key, "env" | "labels" | "annotations" | "status") {
                self.below((child, &around), (depth - 1, replicas.clone()));
            }
        }
    }

    fn found(&mut self, view: View<'_>, pod: impl FnOnce(&Arc<Tree>) -> Pod) {
        match self.share.make(POD) {
            Ok(()) => self.pods.push(pod(self.tree)),
            Err(spent) => {
                self.cut = Some(Problem { span: view.place(), message: format!("the pods from here on: {spent}") });
            }
        }
    }
}
