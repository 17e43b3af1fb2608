//! What modules ask of providers, and resources as they are written.

use super::{Stated, machines};
use crate::facts::{Labels, ProviderRequirement, ResourceBlock};
use crate::known::Fact;
use crate::parse::{Raw, View};
use crate::render::terraform::{Block, reference};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the blocks of a root and its modules ask of providers.
pub fn required(blocks: &[Block]) -> Arc<[ProviderRequirement]> {
    let mut out = vec![];
    for block in blocks {
        let body = View::new(Some(block.body()), block.keyword_span);
        match (block.keyword.as_str(), block.label(0)) {
            ("terraform", _) => {
                for asked in body.get("required_providers").items() {
                    out.extend(asked.entries().into_iter().map(|(name, value)| requirement(name, value)));
                }
            }
            // Where older modules state it.
            ("provider", Some(name)) if body.get("version").is_some() => {
                out.push(requirement(name, body.get("version")))
            }
            _ => {}
        }
    }
    out.into()
}

fn requirement(name: &str, stated: View<'_>) -> ProviderRequirement {
    let text = |view: View<'_>| view.string().get().cloned();
    let source = text(stated.get("source")).unwrap_or_else(|| format!("hashicorp/{name}")).to_ascii_lowercase();
    // What stands before it is a registry.
    let parts: Vec<&str> = source.rsplit('/').take(2).collect();
    let address = parts.iter().rev().copied().collect::<Vec<_>>().join("/");
    let versions = text(stated.get("version")).or(text(stated)).unwrap_or_default();
    ProviderRequirement { name: name.to_owned(), address, versions }
}

/// What a provider states of all that it makes.
pub struct Made {
    region: Fact<String>,
    tags: Labels,
}

/// What providers of a root state of all that they make, by how resources name them: `aws`, `aws.tokyo`.
pub fn made(blocks: &[Block]) -> BTreeMap<String, Made> {
    let of_root = blocks.iter().filter(|block| block.keyword == "provider" && block.module.is_empty());
    let provider = |block: &Block| {
        let body = View::new(Some(block.body()), block.keyword_span);
        let name = block.label(0)?;
        let named = match body.get("alias").string().get() {
            Some(alias) => format!("{name}.{alias}"),
            None => name.to_owned(),
        };
        let tags = body.get("default_tags").items().map(|tags| tags.get("tags"));
        let tags = tags.chain([body.get("default_labels")]).flat_map(machines::labels).collect();
        Some((named, Made { region: body.get("region").string(), tags }))
    };
    of_root.filter_map(provider).collect()
}

/// The region of the provider that makes a resource of the root, and the tags that it adds. Modules may be handed others.
pub fn region_and_tags(stated: &Stated<'_>, made: &BTreeMap<String, Made>) -> (Fact<String>, Labels) {
    let named = stated.view.get("provider").node().and_then(reference);
    let name = named.or(stated.kind.0.split('_').next()).filter(|_| stated.module.is_empty());
    let provider = name.and_then(|name| made.get(name));
    let region = provider.map_or(Fact::absent(stated.span), |provider| provider.region.clone());
    (region, provider.map(|provider| provider.tags.clone()).unwrap_or_default())
}

/// The releases that are asked for of each provider, as all who ask for some write them.
pub fn versions(providers: &[ProviderRequirement]) -> BTreeMap<&str, String> {
    let mut asked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in providers.iter().filter(|one| !one.versions.is_empty()) {
        asked.entry(&one.name).or_default().insert(&one.versions);
    }
    asked.into_iter().map(|(name, all)| (name, all.into_iter().collect::<Vec<_>>().join(", "))).collect()
}

/// A resource as it is written.
pub fn block(stated: &Stated<'_>, providers: &Arc<[ProviderRequirement]>) -> ResourceBlock {
    let ((kind, span), (name, _)) = (stated.kind, stated.name);
    ResourceBlock {
        kind: Fact::value(kind.to_owned(), span),
        address: format!("{kind}.{name}"),
        body: Raw::new(stated.tree, stated.view),
        providers: Arc::clone(providers),
    }
}
