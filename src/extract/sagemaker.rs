//! Endpoints of SageMaker: the container of a model on the machine of its variant. Knows their words in every spelling.

use super::spelling::{at, get};
use super::{image, kubernetes, launch, lone, machines};
use crate::facts::{Container, ContainerRole, Intent, Node, Pod, Workload, WorkloadFormat};
use crate::known::{Fact, Why};
use crate::parse::{Raw, Tree, View};
use crate::source::Span;
use std::sync::Arc;

/// What states the model of an endpoint configuration.
pub fn model_of(configuration: View<'_>) -> View<'_> {
    get(at(configuration, "productionVariants"), "modelName")
}

/// The endpoint of a configuration on machines, and of the model that it names, where that is at hand. `label` is what its
/// file calls it.
pub fn endpoint(
    tree: &Arc<Tree>,
    (configuration, model): (View<'_>, Option<View<'_>>),
    (label, span): (Fact<String>, Span),
) -> Option<Workload> {
    let variants = get(configuration, "productionVariants");
    let variant = at(configuration, "productionVariants");
    let machine = get(variant, "instanceType").string().map(|t| t.trim_start_matches("ml.").to_owned());
    if machine.is_absent() {
        return None;
    }
    let containers = ["primaryContainer", "container", "containers"];
    let definition = model.and_then(|model| {
        let mut stated = containers.iter().map(|key| at(model, key));
        stated.find(|view| view.node().is_some_and(|node| node.is_map()))
    });
    let mut pod = Pod::blank(span);
    pod.role = Fact::value("main".to_owned(), span);
    let place = definition.map_or(get(variant, "modelName").place(), View::place);
    let mut out = Container::blank(place);
    out.role = Fact::value(ContainerRole::Main, place);
    match definition {
        Some(definition) => {
            out.image = image::at(get(definition, "image"));
            out.env = kubernetes::environment(get(definition, "environment"));
        }
        None => out.image = image::unknown(Why::Remote("SageMaker".into()), place),
    }
    out.launch = launch::of(&out, &[]);
    // The service starts the container, and says nowhere with how much.
    out.shm = Fact::unknown(Why::Remote("SageMaker".into()), span);
    out.shm_bytes = Fact::unknown(Why::Remote("SageMaker".into()), span);
    // The endpoint gets every device of its machine.
    out.gpus = machines::gpus_of(&machine);
    pod.gpus = out.gpus.clone();
    let mut node = Node::blank(machine.span);
    node.instance_type = machine;
    pod.node = Some(node);
    pod.replicas = get(variant, "initialInstanceCount").int().or_default(1);
    if variants.items().count() > 1 {
        // Each variant has machines of its own.
        pod.replicas = Fact::unknown(Why::NotModelled("several variants".into()), variants.place());
    }
    pod.containers.push(out);
    let (format, object) = (WorkloadFormat::Sagemaker, Raw::new(tree, configuration));
    let mut name =
        ["name", "endpointConfigName"].iter().map(|key| get(configuration, key)).filter(|name| name.is_some());
    let name = name.next().map_or(label, View::string);
    let mut out = lone((format, "endpoint-configuration"), name, pod, object);
    if out.intent.get().is_none() {
        out.intent = Fact::value(Intent::Serving, span);
    }
    Some(out)
}
