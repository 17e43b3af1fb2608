//! Which taints keep a pod away from the pools that its selectors allow.

use crate::catalog;
use crate::facts::{NodePool, Pod, Taint, Toleration, Workload};
use crate::known::{Fact, Known};

/// The admission plugin by which a pod that asks for an extended resource tolerates the NoSchedule taint of that name.
const TOLERATES_RESOURCES: &str = "ExtendedResourceToleration";

/// Fills `pod.blocked_by` of every pod.
pub fn link(workload: &mut Workload) {
    for pod in &mut workload.pods {
        let taken = pod.pools.iter().any(|pool| blocking(pool, pod).is_none());
        let first = pod.pools.first().filter(|_| !taken).and_then(|pool| blocking(pool, pod));
        pod.blocked_by = first.cloned();
    }
}

/// The first taint of the pool's nodes that the pod does not tolerate.
fn blocking<'p>(pool: &'p NodePool, pod: &Pod) -> Option<&'p Taint> {
    pool.taints.iter().filter(|taint| keeps_away(taint)).find(|taint| {
        !pod.tolerations.iter().any(|toleration| tolerates(toleration, taint))
            && !tolerated_by_platform(pool, pod, taint)
    })
}

fn keeps_away(taint: &Taint) -> bool {
    taint.key.get().is_some() && matches!(taint.effect.get().map(String::as_str), Some("NoSchedule" | "NoExecute"))
}

/// Kubernetes' own rule; what is not known of a toleration may match.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let exists = toleration.operator.get().is_none_or(|operator| operator == "Exists");
    covers(&toleration.effect, &taint.effect)
        && if toleration.key.is_absent() {
            exists
        } else {
            covers(&toleration.key, &taint.key) && (exists || same_value(&toleration.value, &taint.value))
        }
}

/// Whether a part of a toleration that may be left out covers that of a taint.
fn covers(toleration: &Fact<String>, taint: &Fact<String>) -> bool {
    toleration.get().is_none_or(|wanted| taint.get().is_none_or(|stated| wanted == stated))
}

/// Whether the values are equal: one that is left out is the empty text.
fn same_value(one: &Fact<String>, other: &Fact<String>) -> bool {
    let text = |fact: &Fact<String>| match &fact.known {
        Known::Value(text) => Some(text.clone()),
        Known::Absent => Some(String::new()),
        Known::Unknown(_) => None,
    };
    text(one).zip(text(other)).is_none_or(|(one, other)| one == other)
}

fn tolerated_by_platform(pool: &NodePool, pod: &Pod, taint: &Taint) -> bool {
    let asks = |name: &String| {
        let containers = pod.containers.iter().chain(&pod.init_containers);
        containers.flat_map(|c| c.requests.keys().chain(c.limits.keys())).any(|resource| resource == name)
    };
    let adds = |platform: &String| catalog::runs_admission_plugin(platform, TOLERATES_RESOURCES);
    taint.effect.get().is_some_and(|effect| effect == "NoSchedule")
        && taint.key.get().is_some_and(asks)
        && pool.platform.get().is_some_and(adds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};

    fn text(value: &str) -> Fact<String> {
        let span = Span::new(SourceId(0), 0..1);
        if value.is_empty() { Fact::absent(span) } else { Fact::value(value.to_owned(), span) }
    }

    #[test]
    fn a_toleration_matches_as_kubernetes_does() {
        let span = Span::new(SourceId(0), 0..1);
        let taint = |[key, value, effect]: [&str; 3]| Taint {
            key: text(key),
            value: text(value),
            effect: text(effect),
            ..Taint::blank(span)
        };
        let toleration = |[key, operator, value, effect]: [&str; 4]| {
            let (key, operator, value, effect) = (text(key), text(operator), text(value), text(effect));
            Toleration { key, operator, value, effect, ..Toleration::blank(span) }
        };
        for (tolerated, given, wanted) in [
            (true, ["", "Exists", "", ""], ["team", "ml", "NoExecute"]),
            (true, ["team", "Exists", "", ""], ["team", "ml", "NoSchedule"]),
            (true, ["team", "Equal", "ml", "NoSchedule"], ["team", "ml", "NoSchedule"]),
            (true, ["team", "Equal", "", ""], ["team", "", "NoSchedule"]),
            (false, ["team", "Equal", "", ""], ["team", "ml", "NoSchedule"]),
            (false, ["team", "Equal", "web", ""], ["team", "ml", "NoSchedule"]),
            (false, ["team", "Exists", "", "NoExecute"], ["team", "ml", "NoSchedule"]),
            (false, ["sku", "Exists", "", ""], ["team", "ml", "NoSchedule"]),
        ] {
            assert_eq!(tolerates(&toleration(given), &taint(wanted)), tolerated, "{given:?} {wanted:?}");
        }
        let mut variable = toleration(["team", "Equal", "", ""]);
        variable.value = Fact::unknown(crate::known::Why::NotStated("a value".into()), span);
        assert!(tolerates(&variable, &taint(["team", "ml", "NoSchedule"])), "an unknown value may be the one");
    }
}
