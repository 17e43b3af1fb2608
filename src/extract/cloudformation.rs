//! Templates of CloudFormation, SAM and ROS: resources, their pools and clusters. Knows neither rules nor rollout;
//! values of functions are unknown, apart from machine types that a parameter gives a default or lets choose from.

use super::machines::{self, groups};
use super::{clusters, ecs, machinery, protection, sagemaker, startup};
use crate::facts::{Cluster, Facts, InfraFormat, NodePool, Resource, ResourceFormat};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, Raw, Tree, View};
use crate::source::{Span, Traced};
use std::collections::{BTreeMap, BTreeSet};
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
    for (name, parameter) in root.view().get("Parameters").entries() {
        let default = parameter.get("Default").traced();
        default.into_iter().for_each(|text| machinery::named(name, &text, path, facts));
    }
    // What aliases repeat is read once.
    let (mut started, mut sent) = (startup::Started::default(), BTreeSet::new());
    let templates = Templates::of(tree, &resources);
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
        } else if !templates.used.contains(name)
            && let Some((mut pool, scripts)) = templates.pool(root, (properties, span), (of, name))
        {
            if let Known::Unknown(Why::Variable(name)) = &pool.image_type.known
                && let Some(asked) = looked_up(root, name)
            {
                pool.image_type = asked;
            }
            scripts.iter().for_each(|script| started.read(script, (path, &mut pool), facts));
            facts.pools.push(Arc::new(pool));
        }
        // A command that is sent to machines.
        if let ("ALIYUN::ECS::RunCommand" | "ALIYUN::ECS::Command", Some(script)) =
            (of, properties.get("CommandContent").traced().filter(|script| sent.insert(script.whole())))
        {
            startup::sent(&script, path, facts);
        }
        facts.workloads.extend(match of {
            "AWS::ECS::TaskDefinition" => Some(ecs::task(tree, properties, properties.get("Family").string(), span)),
            "AWS::Batch::JobDefinition" => {
                ecs::job(tree, properties, properties.get("JobDefinitionName").string(), span)
            }
            "AWS::SageMaker::EndpointConfig" => {
                let model = model(root, sagemaker::model_of(properties));
                let label = endpoint_name(root, name).unwrap_or_else(|| Fact::value(name.to_owned(), span));
                sagemaker::endpoint(tree, (properties, model), (label, span))
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
        let stated = protection::Stated {
            kind: out.r#type.clone(),
            name: out.name.clone(),
            shape: of,
            region: Fact::absent(span),
        };
        protection::read(tree, properties, &stated, facts);
        facts.start_scripts.extend(machines::stated_scripts(properties, &out.r#type, &out.name));
        out.body = Some(Raw::new(tree, properties));
        facts.resources.push(Arc::new(out));
    }
}

/// The resource of the template that a value refers to.
fn referred(named: &Fact<String>) -> Option<&str> {
    match &named.known {
        Known::Unknown(Why::Variable(name)) => Some(name),
        Known::Unknown(Why::Remote(call)) => call.strip_prefix("!GetAtt ")?.split('.').next(),
        _ => None,
    }
}

/// What the endpoint of SageMaker is called that has a configuration of the template.
fn endpoint_name(root: Node<'_>, configuration: &str) -> Option<Fact<String>> {
    root.get("Resources")?.entries().into_iter().find_map(|(_, resource)| {
        let endpoint = resource.get("Type").and_then(Node::text) == Some("AWS::SageMaker::Endpoint");
        let properties = resource.view().get("Properties");
        let its = endpoint && referred(&properties.get("EndpointConfigName").string()) == Some(configuration);
        Some(properties.get("EndpointName").string()).filter(|name| its && !name.is_absent())
    })
}

/// The model of SageMaker that a value refers to, or names by its own name.
fn model<'t>(root: Node<'t>, named: View<'_>) -> Option<View<'t>> {
    let named = named.string();
    let (reference, name) = match named.get() {
        Some(name) => ("", name.as_str()),
        None => (referred(&named)?, ""),
    };
    root.get("Resources")?.entries().into_iter().find_map(|(key, resource)| {
        let model = resource.get("Type").and_then(Node::text) == Some("AWS::SageMaker::Model");
        let properties = resource.view().get("Properties");
        let called = || properties.get("ModelName").string().get().is_some_and(|own| own == name);
        (model && (key.text() == Some(reference) || !name.is_empty() && called())).then_some(properties)
    })
}

/// What groups take their machines from.
struct Templates<'t> {
    tree: &'t Arc<Tree>,
    /// Their properties, by their names in the template.
    known: BTreeMap<&'t str, (&'t str, View<'t>)>,
    /// Those that a group uses: no pools of their own.
    used: BTreeSet<&'t str>,
}

impl<'t> Templates<'t> {
    fn of(tree: &'t Arc<Tree>, resources: &[(Node<'t>, Node<'t>)]) -> Self {
        const KINDS: [&str; 2] = ["AWS::EC2::LaunchTemplate", "AWS::AutoScaling::LaunchConfiguration"];
        let mut out = Self { tree, known: BTreeMap::new(), used: BTreeSet::new() };
        for (key, resource) in resources {
            let (name, kind) = (key.text(), resource.get("Type").and_then(Node::text));
            if let (Some(name), Some(kind)) = (name, kind.filter(|kind| KINDS.contains(kind))) {
                out.known.insert(name, (kind, resource.view().get("Properties")));
            }
        }
        let named = resources.iter().filter_map(|(_, resource)| out.named(resource.view().get("Properties")));
        out.used = named.collect();
        out
    }

    /// The template that a group refers to.
    fn named(&self, group: View<'t>) -> Option<&'t str> {
        let specification = "MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification";
        let stated = [group.get("LaunchTemplate"), group.path(specification)].into_iter();
        let ids = ["LaunchTemplateId", "LaunchTemplateName", "Id", "Name"];
        let ids = stated.flat_map(|template| ids.map(|key| template.get(key)));
        ids.chain([group.get("LaunchConfigurationName")]).find_map(|id| match id.string().known {
            Known::Unknown(Why::Variable(name)) => self.known.get_key_value(&*name).map(|(name, _)| *name),
            _ => None,
        })
    }

    /// The pool that a resource states with what its template does, and what its machines run when they start.
    fn pool(
        &self,
        root: Node<'_>,
        (view, span): (View<'t>, Span),
        of: (&str, &str),
    ) -> Option<(NodePool, Vec<Traced>)> {
        let chosen = |view, of, span| {
            let mut pool = machines::pool(self.tree, view, of, span)?;
            choose(root, &mut pool);
            Some(pool)
        };
        let mut pool = chosen(view, of, span)?;
        let mut scripts = machines::start_scripts(view);
        if let Some((name, (kind, template))) = self.named(view).and_then(|name| self.known.get_key_value(name)) {
            groups::inherit(&mut pool, chosen(*template, (kind, name), span));
            scripts.splice(0..0, machines::start_scripts(*template));
        }
        if of.0 == "AWS::AutoScaling::AutoScalingGroup" {
            groups::read(&mut pool, view);
        }
        Some((pool, scripts))
    }
}

/// So many types are looked at that a parameter lets choose from, and such long names.
const MOST_CHOICES: usize = 100;
const LONGEST_NAME: usize = 1024;

/// A machine type that refers to parameters has their defaults; one without may be any that it allows. One that a map holds
/// may be any that the parameters lead to.
fn choose(root: Node<'_>, pool: &mut NodePool) {
    let (Some(kind), Some(stated)) = (pool.kind.get(), &pool.object) else { return };
    let stated = machines::stated_types(stated.view(), kind).flat_map(|stated| match stated.node() {
        Some(list) if list.is_seq() => list.items().map(Node::view).collect(),
        _ => vec![stated],
    });
    let types = std::mem::take(&mut pool.instance_types).into_iter().zip(stated);
    pool.instance_types = types.flat_map(|(of, stated)| possible(root, of, stated)).collect();
}

/// What a machine type may be.
fn possible(root: Node<'_>, of: Fact<String>, stated: View<'_>) -> Vec<Fact<String>> {
    let found = match (&of.known, stated.node().and_then(Node::text)) {
        (Known::Unknown(Why::Variable(_)), Some(text)) => of_text(root, text, of.span),
        (Known::Unknown(Why::Variable(name)), None) => of_parameter(root, name),
        (Known::Unknown(Why::Remote(call)), _) => {
            call.strip_prefix("!FindInMap ").map_or(vec![], |at| of_map(root, at))
        }
        _ => vec![],
    };
    match &found[..] {
        [] => vec![of],
        // A single one is used here.
        [only] => vec![Fact { span: of.span, ..only.clone() }],
        _ => found,
    }
}

/// What a text may be with its parameters filled in; nothing where one of them cannot be told.
fn of_text(root: Node<'_>, text: &str, place: Span) -> Vec<Fact<String>> {
    let mut found = vec![String::new()];
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { return vec![] };
        let values = of_parameter(root, name);
        if values.is_empty() || found.len() * values.len() > MOST_CHOICES || found[0].len() > LONGEST_NAME {
            return vec![];
        }
        let texts = values.iter().filter_map(Fact::get);
        let with = |value: &String| found.iter().map(|start| format!("{start}{before}{value}")).collect::<Vec<_>>();
        found = texts.flat_map(with).collect();
        rest = behind;
    }
    found.into_iter().map(|start| Fact::value(start + rest, place)).collect()
}

/// The parameter of Systems Manager that a parameter of a template is looked up by.
fn looked_up(root: Node<'_>, name: &str) -> Option<Fact<String>> {
    let parameter = root.view().get("Parameters").get(name);
    let of = parameter.get("Type").string();
    let default = parameter.get("Default").string();
    (of.get()?.starts_with("AWS::SSM::Parameter::Value<") && default.get().is_some()).then_some(default)
}

/// What a parameter may be. What Systems Manager holds is not what the template says.
fn of_parameter(root: Node<'_>, name: &str) -> Vec<Fact<String>> {
    let parameter = root.view().get("Parameters").get(name);
    if parameter.get("Type").string().get().is_none_or(|of| of.starts_with("AWS::SSM::")) {
        return vec![];
    }
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
    fn parameters_are_filled_in_where_a_text_names_them() {
        for (of, wanted) in [
            ("!Sub '${Family}.${Size}'", vec!["p4d.24xlarge", "p4d.metal"]),
            ("!Join ['.', [!Ref Family, 24xlarge]]", vec!["p4d.24xlarge"]),
            ("{'Fn::Sub': 'ml.${Family}.x'}", vec!["ml.p4d.x"]),
            ("!Sub ['${Family}.x', {Family: g5}]", vec!["g5.x"]),
            ("!Sub '${Family}.${AWS::Region}'", vec![]),
            ("!Sub '${Stored}'", vec![]),
        ] {
            let facts = facts(&format!(
                "Parameters:\n  Family: {{Type: String, Default: p4d}}\n  Size: {{Type: String, AllowedValues: [24xlarge, metal]}}\n  \
                 Stored: {{Type: 'AWS::SSM::Parameter::Value<String>', Default: /gpu/type}}\nResources:\n  Node:\n    \
                 Type: AWS::EKS::Nodegroup\n    Properties:\n      InstanceTypes: [{of}]\n"
            ));
            let types: Vec<_> = facts.pools[0].instance_types.iter().filter_map(Fact::get).collect();
            assert_eq!(types, wanted, "{of}");
        }
    }

    #[test]
    fn a_group_has_the_machines_of_its_template() {
        let facts = facts(
            "Resources:\n  Lt:\n    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      LaunchTemplateData:\n        \
             InstanceType: g5.xlarge\n        InstanceMarketOptions: {MarketType: spot}\n        BlockDeviceMappings:\n        \
             - {DeviceName: /dev/sdf, Ebs: {VolumeSize: 20}}\n        - {DeviceName: /dev/xvda, Ebs: {VolumeSize: 500}}\n  \
             Group:\n    Type: AWS::AutoScaling::AutoScalingGroup\n    Properties:\n      MaxSize: '3'\n      \
             LaunchTemplate: {LaunchTemplateId: !Ref Lt, Version: '1'}\n  Other:\n    \
             Type: AWS::AutoScaling::AutoScalingGroup\n    Properties:\n      MixedInstancesPolicy:\n        \
             LaunchTemplate: {LaunchTemplateSpecification: {LaunchTemplateId: {Ref: Lt}}, Overrides: [{InstanceType: g6.xlarge}]}\n        \
             InstancesDistribution: {OnDemandPercentageAboveBaseCapacity: 100}\n",
        );
        let [group, other] = &facts.pools[..] else { panic!("two groups: {:?}", facts.pools.len()) };
        let machine = |pool: &NodePool| pool.instance_types[0].get().cloned().unwrap_or_default();
        assert_eq!(
            (machine(group), group.max_nodes.get(), group.spot.get()),
            ("g5.xlarge".into(), Some(&3), Some(&true))
        );
        assert_eq!(group.disk_bytes.get(), Some(&(500 << 30)));
        assert_eq!((machine(other), other.spot.get()), ("g6.xlarge".into(), Some(&false)));
    }

    #[test]
    fn an_endpoint_runs_its_model_on_its_machine() {
        for model in ["!GetAtt M.ModelName", "!Ref M", "{'Fn::GetAtt': [M, ModelName]}", "own"] {
            let facts = facts(&format!(
                "Resources:\n  M:\n    Type: AWS::SageMaker::Model\n    Properties:\n      ModelName: own\n      PrimaryContainer:\n        \
                 Image: ghcr.io/huggingface/text-generation-inference:3.3.4\n        Environment: {{HF_MODEL_ID: m, SM_NUM_GPUS: '8'}}\n  \
                 C:\n    Type: AWS::SageMaker::EndpointConfig\n    Properties:\n      ProductionVariants:\n      - {{ModelName: {model}, \
                 InstanceType: ml.g5.12xlarge, InitialInstanceCount: 1}}\n"
            ));
            let pod = &facts.workloads.first().expect(model).pods[0];
            let machine = pod.node.as_ref().and_then(|node| node.instance_type.get()).map(String::as_str);
            assert_eq!((pod.gpus.get(), machine), (Some(&4), Some("g5.12xlarge")));
            let launch = pod.containers[0].launch.as_ref().expect("a launch");
            assert_eq!((launch.model.get().map(String::as_str), launch.tensor_parallel.get()), (Some("m"), Some(&8)));
        }
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
