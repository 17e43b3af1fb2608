//! What services of KServe are based on: the runtime of an InferenceService, the configurations of an LLMInferenceService.

use super::boundary::{Boundary, Deployed, Layout, Reach};
use super::candidates::Candidates;
use super::{Directories, Namespace, Variant};
use crate::facts::{Object, Workload};
use crate::known::Fact;
use crate::parse::{Raw, View};

/// The API group of KServe.
const GROUP: &str = "serving.kserve.io/";

/// A workload, by its variant and its position there, and what it is based on, the undermost first.
#[derive(Debug)]
pub struct Based {
    /// The position of the variant.
    pub variant: usize,
    /// The position of the workload.
    pub workload: usize,
    /// The objects under it.
    pub bases: Vec<Raw>,
}

/// What an object is found by, in its namespace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sign<'a> {
    Name(&'a str),
    /// A format of models that it serves unless told otherwise.
    Format(&'a str),
}

/// Objects of a kind.
type Objects<'a> = Candidates<'a, (Namespace<'a>, Sign<'a>), &'a Object>;

/// The services that are based on something here.
pub fn based(variants: &[Variant], directories: &Directories<'_>) -> Vec<Based> {
    if !variants.iter().flat_map(|variant| &variant.facts.workloads).any(is_service) {
        return Vec::new();
    }
    let layout = Layout::of(variants, directories);
    let deployed = Deployed::of(variants, &layout);
    let bases = Bases {
        runtimes: of_kind(deployed, ("ServingRuntime", Reach::Deployment)),
        of_cluster: of_kind(deployed, ("ClusterServingRuntime", Reach::Cluster)),
        configurations: of_kind(deployed, ("LLMInferenceServiceConfig", Reach::Deployment)),
    };
    let mut out = Vec::new();
    for (variant, facts) in variants.iter().map(|variant| &variant.facts).enumerate() {
        for (workload, service) in facts.workloads.iter().enumerate().filter(|(_, workload)| is_service(workload)) {
            let under = bases.of(service, deployed.boundary(variant));
            out.extend((!under.is_empty()).then_some(Based { variant, workload, bases: under }));
        }
    }
    out
}

fn is_service(workload: &Workload) -> bool {
    workload.api_version.get().is_some_and(|version| version.starts_with(GROUP))
        && workload.kind.get().is_some_and(|kind| kind == "InferenceService" || kind == "LLMInferenceService")
}

fn of_kind<'a>(deployed: Deployed<'a>, (kind, reach): (&str, Reach)) -> Objects<'a> {
    let is = |object: &&Object| {
        object.kind.get().is_some_and(|k| k == kind)
            && object.api_version.get().is_some_and(|version| version.starts_with(GROUP))
    };
    Candidates::gather(deployed, reach, |facts| {
        let objects = facts.objects.iter().map(|object| &**object).filter(is);
        let listed = objects.map(|object| {
            let signs = object.name.get().map(|name| Sign::Name(name)).into_iter().chain(selected_for(object));
            let keys = signs.flat_map(|sign| match reach {
                Reach::Cluster => vec![(Namespace::Any, sign)],
                Reach::Deployment => Namespace::listed(&object.namespace, sign).into(),
            });
            (object.span.source, keys.collect(), object)
        });
        listed.collect()
    })
}

/// The formats that a runtime is selected for by itself.
fn selected_for(runtime: &Object) -> Vec<Sign<'_>> {
    let Some(body) = &runtime.body else { return Vec::new() };
    let formats = body.view().path("spec.supportedModelFormats").items();
    let selected = formats.filter(|format| format.get("autoSelect").boolean().get() == Some(&true));
    selected.filter_map(|format| Some(Sign::Format(format.get("name").node()?.text()?))).collect()
}

/// What services may be based on.
struct Bases<'a> {
    runtimes: Objects<'a>,
    of_cluster: Objects<'a>,
    configurations: Objects<'a>,
}

impl Bases<'_> {
    fn of(&self, service: &Workload, boundary: Boundary<'_>) -> Vec<Raw> {
        let Some(object) = &service.object else { return Vec::new() };
        let spec = object.view().get("spec");
        if service.kind.get().is_some_and(|kind| kind == "InferenceService") {
            return self.runtime(service, spec.get("predictor"), boundary).into_iter().collect();
        }
        // What one that is not here states would stand over those before it.
        let names: Vec<Fact<String>> = spec.get("baseRefs").items().map(|base| base.get("name").string()).collect();
        let known = names.iter().rev().map_while(|name| {
            let keys = Namespace::sought(&service.namespace, Sign::Name(name.get()?));
            self.configurations.only(boundary, service.span.source, &keys, |_| true)?.body.clone()
        });
        let mut bases: Vec<Raw> = known.collect();
        bases.reverse();
        bases
    }

    /// The runtime that a model names, else the only one that is selected for it: one of the namespace before one of the
    /// cluster (`GetServingRuntime`, `GetSupportingRuntimes`).
    fn runtime(&self, service: &Workload, predictor: View<'_>, boundary: Boundary<'_>) -> Option<Raw> {
        let model = predictor.get("model");
        let (name, format) = (model.get("runtime").string(), model.path("modelFormat.name").string());
        let sign = match name.get() {
            Some(name) => Sign::Name(name),
            None if name.is_absent() => Sign::Format(format.get()?),
            None => return None,
        };
        let fits = |runtime: &&Object| matches!(sign, Sign::Name(_)) || serves(runtime, predictor);
        let from = service.span.source;
        let near = self.runtimes.nearest(boundary, from, &Namespace::sought(&service.namespace, sign), fits);
        let found = match near[..] {
            [] => self.of_cluster.only(boundary, from, &[(Namespace::Any, sign)], fits),
            [only] => Some(only),
            _ => None,
        };
        found?.body.clone()
    }
}

/// Whether a runtime that may be selected serves a model: it is enabled, for one model, in the protocol that is asked for,
/// and on several nodes when the model is.
fn serves(runtime: &Object, predictor: View<'_>) -> bool {
    let Some(body) = &runtime.body else { return false };
    let (spec, model) = (body.view().get("spec"), predictor.get("model"));
    let is = |key| spec.get(key).boolean().get() == Some(&true);
    let protocol = model.get("protocolVersion").string();
    let protocol = protocol.get().map_or("v1", String::as_str);
    let mut protocols = spec.get("protocolVersions").items().peekable();
    let version = model.path("modelFormat.version").string();
    let mut formats = spec.get("supportedModelFormats").items();
    !is("disabled")
        && !is("multiModel")
        && (protocols.peek().is_none() || protocols.any(|of| of.string().get().is_some_and(|of| of == protocol)))
        && (version.is_absent() || formats.any(|of| of.get("version").string().get() == version.get()))
        && spec.get("workerSpec").is_some() == predictor.get("workerSpec").is_some()
}
