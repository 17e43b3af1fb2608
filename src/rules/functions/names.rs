//! Functions over names, versions and lists of GPU code: how they are written, and which known name is meant.

use super::general::{functions, string, text};
use super::*;
use crate::catalog;
use crate::facts::value::{Data, key_of};
use crate::rules::lang::values::{elements, list, number, version};
use crate::version::Version;
use std::borrow::Cow;

functions! {
    "catalog_names" (param("table", str_type), param("name", str_type)) -> Output::Type(bool_type), false, "Whether some row of a table of the catalog is about a name: the scope of rules that ask of all packages what only few have.", |a, _| {
        let named = text(&a[0]).zip(text(&a[1])).and_then(|(table, name)| catalog::names(&table, &name));
        Value::of(named.map_or(Data::Null, Data::Bool))
    };
    "familiar_name" (param("registry", str_type), param("repository", str_type)) -> Output::Type(str_type), false, "The name of an image as Docker shows it and the catalog has it: the repository with its registry, docker.io left off.", |a, _| {
        let named = text(&a[0]).zip(text(&a[1])).map(|(registry, repository)| catalog::familiar_name(&registry, &repository));
        named.map_or(Value::of(Data::Null), |name| string(name, &a[0]))
    };
    "within" (param("version", version_type), param("range", str_type)) -> Output::Type(bool_type), false, "Whether a version lies in a range: `>=2,<3`, `==2.1.*`.", |a, _| {
        let inside = version(&a[0]).zip(text(&a[1])).is_some_and(|(v, range)| catalog::within(&v, &range));
        Value::of(Data::Bool(inside))
    };
    "architectures" (param("list", str_type)) -> Output::Type(list_type), false, "The compute capabilities of a list for nvcc: `8.0;8.6+PTX`, `80;86`, `80-real`.", |a, _| {
        let listed = text(&a[0]).unwrap_or_default().split([';', ' ', ',']).filter_map(|word| {
            let digits: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let dotted = match digits.split_at_checked(digits.len().saturating_sub(1)) {
                Some((major, minor)) if !digits.contains('.') && !major.is_empty() => format!("{major}.{minor}"),
                _ => digits,
            };
            Version::parse(&dotted)
        }).collect::<Vec<_>>();
        list(listed.into_iter().map(|v| Value { data: Data::Version(Cow::Owned(v)), span: a[0].span }))
    };
    "gpu_code" (param("sm", str_type), param("ptx", str_type), param("compute_capability", version_type)) -> Output::Type(str_type), true, "How compiled code reaches a GPU: binary, ptx or missing; null when the code is not listed.", |a, _| {
        let (sm, ptx) = (text(&a[0]).unwrap_or_default(), text(&a[1]).unwrap_or_default());
        let found = version(&a[2]).and_then(|cc| catalog::coverage(&sm, &ptx, &cc));
        let name = found.map(|c| match c {
            catalog::Coverage::Binary => "binary",
            catalog::Coverage::Ptx => "ptx",
            catalog::Coverage::Missing => "missing",
        });
        name.map_or(Value::of(Data::Null), |n| string(n.to_owned(), &a[0]))
    };
    "most_gpus" (param("vcpus", float_type), param("memory", float_type)) -> Output::Type(int_type), false, "The most NVIDIA GPUs of one machine type with this many vCPUs and bytes of memory; null when no type has them.", |a, _| {
        let most = number(&a[0]).zip(number(&a[1])).and_then(|(cpus, bytes)| catalog::most_gpus(cpus.float(), bytes.float()));
        most.map_or(Value::of(Data::Null), |gpus| Value::of(Data::Int(gpus)))
    };
    "nearest_gke_accelerator" (param("label", str_type)) -> Output::Type(str_type), false, "The GKE accelerator label that is written most like this one; null when none is close.", |a, _| {
        suggestion(a, catalog::nearest_gke_accelerator)
    };
    "nearest_product" (param("label", str_type)) -> Output::Type(str_type), false, "The product label of the same model that is written most like this one; null when there is none.", |a, _| {
        suggestion(a, catalog::nearest_product)
    };
    "nearest_accelerator" (param("resource", str_type)) -> Output::Type(str_type), false, "The accelerator resource that a misspelled resource name means; null when it is spelled like none or right.", |a, _| {
        suggestion(a, catalog::nearest_accelerator)
    };
    "resource_names" (param("containers", dyn_type)) -> Output::Type(strings_type), true, "Names of every resource that containers request or limit.", |a, _| {
        let mut names: Vec<Value<'_>> = Vec::new();
        for container in elements(&a[0]).iter() {
            let Data::Entity(entity) = container.data else { continue };
            for field in ["requests", "limits"] {
                let Some((index, _)) = entity.entity().field(field) else { continue };
                if let Data::Map(map) = entity.field(index).data {
                    names.extend(map.iter().map(key_of));
                }
            }
        }
        list(names)
    };
}

/// A known name that a wrong one is spelled like; null when it is like none.
fn suggestion<'a>(a: &[Value<'a>], nearest: impl Fn(&str) -> Option<&'static str>) -> Value<'a> {
    let found = text(&a[0]).and_then(|name| nearest(&name));
    found.map_or(Value::of(Data::Null), |name| string(name.to_owned(), &a[0]))
}
