//! Tasks of Amazon ECS and jobs of AWS Batch. Knows their fields in both spellings: `containerDefinitions` of files
//! and Terraform, `ContainerDefinitions` of CloudFormation.

use super::spelling::get;
use super::{image, kubernetes, launch, lone, training};
use crate::facts::{
    self, Container, ContainerRole, EnvSource, EnvVar, Facts, Pod, Port, SharedMemory, Workload, WorkloadFormat,
};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::source::{Span, Traced};
use std::sync::Arc;

/// Whether a document is a task definition in a file of its own.
pub fn is_task(root: Node<'_>) -> bool {
    let of = definition(root);
    of.get("family").is_some() && of.get("containerDefinitions").is_some_and(Node::is_seq)
}

/// The definition itself, which stands below a key in what `aws ecs describe-task-definition` prints.
fn definition(root: Node<'_>) -> Node<'_> {
    root.get("taskDefinition").filter(|node| node.is_map()).unwrap_or(root)
}

/// Reads a task definition in a file of its own.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let (root, view) = (definition(root), definition(root).view());
    facts.workloads.push(task(tree, view, view.get("family").string(), root.head()));
}

fn pod(span: Span) -> Pod {
    let mut pod = Pod::blank(span);
    pod.role = Fact::value("main".to_owned(), span);
    pod.replicas = Fact::value(1, span);
    pod
}

/// An ECS task as a workload of its containers; the containers stand in a list, `container_definitions` in Terraform.
pub fn task(tree: &Arc<Tree>, view: View<'_>, family: Fact<String>, span: Span) -> Workload {
    let mut pod = pod(span);
    let mode = get(view, "ipcMode");
    pod.host_ipc = if mode.is_some() { mode.string().map(|mode| mode == "host") } else { Fact::value(false, span) };
    let list = get(view, "containerDefinitions");
    pod.containers = list.items().map(|definition| container(tree, definition, &pod)).collect();
    pod.gpus = list.unknown().map_or_else(|| kubernetes::gpus(&pod), |why| Fact::unknown(why, list.place()));
    pod.node = fargate(view).or_else(|| constrained(view));
    lone((WorkloadFormat::Ecs, "task-definition"), family, pod, Raw::new(tree, view))
}

/// The node of a task that runs on machines which nobody lists: one that is compatible with Fargate alone.
fn fargate(view: View<'_>) -> Option<facts::Node> {
    let names = get(view, "requiresCompatibilities").strings();
    let named = |name: &str| names.iter().find(|item| item.get().is_some_and(|item| item == name));
    let of = named("FARGATE").filter(|_| named("EC2").is_none() && names.iter().all(|item| item.get().is_some()))?;
    let mut node = facts::Node::blank(of.span);
    node.platform = Fact::value("fargate".to_owned(), of.span);
    Some(node)
}

/// The node of a task that is placed on machines of one type alone.
fn constrained(view: View<'_>) -> Option<facts::Node> {
    const TYPE: &str = "attribute:ecs.instance-type";
    get(view, "placementConstraints").items().find_map(|constraint| {
        let expression = get(constraint, "expression").traced()?;
        let (name, machine) = expression.text().split_once("==")?;
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        let machine = Some(machine.trim()).filter(|text| !text.is_empty() && plain(text))?;
        (name.trim() == TYPE).then(|| {
            let mut node = facts::Node::blank(expression.whole());
            node.instance_type = Fact::value(machine.to_owned(), expression.whole());
            node
        })
    })
}

/// A job of AWS Batch with one container, or the same on several nodes; `None` when its properties are not at hand.
pub fn job(tree: &Arc<Tree>, view: View<'_>, name: Fact<String>, span: Span) -> Option<Workload> {
    let nodes = get(view, "nodeProperties");
    let mut ranges = get(nodes, "nodeRangeProperties").items();
    // Of several ranges each has its own part of the nodes.
    let range = ranges.next().filter(|_| ranges.next().is_none()).map(|range| get(range, "container"));
    let definition = range.unwrap_or_else(|| get(view, "containerProperties"));
    definition.node().filter(|n| n.is_map())?;
    let mut pod = pod(span);
    let container = container(tree, definition, &pod);
    pod.gpus = container.gpus.clone();
    pod.containers.push(container);
    let count = get(nodes, "numNodes").int();
    if nodes.is_some() {
        pod.replicas = count.clone();
    }
    let mut out = lone((WorkloadFormat::AwsBatch, "job-definition"), name, pod, Raw::new(tree, view));
    if nodes.is_some() {
        (out.replicas, out.group_size, out.gang) = (Fact::value(1, span), count, Fact::value(true, span));
        out.group_gpus = Fact::unknown(Why::NotStated("the GPUs of all nodes".into()), span);
        if let (Some(nodes), Some(gpus)) = (out.group_size.get(), out.gpus.get()) {
            out.group_gpus = Fact::value(nodes.saturating_mul(*gpus), out.gpus.span);
        }
        out.gpus = out.group_gpus.clone();
    }
    Some(out)
}

/// A container definition of ECS or Batch: the same names in both.
fn container(tree: &Arc<Tree>, view: View<'_>, pod: &Pod) -> Container {
    let name = get(view, "name");
    let mut out = Container::blank(if name.is_some() { name.place() } else { view.place() });
    out.name = name.string();
    out.role = Fact::value(ContainerRole::Main, view.place());
    out.image = image::at(get(view, "image"));
    let variables = get(view, "environment").items().map(|e| (get(e, "name"), get(e, "value"), false));
    let secrets = get(view, "secrets").items().map(|e| (get(e, "name"), get(e, "valueFrom"), true));
    out.env = variables.chain(secrets).filter_map(variable).collect();
    let requirements = get(view, "resourceRequirements");
    let gpu = requirements.items().find(|r| get(*r, "type").string().get().is_some_and(|t| t == "GPU"));
    let untold =
        || requirements.items().chain([requirements]).find_map(|of| of.unknown().or(get(of, "type").unknown()));
    out.gpus = match (gpu, untold()) {
        (Some(gpu), _) => get(gpu, "value").int(),
        (None, Some(why)) => Fact::unknown(why, requirements.place()),
        (None, None) => Fact::value(0, view.place()),
    };
    if let Some(gpu) = gpu {
        out.gpu_vendor = Fact::value("nvidia".to_owned(), gpu.place());
    }
    out.ports = get(view, "portMappings").items().map(port).collect();
    out.privileged = get(view, "privileged").boolean().or_default(false);
    let memory = get(view, "memory");
    if memory.is_some() {
        out.limits.insert("memory".to_owned(), memory.float().map(|mib| mib * f64::from(1 << 20)));
    }
    let size = get(get(view, "linuxParameters"), "sharedMemorySize");
    (out.shm, out.shm_bytes) = if size.is_some() {
        (Fact::value(SharedMemory::Size, size.place()), size.int().map(|mib| mib << 20))
    } else if pod.host_ipc.get() == Some(&true) {
        (Fact::value(SharedMemory::Host, pod.host_ipc.span), Fact::absent(pod.host_ipc.span))
    } else {
        (Fact::value(SharedMemory::Default, out.span), Fact::value(crate::extract::DEFAULT_SHM, out.span))
    };
    let lists = ["entryPoint", "command"].map(|key| get(view, key));
    let words: Vec<Traced> = lists.iter().flat_map(|list| kubernetes::words(*list)).collect();
    let words: Vec<&Traced> = words.iter().collect();
    out.entrypoint = Fact::value(lists[0].is_some(), view.place());
    out.command = words.iter().map(|w| kubernetes::word(w)).collect();
    out.spec = Some(Raw::new(tree, view));
    out.launch = launch::of(&out, &words);
    out.training = out.launch.as_deref().and_then(training::of);
    if let Some(why) = lists.into_iter().find_map(kubernetes::open_words) {
        kubernetes::leave_launch_open(&mut out, &why);
    }
    out
}

fn variable((name, value, secret): (View<'_>, View<'_>, bool)) -> Option<(String, Box<EnvVar>)> {
    let Fact { known: Known::Value(key), span, .. } = name.string() else { return None };
    let mut out = Box::new(EnvVar::blank(span));
    out.name = name.string();
    if secret {
        out.from = Fact::value(EnvSource::Secret, value.place());
    } else {
        out.value = value.string();
        out.written = value.string();
    }
    Some((key, out))
}

fn port(view: View<'_>) -> Port {
    let mut out = Port::blank(view.place());
    out.port = get(view, "containerPort").int();
    out.host_port = get(view, "hostPort").int();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn workload(text: &str) -> Workload {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, "task.json", &mut facts);
        facts.workloads.pop().expect("a workload")
    }

    #[test]
    fn both_spellings_state_the_same_task() {
        let file = "{family: llm, containerDefinitions: [{name: a, image: 'vllm/vllm-openai:v0.9.1', command: [--model, m], \
                    portMappings: [{containerPort: 8000}], linuxParameters: {sharedMemorySize: 1024}, \
                    environment: [{name: A, value: b}], resourceRequirements: [{type: GPU, value: '2'}]}]}";
        let template = "Resources: {T: {Type: AWS::ECS::TaskDefinition, Properties: {Family: llm, ContainerDefinitions: \
                        [{Name: a, Image: 'vllm/vllm-openai:v0.9.1', Command: [--model, m], \
                        PortMappings: [{ContainerPort: 8000}], LinuxParameters: {SharedMemorySize: 1024}, \
                        Environment: [{Name: A, Value: b}], ResourceRequirements: [{Type: GPU, Value: '2'}]}]}}}";
        for text in [file, template] {
            let workload = workload(text);
            let container = &workload.pods[0].containers[0];
            assert_eq!((workload.gpus.get(), container.shm_bytes.get()), (Some(&2), Some(&(1 << 30))));
            assert_eq!(container.env["A"].value.get().map(String::as_str), Some("b"));
            assert_eq!(container.ports[0].port.get(), Some(&8000));
            let model = container.launch.as_ref().and_then(|launch| launch.model.get());
            assert_eq!(model.map(String::as_str), Some("m"));
        }
    }

    #[test]
    fn gpus_of_a_task_are_those_of_its_containers_and_unknown_where_one_is() {
        let task = |containers: &str| workload(&format!("{{family: llm, containerDefinitions: [{containers}]}}")).gpus;
        let two = "{name: a, resourceRequirements: [{type: GPU, value: '2'}]}";
        assert_eq!(task(&format!("{two}, {two}")).get(), Some(&4));
        assert_eq!(task("{name: a}").get(), Some(&0));
        let template = "Conditions: {C: {'Fn::Equals': [{Ref: P}, x]}}\nResources: {T: {Type: AWS::ECS::TaskDefinition, Properties: \
                        {Family: llm, ContainerDefinitions: [{Name: a, ResourceRequirements: {'Fn::If': [C, [{Type: GPU, Value: '2'}], \
                        {Ref: 'AWS::NoValue'}]}}]}}}";
        assert!(workload(template).gpus.is_unknown());
    }
}
