//! Functions over the catalog.

use super::general::{functions, not_in_catalog, string, text};
use super::*;
use crate::catalog;
use crate::facts::value::Data;
use crate::rules::lang::eval::{elements, list, number, version};
use crate::version::Version;
use crate::vram;
use std::borrow::Cow;

functions! {
    "is_model_server" (param("engine", str_type)) -> Output::Type(bool_type), true, "Whether an engine serves a model over the network.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).and_then(|e| catalog::server(&e)).is_some_and(|s| s.serves)))
    };
    "server_metric" (param("query", str_type)) -> Output::Type(bool_type), false, "Whether a query names a metric that a model server exports.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|q| catalog::server_of_metric(&q).is_some())))
    };
    "api_removed_in" (param("api_version", str_type), param("kind", str_type)) -> Output::Type(version_type), false, "The Kubernetes release that no longer serves an API version of a kind; null when it is served.", |a, _| {
        let removed = text(&a[0]).zip(text(&a[1])).and_then(|(v, k)| catalog::api_removed_in(&v, &k));
        of_version(removed)
    };
    "tls_policy_minimum" (param("policy", str_type)) -> Output::Type(version_type), false, "The lowest TLS version that an AWS load balancer policy accepts; unknown for a policy that is not in the catalog.", |a, _| {
        text(&a[0]).and_then(|p| catalog::tls_policy_minimum(&p)).map_or_else(|| not_in_catalog(&a[0]), |v| of_version(Some(v)))
    };
    "promised_availability" (param("platform", str_type), param("topology", str_type)) -> Output::Type(float_type), false, "The monthly uptime in percent that the provider of a platform (eks, gke, aks, ec2 …) promises for a single-instance or for several-zones; null when the catalog has no row.", |a, _| {
        let promised = (|| catalog::promised_availability(&text(&a[0])?, &text(&a[1])?))();
        promised.map_or(Value::of(Data::Null), |p| Value::of(Data::Float(p)))
    };
    "tls_version" (param("text", str_type)) -> Output::Type(version_type), false, "The TLS version in a name such as TLS1_0, TLS_1_2, TLSV1_3.", |a, _| {
        let digits = text(&a[0]).map(|t| t.chars().filter(|c| c.is_ascii_digit()).collect::<String>()).unwrap_or_default();
        of_version(digits.split_at_checked(1).and_then(|(major, minor)| Version::parse(&format!("{major}.{minor}"))))
    };
    "instance_vcpus" (param("type", str_type)) -> Output::Type(int_type), false, "vCPUs of a machine type; unknown when it is not in the catalog.", |a, _| {
        let vcpus = text(&a[0]).and_then(|t| catalog::instance(&t)).and_then(|i| i.vcpus);
        vcpus.map_or_else(|| not_in_catalog(&a[0]), |v| Value::of(Data::Int(v)))
    };
    "instance_gpus" (param("type", str_type)) -> Output::Type(int_type), false, "GPUs of a machine type; unknown when it is not in the catalog.", |a, _| {
        let gpus = text(&a[0]).and_then(|t| catalog::instance(&t)).and_then(|i| i.gpu_count);
        gpus.map_or_else(|| not_in_catalog(&a[0]), |v| Value::of(Data::Int(v)))
    };
    "instance_fabric" (param("type", str_type)) -> Output::Type(str_type), false, "Fabric of a machine type: EFA, InfiniBand, none; unknown when it is not in the catalog.", |a, _| {
        let fabric = text(&a[0]).and_then(|t| catalog::instance(&t)).and_then(|i| i.fabric());
        fabric.map_or_else(|| not_in_catalog(&a[0]), |f| string(f.to_owned(), &a[0]))
    };
    "family_has_gpus" (param("family", str_type)) -> Output::Type(bool_type), false, "Whether every machine type of an AWS family (g6, p5) has the same accelerator.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|f| catalog::instance_family_gpu(&f).is_some())))
    };
    "instance_nvme" (param("type", str_type)) -> Output::Type(float_type), false, "Local NVMe of a machine type in TB; null when the catalog does not say.", |a, _| {
        text(&a[0]).and_then(|t| catalog::instance(&t)?.nvme_tb).map_or(Value::of(Data::Null), |tb| Value::of(Data::Float(tb)))
    };
    "instance_network" (param("type", str_type)) -> Output::Type(float_type), false, "Network of a machine type in Gb/s; null when the catalog does not say.", |a, _| {
        text(&a[0]).and_then(|t| catalog::instance(&t)?.network_gbps).map_or(Value::of(Data::Null), |n| Value::of(Data::Float(n)))
    };
    "host_vcpus" (param("type", str_type)) -> Output::Type(int_type), false, "vCPUs of a machine type, also of one to which GPUs are attached; null when the catalog does not say.", |a, _| {
        text(&a[0]).and_then(|t| catalog::host(&t)).map_or(Value::of(Data::Null), |(vcpus, _)| Value::of(Data::Int(vcpus)))
    };
    "host_memory" (param("type", str_type)) -> Output::Type(float_type), false, "Host memory of a machine type in GiB; null when the catalog does not say.", |a, _| {
        text(&a[0]).and_then(|t| catalog::host(&t)).map_or(Value::of(Data::Null), |(_, gib)| Value::of(Data::Float(gib)))
    };
    "model_parameters" (param("model", str_type)) -> Output::Type(float_type), false, "Parameters of a model in billions; null when the catalog has no row.", |a, _| {
        text(&a[0]).and_then(|m| catalog::model(&m)?.parameters_b()).map_or(Value::of(Data::Null), |n| Value::of(Data::Float(n)))
    };
    "instance_known" (param("type", str_type)) -> Output::Type(bool_type), false, "Whether a machine type has a row in the catalog of accelerator machines.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|t| catalog::instance(&t).is_some())))
    };
    "gpu_known" (param("name", str_type)) -> Output::Type(bool_type), false, "Whether a GPU name of any scheme has a row in the catalog.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|t| catalog::gpu(&t).is_some())))
    };
    "gke_accelerator_known" (param("label", str_type)) -> Output::Type(bool_type), false, "Whether GKE has an accelerator label.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|t| catalog::gke_accelerators().any(|known| known == t))))
    };
    "nearest_gke_accelerator" (param("label", str_type)) -> Output::Type(str_type), false, "The GKE accelerator label that is written most like this one; null when none is close.", |a, _| {
        let Some(label) = text(&a[0]) else { return Value::of(Data::Null) };
        let nearest = catalog::gke_accelerators().map(|known| (strsim::damerau_levenshtein(&label, known), known)).min();
        nearest.filter(|(distance, _)| *distance <= 8).map_or(Value::of(Data::Null), |(_, known)| string(known.to_owned(), &a[0]))
    };
    "product_known" (param("label", str_type)) -> Output::Type(bool_type), false, "Whether NVIDIA's drivers report a product under this label, suffixes of MIG and sharing aside.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|l| catalog::product_known(&l))))
    };
    "nearest_product" (param("label", str_type)) -> Output::Type(str_type), false, "The product label of the same model that is written most like this one; null when there is none.", |a, _| {
        text(&a[0]).and_then(|l| catalog::nearest_product(&l)).map_or(Value::of(Data::Null), |l| string(l.to_owned(), &a[0]))
    };
    "reported_memory" (param("family", str_type), param("mib", int_type)) -> Output::Type(int_type), false, "The memory in MiB that the driver reports of a GPU of a family whose name promises this much; null when one reports just that.", |a, _| {
        let found = text(&a[0]).zip(number(&a[1])).and_then(|(f, mib)| catalog::reported_memory(&f, mib.float() as i64));
        found.map_or(Value::of(Data::Null), |mib| Value::of(Data::Int(mib)))
    };
    "accelerator_cores" (param("gpu", str_type)) -> Output::Type(int_type), false, "Cores of an accelerator that a framework counts as devices of their own (NeuronCores); 1 for GPUs.", |a, _| {
        text(&a[0]).map_or(Value::of(Data::Null), |gpu| Value::of(Data::Int(catalog::accelerator_cores(&gpu))))
    };
    "gpu_family" (param("name", str_type)) -> Output::Type(str_type), false, "The value of nvidia.com/gpu.family on nodes with the GPU that a label or a text of words names; null when none is named.", |a, _| {
        let found = text(&a[0]).and_then(|n| catalog::gpu_named_in(&n)?.compute_capability.as_ref()).and_then(catalog::family_label);
        found.map_or(Value::of(Data::Null), |f| string(f.to_owned(), &a[0]))
    };
    "gpu_family_known" (param("label", str_type)) -> Output::Type(bool_type), false, "Whether GPU feature discovery gives some GPU this value of nvidia.com/gpu.family.", |a, _| {
        Value::of(Data::Bool(text(&a[0]).is_some_and(|l| catalog::family_label_known(&l))))
    };
    "most_gpus" (param("vcpus", float_type), param("memory", float_type)) -> Output::Type(int_type), false, "The most NVIDIA GPUs of one machine type with this many vCPUs and bytes of memory.", |a, _| {
        let found = number(&a[0]).zip(number(&a[1])).map(|(c, m)| catalog::most_gpus(c.float(), m.float()));
        found.map_or(Value::of(Data::Null), |n| Value::of(Data::Int(n)))
    };
    "nearest_accelerator" (param("resource", str_type)) -> Output::Type(str_type), false, "The accelerator resource that an unknown resource name means; null when it is known or means none.", |a, _| {
        text(&a[0]).and_then(|r| catalog::nearest_accelerator(&r)).map_or(Value::of(Data::Null), |r| string(r.to_owned(), &a[0]))
    };
    "machine_retired" (param("type", str_type)) -> Output::Type(str_type), false, "The date on which a provider retired a machine type; null while it is offered or no date is known.", |a, _| {
        let date = text(&a[0]).and_then(|t| catalog::instance(&t)?.retired).filter(|d| d.contains('-'));
        date.map_or(Value::of(Data::Null), |d| string(d.to_owned(), &a[0]))
    };
    "mig_instances" (param("gpu", str_type), param("profile", str_type)) -> Output::Type(int_type), false, "How many instances of a MIG profile one GPU holds; 0 when it has no such profile.", |a, _| {
        let found = text(&a[0]).zip(text(&a[1])).and_then(|(g, p)| catalog::mig_instances(&g, &p));
        Value::of(Data::Int(found.unwrap_or(0)))
    };
    "mig_layout_fits" (param("devices", dyn_type)) -> Output::Type(bool_type), false, "Whether some GPU holds these MIG instances at once (a map of profile to number); null when no GPU of the catalog has every profile.", |a, _| {
        let Data::Node(view) = a[0].data else { return Value::of(Data::Null) };
        let layout: Option<Vec<(String, i64)>> =
            view.entries().into_iter().map(|(profile, count)| Some((profile.to_owned(), *count.int().get()?))).collect();
        layout.and_then(|l| catalog::mig_layout_fits(&l)).map_or(Value::of(Data::Null), |fits| Value::of(Data::Bool(fits)))
    };
    "mig_profiles" (param("gpu", str_type)) -> Output::Type(strings_type), false, "The MIG profiles of a GPU.", |a, _| {
        list(text(&a[0]).map(|g| catalog::mig_profiles(&g)).unwrap_or_default().into_iter().map(|p| string(p.to_owned(), &a[0])))
    };
    "min_driver" (param("cuda", version_type)) -> Output::Type(version_type), false, "The oldest driver that runs a CUDA release (minor-version compatibility).", |a, _| {
        let driver = version(&a[0]).and_then(|v| catalog::min_driver(&v));
        driver.map_or_else(|| not_in_catalog(&a[0]), |d| of_version(Some(d)))
    };
    "feature_runs_on" (param("engine", str_type), param("feature", str_type), param("value", str_type), param("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), true, "Whether a setting of an engine (dtype, quantization, kv_cache_dtype, attention_backend) runs on a compute capability; null when the catalog does not say.", |a, _| {
        let needs = (|| catalog::feature_needs(&text(&a[0])?, &text(&a[1])?, &text(&a[2])?, version(&a[3]).as_deref()))();
        let runs = needs.zip(version(&a[4])).map(|(n, cc)| n.met_by(&cc));
        runs.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "image_accepts_driver" (param("cuda", version_type), param("driver", version_type)) -> Output::Type(bool_type), false, "Whether an image on nvidia/cuda starts under a driver; null when the catalog does not say.", |a, _| {
        let found = version(&a[0]).zip(version(&a[1])).and_then(|(c, d)| catalog::image_accepts_driver(&c, &d));
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "native_cuda" (param("driver", version_type)) -> Output::Type(version_type), false, "The newest CUDA release that a driver supports by itself; null when the catalog has no row.", |a, _| {
        of_version(version(&a[0]).and_then(|d| catalog::native_cuda(&d)))
    };
    "first_driver_branch" (param("compute_capability", version_type)) -> Output::Type(int_type), false, "The first driver branch for a compute capability; null when the catalog does not say.", |a, _| {
        of_branch(architecture(a).and_then(|found| found.first_branch))
    };
    "last_driver_branch" (param("compute_capability", version_type)) -> Output::Type(int_type), false, "The last driver branch for a compute capability; null while it is supported.", |a, _| {
        of_branch(architecture(a).and_then(|found| found.last_branch))
    };
    "kernel_modules" (param("compute_capability", version_type)) -> Output::Type(str_type), false, "The kernel modules that drive a compute capability: proprietary, either or open; null when the catalog does not say.", |a, _| {
        architecture(a).map_or(Value::of(Data::Null), |found| string(found.kernel_modules.to_owned(), &a[0]))
    };
    "node_image_has_driver" (param("platform", str_type), param("image", str_type)) -> Output::Type(bool_type), false, "Whether a platform's node image brings the NVIDIA driver; null when the catalog does not say.", |a, _| {
        let found = text(&a[0]).zip(text(&a[1])).and_then(|(p, i)| catalog::node_image_driver(&p, &i));
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "node_image_last_kubernetes" (param("platform", str_type), param("image", str_type)) -> Output::Type(version_type), false, "The last Kubernetes release that a platform builds a node image for; null while it builds it.", |a, _| {
        of_version(text(&a[0]).zip(text(&a[1])).and_then(|(p, i)| catalog::node_image_last_kubernetes(&p, &i)))
    };
    "node_image_end_of_support" (param("platform", str_type), param("image", str_type)) -> Output::Type(str_type), false, "The date on which a platform ended the support of a node image; null while it is supported or no date is known.", |a, _| {
        let date = text(&a[0]).zip(text(&a[1])).and_then(|(p, i)| catalog::node_image_end_of_support(&p, &i));
        date.map_or(Value::of(Data::Null), |d| string(d.to_owned(), &a[1]))
    };
    "image_traits" (param("family", str_type), param("version", version_type)) -> Output::Type(strings_type), false, "What is particular about the images of a family in a release: old-apt-key, no-library-path.", |a, _| {
        let found = text(&a[0]).zip(version(&a[1])).map(|(f, v)| catalog::image_traits(&f, &v)).unwrap_or_default();
        list(found.into_iter().map(|t| string(t.to_owned(), &a[1])))
    };
    "default_driver" (param("platform", str_type)) -> Output::Type(version_type), false, "The driver that a platform last reported for its mode DEFAULT; null when the catalog has no row.", |a, _| {
        of_version(text(&a[0]).and_then(|p| catalog::default_driver(&p)))
    };
    "advisories" (param("product", str_type), param("version", version_type), param("severity", str_type)) -> Output::Type(strings_type), false, "The advisories of a severity (critical, high, medium, low) that hold for a release: number and title.", |a, _| {
        let found = (|| Some(catalog::advisories(&text(&a[0])?, version(&a[1])?.as_ref())))().unwrap_or_default();
        let rated = found.into_iter().filter(|advisory| text(&a[2]).is_some_and(|s| s == advisory.severity));
        list(rated.map(|advisory| string(format!("{} ({})", advisory.id, advisory.title), &a[1])))
    };
    "model_weight_gib" (param("model", str_type), optional("dtype", str_type), optional("quantization", str_type)) -> Output::Type(float_type), true, "Size of a model's weights in GiB for a dtype or quantization; null when the catalog has no row.", |a, _| {
        let named = text(&a[0]).and_then(|name| catalog::named_model("", &name));
        let found = named.and_then(|named| Some((catalog::model(&named.name)?, named)));
        let Some((model, named)) = found else { return Value::of(Data::Null) };
        let says = |i: usize| a.get(i).and_then(text).filter(|text| !text.is_empty());
        let quantization = says(2).or(named.format.map(Cow::Borrowed));
        // A checkpoint that is published quantized is loaded as it is.
        let published = model.files_gib().filter(|_| quantization.is_none() && !model.quantization().is_empty());
        let format = vram::format_of(&named.name, quantization.as_deref(), says(1).as_deref());
        let computed = format.and_then(|format| Some(model.parameters_b()? * 1e9 * format.bits / 8.0 / vram::GIB));
        let weights = published.or(computed);
        weights.map_or(Value::of(Data::Null), |gib| Value { data: Data::Float(gib), span: a[0].span })
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
    "cuda_supports" (param("cuda", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), false, "Whether a CUDA release can make code for a compute capability; null when the catalog does not say.", |a, _| {
        let found = version(&a[0]).zip(version(&a[1])).and_then(|(cuda, cc)| catalog::sm_supported(&cuda, &cc));
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "image_runs_on" (param("image", str_type), param("tag", str_type), param("compute_capability", version_type)) -> Output::Type(bool_type), false, "Whether an image made for certain GPUs runs on a compute capability; null when the catalog does not say.", |a, _| {
        let info = text(&a[0]).zip(text(&a[1])).and_then(|(image, tag)| catalog::image(&image, &tag).ok());
        let only = info.map(|i| i.only_compute_capabilities).unwrap_or_default();
        let runs = version(&a[2]).filter(|_| !only.is_empty()).map(|cc| only.contains(&cc));
        runs.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "engine_runs_on" (param("engine", str_type), param("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), true, "Whether a release of an engine runs on a compute capability; null when the catalog does not say.", |a, _| {
        let release = version(&a[1]).map(Cow::into_owned);
        let needs = text(&a[0]).and_then(|e| catalog::feature_needs(&e, "engine", "", release.as_ref()));
        let runs = needs.zip(version(&a[2])).map(|(n, cc)| n.met_by(&cc));
        runs.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "package_runs_on" (param("package", str_type), param("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), true, "Whether a release of a package, whatever CUDA its name ends with, runs on a compute capability; null when the catalog does not say.", |a, _| {
        let name = text(&a[0]).unwrap_or_default();
        let name = name.rsplit_once("-cu").filter(|(_, digits)| digits.chars().all(|c| c.is_ascii_digit())).map_or(&*name, |(name, _)| name);
        let needs = catalog::feature_needs(name, "engine", "", version(&a[1]).as_deref());
        let runs = needs.zip(version(&a[2])).map(|(n, cc)| n.met_by(&cc));
        runs.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "package_python" (param("package", str_type), param("version", version_type)) -> Output::Type(str_type), true, "The range of Python releases that a release of a package installs on; null when the catalog has no row.", |a, _| {
        let build = text(&a[0]).zip(version(&a[1])).and_then(|(p, v)| catalog::framework_build(&p, &v, None));
        build.filter(|b| !b.python.is_empty()).map_or(Value::of(Data::Null), |b| string(b.python.to_owned(), &a[0]))
    };
    "toolkit_supported" (param("package", str_type), param("version", version_type), param("cuda", version_type)) -> Output::Type(bool_type), true, "Whether a release of a package has libraries for a CUDA release; null when the catalog has no row.", |a, _| {
        let range = text(&a[0]).zip(version(&a[1])).and_then(|(p, v)| catalog::toolkit_range(&p, &v));
        let numbers = |v: &Version| (v.major(), v.minor());
        let inside = range.zip(version(&a[2])).map(|((min, max), cuda)| (numbers(&min)..=numbers(&max)).contains(&numbers(&cuda)));
        inside.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "native_driver" (param("cuda", version_type)) -> Output::Type(version_type), false, "The driver that comes with a CUDA toolkit, which its PTX needs; null when the catalog has no row.", |a, _| {
        of_version(version(&a[0]).and_then(|cuda| catalog::native_driver(&cuda)))
    };
    "image_accepts_geforce" (param("cuda", version_type)) -> Output::Type(bool_type), false, "Whether images of a CUDA release start on GeForce boards under the older driver branches that they list; null when the catalog does not say.", |a, _| {
        let found = version(&a[0]).and_then(|cuda| catalog::image_accepts_geforce(&cuda));
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "has_video_encoder" (param("gpu", str_type)) -> Output::Type(bool_type), false, "Whether a GPU has a video encoder (NVENC); null when the catalog does not say.", |a, _| {
        let found = text(&a[0]).and_then(|g| catalog::gpu(&g)?.nvenc);
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
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
    "runtime_cuda" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), true, "The CUDA whose libraries a package loads from the system; null when it brings its own.", |a, _| {
        of_version(runtime_needs(a).and_then(|n| n.cuda))
    };
    "runtime_cudnn" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), true, "The cuDNN that a package loads from the system; null when it needs none.", |a, _| {
        of_version(runtime_needs(a).and_then(|n| n.cudnn))
    };
    "only_for_gpus" (param("package", str_type), param("version", version_type)) -> Output::Type(bool_type), true, "Whether a package that loads CUDA from the system is installed for nothing but GPUs.", |a, _| {
        Value::of(Data::Bool(runtime_needs(a).is_some_and(|n| n.only_gpu)))
    };
    "package_requirement" (param("package", str_type), param("version", version_type), param("other", str_type)) -> Output::Type(str_type), false, "The range of another package that a release goes with; null when the catalog has none.", |a, _| {
        let found = (|| catalog::package_requirement(&text(&a[0])?, version(&a[1])?.as_ref(), &text(&a[2])?))();
        found.map_or(Value::of(Data::Null), |(range, _)| string(range, &a[0]))
    };
    "package_requirement_declared" (param("package", str_type), param("version", version_type), param("other", str_type)) -> Output::Type(bool_type), false, "Whether the metadata of a release states its range of another package, so that pip keeps to it.", |a, _| {
        let found = (|| catalog::package_requirement(&text(&a[0])?, version(&a[1])?.as_ref(), &text(&a[2])?))();
        Value::of(Data::Bool(found.is_some_and(|(_, declared)| declared)))
    };
    "within" (param("version", version_type), param("range", str_type)) -> Output::Type(bool_type), false, "Whether a version lies in a range: `>=2,<3`, `==2.1.*`.", |a, _| {
        let inside = version(&a[0]).zip(text(&a[1])).is_some_and(|(v, range)| catalog::within(&v, &range));
        Value::of(Data::Bool(inside))
    };
    "wheel_glibc" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), false, "The oldest glibc that the wheels of a release install on; null when the catalog has no row.", |a, _| {
        of_version((|| catalog::wheel_glibc(&text(&a[0])?, version(&a[1])?.as_ref()))())
    };
    "newest_python" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), false, "The newest Python that a release has wheels for; null when the catalog has no row.", |a, _| {
        of_version((|| catalog::newest_python(&text(&a[0])?, version(&a[1])?.as_ref()))())
    };
    "conflicting_packages" (param("package", str_type)) -> Output::Type(strings_type), false, "Packages that must not be installed together with this one.", |a, _| {
        let others = text(&a[0]).map(|p| catalog::conflicting_packages(&p)).unwrap_or_default();
        list(others.into_iter().map(|p| string(p.to_owned(), &a[0])))
    };
    "gpu_package" (param("package", str_type), param("version", version_type), param("extras", str_type)) -> Output::Type(str_type), true, "What to install instead of a package that has no GPU code with these extras; null when it has.", |a, _| {
        let extras = text(&a[2]).unwrap_or_default();
        let extras: Vec<&str> = extras.split(',').filter(|e| !e.is_empty()).collect();
        let found = text(&a[0]).and_then(|p| catalog::gpu_package(&p, version(&a[1]).as_deref(), &extras));
        found.map_or(Value::of(Data::Null), |p| string(p.to_owned(), &a[0]))
    };
    "torch_variant_exists" (param("version", version_type), param("variant", str_type)) -> Output::Type(bool_type), false, "Whether the PyTorch index has a release for a CUDA variant; null when the catalog does not reach it.", |a, _| {
        let found = (|| catalog::torch_variant_exists(version(&a[0])?.as_ref(), &text(&a[1])?))();
        found.map_or(Value::of(Data::Null), |b| Value::of(Data::Bool(b)))
    };
    "newest_host_gcc" (param("cuda", version_type)) -> Output::Type(int_type), false, "The newest GCC that nvcc of a CUDA release accepts; null when the catalog has no row.", |a, _| {
        let found = version(&a[0]).and_then(|v| catalog::newest_host_gcc(&v));
        found.map_or(Value::of(Data::Null), |n| Value::of(Data::Int(n as i64)))
    };
    "model_supported_since" (param("engine", str_type), param("model", str_type)) -> Output::Type(version_type), false, "The release of an engine that first serves a model; null when the catalog has no row.", |a, _| {
        of_version((|| catalog::model_supported_since(&text(&a[0])?, &text(&a[1])?))())
    };
    "package_traits" (param("package", str_type), param("version", version_type)) -> Output::Type(strings_type), true, "What is particular about a package: removed, builds-against-torch, needs-nvcc, needs-compiler, needs-cuda-libraries.", |a, _| {
        let found = text(&a[0]).map(|p| catalog::package_traits(&p, version(&a[1]).as_deref())).unwrap_or_default();
        list(found.into_iter().map(|t| string(t.to_owned(), &a[0])))
    };
    "image_flaw" (param("repository", str_type), param("tag", str_type)) -> Output::Type(str_type), true, "What is known to be broken in an image, or why its tag does not exist; null when nothing is known.", |a, _| {
        let found = text(&a[0]).and_then(|r| catalog::image_flaw(&r, text(&a[1]).as_deref().unwrap_or("")));
        found.map_or(Value::of(Data::Null), |f| string(f.to_owned(), &a[1]))
    };
    "image_accelerator" (param("repository", str_type), param("tag", str_type)) -> Output::Type(str_type), true, "What an image's code runs on: nvidia, amd, cpu; null when the catalog does not tell.", |a, _| {
        let found = (|| catalog::image(&text(&a[0])?, text(&a[1]).as_deref().unwrap_or("latest")).ok()?.accelerator)();
        found.map_or(Value::of(Data::Null), |f| string(f.to_owned(), &a[0]))
    };
    "instance_arch" (param("type", str_type)) -> Output::Type(str_type), false, "CPU architecture of a machine type, where the catalog tells.", |a, _| {
        let found = text(&a[0]).and_then(|t| catalog::instance(&t)).and_then(|i| i.arch());
        found.map_or_else(|| not_in_catalog(&a[0]), |f| string(f.to_owned(), &a[0]))
    };
    "resource_names" (param("containers", dyn_type)) -> Output::Type(strings_type), true, "Names of every resource that containers request or limit.", |a, _| {
        let mut names: Vec<Value<'_>> = Vec::new();
        for container in elements(&a[0]) {
            let Data::Entity(entity) = container.data else { continue };
            for field in ["requests", "limits"] {
                let Some((index, _)) = entity.entity().field(field) else { continue };
                if let Data::Map(map) = entity.field(index).data {
                    names.extend(map.iter().map(|(k, v)| Value { data: Data::Str(k.clone()), span: v.span }));
                }
            }
        }
        list(names)
    };
}

fn runtime_needs(a: &[Value<'_>]) -> Option<catalog::RuntimeNeeds> {
    catalog::runtime_needs(&text(&a[0])?, version(&a[1]).as_deref())
}

fn architecture(a: &[Value<'_>]) -> Option<catalog::Architecture> {
    catalog::architecture(version(&a[0])?.as_ref())
}

fn of_branch<'a>(branch: Option<u64>) -> Value<'a> {
    branch.map_or(Value::of(Data::Null), |b| Value::of(Data::Int(b as i64)))
}

fn of_version<'a>(found: Option<Version>) -> Value<'a> {
    found.map_or(Value::of(Data::Null), |v| Value::of(Data::Version(Cow::Owned(v))))
}
