//! What policies of scaling scale: the pools of the group that each names, and the alarm by which it is called.

use super::boundary::{Boundary, Deployed, Reach};
use super::candidates::Candidates;
use crate::catalog;
use crate::facts::{NodePool, Resource, ResourceFormat, ScalingPolicy};
use crate::known::{Fact, Known, Why};
use crate::parse::{Node, View};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Attributes by which a group names what its machines are made from, or that names the group.
const LINKS: [&str; 15] = [
    "launch_template",
    "launch_template_id",
    "launch_configuration",
    "instance_template",
    "instance_configuration_id",
    "configuration_id",
    "scaling_configuration_id",
    "active_scaling_configuration",
    "scaling_group_id",
    "LaunchTemplate",
    "LaunchTemplateId",
    "LaunchConfigurationName",
    "ScalingGroupId",
    "ScalingConfigurationId",
    "ActiveScalingConfigurationId",
];

/// Attributes that say what a group is called.
const NAMES: [&str; 6] =
    ["name", "scaling_group_name", "Name", "AutoScalingGroupName", "ScalingGroupName", "InstanceGroupName"];

/// What Application Auto Scaling knows its targets by.
const TARGET: (&str, &str) = ("AWS::ApplicationAutoScaling::ScalableTarget", "ResourceId");

/// Fills `scaling_policy.pools`, and the metric of those that an alarm calls.
pub fn link(policies: &mut [Vec<Arc<ScalingPolicy>>], deployed: Deployed<'_>) {
    if policies.iter().all(Vec::is_empty) {
        return;
    }
    let all = All::of(deployed);
    deployed.each(policies, |policy, boundary| {
        let policy = Arc::make_mut(policy);
        let own = policy.kind.get().zip(policy.name.get()).map(|(kind, name)| address(kind, name));
        if policy.metric.is_absent()
            && let Some(metric) = own.as_ref().and_then(|own| all.alarm(boundary, (policy, own)))
        {
            policy.metric = metric;
        }
        if let Some(target) = target_of(policy).and_then(|key| all.called(boundary, policy, &key).first().copied())
            && target.r#type.get().is_some_and(|kind| kind == TARGET.0)
        {
            policy.target = target.body.as_ref().map_or(Fact::absent(policy.span), |b| b.view().get(TARGET.1).string());
        }
        policy.pools = target_of(policy).map(|key| all.pools(boundary, policy, &key)).unwrap_or_default();
    });
}

/// What a resource is called in its files: `type.label`, in templates the label alone.
fn address(kind: &str, name: &str) -> String {
    if kind.contains("::") { name.to_owned() } else { format!("{kind}.{name}") }
}

fn address_of(resource: &Resource) -> Option<String> {
    Some(address(resource.r#type.get()?, resource.name.get()?))
}

/// The address that a value refers to, or the name that it states, behind `=`: the last part of an ARN or a path.
fn target_of(policy: &ScalingPolicy) -> Option<String> {
    match &policy.target.known {
        Known::Value(text) => text.rsplit(['/', ':']).next().map(|name| format!("={name}")),
        Known::Unknown(why) => referred(why),
        Known::Absent => None,
    }
}

/// The resource that a value refers to, by its address.
fn referred(why: &Why) -> Option<String> {
    match why {
        // A variable of Terraform stands for no resource.
        Why::Variable(name) if !name.contains('.') => Some(name.to_string()),
        Why::Remote(reference) => {
            if let Some(call) = reference.strip_prefix("!GetAtt ") {
                return call.split('.').next().map(str::to_owned);
            }
            let mut parts = reference.split('.');
            let (kind, name) = (parts.next()?, parts.next()?);
            let name = name.split('[').next().unwrap_or(name);
            (!["data", "var", "local", "module", "each"].contains(&kind)).then(|| format!("{kind}.{name}"))
        }
        _ => None,
    }
}

/// The addresses of the resources that a value refers to.
fn references(view: View<'_>) -> Vec<String> {
    let mut out: Vec<String> = view.string().why().and_then(referred).into_iter().collect();
    let mut nodes: Vec<Node<'_>> = view.node().into_iter().collect();
    while let Some(node) = nodes.pop() {
        out.extend(node.view().string().why().and_then(referred));
        nodes.extend(node.items());
        nodes.extend(node.entries().iter().map(|(_, child)| *child));
    }
    out
}

/// The addresses of what a resource has to do with as a group or as what the machines of a group are made from.
fn links(resource: &Resource) -> Vec<String> {
    let Some(body) = &resource.body else { return vec![] };
    let mut out = vec![];
    let mut views = vec![body.view()];
    while let Some(view) = views.pop() {
        for (key, value) in view.entries() {
            match LINKS.contains(&key) {
                true => out.extend(references(value)),
                false => {
                    let blocks = value.items().filter(|item| item.node().is_some_and(Node::is_map));
                    views.extend(blocks.chain(Some(value).filter(|value| value.node().is_some_and(Node::is_map))));
                }
            }
        }
    }
    out
}

struct All<'a> {
    /// Resources by their addresses, and by their names behind `=`.
    resources: Candidates<'a, String, &'a Resource>,
    /// Resources by the addresses of those that they name as their group.
    members: Candidates<'a, String, &'a Resource>,
    /// Alarms by the addresses of the policies that they call.
    alarms: Candidates<'a, String, &'a Resource>,
    pools: BTreeMap<crate::source::Span, Vec<&'a Arc<NodePool>>>,
}

impl<'a> All<'a> {
    fn of(deployed: Deployed<'a>) -> Self {
        let gather = |keys: &dyn Fn(&Resource) -> Vec<String>| {
            Candidates::gather(deployed, Reach::Deployment, |facts| {
                let all = facts.resources.iter().map(|resource| (resource.span.source, keys(resource), &**resource));
                all.filter(|(_, keys, _)| !keys.is_empty()).collect()
            })
        };
        let called = |resource: &Resource| {
            let body = resource.body.iter();
            let names = body.flat_map(|body| NAMES.map(|key| body.view().get(key).string()));
            let names = names.filter_map(|name| name.get().map(|name| format!("={name}")));
            address_of(resource).into_iter().chain(names).collect()
        };
        let calls = |resource: &Resource| {
            let shape = resource.r#type.get().and_then(|kind| catalog::scaling_alarm_of(kind));
            let actions = shape.zip(resource.body.as_ref()).map(|(shape, body)| {
                let mut found = references(body.view().path(shape.actions()));
                found.extend(address_of(resource));
                found
            });
            actions.unwrap_or_default()
        };
        let mut pools: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for pool in deployed.variants().iter().flat_map(|variant| &variant.facts.pools) {
            let listed = pools.entry(pool.span).or_default();
            if !listed.iter().any(|other: &&Arc<NodePool>| Arc::ptr_eq(other, pool)) {
                listed.push(pool);
            }
        }
        Self { resources: gather(&called), members: gather(&links), alarms: gather(&calls), pools }
    }

    /// The metric of the alarm that calls a policy, or that a policy names.
    fn alarm(&self, boundary: Boundary<'_>, (policy, own): (&ScalingPolicy, &String)) -> Option<Fact<String>> {
        let from = policy.span.source;
        let resource = self.resources.nearest(boundary, from, std::slice::from_ref(own), |_| true);
        let path = policy.kind.get().and_then(|kind| catalog::scaling_policy_of(kind)).map(|shape| shape.alarm());
        let body = resource.first().and_then(|resource| resource.body.as_ref());
        let named = body.zip(path.filter(|path| !path.is_empty())).map(|(body, path)| body.view().get(path));
        let keys: Vec<String> = named.map(references).into_iter().flatten().chain([own.clone()]).collect();
        self.alarms.nearest(boundary, from, &keys, |_| true).into_iter().find_map(|alarm| {
            let shape = catalog::scaling_alarm_of(alarm.r#type.get()?)?;
            let body = alarm.body.as_ref()?.view();
            let metrics = shape.metric().split_ascii_whitespace().map(|path| first(body, path).string());
            metrics.into_iter().find(|metric| metric.get().is_some())
        })
    }

    fn called(&self, boundary: Boundary<'_>, policy: &ScalingPolicy, key: &String) -> Vec<&'a Resource> {
        let found = self.resources.nearest(boundary, policy.span.source, std::slice::from_ref(key), |_| true);
        let template = |r: &Resource| r.format.get() != Some(&ResourceFormat::Terraform);
        // A parameter of a template may be called like a resource of another one.
        let may = |r: &&Resource| !template(r) || r.span.source == policy.span.source || key.starts_with('=');
        found.into_iter().copied().filter(may).collect()
    }

    /// The pools of the group that has an address or a name.
    fn pools(&self, boundary: Boundary<'_>, policy: &ScalingPolicy, key: &String) -> Vec<Arc<NodePool>> {
        let mut out: Vec<Arc<NodePool>> = vec![];
        for group in self.called(boundary, policy, key) {
            let mut of_group: Vec<&Resource> = vec![group];
            if let Some(own) = address_of(group) {
                of_group.extend(self.members.nearest(boundary, group.span.source, &[own], |_| true));
            }
            let made_from = links(group);
            of_group.extend(self.resources.nearest(boundary, group.span.source, &made_from, |_| true));
            for pool in of_group.iter().filter_map(|resource| self.pools.get(&resource.span)).flatten() {
                if !out.iter().any(|other| other.span == pool.span && other.name.get() == pool.name.get()) {
                    out.push(Arc::clone(pool));
                }
            }
        }
        out
    }
}

/// What stands at a dotted path, in the first block of each list.
fn first<'t>(view: View<'t>, path: &str) -> View<'t> {
    path.split('.').fold(view, |view, key| {
        let next = view.get(key);
        match next.items().next() {
            Some(block) if next.node().is_some_and(Node::is_seq) && block.node().is_some_and(Node::is_map) => block,
            _ => next,
        }
    })
}
