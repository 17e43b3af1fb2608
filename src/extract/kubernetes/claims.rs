//! Claims of devices (Dynamic Resource Allocation): what they ask for, and what their selectors state of it.

use crate::catalog;
use crate::facts::{DeviceClaim, DeviceClass, DeviceRequest, Facts, Pod};
use crate::known::{Fact, Known, Why};
use crate::parse::expression::{Expr, Kind, Op, expression};
use crate::parse::{DEEPEST, View};
use crate::quantity;
use crate::source::Span;
use std::sync::Arc;

/// Reads a claim or a template of claims.
pub fn read(view: View<'_>, kind: &str, facts: &mut Facts) {
    let version = view.get("apiVersion").string();
    if !version.get().is_some_and(|version| version.starts_with("resource.k8s.io/")) {
        return;
    }
    let spec = match kind {
        "ResourceClaim" => view.get("spec"),
        "ResourceClaimTemplate" => view.path("spec.spec"),
        "DeviceClass" => return facts.device_classes.push(Arc::new(class(view))),
        _ => return,
    };
    let name = view.path("metadata.name");
    let mut out = DeviceClaim::blank(name.place());
    out.kind = view.get("kind").string();
    out.name = name.string();
    out.namespace = view.path("metadata.namespace").string();
    let class = spec.get("resourceClassName");
    if class.is_some() {
        out.requests.push(classic(spec, class));
    }
    for item in spec.path("devices.requests").items() {
        let alternatives = item.get("firstAvailable");
        if alternatives.is_some() {
            let parent = item.get("name").string();
            out.requests.extend(alternatives.items().map(|one| request(one, &parent)));
        } else {
            let exactly = item.get("exactly");
            let body = if exactly.is_some() { exactly } else { item };
            let mut one = request(body, &Fact::absent(item.place()));
            one.name = item.get("name").string();
            out.requests.push(one);
        }
    }
    facts.device_claims.push(Arc::new(out));
}

/// Reads the classes that values of a chart name for claims which the chart makes. What else it asks for is up to the chart.
pub fn in_values(view: View<'_>, name: &Fact<String>, facts: &mut Facts) {
    classes(view, (name, DEEPEST), facts);
}

fn classes(view: View<'_>, (name, depth): (&Fact<String>, usize), facts: &mut Facts) {
    if depth == 0 {
        return;
    }
    let class = view.get("deviceClassName");
    if class.traced().is_some() {
        let mut out = DeviceClaim::blank(class.place());
        out.kind = Fact::value("HelmRelease".to_owned(), class.place());
        out.name = name.clone();
        let mut asked = DeviceRequest::blank(class.place());
        asked.device_class = class.string();
        asked.count = Fact::unknown(Why::NotStated("how many devices the chart claims".into()), class.place());
        device(&mut asked);
        out.gpus = Fact::unknown(Why::NotStated("how many devices the chart claims".into()), class.place());
        out.requests.push(asked);
        facts.device_claims.push(Arc::new(out));
    }
    view.items().for_each(|item| classes(item, (name, depth - 1), facts));
    view.entries().into_iter().for_each(|(_, value)| classes(value, (name, depth - 1), facts));
}

/// A claim of the first design (v1alpha2), which a controller of the driver answers.
fn classic(spec: View<'_>, class: View<'_>) -> DeviceRequest {
    let mut out = DeviceRequest::blank(class.place());
    out.device_class = class.string();
    let parameters = spec.get("parametersRef");
    out.count = Fact::value(1, class.place());
    device(&mut out);
    if parameters.is_some() {
        // They may ask for several, and for parts of one.
        let why = || Why::NotModelled("parameters of a claim of v1alpha2".into());
        out.count = Fact::unknown(why(), parameters.place());
        out.device = Fact::unknown(why(), parameters.place());
        out.device_name = Fact::absent(class.place());
    }
    out
}

fn request(view: View<'_>, alternative_of: &Fact<String>) -> DeviceRequest {
    let class = view.get("deviceClassName");
    let mut out = DeviceRequest::blank(class.place());
    out.perhaps = view.unknown();
    out.name = view.get("name").string();
    if let Some(parent) = alternative_of.get() {
        out.alternative_of = alternative_of.clone();
        out.name = out.name.map(|name| format!("{parent}/{name}"));
    }
    out.device_class = class.string();
    let (mode, count) = (view.get("allocationMode"), view.get("count"));
    out.count = match mode.string().known {
        _ if view.get("adminAccess").boolean().get() == Some(&true) => Fact::value(0, view.get("adminAccess").place()),
        Known::Value(mode_is) if mode_is == "All" => Fact::unknown(Why::LeftTo("the scheduler".into()), mode.place()),
        Known::Unknown(why) => Fact::unknown(why, mode.place()),
        _ if count.is_some() || count.unknown().is_some() => count.int(),
        _ => Fact::value(1, class.place()),
    };
    device(&mut out);
    for selector in view.get("selectors").items() {
        let cel = selector.path("cel.expression");
        if let Some(text) = cel.string().get() {
            select(&mut out, text, cel.place());
        }
    }
    out
}

/// What a class of a published driver hands out.
fn device(out: &mut DeviceRequest) {
    let span = out.device_class.span;
    let Some(class) = out.device_class.get() else {
        if let Some(why) = out.device_class.why().cloned() {
            out.device = Fact::unknown(why, span);
        }
        return;
    };
    match catalog::device_class(class) {
        Some(Some(accelerator)) => {
            out.device = Fact::value(accelerator.device.to_owned(), span);
            out.device_name = Fact::value(accelerator.name.to_owned(), span);
            out.gpu_vendor = Fact::value(accelerator.vendor.to_owned(), span);
        }
        Some(None) => {}
        None => out.device = Fact::unknown(Why::NotInCatalog(class.as_str().into()), span),
    }
}

/// Takes what a selector demands of every device. Of alternatives (`||`) and negations nothing follows.
fn select(out: &mut DeviceRequest, text: &str, place: Span) {
    let Ok(read) = expression(text) else { return };
    for demand in demands(&read) {
        match demand {
            Demand::Attribute("productName", value) => out.product = Fact::value(value, place),
            Demand::Attribute("profile", value) => out.mig_profile = Fact::value(value, place),
            Demand::Memory(least) => out.min_memory_bytes = Fact::value(least, place),
            Demand::Attribute(..) | Demand::Driver(_) => {}
        }
    }
}

/// A DeviceClass, with what its selectors demand of every device.
fn class(view: View<'_>) -> DeviceClass {
    let name = view.path("metadata.name");
    let mut out = DeviceClass::blank(name.place());
    out.name = name.string();
    out.extended_resource = view.path("spec.extendedResourceName").string();
    for selector in view.path("spec.selectors").items() {
        let cel = selector.path("cel.expression");
        let Some(text) = cel.string().get().cloned() else { continue };
        for demand in expression(&text).iter().flat_map(demands) {
            match demand {
                Demand::Driver(name) => out.driver = Fact::value(name, cel.place()),
                Demand::Attribute("type", value) => out.devices = Fact::value(value, cel.place()),
                Demand::Attribute("profile", value) => out.mig_profile = Fact::value(value, cel.place()),
                _ => {}
            }
        }
    }
    out
}

enum Demand<'e> {
    Driver(String),
    Attribute(&'e str, String),
    Memory(i64),
}

/// What holds for every device for which an expression does.
fn demands(expr: &Expr) -> Vec<Demand<'_>> {
    match &expr.kind {
        Kind::Binary(Op::And, left, right) => demands(left).into_iter().chain(demands(right)).collect(),
        Kind::Binary(Op::Eq, left, right) => {
            let sides = [(left, right), (right, left)];
            sides.into_iter().find_map(|(of, is)| equal(of, is)).into_iter().collect()
        }
        Kind::Binary(Op::In, left, right) => match &right.kind {
            Kind::List(items) if items.len() == 1 => equal(left, &items[0]).into_iter().collect(),
            _ => Vec::new(),
        },
        Kind::Binary(Op::Ge, compared, zero) if zero.kind == Kind::Int(0) => match call(compared, "compareTo") {
            Some((of, least)) => memory(of, least).into_iter().collect(),
            None => Vec::new(),
        },
        Kind::Call { target: Some(of), name, args } => match (name.as_str(), args.as_slice()) {
            ("isGreaterThan", [least]) => memory(of, least).into_iter().collect(),
            ("matches" | "contains", [part]) => named(of, part).into_iter().collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn equal<'e>(of: &'e Expr, is: &Expr) -> Option<Demand<'e>> {
    let Kind::Str(value) = &is.kind else { return None };
    match &of.kind {
        Kind::Field(device, driver) if driver == "driver" && is_device(device) => Some(Demand::Driver(value.clone())),
        _ => Some(Demand::Attribute(attribute(of)?, value.clone())),
    }
}

/// A product that a word of its name stands for: `matches('^.*a100.*$')`.
fn named<'e>(of: &'e Expr, part: &Expr) -> Option<Demand<'e>> {
    let Kind::Str(pattern) = &part.kind else { return None };
    let of = match &of.kind {
        Kind::Call { target: Some(of), name, .. } if matches!(name.as_str(), "lowerAscii" | "upperAscii") => of,
        _ => of,
    };
    let word = pattern.trim_start_matches(['^', '.', '*']).trim_end_matches(['$', '.', '*']);
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'));
    (attribute(of)? == "productName" && plain).then(|| Demand::Attribute("productName", word.to_owned()))
}

fn memory<'e>(of: &Expr, least: &Expr) -> Option<Demand<'e>> {
    let Kind::Call { target: None, name, args } = &least.kind else { return None };
    let ([Expr { kind: Kind::Str(text), .. }], "quantity") = (args.as_slice(), name.as_str()) else { return None };
    let Kind::Field(inner, field) = &of.kind else { return None };
    let of_device = matches!(&inner.kind, Kind::Index(capacity, _) if is_field(capacity, "capacity"));
    (field == "memory" && of_device).then_some(Demand::Memory(quantity::parse(text)? as i64))
}

/// The name in `device.attributes['driver'].name`.
fn attribute(of: &Expr) -> Option<&str> {
    let Kind::Field(inner, name) = &of.kind else { return None };
    let Kind::Index(attributes, _) = &inner.kind else { return None };
    is_field(attributes, "attributes").then_some(name.as_str())
}

fn is_field(of: &Expr, field: &str) -> bool {
    matches!(&of.kind, Kind::Field(device, name) if name == field && is_device(device))
}

fn is_device(of: &Expr) -> bool {
    matches!(&of.kind, Kind::Ident(name) if name == "device")
}

fn call<'e>(of: &'e Expr, method: &str) -> Option<(&'e Expr, &'e Expr)> {
    let Kind::Call { target: Some(target), name, args } = &of.kind else { return None };
    match args.as_slice() {
        [only] if name == method => Some((target, only)),
        _ => None,
    }
}

/// Leaves open what the containers of a pod get by claims, which are joined later.
pub fn leave_open(pod: &mut Pod) {
    let why = |claim: &Fact<String>| {
        let name = claim.get().map_or("that it names", String::as_str);
        Fact::unknown(Why::NotStated(format!("what the claim {name} asks for").into()), claim.span)
    };
    let containers = pod.containers.iter_mut().chain(&mut pod.init_containers);
    for container in containers.filter(|container| container.gpus.get() == Some(&0)) {
        if let Some(claim) = container.claims.first() {
            container.gpus = why(claim);
        }
    }
    if let Some(claim) = pod.resource_claims.first().filter(|_| pod.gpus.get() == Some(&0)) {
        pod.gpus = why(claim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn selected(text: &str) -> (Option<String>, Option<String>, Option<i64>) {
        let place = Span::new(SourceId(0), 0..1);
        let mut request = DeviceRequest::blank(place);
        select(&mut request, text, place);
        let own = |fact: Fact<String>| fact.get().cloned();
        (own(request.product), own(request.mig_profile), request.min_memory_bytes.get().copied())
    }

    #[test]
    fn selectors_state_what_holds_for_every_device() {
        let attribute = |name: &str| format!("device.attributes['gpu.nvidia.com'].{name}");
        let product = attribute("productName");
        for (text, expected) in [
            (format!("{product} == 'NVIDIA L4'"), (Some("NVIDIA L4"), None, None)),
            (format!("{product} in [\"NVIDIA L4\"]"), (Some("NVIDIA L4"), None, None)),
            (format!("{product} in ['NVIDIA L4', 'Tesla T4']"), (None, None, None)),
            (format!("{product}.lowerAscii().matches('^.*a100.*$')"), (Some("a100"), None, None)),
            (format!("{product}.matches('A100|H100')"), (None, None, None)),
            (format!("!({product} == 'NVIDIA L4')"), (None, None, None)),
            (format!("{product} == 'NVIDIA L4' || {product} == 'Tesla T4'"), (None, None, None)),
            (
                format!("{} == '1g.5gb' && {} == 'mig'", attribute("profile"), attribute("type")),
                (None, Some("1g.5gb"), None),
            ),
            (
                "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0".to_owned(),
                (None, None, Some(40i64 << 30)),
            ),
            (
                "device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity(\"10Gi\"))".to_owned(),
                (None, None, Some(10i64 << 30)),
            ),
            ("device.capacity['gpu.nvidia.com'].memory.isLessThan(quantity('10Gi'))".to_owned(), (None, None, None)),
            ("device. ==".to_owned(), (None, None, None)),
        ] {
            let (product, profile, memory) = expected;
            assert_eq!(selected(&text), (product.map(str::to_owned), profile.map(str::to_owned), memory), "{text}");
        }
    }
}
