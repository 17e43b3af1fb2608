//! What the EC2NodeClass of a Karpenter pool says of its machines: the image and the disk.

use super::boundary::{Deployed, Reach};
use super::candidates::Candidates;
use crate::catalog;
use crate::facts::{NodePool, Object};
use crate::known::{Fact, Why};
use crate::parse::View;
use crate::quantity;
use std::sync::Arc;

/// Completes the pools that name a class.
pub fn link(pools: &mut [Vec<Arc<NodePool>>], deployed: Deployed<'_>) {
    let named = |pool: &NodePool| -> Option<String> {
        let body = pool.object.as_ref().filter(|_| pool.platform.get().is_some_and(|of| of == "karpenter"))?;
        body.view().path("spec.template.spec.nodeClassRef.name").string().get().cloned()
    };
    if pools.iter().flatten().all(|pool| named(pool).is_none()) {
        return;
    }
    let classes = Candidates::gather(deployed, Reach::Cluster, |facts| {
        let is_class = |object: &&Arc<Object>| object.kind.get().is_some_and(|kind| kind == "EC2NodeClass");
        let classes = facts.objects.iter().filter(is_class);
        classes.filter_map(|class| Some((class.span.source, vec![class.name.get()?.as_str()], &**class))).collect()
    });
    deployed.each(pools, |pool, boundary| {
        let Some(name) = named(pool) else { return };
        let class = classes.only(boundary, pool.span.source, &[name.as_str()], |_| true);
        if let Some(body) = class.and_then(|class| class.body.as_ref()) {
            take(Arc::make_mut(pool), body.view().get("spec"));
        }
    });
}

fn take(pool: &mut NodePool, spec: View<'_>) {
    if pool.image_type.is_absent() {
        pool.image_type = image(spec);
    }
    if !pool.disk_bytes.is_absent() {
        return;
    }
    if spec.get("instanceStorePolicy").is_some() {
        let why = Why::LeftTo("the instance store of the machine".into());
        pool.disk_bytes = Fact::unknown(why, spec.get("instanceStorePolicy").place());
        return;
    }
    let mappings = spec.get("blockDeviceMappings");
    let Some((_, device)) = pool.image_type.get().and_then(|family| catalog::ami_family(family)) else {
        if mappings.is_some() {
            let why = Why::LeftTo("the image, which decides the disk that pods use".into());
            pool.disk_bytes = Fact::unknown(why, mappings.place());
        }
        return;
    };
    let is = |mapping: &View<'_>| mapping.get("deviceName").string().get().is_some_and(|name| name == device);
    if let Some(mapping) = mappings.items().find(is) {
        pool.disk_bytes = mapping.path("ebs.volumeSize").parse(quantity::parse).map(|bytes| bytes as i64);
    }
}

/// The family of the image: stated, or that of the alias which is selected; another image is unknown.
fn image(spec: View<'_>) -> Fact<String> {
    let stated = spec.get("amiFamily");
    let terms = spec.get("amiSelectorTerms");
    let alias = terms.items().map(|term| term.get("alias")).find(|alias| alias.is_some());
    match alias {
        Some(alias) => alias.string().map(|text| {
            let alias = text.split('@').next().unwrap_or_default();
            catalog::ami_family(alias).map_or(alias, |(family, _)| family).to_owned()
        }),
        None if terms.is_some() => Fact::unknown(Why::Remote("the image that is selected".into()), terms.place()),
        None => stated.string(),
    }
}
