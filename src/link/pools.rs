//! What the catalog knows of a pool's machines: GPU, count, architecture.

use crate::catalog;
use crate::evidence;
use crate::facts::value::Blank;
use crate::facts::{Facts, Gpu, NodePool, Requirement, Taint};
use crate::known::{Fact, Known, Why};
use crate::source::Span;
use crate::version::Version;
use std::borrow::Borrow;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The label with which ACK is told which driver it installs on the nodes of a pool.
/// https://www.alibabacloud.com/help/en/ack/ack-managed-and-ack-dedicated/user-guide/specify-an-nvidia-driver-version-for-nodes-by-adding-a-label
const ACK_DRIVER: &str = "ack.aliyun.com/nvidia-driver-version";

/// Completes every pool from the catalog.
pub fn enrich(facts: &mut Facts) {
    for machine in facts.named_machines.iter_mut().filter(|machine| machine.gpu.is_some()) {
        let gpu = &mut Arc::make_mut(machine).gpu;
        *gpu = gpu.take().and_then(|gpu| gpu_facts(gpu.id.span, || catalog::gpu(gpu.id.get()?)));
    }
    for pool in &mut facts.pools {
        let pool = Arc::make_mut(pool);
        if pool.instance_types.is_empty() {
            pool.instance_types = required_types(pool);
        }
        if pool.gpu.is_none() {
            pool.gpu = gpu_of(pool);
        }
        if pool.gpu_count.is_absent() {
            pool.gpu_count = Fact::watched(|| count_of(pool));
        }
        if pool.spot.get() == Some(&true)
            && let Some(platform) = pool.platform.get()
        {
            let taints = catalog::spot_taints(platform).map(|taint| spot_taint(taint, pool.spot.span));
            pool.taints.extend(
                taints
                    .filter(|taint| !pool.taints.iter().any(|own| own.key.get() == taint.key.get()))
                    .collect::<Vec<_>>(),
            );
        }
        if let Some(label) = pool.labels.get(ACK_DRIVER).filter(|_| pool.driver.is_absent()) {
            pool.driver = label.clone().and_then(|text| match Version::parse(&text) {
                Some(version) => Known::Value(version),
                None => Known::Unknown(Why::Malformed(text.into())),
            });
        }
        if pool.driver.is_absent()
            && let Some(driver) = image_driver(pool)
        {
            pool.driver = driver;
        }
    }
}

fn spot_taint(parts: [&str; 3], span: Span) -> Taint {
    let [key, value, effect] = parts.map(|part| Fact::value(part.to_owned(), span));
    Taint { key, value, effect, ..Taint::blank(span) }
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

/// The GPUs that the catalog answers, as facts decided at `span`: what all of them have in common.
pub fn gpu_facts<I>(span: Span, ask: impl FnOnce() -> I) -> Option<Gpu>
where
    I: IntoIterator<Item = &'static catalog::Gpu>,
{
    let (rows, unread) = evidence::watched(|| ask().into_iter().collect::<Vec<_>>());
    common(rows.into_iter().map(|row| of_row(row, (span, unread))))
}

fn of_row(row: &catalog::Gpu, (span, unread): (Span, bool)) -> Gpu {
    let text = |t: &str| Fact::value(t.to_owned(), span).resting_on(unread);
    let number = |n: Option<i64>| Fact::from_option(n, span).resting_on(unread);
    let flag = |f: bool| Fact::value(f, span).resting_on(unread);
    let mut gpu = Gpu::blank(span);
    gpu.id = text(row.id);
    (gpu.smallest, gpu.largest) = (gpu.id.clone(), gpu.id.clone());
    gpu.name = text(row.name);
    gpu.vendor = text(row.vendor);
    gpu.arch = text(row.arch);
    gpu.compute_capability = Fact::from_option(row.compute_capability.clone(), span).resting_on(unread);
    gpu.memory_mib = number(row.memory_mib);
    gpu.mig = flag(row.mig);
    gpu.nvlink_gbs = number(row.nvlink_gbs);
    gpu.tdp_w = number(row.tdp_w);
    gpu.datacenter = flag(row.datacenter);
    gpu
}

/// The GPUs that people may mean by a name, which stays their name.
pub fn named<I>(name: &str, span: Span, ask: impl FnOnce() -> I) -> Option<Gpu>
where
    I: IntoIterator<Item = &'static catalog::Gpu>,
{
    let mut gpu = gpu_facts(span, ask)?;
    if gpu.id.is_unknown() {
        gpu.name = Fact::value(name.to_owned(), span);
    }
    Some(gpu)
}

/// What several GPUs have in common; what they differ in is unknown, and their name is all of their names.
pub fn common<G: Borrow<Gpu>>(gpus: impl IntoIterator<Item = G>) -> Option<Gpu> {
    let mut gpus = gpus.into_iter();
    let mut out: Gpu = gpus.next()?.borrow().clone();
    let mut names: Vec<String> = out.name.get().cloned().into_iter().collect();
    for other in gpus {
        let other = other.borrow();
        names.extend(other.name.get().filter(|name| !names.contains(name)).cloned());
        if out.perhaps.is_none() {
            out.perhaps.clone_from(&other.perhaps);
        }
        agree(&mut out.id, &other.id, &names);
        take(&mut out.smallest, &other.smallest, |ours, theirs| theirs < ours);
        take(&mut out.largest, &other.largest, |ours, theirs| theirs > ours);
        if other.name.is_unknown() {
            out.name = other.name.clone();
        }
        agree(&mut out.vendor, &other.vendor, &names);
        agree(&mut out.arch, &other.arch, &names);
        agree(&mut out.compute_capability, &other.compute_capability, &names);
        agree(&mut out.memory_mib, &other.memory_mib, &names);
        agree(&mut out.mig, &other.mig, &names);
        agree(&mut out.nvlink_gbs, &other.nvlink_gbs, &names);
        agree(&mut out.tdp_w, &other.tdp_w, &names);
        agree(&mut out.datacenter, &other.datacenter, &names);
    }
    out.name = out.name.map(|_| names.join(" or "));
    Some(out)
}

fn agree<T: Clone + PartialEq>(fact: &mut Fact<T>, other: &Fact<T>, names: &[String]) {
    if other.is_unknown() {
        *fact = other.clone();
    } else if !fact.is_unknown() && fact.known != other.known {
        *fact = Fact::unknown(Why::Ambiguous(names.join(", ").into()), fact.span);
    }
}

/// Takes the other card where its memory is `better`; where the memory of one is not known, there is no telling.
fn take(card: &mut Fact<String>, other: &Fact<String>, better: impl Fn(i64, i64) -> bool) {
    let mib = |card: &Fact<String>| catalog::gpu(card.get()?)?.memory_mib;
    match (mib(card), mib(other)) {
        (Some(ours), Some(theirs)) if !better(ours, theirs) => {}
        (None, _) if card.is_unknown() => {}
        (None, _) => *card = Fact::unknown(Why::NotStated("the memory of the GPU".into()), card.span),
        _ => *card = other.clone(),
    }
}

/// A GPU of which nobody says whether there is one.
pub fn unknown_gpu(why: Why, span: Span) -> Gpu {
    let mut gpu = Gpu::blank(span);
    gpu.leave_open(&why);
    gpu.perhaps = Some(why);
    gpu
}

/// The GPU of a pool: the one that is attached, else the one that all of its machines have; `None` where none has one.
fn gpu_of(pool: &NodePool) -> Option<Gpu> {
    if !pool.accelerator.is_absent() {
        return Some(of_name(&pool.accelerator, |name| match catalog::gpus_named(name).collect::<Vec<_>>() {
            none if none.is_empty() => catalog::gpus_called(name).collect(),
            found => found,
        }));
    }
    let types = pool.instance_types.iter().map(of_type).collect();
    let required = pool.requirements.iter().filter_map(required).collect::<Vec<_>>();
    // Requirements hold all at once: one that leaves a single GPU decides.
    let mut told = [vec![types], required].concat().into_iter().filter(|gpus| !gpus.is_empty()).map(alike);
    let Some(first) = told.next() else {
        return Some(unknown_gpu(Why::NotStated("the machine type".into()), pool.span));
    };
    let decides = |gpu: &Option<Gpu>| gpu.as_ref().is_none_or(|gpu| gpu.id.get().is_some());
    if decides(&first) { first } else { told.find(decides).unwrap_or(first) }
}

/// What machines have alike: a GPU, none, or it cannot be told.
fn alike(machines: Vec<Option<Gpu>>) -> Option<Gpu> {
    let span = machines.iter().flatten().next()?.span;
    if machines.iter().any(Option::is_none) {
        return Some(unknown_gpu(Why::Ambiguous("machines with and without a GPU".into()), span));
    }
    common(machines.into_iter().flatten())
}

/// The GPUs of a name, or why there is no telling.
fn of_name(name: &Fact<String>, rows: impl Fn(&str) -> Vec<&'static catalog::Gpu>) -> Gpu {
    match &name.known {
        Known::Value(text) => named(text, name.span, || rows(text))
            .unwrap_or_else(|| unknown_gpu(Why::NotInCatalog(text.as_str().into()), name.span)),
        Known::Unknown(why) => unknown_gpu(why.clone(), name.span),
        Known::Absent => unknown_gpu(Why::NotStated("the machine type".into()), name.span),
    }
}

/// The GPU of machines that a word names. Machines that are stated and not known may have none.
fn of_machine(name: &Fact<String>, rows: impl Fn(&str) -> Vec<&'static catalog::Gpu>) -> Gpu {
    match &name.known {
        Known::Unknown(why) => unknown_gpu(why.clone().perhaps(), name.span),
        _ => of_name(name, rows),
    }
}

/// The GPU of a machine type; `None` where its family has none.
fn of_type(name: &Fact<String>) -> Option<Gpu> {
    let plain = name.get().is_some_and(|name| catalog::is_plain_machine(name));
    (!plain).then(|| of_machine(name, |text| catalog::instance_gpu(text).into_iter().collect()))
}

/// The machine types of AWS that requirements of Karpenter leave: of the families that they name, else of the GPUs that they
/// describe, less those of other sizes, numbers and memory; none where a family is not of the catalog.
fn required_types(pool: &NodePool) -> Vec<Fact<String>> {
    let within = |key: &str| {
        let is = |r: &&Requirement| is_about(r, key) && r.operator.get().is_some_and(|o| o == "In");
        pool.requirements.iter().find(is).map(|requirement| &requirement.values)
    };
    let states = |key: &str, text: &str| {
        within(key).is_none_or(|values| values.iter().any(|value| value.get().is_none_or(|value| value == text)))
    };
    let fits = |machine: &catalog::Instance| {
        let (family, size) = machine.name.split_once('.').unwrap_or((machine.name, ""));
        let generation = family.find(|c: char| c.is_ascii_digit()).unwrap_or(family.len());
        let digits = family[generation..].find(|c: char| !c.is_ascii_digit()).map_or(family.len(), |n| generation + n);
        let number = |text: &str| text.parse().ok().map(|n: f64| n..=n);
        states("instance-size", size)
            && states("instance-category", &family[..generation])
            && admits(pool, "instance-generation", number(&family[generation..digits]))
            && admits(pool, "instance-gpu-count", machine.gpu_count.map(|count| count as f64..=count as f64))
    };
    let named = |machines: Vec<&catalog::Instance>, (span, unread): (Span, bool)| -> Vec<Fact<String>> {
        let fitting = machines.into_iter().filter(|machine| fits(machine));
        fitting.map(|machine| Fact::value(machine.name.to_owned(), span).resting_on(unread)).collect()
    };
    let Some(families) = within("instance-family") else {
        let described = ["instance-gpu-name", "instance-gpu-count", "instance-gpu-memory"];
        let Some(by) = pool.requirements.iter().find(|r| described.iter().any(|key| is_about(r, key))) else {
            return Vec::new();
        };
        let (machines, unread) = evidence::watched(|| catalog::machines_with_gpus("aws"));
        let span = by.values.first().map_or(by.span, |value| value.span);
        let of_gpu = |machine: &&catalog::Instance| {
            let gpu = catalog::gpu(machine.gpu);
            let called = within("instance-gpu-name").is_none_or(|names| {
                names.iter().any(|name| {
                    name.get().is_none_or(|name| catalog::karpenter_gpus(name).any(|gpu| gpu.id == machine.gpu))
                })
            });
            // Chips of Amazon itself are accelerators to Karpenter, and no GPUs.
            called
                && gpu.is_none_or(|gpu| gpu.vendor != "aws" && states("instance-gpu-manufacturer", gpu.vendor))
                && admits(pool, "instance-gpu-memory", machine.gpu_mib())
        };
        return named(machines.into_iter().filter(of_gpu).collect(), (span, unread));
    };
    let of_family = |family: &Fact<String>| -> Option<Vec<Fact<String>>> {
        let (types, unread) = evidence::watched(|| catalog::instances_of_family(family.get()?));
        Some(named(types?, (family.span, unread)))
    };
    let types: Option<Vec<Vec<Fact<String>>>> = families.iter().map(of_family).collect();
    types.unwrap_or_default().concat()
}

/// Whether a requirement of Karpenter is on the property of machines of a name, whoever's label that is.
fn is_about(requirement: &Requirement, key: &str) -> bool {
    requirement.key.get().is_some_and(|stated| stated.rsplit('/').next() == Some(key))
}

/// Whether requirements on a number of machines may leave one whose number lies in a range; what is not known may.
fn admits(pool: &NodePool, key: &str, range: Option<RangeInclusive<f64>>) -> bool {
    let Some(range) = range else { return true };
    pool.requirements.iter().filter(|requirement| is_about(requirement, key)).all(|requirement| {
        let numbers: Option<Vec<f64>> = requirement.values.iter().map(|value| value.get()?.parse().ok()).collect();
        match (requirement.operator.get().map(String::as_str), numbers.as_deref()) {
            (Some("In"), Some(numbers)) => numbers.iter().any(|number| range.contains(number)),
            (Some("NotIn"), Some(numbers)) => range.start() != range.end() || !numbers.contains(range.start()),
            (Some("Gt"), Some([than])) => range.end() > than,
            (Some("Lt"), Some([than])) => range.start() < than,
            _ => true,
        }
    })
}

/// What a requirement of Karpenter on machines leaves: by the name of the GPU, the machine type or its family.
fn required(requirement: &Requirement) -> Option<Vec<Option<Gpu>>> {
    let key = requirement.key.get()?.rsplit('/').next()?;
    let of = |value: &Fact<String>| match key {
        "instance-gpu-name" => Some(Some(of_name(value, |text| catalog::karpenter_gpus(text).collect()))),
        "gke-accelerator" => Some(Some(of_name(value, |text| catalog::gpu(text).into_iter().collect()))),
        "instance-type" => Some(of_type(value)),
        "instance-family"
            if value.get().is_some_and(|family| catalog::is_plain_machine(&format!("{family}.large"))) =>
        {
            Some(None)
        }
        "instance-family" => {
            let gpu = |family: &str| catalog::instance_family_gpu(family).flatten().into_iter().collect();
            Some(Some(of_machine(value, gpu)))
        }
        "instance-category" => {
            let plain = value.get().is_some_and(|category| catalog::is_plain_machine(&format!("{category}5.large")));
            let why = || Why::NotStated("the machine type".into());
            Some((!plain).then(|| unknown_gpu(why(), value.span)))
        }
        _ => None,
    };
    let within = requirement.operator.get().is_some_and(|operator| operator == "In");
    if within { requirement.values.iter().map(of).collect() } else { None }
}

/// GPUs per node, when every machine type has the same number; why it cannot be told otherwise.
fn count_of(pool: &NodePool) -> Fact<i64> {
    if !pool.accelerator_count.is_absent() {
        return pool.accelerator_count.clone();
    }
    let mut counts = pool.instance_types.iter().map(gpus_of_machine);
    match (counts.next(), &pool.gpu) {
        (_, None) => Fact::value(0, pool.span),
        (None, Some(gpu)) => Fact::unknown(Why::NotStated("the machine type".into()), gpu.span),
        (Some(first), _) => counts.find(|other| other.known != first.known).map_or(first, |other| match other.known {
            Known::Unknown(_) => other,
            _ => Fact::unknown(Why::Ambiguous("machine types with different GPU counts".into()), other.span),
        }),
    }
}

/// How many GPUs a machine of a type has.
fn gpus_of_machine(name: &Fact<String>) -> Fact<i64> {
    name.clone().and_then(|text| match catalog::machine_gpus(&text) {
        Some(count) => Known::Value(count),
        None => Known::Unknown(Why::NotInCatalog(text.into())),
    })
}

/// The most GPUs that one node of the pool can have; unknown when some machine type is.
pub fn most_gpus(pool: &NodePool) -> Fact<i64> {
    if pool.gpu_count.get().is_some() {
        return pool.gpu_count.clone();
    }
    Fact::watched(|| {
        let counts: Vec<Fact<i64>> = pool.instance_types.iter().map(gpus_of_machine).collect();
        let unknown = counts.iter().find(|count| count.is_unknown());
        let most = unknown.or_else(|| counts.iter().max_by_key(|count| count.get().copied())).cloned();
        most.unwrap_or_else(|| Fact::unknown(Why::NotStated("the machine type".into()), pool.span))
    })
}
