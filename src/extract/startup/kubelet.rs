//! What start scripts of nodes of EKS tell their kubelet: the cluster, labels and taints. Knows bootstrap.sh and nodeadm.

use super::told;
use crate::extract::{machines, slurm, written};
use crate::facts::value::REST;
use crate::facts::{Labels, NodePool, Taint};
use crate::known::{Fact, Why};
use crate::parse::shell;
use crate::parse::{Dialect, View, yaml};
use crate::source::Traced;

/// What bootstraps a node on images of EKS. <https://github.com/awslabs/amazon-eks-ami>
const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";

/// What a kubelet is told.
#[derive(Default)]
pub struct Kubelet {
    cluster: Option<Fact<String>>,
    labels: Labels,
    taints: Vec<Taint>,
}

impl Kubelet {
    /// What scripts, and what nodeadm reads, tell the kubelet of a node of EKS; `None` where none of them makes one.
    pub(super) fn of(scripts: &[Traced], nodes: &[Traced]) -> Option<Kubelet> {
        let mut out = None;
        for script in scripts.iter().filter(|script| script.text().contains(BOOTSTRAP)) {
            told::commands_of(script, slurm::DEEPEST, &mut |command| {
                let Some(at) = command.words.iter().position(|word| word.text() == BOOTSTRAP) else { return };
                let behind = &command.words[at + 1..];
                let mut found = Kubelet::default();
                let name = behind.first().filter(|word| !word.text().starts_with('-'));
                found.cluster = name.map(|word| written::stated(word.traced(), word.expands));
                for (option, given) in written::options(behind) {
                    if let ("kubelet-extra-args", written::Given::Word(flags, expands)) = (option.as_str(), given) {
                        found.flags(&flags, expands);
                    }
                }
                // Its own value begins with dashes, too.
                for pair in behind.windows(2).filter(|pair| pair[0].text() == "--kubelet-extra-args") {
                    found.flags(pair[1].traced(), pair[1].expands);
                }
                out = Some(found);
            });
        }
        for node in nodes {
            let tree = yaml::parse_traced(node, Dialect::Core);
            for root in tree.roots() {
                let spec = root.view().get("spec");
                let found = out.get_or_insert_with(Kubelet::default);
                found.cluster = Some(spec.path("cluster.name").string()).filter(|name| !name.is_absent());
                let flags: Vec<Traced> = spec.path("kubelet.flags").items().filter_map(View::traced).collect();
                flags.iter().for_each(|flag| found.flags(flag, flag.text().contains("${")));
            }
        }
        out
    }

    /// Takes over the flags that state labels and taints.
    fn flags(&mut self, text: &Traced, expands: bool) {
        for word in shell::parse(text).commands.into_iter().flat_map(|command| command.words) {
            let value = |flag: &str| {
                let value = word.text().strip_prefix(flag)?;
                Some(word.traced().slice(word.text().len() - value.len()..word.text().len()))
            };
            let open = |part: &Traced| expands && part.text().contains('$');
            for label in value("--node-labels=").iter().flat_map(written::parts) {
                let (key, value) = label.text().split_once('=').unwrap_or((label.text(), ""));
                let known = Fact::value(value.to_owned(), label.whole());
                match open(&label) {
                    true => self.labels.insert(REST.to_owned(), unknown(&label)),
                    false => self.labels.insert(key.to_owned(), known),
                };
            }
            for stated in value("--register-with-taints=").iter().flat_map(written::parts) {
                let mut taint = machines::taint(&stated);
                if open(&stated) {
                    (taint.key, taint.value, taint.effect) = (unknown(&stated), unknown(&stated), unknown(&stated));
                }
                self.taints.push(taint);
            }
        }
        // What a variable brings may be any flag.
        if expands && text.text().starts_with('$') {
            let mut taint = Taint::blank(text.whole());
            (taint.key, taint.value, taint.effect) = (unknown(text), unknown(text), unknown(text));
            self.taints.push(taint);
            self.labels.insert(REST.to_owned(), unknown(text));
        }
    }

    /// Says it of the machines that run the script.
    pub(super) fn apply(&self, pool: &mut NodePool) {
        pool.platform = Fact::value("eks".to_owned(), pool.platform.span);
        pool.in_cluster = Fact::value(true, pool.span);
        if let Some(cluster) = self.cluster.as_ref().filter(|_| pool.cluster.is_absent()) {
            pool.cluster = cluster.clone();
        }
        for (key, value) in &self.labels {
            pool.labels.insert(key.clone(), value.clone());
        }
        pool.taints.extend(self.taints.iter().cloned());
    }
}

fn unknown(text: &Traced) -> Fact<String> {
    Fact::unknown(Why::Variable(text.text().trim_matches(['$', '{', '}']).into()), text.whole())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};

    fn text(text: &str) -> Traced {
        Traced::verbatim(text, Span::new(SourceId(0), 0..text.len()), 0)
    }

    fn told(scripts: &[Traced], nodes: &[Traced]) -> Kubelet {
        Kubelet::of(scripts, nodes).expect("a node of EKS")
    }

    #[test]
    fn scripts_and_documents_tell_the_kubelet_labels_and_taints() {
        let script = text(
            "#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args \
             '--node-labels=gpu=true,a=b --register-with-taints=nvidia.com/gpu=true:NoSchedule'\n",
        );
        let node = text(
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: prod}\n  kubelet:\n    flags: \
             [--node-labels=gpu=true, --register-with-taints=nvidia.com/gpu=true:NoSchedule]\n",
        );
        for found in [told(&[script], &[]), told(&[], &[node])] {
            assert_eq!(found.cluster.as_ref().and_then(Fact::get).map(String::as_str), Some("prod"));
            assert_eq!(found.labels["gpu"].get().map(String::as_str), Some("true"));
            assert_eq!(found.taints[0].key.get().map(String::as_str), Some("nvidia.com/gpu"));
        }
    }

    #[test]
    fn what_a_variable_brings_is_not_taken_as_absent() {
        let script = text("#!/bin/bash\n/etc/eks/bootstrap.sh \"$NAME\" --kubelet-extra-args \"$FLAGS\"\n");
        let found = told(&[script], &[]);
        assert!(found.cluster.as_ref().is_some_and(Fact::is_unknown) && found.taints[0].key.is_unknown());
        assert!(Kubelet::of(&[text("#!/bin/bash\necho x\n")], &[]).is_none());
    }
}
