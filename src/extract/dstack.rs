//! Runs of dstack: tasks, services and development environments. Knows its YAML.

use super::skypilot::{self, Cards, Task, common, ports, vendor};
use super::{compose, image, startup};
use crate::facts::{Facts, Gpu, Node, WorkloadFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node as Yaml, Raw, Tree, View};
use crate::quantity;
use crate::source::Traced;
use std::sync::Arc;

/// Vendors that may stand before a card.
const VENDORS: [&str; 5] = ["amd", "google", "intel", "nvidia", "tenstorrent"];

/// Whether a document is a run.
pub fn is_run(root: Yaml<'_>) -> bool {
    let kind = root.get("type").and_then(Yaml::text);
    let runs = ["commands", "image", "python", "docker", "ide"].iter().any(|key| root.get(key).is_some());
    kind.is_some_and(|kind| ["task", "service", "dev-environment"].contains(&kind)) && runs
}

/// Reads a run.
pub fn read(tree: &Arc<Tree>, root: Yaml<'_>, path: &str, facts: &mut Facts) {
    let view = root.view();
    let resources = view.get("resources");
    let stated = resources.get("gpu");
    let place = if stated.is_some() { stated.place() } else { root.head() };
    let cards = cards(stated, place);
    let mut node = Node::blank(place);
    node.platform = Fact::value("dstack".to_owned(), place);
    node.spot = view.get("spot_policy").string().and_then(|policy| match policy.as_str() {
        "spot" => Known::Value(true),
        "auto" => Known::Unknown(Why::LeftTo("what is free when the run starts".into())),
        _ => Known::Value(false),
    });
    let name = common(cards.iter().map(|(name, _)| name.clone()), || Fact::absent(place));
    let maker = common(cards.iter().map(|(name, _)| vendor(name)), || Fact::absent(place));
    if !name.is_absent() {
        let mut gpu = Gpu::blank(name.span);
        gpu.id = name;
        node.gpu = Some(gpu);
    }
    let count = common(cards.into_iter().map(|(_, count)| count), || Fact::absent(place));
    let script = startup::lines(view.get("commands"));
    if let Some(script) = &script {
        startup::commands_on(script, (path, &node), facts);
    }
    let port = if view.get("port").is_some() { view.get("port") } else { view.get("ports") };
    let image = view.get("image");
    let mut run = skypilot::workload(Task {
        format: WorkloadFormat::Dstack,
        kind: root.get("type").and_then(Yaml::text).unwrap_or_default(),
        name: view.get("name").string(),
        nodes: view.get("nodes").int().or_default(1),
        replicas: view.get("replicas").traced().map_or(Fact::value(1, place), |text| amount(&text)),
        node,
        cards: (count, maker),
        image: image.is_some().then(|| image::at(image)),
        ports: ports(port),
        env: compose::variables(view.get("env")),
        script,
        object: Raw::new(tree, view),
    });
    let size = resources.get("shm_size");
    for container in run.pods.iter_mut().flat_map(|pod| &mut pod.containers) {
        container.shm = Fact::unknown(Why::NotStated("the shared memory that dstack gives".into()), place);
        container.shm_bytes = match size.is_some() {
            true => size.parse(|text| quantity::parse(&text.replace("GB", "Gi").replace("MB", "Mi")).map(|n| n as i64)),
            false => container.shm.clone().map(|_| 0),
        };
    }
    facts.workloads.push(run);
}

/// The cards that a run may be given, none where it states none.
fn cards(stated: View<'_>, place: crate::source::Span) -> Vec<Cards> {
    if let Some(text) = stated.traced() {
        return specification(&text);
    }
    if !stated.is_some() {
        return vec![(Fact::absent(place), Fact::value(0, place))];
    }
    let number = stated.get("count");
    let count = match number.traced() {
        Some(text) => amount(&text),
        None if number.is_some() => Fact::unknown(range(), number.place()),
        None => Fact::value(1, place),
    };
    let names = stated.get("name");
    let listed = names.node().is_some_and(Yaml::is_seq);
    let unnamed = || Fact::unknown(Why::NotStated("the card".into()), place);
    let names: Vec<Fact<String>> = match names.is_some() {
        true if listed => names.strings(),
        true => vec![names.string()],
        false => vec![unnamed()],
    };
    let memory = stated.get("memory").string();
    names.into_iter().map(|name| (sized(name, memory.get().map(String::as_str)), count.clone())).collect()
}

/// `24GB`, `A100`, `nvidia:A100:80GB:2`, `1..8`: who makes it, names, memory and a number in any order.
fn specification(text: &Traced) -> Vec<Cards> {
    let whole = text.text();
    let (mut names, mut count, mut memory, mut from) = (vec![], Fact::value(1, text.whole()), None, 0);
    for part in whole.split(':') {
        let piece = text.slice(from..from + part.len());
        from += part.len() + 1;
        let number = part.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if number && (part.contains("GB") || part.contains("MB")) {
            memory = Some(part);
        } else if number {
            count = amount(&piece);
        } else if !VENDORS.contains(&part.to_ascii_lowercase().as_str()) {
            names = part.split(',').map(|name| Fact::value(name.trim().to_owned(), piece.whole())).collect();
        }
    }
    if names.is_empty() {
        names.push(Fact::unknown(Why::NotStated("the card".into()), text.whole()));
    }
    names.into_iter().map(|name| (sized(name, memory), count.clone())).collect()
}

/// A card with its memory, where that is one of several sizes: `A100-80GB`.
fn sized(name: Fact<String>, memory: Option<&str>) -> Fact<String> {
    let full =
        |name: &str| memory.map(|memory| format!("{name}-{memory}")).filter(|full| crate::catalog::gpu(full).is_some());
    name.map(|name| full(&name).unwrap_or(name))
}

/// A number of cards; a range of them is none.
fn amount(text: &Traced) -> Fact<i64> {
    let known = text.text().trim().parse().map_or_else(|_| Known::Unknown(range()), Known::Value);
    Fact { known, span: text.whole(), unread: false }
}

fn range() -> Why {
    Why::Ambiguous("any number of a range".into())
}

#[cfg(test)]
mod tests {
    use crate::facts::{Facts, Workload};
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;
    use std::sync::Arc;

    fn run(text: &str) -> Workload {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, ".dstack.yml", &mut facts);
        facts.workloads.pop().expect("a run")
    }

    #[test]
    fn what_is_left_to_dstack_is_unknown() {
        let run =
            |more: &str| run(&format!("type: service\nname: a\nimage: x/y:1\ncommands: [vllm serve m]\n{more}\n"));
        let gpus = |count: &str| {
            run(&format!("nodes: 2\nreplicas: 3\nresources: {{gpu: {{name: H100, count: {count}}}}}")).gpus
        };
        assert_eq!(gpus("4").get(), Some(&24));
        assert!(gpus("{min: 4, max: 8}").is_unknown() && gpus("4..8").is_unknown());
        assert!(run("replicas: 1..3").replicas.is_unknown());
        let node = |more: &str| run(more).pods[0].node.clone().expect("a node");
        assert!(node("spot_policy: auto").spot.is_unknown());
        assert_eq!(node("spot_policy: spot").spot.get(), Some(&true));
        let card = |gpu: &str| node(&format!("resources: {{gpu: {gpu}}}")).gpu.map(|gpu| gpu.id.is_unknown());
        assert_eq!((card("{memory: 24GB}"), card("24GB"), card("H100")), (Some(true), Some(true), Some(false)));
    }
}
