//! What of an expression may be unknown although the file at hand was read whole: what other files state, what the catalog
//! has rows for. Knows types, no values.

use super::check::{Macro, Node, Typed};
use crate::facts::value::Type;
use crate::rules::functions;
use std::collections::BTreeSet;

/// How the names of a rule are decided.
pub struct Openness {
    /// Slots of variables that other files decide, and of bindings that may be unknown.
    joined: BTreeSet<usize>,
}

impl Openness {
    /// What other files decide, and of some bindings those that may be unknown: each may use the ones before it.
    pub fn new(mut joined: BTreeSet<usize>, lets: &[(usize, Typed)]) -> Self {
        for (slot, binding) in lets {
            let mut so_far = Self { joined };
            let open = so_far.of(binding).is_some();
            so_far.joined.extend(open.then_some(*slot));
            joined = so_far.joined;
        }
        Self { joined }
    }

    /// The first part that may be unknown; a name stands for its binding.
    pub fn of<'t>(&self, typed: &'t Typed) -> Option<&'t Typed> {
        let first = |parts: &[&'t Typed]| parts.iter().find_map(|part| self.of(part));
        let any = |parts: &'t [Typed]| parts.iter().find_map(|part| self.of(part));
        match &typed.node {
            Node::Const(_) | Node::Param(_) | Node::Entities(_) | Node::Known(_) => None,
            Node::Slot(slot) => self.joined.contains(slot).then_some(typed),
            Node::Field(base, index) => {
                let joined = || matches!(base.ty, Type::Entity(entity) if entity.fields[*index].joined);
                self.of(base).or_else(|| joined().then_some(typed))
            }
            Node::DynField(inner, _) | Node::Not(inner) | Node::Negative(inner) => self.of(inner),
            Node::Index(a, b) | Node::Binary(_, a, b) => first(&[a, b]),
            Node::Cond(a, b, c) => first(&[a, b, c]),
            Node::List(items) | Node::Default(items) => any(items),
            // What is not known to fit is left out.
            Node::Macro { kind: Macro::Filter | Macro::First, list, .. } => self.of(list),
            Node::Macro { list, body, .. } => first(&[list, body]),
            Node::Call { function, .. } if functions::may_miss(function) => Some(typed),
            Node::Call { args, .. } => any(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::load;
    use crate::source::SourceId;

    /// The texts that a scope is advised to leave to `forbid`.
    fn advised(bindings: &str, when: &str) -> Vec<String> {
        let rule = format!(
            "id: it\npack: p\nseverity: error\napplies_to: container\nlet:\n  used: \"true\"\n{bindings}when: \"{when}\"\n\
             forbid: \"used\"\nmessage: m\nhelp: h\nwhy: w\nreferences: ['https://a.example']\n\
             examples: [{{fires: {{a.yaml: ''}}}}]\n"
        );
        let (loaded, problems) = load::load(SourceId(0), &rule);
        assert!(problems.is_empty(), "{problems:?}");
        loaded[0].advice.iter().map(|advice| rule[advice.span.range()].to_owned()).collect()
    }

    #[test]
    fn a_scope_reads_what_is_known_of_its_file() {
        for when in [
            "container.gpus > 1 && launch.engine != null && workload.kind in ['Job']",
            "pod.pools.size() == 1 && known(node.gpu.vendor) == 'nvidia'",
            "catalog_names('package_traits', launch.engine)",
        ] {
            assert_eq!(advised("", when), [""; 0], "{when}");
        }
        assert_eq!(advised("", "container.gpus > 1 && node.gpu.vendor == 'nvidia'"), ["node"]);
        assert_eq!(advised("", "launch.version < '1.0'"), ["launch.version"]);
        assert_eq!(advised("", "pod.containers.exists(c, c.software.cuda != null)"), ["c.software"]);
        assert_eq!(
            advised("", "launch.port == 1 || is_model_server(launch.engine)"),
            ["is_model_server(launch.engine)"]
        );
        assert_eq!(advised("  cc: \"node.gpu.compute_capability\"\n", "cc >= '8.0'"), ["cc"]);
    }
}
