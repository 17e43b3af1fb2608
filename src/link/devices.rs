//! What the accelerators of a pod are: their unit, their name, and how many of them a framework sees.

use crate::catalog;
use crate::facts::{Container, Pod, Workload};
use crate::known::{Fact, Known, Why};

/// Fills the devices of the containers and pods of a workload that state accelerators, and the ranks that they have room for.
pub fn link(workload: &mut Workload) {
    for pod in &mut workload.pods {
        pod.containers.iter_mut().for_each(name);
        describe(pod);
    }
    workload.group_ranks = workload.group_gpus.clone();
    // Only a device that holds several cores makes another number of them.
    if let Some(pod) = workload.pods.iter().find(|pod| pod.ranks.known != pod.gpus.known) {
        let groups = workload.group_gpus.get().zip(pod.gpus.get()).filter(|(_, gpus)| **gpus > 0);
        workload.group_ranks = match groups {
            Some((all, own)) if workload.pods.len() == 1 => pod.ranks.clone().map(|ranks| ranks * (all / own)),
            _ => Fact::unknown(Why::NotModelled("a group of several kinds of devices".into()), pod.span),
        };
    }
}

/// Formats that state no resource name ask for what their vendor makes.
fn name(container: &mut Container) {
    if !container.device.is_absent() || !holds(container) {
        return;
    }
    let by_vendor = container.gpu_vendor.get().map(|vendor| match vendor.as_str() {
        "google" => ("tpu-chip", "TPU chip"),
        "aws" => ("neuron-device", "Neuron device"),
        _ => ("gpu", "GPU"),
    });
    if let Some((device, name)) = by_vendor {
        let span = container.gpu_vendor.span;
        container.device = Fact::value(device.to_owned(), span);
        container.device_name = Fact::value(name.to_owned(), span);
    }
}

/// Whether a container asks for devices, or may.
fn holds(container: &Container) -> bool {
    !container.gpus.is_absent() && container.gpus.get() != Some(&0)
}

fn describe(pod: &mut Pod) {
    let mut holders = pod.containers.iter().filter(|c| holds(c) && !c.device.is_absent());
    pod.ranks = pod.gpus.clone();
    let Some(first) = holders.next() else { return };
    if holders.any(|other| other.device.known != first.device.known) {
        let why = || Why::Ambiguous("the containers ask for several kinds of devices".into());
        pod.device = Fact::unknown(why(), first.device.span);
        pod.ranks = Fact::unknown(why(), first.device.span);
        pod.device_name = Fact::value("device".to_owned(), first.device.span);
        return;
    }
    (pod.device, pod.device_name) = (first.device.clone(), first.device_name.clone());
    if first.device.get().is_some_and(|device| device == "neuron-device") {
        let id = pod.node.as_ref().and_then(|node| node.gpu.as_ref()).and_then(|gpu| gpu.id.get());
        let of_devices = |devices| match id.and_then(|id| catalog::accelerator_cores(id)) {
            Some(cores) => Known::Value(devices * cores),
            None => Known::Unknown(Why::NotStated("the machine, which decides the cores of a Neuron device".into())),
        };
        pod.ranks = Fact::watched(|| pod.ranks.clone().and_then(of_devices));
    }
}
