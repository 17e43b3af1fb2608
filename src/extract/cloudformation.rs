//! Templates of CloudFormation, SAM and ROS: resources, their pools and clusters. Knows neither rules nor rollout;
//! values of functions are unknown, apart from machine types that a parameter gives a default or lets choose from.

use super::{clusters, ecs, machines, protection, startup};
use crate::facts::{Cluster, Facts, InfraFormat, NodePool, Resource, ResourceFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Resource types that are clusters, their platforms, and where they state the version of Kubernetes.
const CLUSTERS: &[(&str, &str, &str)] =
    &[("AWS::EKS::Cluster", "eks", "Version"), ("ALIYUN::CS::ManagedKubernetesCluster", "ack", "KubernetesVersion")];

/// Whether a document is a template: a map of resources of which one has a type like `X::Y::Z`.
pub fn is_template(root: Node<'_>) -> bool {
    let Some(resources) = root.get("Resources") else { return false };
    resources.entries().iter().any(|(_, r)| r.get("Type").and_then(Node::text).is_some_and(|t| t.contains("::")))
}

/// Reads the resources of a template.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let resources = root.get("Resources").map(Node::entries).unwrap_or_default();
    // What aliases repeat is read once.
    let mut run = BTreeSet::new();
    for (key, resource) in resources {
        let kind = resource.view().get("Type");
        let (Some(name), Some(of)) = (key.text(), kind.node().and_then(Node::text)) else { continue };
        let span = key.span();
        let properties = match resource.get("Properties") {
            Some(_) => resource.view().get("Properties"),
            None => View::new(None, span),
        };
        if of == "AWS::SageMaker::Cluster" {
            let groups = clusters::hyperpod(tree, properties, of).into_iter();
            facts.pools.extend(groups.map(|mut pool| {
                choose(root, &mut pool);
                Arc::new(pool)
            }));
        } else if let Some(mut pool) = machines::pool(tree, properties, (of, name), span) {
            choose(root, &mut pool);
            for script in machines::start_scripts(properties).into_iter().filter(|script| run.insert(script.whole())) {
                startup::read(&script, (path, Some(&pool)), facts);
            }
            facts.pools.push(Arc::new(pool));
        }
        // A command that is sent to machines.
        if let ("ALIYUN::ECS::RunCommand" | "ALIYUN::ECS::Command", Some(script)) =
            (of, properties.get("CommandContent").traced().filter(|script| run.insert(script.whole())))
        {
            startup::read(&script, (path, None), facts);
        }
        facts.workloads.extend(match of {
            "AWS::ECS::TaskDefinition" => Some(ecs::task(tree, properties, properties.get("Family").string(), span)),
            "AWS::Batch::JobDefinition" => {
                ecs::job(tree, properties, properties.get("JobDefinitionName").string(), span)
            }
            _ => None,
        });
        if let Some((_, platform, version)) = CLUSTERS.iter().find(|(kind, ..)| *kind == of) {
            let mut cluster = Cluster::blank(span);
            cluster.format = Fact::value(InfraFormat::Cloudformation, span);
            cluster.name = properties.get("Name").string();
            cluster.platform = Fact::value((*platform).to_owned(), span);
            cluster.kubernetes = machines::version(properties.get(version));
            cluster.object = Some(Raw::new(tree, properties));
            facts.clusters.push(Arc::new(cluster));
        }
        let format = if of.starts_with("ALIYUN::") { ResourceFormat::Ros } else { ResourceFormat::Cloudformation };
        let mut out = Resource::blank(span);
        out.format = Fact::value(format, span);
        out.r#type = kind.string();
        out.name = Fact::value(name.to_owned(), span);
        let stated = protection::Stated { kind: out.r#type.clone(), name: out.name.clone(), shape: of };
        protection::read(tree, properties, &stated, facts);
        facts.start_scripts.extend(machines::stated_scripts(properties, &out.r#type, &out.name));
        out.body = Some(Raw::new(tree, properties));
        facts.resources.push(Arc::new(out));
    }
}

/// So many types are looked at that a parameter lets choose from, and such long names.
const MOST_CHOICES: usize = 100;
const LONGEST_NAME: usize = 1024;

/// A machine type that refers to a parameter is the parameter's default; without one it may be any that it allows. One that
/// a map holds may be any that the parameters lead to.
fn choose(root: Node<'_>, pool: &mut NodePool) {
    for of in std::mem::take(&mut pool.instance_types) {
        let found = match &of.known {
            Known::Unknown(Why::Variable(name)) => of_parameter(root, name),
            Known::Unknown(Why::Remote(call)) => call.strip_prefix("!FindInMap ").map_or(vec![], |at| of_map(root, at)),
            _ => vec![],
        };
        match &found[..] {
            [] => pool.instance_types.push(of),
            // A single one is used here.
            [only] => pool.instance_types.push(Fact { span: of.span, ..only.clone() }),
            _ => pool.instance_types.extend(found),
        }
    }
}

/// What a parameter may be.
fn of_parameter(root: Node<'_>, name: &str) -> Vec<Fact<String>> {
    let parameter = root.view().get("Parameters").get(name);
    let short = |fact: &Fact<String>| fact.get().is_some_and(|text| text.len() <= LONGEST_NAME);
    let default = parameter.get("Default").string();
    if short(&default) {
        return vec![default];
    }
    let allowed: Vec<Fact<String>> = parameter.get("AllowedValues").strings();
    if allowed.len() <= MOST_CHOICES && allowed.iter().all(short) { allowed } else { vec![] }
}

/// What a map may hold at `Map ${Parameter} Key`; nothing where one of them cannot be told.
fn of_map(root: Node<'_>, path: &str) -> Vec<Fact<String>> {
    let mut parts = path.split(' ');
    let (Some(map), Some(first), Some(second)) = (parts.next(), parts.next(), parts.next()) else { return vec![] };
    let keys = |part: &str| -> Vec<String> {
        match part.strip_prefix("${").and_then(|part| part.strip_suffix('}')) {
            Some(name) => of_parameter(root, name).into_iter().filter_map(|fact| fact.get().cloned()).collect(),
            None => vec![part.to_owned()],
        }
    };
    let map = root.view().get("Mappings").get(map);
    let mut out: Vec<Fact<String>> = Vec::new();
    let (first, second) = (keys(first), keys(second));
    if first.len() * second.len() > MOST_CHOICES {
        return vec![];
    }
    for (first, second) in first.iter().flat_map(|first| second.iter().map(move |second| (first, second))) {
        let value = map.get(first).get(second).string();
        if value.get().is_none() {
            return vec![];
        }
        if out.iter().all(|other| other.get() != value.get()) {
            out.push(value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Dialect, yaml};
    use crate::source::SourceId;

    fn facts(text: &str) -> Facts {
        let tree = Arc::new(yaml::parse(SourceId(0), text, Dialect::Core));
        let mut facts = Facts::default();
        crate::extract::documents(&tree, "template.yaml", &mut facts);
        facts
    }

    #[test]
    fn a_parameter_without_a_default_may_be_any_that_it_allows() {
        let facts = facts(
            "Parameters:\n  Kind: {Type: String, AllowedValues: [ecs.gn7i-c16g1.4xlarge, ecs.gn6i-c4g1.xlarge]}\nResources:\n  \
             Node:\n    Type: ALIYUN::ECS::InstanceGroup\n    Properties:\n      InstanceType: {Ref: Kind}\n",
        );
        let types: Vec<_> = facts.pools[0].instance_types.iter().filter_map(Fact::get).collect();
        assert_eq!(types, ["ecs.gn7i-c16g1.4xlarge", "ecs.gn6i-c4g1.xlarge"]);
    }

    #[test]
    fn a_map_gives_what_its_keys_lead_to() {
        for (call, wanted) in [
            ("!FindInMap [Kinds, large, Machine]", vec!["p5.48xlarge"]),
            ("{'Fn::FindInMap': [Kinds, {Ref: Size}, Machine]}", vec!["g5.xlarge", "p5.48xlarge"]),
            ("!FindInMap [Kinds, !Ref Other, Machine]", vec![]),
        ] {
            let facts = facts(&format!(
                "Parameters:\n  Size: {{Type: String, AllowedValues: [small, large]}}\nMappings:\n  Kinds:\n    \
                 small: {{Machine: g5.xlarge}}\n    large: {{Machine: p5.48xlarge}}\nResources:\n  Node:\n    \
                 Type: AWS::EC2::Instance\n    Properties:\n      InstanceType: {call}\n"
            ));
            let types: Vec<_> = facts.pools[0].instance_types.iter().filter_map(Fact::get).collect();
            assert_eq!(types, wanted, "{call}");
        }
    }

    #[test]
    fn a_parameter_gives_its_default_and_other_functions_are_unknown() {
        for reference in ["!Ref Kind", "{Ref: Kind}"] {
            let facts = facts(&format!(
                "Parameters:\n  Kind: {{Type: String, Default: g5.xlarge}}\nResources:\n  Node:\n    Type: AWS::EC2::Instance\n    \
                 Properties:\n      InstanceType: {reference}\n      ImageId: !If [A, ami-1, ami-2]\n"
            ));
            assert_eq!(facts.pools[0].instance_types[0].get().map(String::as_str), Some("g5.xlarge"));
            assert!(matches!(facts.pools[0].image_type.known, Known::Unknown(_)));
            assert_eq!(facts.resources[0].name.get().map(String::as_str), Some("Node"));
        }
    }
}
