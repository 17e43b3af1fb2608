//! Templates of Packer: the machines that bake images, and what their scripts install and start. Knows the names of builders.
//! https://developer.hashicorp.com/packer/docs/templates

use super::{TextFile, embedded, machines, startup, terraform};
use crate::facts::{Facts, InfraFormat, NodePool};
use crate::known::Fact;
use crate::parse::{Node, Tree, View, hcl};
use crate::render::bake;
use crate::source::SourceId;
use std::sync::Arc;

/// Builders, the resources of Terraform that their machines are, and the key of the machine type.
/// https://developer.hashicorp.com/packer/integrations
const BUILDERS: [(&str, &str, &str); 5] = [
    ("amazon-ebs", "aws_instance", "instance_type"),
    ("amazon-ebssurrogate", "aws_instance", "instance_type"),
    ("amazon-instance", "aws_instance", "instance_type"),
    ("azure-arm", "azurerm_linux_virtual_machine", "vm_size"),
    ("googlecompute", "google_compute_instance", "machine_type"),
];

/// What rules ask for as a template as it is written.
pub const TEMPLATE: &str = "PackerTemplate";

/// Reads a template in HCL.
pub fn read(id: SourceId, path: &str, text: &str, facts: &mut Facts) -> TextFile {
    let hcl = hcl::parse(id, text);
    let tree = Arc::new(bake::blocks(&hcl));
    terraform::named::in_blocks(&tree, path, facts);
    facts.objects.extend(tree.roots().map(|root| Arc::new(embedded::object(&tree, root, TEMPLATE, path))));
    if let Some(root) = tree.roots().next().map(Node::view) {
        for (kind, sources) in root.get("source").entries() {
            for (name, blocks) in sources.entries() {
                facts
                    .pools
                    .extend(blocks.items().filter_map(|block| machine(&tree, block, (kind, name))).map(Arc::new));
            }
        }
        let provisioners = root.get("build").items().flat_map(|build| build.get("provisioner").get("shell").items());
        provisioners.for_each(|shell| script(shell, path, facts));
    }
    TextFile { names: hcl.names(), problems: hcl.problems, comments: hcl.comments, ..TextFile::default() }
}

/// Whether a document is a template in JSON.
pub fn is_template(root: Node<'_>) -> bool {
    let typed = |item: Node<'_>| item.get("type").is_some();
    root.get("builders").is_some_and(|builders| builders.is_seq() && builders.items().all(typed))
}

/// Reads a template in JSON.
pub fn document(tree: &Arc<Tree>, root: Node<'_>, path: &str, facts: &mut Facts) {
    let text = |view: View<'_>, key: &str| view.get(key).string().get().cloned().unwrap_or_default();
    for builder in root.view().get("builders").items() {
        let (kind, name) = (text(builder, "type"), text(builder, "name"));
        facts.pools.extend(machine(tree, builder, (&kind, &name)).map(Arc::new));
    }
    let shells = root.view().get("provisioners").items().filter(|item| text(*item, "type") == "shell");
    shells.for_each(|shell| script(shell, path, facts));
}

/// The machine that a builder starts, which is no node of any cluster.
fn machine(tree: &Arc<Tree>, view: View<'_>, (kind, name): (&str, &str)) -> Option<NodePool> {
    let (_, resource, machine) = BUILDERS.iter().find(|(builder, ..)| *builder == kind)?;
    let mut out = machines::pool(tree, view, (resource, name), view.place())?;
    out.format = Fact::value(InfraFormat::Packer, view.place());
    out.name = Fact::value(name.to_owned(), view.place());
    out.in_cluster = Fact::value(false, view.place());
    out.instance_types = vec![view.get(machine).string()].into_iter().filter(|machine| !machine.is_absent()).collect();
    let accelerator = view.get("accelerator_type");
    if accelerator.is_some() {
        out.accelerator = accelerator.string().map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
        out.accelerator_count = view.get("accelerator_count").int();
    }
    Some(out)
}

/// The commands of a provisioner; what stands in files of scripts is read there.
fn script(shell: View<'_>, path: &str, facts: &mut Facts) {
    let inline = shell.get("inline");
    if let Some(script) = startup::lines(inline).or_else(|| inline.traced()) {
        startup::commands_of(&script, path, facts);
    }
}
