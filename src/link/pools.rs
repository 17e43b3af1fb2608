//! What the catalog knows of a pool's machines: GPU, count, architecture.

use crate::catalog;
use crate::evidence;
use crate::facts::{Facts, Gpu, NodePool};
use crate::known::{Fact, Why};
use crate::source::Span;
use crate::version::Version;
use std::sync::Arc;

/// Completes every pool from the catalog.
pub fn enrich(facts: &mut Facts) {
    for pool in &mut facts.pools {
        let pool = Arc::make_mut(pool);
        if pool.gpu.is_none() {
            pool.gpu = gpu_of(pool);
        }
        if pool.gpu_count.is_absent() {
            pool.gpu_count = Fact::watched(|| count_of(pool));
        }
        if pool.driver.is_absent()
            && let Some(driver) = image_driver(pool)
        {
            pool.driver = driver;
        }
    }
}

/// The driver that the pool's image brings, where the catalog lists its releases. EKS writes the Kubernetes release
/// before the image's: 1.32.8-20250904.
fn image_driver(pool: &NodePool) -> Option<Fact<Version>> {
    let (image, release) = (pool.image_type.get()?, pool.image_release.get()?);
    let stated = release.rsplit_once('-').and_then(|(kubernetes, _)| Version::parse(kubernetes));
    let kubernetes = stated.as_ref().or_else(|| pool.kubernetes.get()).map(|v| format!("{}.{}", v.major(), v.minor()));
    let (driver, unread) = evidence::watched(|| catalog::eks_ami_driver(image, release, kubernetes.as_deref()));
    Some(Fact::value(driver?, pool.image_type.span).resting_on(unread))
}

/// The GPU that the catalog answers, as facts decided at `span`.
pub fn gpu_facts(span: Span, ask: impl FnOnce() -> Option<&'static catalog::Gpu>) -> Option<Gpu> {
    let (row, unread) = evidence::watched(ask);
    let row = row?;
    let text = |t: &str| Fact::value(t.to_owned(), span).resting_on(unread);
    let number = |n: Option<i64>| Fact::from_option(n, span).resting_on(unread);
    let flag = |f: bool| Fact::value(f, span).resting_on(unread);
    let mut gpu = Gpu::blank(span);
    gpu.id = text(row.id);
    gpu.name = text(row.name);
    gpu.vendor = text(row.vendor);
    gpu.arch = text(row.arch);
    gpu.compute_capability = Fact::from_option(row.compute_capability.clone(), span).resting_on(unread);
    gpu.memory_mib = number(row.memory_mib);
    gpu.mig = flag(row.mig);
    gpu.nvlink_gbs = number(row.nvlink_gbs);
    gpu.tdp_w = number(row.tdp_w);
    gpu.datacenter = flag(row.datacenter);
    Some(gpu)
}

/// What all GPUs of a name have in common.
pub fn series_facts(name: &str, span: Span) -> Option<Gpu> {
    let mut rows = catalog::gpus_called(name).filter_map(|row| gpu_facts(span, || Some(row)));
    let mut common = rows.next()?;
    for other in rows {
        agree(&mut common.id, &other.id, name);
        if common.name.known != other.name.known {
            common.name = Fact::value(name.to_owned(), span);
        }
        agree(&mut common.arch, &other.arch, name);
        agree(&mut common.compute_capability, &other.compute_capability, name);
        agree(&mut common.memory_mib, &other.memory_mib, name);
        agree(&mut common.mig, &other.mig, name);
        agree(&mut common.nvlink_gbs, &other.nvlink_gbs, name);
        agree(&mut common.tdp_w, &other.tdp_w, name);
        agree(&mut common.datacenter, &other.datacenter, name);
    }
    Some(common)
}

fn agree<T: PartialEq>(fact: &mut Fact<T>, other: &Fact<T>, name: &str) {
    if fact.known != other.known {
        *fact = Fact::unknown(Why::NotStated(format!("which {name}").into()), fact.span);
    }
}

fn gpu_of(pool: &NodePool) -> Option<Gpu> {
    let stated = pool.accelerator.get().and_then(|name| gpu_facts(pool.accelerator.span, || catalog::gpu(name)));
    stated.or_else(|| {
        let span = machine_gpus(pool).next()?.1;
        gpu_facts(span, || {
            let rows: Vec<_> = machine_gpus(pool).map(|(row, _)| row).collect();
            rows.first().copied().filter(|first| rows.iter().all(|row| row.id == first.id))
        })
    })
}

/// GPUs named by the machine types and, for Karpenter, by requirements on GPU names and families.
fn machine_gpus(pool: &NodePool) -> impl Iterator<Item = (&'static catalog::Gpu, Span)> {
    let types = pool.instance_types.iter().filter_map(|t| Some((catalog::instance_gpu(t.get()?)?, t.span)));
    let named = pool.requirements.iter().flat_map(|r| {
        let key = r.key.get().map_or("", String::as_str);
        let operator = r.operator.get().map_or("", String::as_str);
        r.values.iter().filter_map(move |value| {
            let text = value.get()?;
            let row = match (key.rsplit('/').next()?, operator) {
                ("instance-gpu-name", "In") => catalog::gpu(text),
                ("instance-family", "In") => catalog::instance_family_gpu(text).flatten(),
                ("instance-type", "In") => catalog::instance_gpu(text),
                ("gke-accelerator", "In") => catalog::gpu(text),
                _ => None,
            }?;
            Some((row, value.span))
        })
    });
    types.chain(named)
}

/// GPUs per node, when every machine type has the same number; the disagreement otherwise.
fn count_of(pool: &NodePool) -> Fact<i64> {
    if !pool.accelerator_count.is_absent() {
        return pool.accelerator_count.clone();
    }
    let counts: Vec<(i64, Span)> =
        pool.instance_types.iter().filter_map(|t| Some((catalog::instance(t.get()?)?.gpu_count?, t.span))).collect();
    match counts.as_slice() {
        [] => Fact::absent(pool.span),
        [(first, span), rest @ ..] if counts.len() == pool.instance_types.len() => {
            if rest.iter().all(|(count, _)| count == first) {
                Fact::value(*first, *span)
            } else {
                Fact::unknown(Why::Ambiguous("machine types with different GPU counts".into()), *span)
            }
        }
        [(_, span), ..] => Fact::unknown(Why::NotInCatalog("one of the machine types".into()), *span),
    }
}

/// The most GPUs that one node of the pool can have; unknown when some machine type is.
pub fn most_gpus(pool: &NodePool) -> Fact<i64> {
    if pool.gpu_count.get().is_some() {
        return pool.gpu_count.clone();
    }
    Fact::watched(|| {
        let most = pool.instance_types.iter().filter_map(|t| catalog::instance(t.get()?)?.gpu_count).max();
        let complete = pool.instance_types.iter().all(|t| t.get().is_some_and(|t| catalog::instance(t).is_some()));
        match most {
            Some(most) if complete => Fact::value(most, pool.instance_types[0].span),
            _ => Fact::unknown(Why::NotStated("the machine type".into()), pool.span),
        }
    })
}
