//! Templates of CloudFormation, SAM and ROS: resources, their pools and clusters. Knows neither rules nor rollout;
//! values of functions are unknown, apart from machine types that a parameter gives a default.

use super::{ecs, machines, protection};
use crate::facts::{Cluster, Facts, InfraFormat, Resource, ResourceFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use std::sync::Arc;

/// Whether a document is a template: a map of resources of which one has a type like `X::Y::Z`.
pub fn is_template(root: Node<'_>) -> bool {
    let Some(resources) = root.get("Resources") else { return false };
    resources.entries().iter().any(|(_, r)| r.get("Type").and_then(Node::text).is_some_and(|t| t.contains("::")))
}

/// Reads the resources of a template.
pub fn read(tree: &Arc<Tree>, root: Node<'_>, facts: &mut Facts) {
    let resources = root.get("Resources").map(Node::entries).unwrap_or_default();
    for (key, resource) in resources {
        let kind = resource.view().get("Type");
        let (Some(name), Some(of)) = (key.text(), kind.node().and_then(Node::text)) else { continue };
        let span = key.span();
        let properties = match resource.get("Properties") {
            Some(_) => resource.view().get("Properties"),
            None => View::new(None, span),
        };
        if let Some(mut pool) = machines::pool(tree, properties, (of, name), span) {
            pool.instance_types.iter_mut().for_each(|t| default_of(root, t));
            facts.pools.push(Arc::new(pool));
        }
        facts.workloads.extend(match of {
            "AWS::ECS::TaskDefinition" => Some(ecs::task(tree, properties, properties.get("Family").string(), span)),
            "AWS::Batch::JobDefinition" => {
                ecs::job(tree, properties, properties.get("JobDefinitionName").string(), span)
            }
            _ => None,
        });
        if of == "AWS::EKS::Cluster" {
            let mut cluster = Cluster::blank(span);
            cluster.format = Fact::value(InfraFormat::Cloudformation, span);
            cluster.name = properties.get("Name").string();
            cluster.platform = Fact::value("eks".to_owned(), span);
            cluster.kubernetes = machines::version(properties.get("Version"));
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
        out.body = Some(Raw::new(tree, properties));
        facts.resources.push(Arc::new(out));
    }
}

/// Longest name of anything.
const LONGEST_NAME: usize = 1024;

/// Gives a reference to a parameter the parameter's default.
fn default_of(root: Node<'_>, fact: &mut Fact<String>) {
    if let Known::Unknown(Why::Variable(name)) = &fact.known {
        let default = root.get("Parameters").and_then(|p| p.get(name)).and_then(|p| p.get("Default"));
        if let Some(text) = default.and_then(Node::text).filter(|text| text.len() <= LONGEST_NAME) {
            fact.known = Known::Value(text.to_owned());
        }
    }
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
