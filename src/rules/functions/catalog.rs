//! Functions that look something up in the catalog. Each answers unknown where the catalog has no row: null and an empty
//! list are what a row says.

use super::general::{functions, text};
use super::*;
use crate::catalog::{self, Cell, Holds};
use crate::facts::value::Data;
use crate::known::Why;
use crate::rules::lang::values::{list, number, version};
use crate::suggest::did_you_mean;
use crate::version::Version;
use crate::vram;
use std::borrow::Cow;

/// Rows of lookups: an answer that is `None` is not in the catalog.
macro_rules! lookups {
    ($($name:literal ($($param:expr),*) -> $output:expr, $doc:literal, |$a:ident| $found:expr;)*) => {
        functions! {$(
            $name ($($param),*) -> $output, true, $doc, |$a, _| answer($a, &[$($param),*], || $found);
        )*}
    };
}

lookups! {
    "catalog" (param("column", str_type), param("key", dyn_type), optional("second", dyn_type), optional("third", dyn_type)) -> Output::Column, "What a column of a table of the catalog says in the row with these keys: `catalog('tls_policies.minimum', policy)`; null where the row says nothing.", |a| {
        let key = |value: &Value<'_>| text(value).map(Cow::into_owned).or_else(|| version(value).map(|v| v.to_string()));
        catalog::Lookup::of(&text(&a[0])?)?.find(&a[1..].iter().filter_map(key).collect::<Vec<_>>())
    };
    "is_key" (param("form", str_type), param("text", str_type)) -> Output::Type(bool_type), "Whether a text names a key of a cloud in its form; null for a form that the catalog does not know.", |a| {
        catalog::is_key(&text(&a[0])?, &text(&a[1])?)
    };
    "is_model_server" (param("engine", str_type)) -> Output::Type(bool_type), "Whether an engine serves a model over the network.", |a| {
        let engine = text(&a[0])?;
        catalog::server(&engine).map(|s| s.serves).or_else(|| catalog::is_launcher(&engine).then_some(false))
    };
    "server_metric" (param("query", str_type)) -> Output::Type(bool_type), "Whether a query names a metric that a model server exports.", |a| {
        catalog::server_of_metric(&text(&a[0])?).map(|_| true)
    };
    "api_removed_in" (param("api_version", str_type), param("kind", str_type)) -> Output::Type(version_type), "The Kubernetes release that no longer serves an API version of a kind; null while it is served.", |a| {
        catalog::api_removed_in(&text(&a[0])?, &text(&a[1])?)
    };
    "instance_vcpus" (param("type", str_type)) -> Output::Type(int_type), "vCPUs of a machine type.", |a| {
        catalog::instance(&text(&a[0])?)?.vcpus
    };
    "instance_gpus" (param("type", str_type)) -> Output::Type(int_type), "GPUs of a machine type.", |a| {
        catalog::machine_gpus(&text(&a[0])?)
    };
    "price" (param("type", str_type), param("region", str_type), param("form", str_type)) -> Output::Type(float_type), "What an hour of a machine type costs in a region in a form of purchase: on-demand, spot, reserved-1y, reserved-3y.", |a| {
        catalog::price(&text(&a[0])?, &text(&a[1])?, &text(&a[2])?).map(|price| price.per_hour)
    };
    "price_region" (param("type", str_type)) -> Output::Type(str_type), "The region where a machine type is cheapest to reserve, of those whose prices the catalog has; cheapest on demand, where it has none of reservations.", |a| {
        catalog::price_region(&text(&a[0])?)
    };
    "instance_fabric" (param("type", str_type)) -> Output::Type(str_type), "Fabric of a machine type: EFA, InfiniBand, none.", |a| {
        catalog::instance(&text(&a[0])?)?.fabric()
    };
    "instance_nvme" (param("type", str_type)) -> Output::Type(float_type), "Local NVMe of a machine type in TB.", |a| {
        catalog::instance(&text(&a[0])?)?.nvme_tb
    };
    "instance_network" (param("type", str_type)) -> Output::Type(float_type), "Network of a machine type in Gb/s.", |a| {
        catalog::instance(&text(&a[0])?)?.network_gbps
    };
    "instance_arch" (param("type", str_type)) -> Output::Type(str_type), "CPU architecture of a machine type.", |a| {
        catalog::instance(&text(&a[0])?)?.arch()
    };
    "family_has_gpus" (param("family", str_type)) -> Output::Type(bool_type), "Whether every machine type of an AWS family (g6, p5) has the same accelerator.", |a| {
        catalog::instance_family_gpu(&text(&a[0])?).map(|gpu| gpu.is_some())
    };
    "family_cards" (param("family", str_type)) -> Output::Type(strings_type), "What Karpenter calls the cards of the machines of an AWS family (g5: a10g); none of a family without GPUs.", |a| {
        catalog::family_cards(&text(&a[0])?)
    };
    "host_vcpus" (param("type", str_type)) -> Output::Type(int_type), "vCPUs of a machine type, also of one to which GPUs are attached.", |a| {
        catalog::host(&text(&a[0])?).map(|(vcpus, _)| vcpus)
    };
    "host_memory" (param("type", str_type)) -> Output::Type(float_type), "Host memory of a machine type in GiB.", |a| {
        catalog::host(&text(&a[0])?).map(|(_, gib)| gib)
    };
    "machine_names" (param("type", str_type)) -> Output::Type(strings_type), "The machine types that begin as a name does, where all that begin so are known; unknown of others.", |a| {
        catalog::machine_names(&text(&a[0])?)
    };
    "machine_retired" (param("type", str_type)) -> Output::Type(str_type), "The date on which a provider retired a machine type, `yes` where no date is known; null while it is offered.", |a| {
        catalog::instance(&text(&a[0])?).map(|machine| machine.retired)
    };
    "likeliest_machine" (param("type", str_type)) -> Output::Type(str_type), "The machine type with an accelerator that is spelled most like a name which no machine has, of those that begin like it.", |a| {
        catalog::likeliest_instance(&text(&a[0])?)
    };
    "family_counts" (param("family", str_type)) -> Output::Type(ints_type), "How many GPUs the machine types of an AWS family have, each number once.", |a| {
        catalog::family_counts(&text(&a[0])?)
    };
    "gpu_ids" (param("name", str_type)) -> Output::Type(strings_type), "The ids of the GPUs that a name may mean: several where it leaves the form or the memory open; unknown of a name that the catalog does not have.", |a| {
        let name = text(&a[0])?.trim().replace(' ', "-");
        let named: Vec<String> = catalog::gpus_named(&name).map(|gpu| gpu.id.to_owned()).collect();
        let called = || catalog::gpus_called(&name).map(|gpu| gpu.id.to_owned()).collect();
        Some(if named.is_empty() { called() } else { named }).filter(|ids: &Vec<String>| !ids.is_empty())
    };
    "gke_accelerator_known" (param("label", str_type)) -> Output::Type(bool_type), "Whether GKE has an accelerator label.", |a| {
        catalog::gke_accelerator_known(&text(&a[0])?)
    };
    "product_known" (param("label", str_type)) -> Output::Type(bool_type), "Whether NVIDIA's drivers report a product under this label, suffixes of MIG and sharing aside.", |a| {
        catalog::product_known(&text(&a[0])?)
    };
    "gpu_family" (param("name", str_type)) -> Output::Type(str_type), "The value of nvidia.com/gpu.family on nodes with the GPU that a label or a text of words names.", |a| {
        catalog::family_label(catalog::gpu_named_in(&text(&a[0])?)?.compute_capability.as_ref()?)
    };
    "gpu_family_known" (param("label", str_type)) -> Output::Type(bool_type), "Whether GPU feature discovery gives some GPU this value of nvidia.com/gpu.family.", |a| {
        catalog::family_label_known(&text(&a[0])?)
    };
    "reported_memory" (param("family", str_type), param("mib", int_type)) -> Output::Type(int_type), "The memory in MiB that the driver reports of a GPU of a family whose name promises this much; null when one reports just that.", |a| {
        catalog::reported_memory(&text(&a[0])?, number(&a[1])?.float() as i64)
    };
    "accelerator_cores" (param("gpu", str_type)) -> Output::Type(int_type), "Cores of an accelerator that a framework counts as devices of their own (NeuronCores); 1 for GPUs.", |a| {
        catalog::accelerator_cores(&text(&a[0])?)
    };
    "has_video_encoder" (param("gpu", str_type)) -> Output::Type(bool_type), "Whether a GPU has a video encoder (NVENC).", |a| {
        catalog::gpu(&text(&a[0])?)?.nvenc
    };
    "mig_instances" (param("gpu", str_type), param("profile", str_type)) -> Output::Type(int_type), "How many instances of a MIG profile one GPU holds; 0 when it has no such profile.", |a| {
        catalog::mig_instances(&text(&a[0])?, &text(&a[1])?)
    };
    "mig_layout_fits" (param("devices", dyn_type)) -> Output::Type(bool_type), "Whether some GPU holds these MIG instances at once (a map of profile to number).", |a| {
        let Data::Node(view) = a[0].data else { return None };
        let counts = view.entries().into_iter().map(|(profile, count)| Some((profile.to_owned(), *count.int().get()?)));
        catalog::mig_layout_fits(&counts.collect::<Option<Vec<_>>>()?)
    };
    "mig_profiles" (param("gpu", str_type)) -> Output::Type(strings_type), "The MIG profiles of a GPU; none of a GPU without MIG.", |a| {
        catalog::mig_profiles(&text(&a[0])?)
    };
    "image_accepts_driver" (param("cuda", version_type), param("driver", version_type)) -> Output::Type(bool_type), "Whether an image on nvidia/cuda starts under a driver; null for a release that has no images there.", |a| {
        catalog::image_accepts_driver(version(&a[0])?.as_ref(), version(&a[1])?.as_ref())
    };
    "image_accepts_geforce" (param("cuda", version_type)) -> Output::Type(bool_type), "Whether images of a CUDA release start on GeForce boards under the older driver branches that they list.", |a| {
        catalog::image_accepts_geforce(version(&a[0])?.as_ref())
    };
    "min_driver" (param("cuda", version_type)) -> Output::Type(version_type), "The oldest driver that runs a CUDA release (minor-version compatibility).", |a| {
        catalog::min_driver(version(&a[0])?.as_ref())
    };
    "native_cuda" (param("driver", version_type)) -> Output::Type(version_type), "The newest CUDA release that a driver supports by itself.", |a| {
        catalog::native_cuda(version(&a[0])?.as_ref())
    };
    "native_driver" (param("cuda", version_type)) -> Output::Type(version_type), "The driver that comes with a CUDA toolkit, which its PTX needs.", |a| {
        catalog::native_driver(version(&a[0])?.as_ref())
    };
    "cuda_supports" (param("cuda", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), "Whether a CUDA release can make code for a compute capability.", |a| {
        catalog::sm_supported(version(&a[0])?.as_ref(), version(&a[1])?.as_ref())
    };
    "newest_host_gcc" (param("cuda", version_type)) -> Output::Type(int_type), "The newest GCC that nvcc of a CUDA release accepts.", |a| {
        catalog::newest_host_gcc(version(&a[0])?.as_ref())
    };
    "first_driver_branch" (param("compute_capability", version_type)) -> Output::Type(int_type), "The first driver branch for a compute capability.", |a| {
        catalog::architecture(version(&a[0])?.as_ref())?.first_branch
    };
    "last_driver_branch" (param("compute_capability", version_type)) -> Output::Type(int_type), "The last driver branch for a compute capability; null while it is supported.", |a| {
        catalog::architecture(version(&a[0])?.as_ref()).map(|found| found.last_branch)
    };
    "kernel_modules" (param("compute_capability", version_type)) -> Output::Type(str_type), "The kernel modules that drive a compute capability: proprietary, either or open.", |a| {
        catalog::architecture(version(&a[0])?.as_ref()).map(|found| found.kernel_modules)
    };
    "default_driver" (param("platform", str_type)) -> Output::Type(version_type), "The driver that a platform last reported for its mode DEFAULT.", |a| {
        catalog::default_driver(&text(&a[0])?)
    };
    "node_image_has_driver" (param("platform", str_type), param("image", str_type)) -> Output::Type(bool_type), "Whether a platform's node image brings the NVIDIA driver.", |a| {
        catalog::node_image(&text(&a[0])?, &text(&a[1])?)?.driver
    };
    "node_image_last_kubernetes" (param("platform", str_type), param("image", str_type)) -> Output::Type(version_type), "The last Kubernetes release that a platform builds a node image for; null while it builds it.", |a| {
        catalog::node_image(&text(&a[0])?, &text(&a[1])?).map(|image| image.last_kubernetes)
    };
    "node_image_end_of_support" (param("platform", str_type), param("image", str_type)) -> Output::Type(str_type), "The date on which a platform ended the support of a node image; null while it is supported or no date is known.", |a| {
        catalog::node_image(&text(&a[0])?, &text(&a[1])?).map(|image| image.end_of_support)
    };
    "image_traits" (param("repository", str_type), param("tag", str_type)) -> Output::Type(strings_type), "What is particular about an image by its repository (with the registry, docker.io left off) and tag: old-apt-key, no-library-path.", |a| {
        catalog::image_traits(&text(&a[0])?, &text(&a[1])?)
    };
    "image_lacks" (param("repository", str_type), optional("tag", str_type), param("program", str_type)) -> Output::Type(bool_type), "Whether a published image does not have a program; unknown where nobody looked.", |a| {
        let (repository, tag, program) = (text(&a[0])?, text(&a[1]).unwrap_or(Cow::Borrowed("latest")), text(&a[2])?);
        let base = catalog::base_image(&repository, &tag).map(|base| base.lacks(&program));
        let absent = || Some(catalog::image_traits(&repository, &tag)?.iter().any(|t| t.strip_prefix("no-") == Some(&program)));
        base.or_else(absent)
    };
    "image_build" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "What a published image is built for, where there are builds for the CPU and for GPUs: cpu, cuda.", |a| {
        catalog::image_build(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).map(|build| build.accelerator())
    };
    "image_cuda_tag" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "The tag of the same release of an image that is built for CUDA.", |a| {
        let tag = text(&a[1]).unwrap_or(Cow::Borrowed("latest"));
        catalog::image_build(&text(&a[0])?, &tag)?.cuda_tag(&tag)
    };
    "image_device_variable" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "The environment variable that tells the program of an image on which device to compute; null where there is none.", |a| {
        catalog::image_build(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).map(|build| build.device_variable())
    };
    "image_starts" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "The program that the entrypoint of a published image starts; null where it only runs what it is given.", |a| {
        catalog::image_program(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).map(|(program, starts)| starts.then_some(program))
    };
    "image_program" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "The program that a published image is for.", |a| {
        catalog::image_program(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).map(|(program, _)| program)
    };
    "model_gated" (param("model", str_type)) -> Output::Type(bool_type), "Whether the files of a model of Hugging Face go only to accounts that accepted its licence; unknown of models that are not known to be.", |a| {
        catalog::model_gated(&text(&a[0])?).then_some(true)
    };
    "image_flaw" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "What is known to be broken in an image, or why its tag does not exist; null for other tags of such a repository.", |a| {
        catalog::image_flaw(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or(""))
    };
    "image_floats" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(bool_type), "Whether another image stands behind a tag tomorrow: true for latest, nightly, and no tag; unknown for others.", |a| {
        catalog::image_floats(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).then_some(true)
    };
    "image_state" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "What became of the images of a repository that moved or ended: frozen, gone, private or redirected; unknown for others.", |a| {
        catalog::image_move(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).map(|(state, _)| state)
    };
    "image_moved_to" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "Where the images of a repository that moved are now; unknown where nobody says.", |a| {
        catalog::image_move(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("")).and_then(|(_, to)| to)
    };
    "image_newest" (param("repository", str_type)) -> Output::Type(str_type), "The newest tag of a repository that stays what it is, of those that the catalog knows; unknown for other repositories.", |a| {
        catalog::image_newest(&text(&a[0])?)
    };
    "image_accelerator" (param("repository", str_type), optional("tag", str_type)) -> Output::Type(str_type), "What an image's code runs on: nvidia, amd, cpu.", |a| {
        catalog::image(&text(&a[0])?, a.get(1).and_then(text).as_deref().unwrap_or("latest")).ok()?.accelerator
    };
    "image_runs_on" (param("image", str_type), param("tag", str_type), param("compute_capability", version_type)) -> Output::Type(bool_type), "Whether an image made for certain GPUs runs on a compute capability.", |a| {
        let only = catalog::image(&text(&a[0])?, &text(&a[1])?).ok()?.only_compute_capabilities;
        (!only.is_empty()).then_some(only.contains(version(&a[2])?.as_ref()))
    };
    "advisories" (param("product", str_type), param("version", version_type), param("severity", str_type)) -> Output::Type(strings_type), "The advisories of a severity (critical, high, medium, low) that hold for a release: number, title, and what else must be so.", |a| {
        let (found, severity) = (catalog::advisories(&text(&a[0])?, version(&a[1])?.as_ref())?, text(&a[2])?);
        let rated = found.iter().filter(|advisory| advisory.severity == severity);
        Some(rated.map(|advisory| {
            let condition = if advisory.condition.is_empty() { String::new() } else { format!("; {}", advisory.condition) };
            format!("{} ({}{condition})", advisory.id, advisory.title)
        }).collect::<Vec<_>>())
    };
    "fixed_in" (param("product", str_type), param("version", version_type), param("severity", str_type)) -> Output::Type(version_type), "The first release without the advisories of a severity that hold for a release; unknown where one is not fixed.", |a| {
        let (found, severity) = (catalog::advisories(&text(&a[0])?, version(&a[1])?.as_ref())?, text(&a[2])?);
        let fixes = found.into_iter().filter(|advisory| advisory.severity == severity).map(|advisory| advisory.fixed);
        fixes.collect::<Option<Vec<_>>>()?.into_iter().max()
    };
    "feature_runs_on" (param("engine", str_type), param("feature", str_type), param("value", str_type), optional("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), "Whether a setting of an engine (dtype, quantization, kv_cache_dtype, attention_backend) runs on a compute capability.", |a| {
        let needs = catalog::feature_needs(&text(&a[0])?, &text(&a[1])?, &text(&a[2])?, version(&a[3]).as_deref())?;
        Some(needs.met_by(version(&a[4])?.as_ref()))
    };
    "engine_runs_on" (param("engine", str_type), optional("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), "Whether a release of an engine runs on a compute capability.", |a| {
        let needs = catalog::feature_needs(&text(&a[0])?, "engine", "", version(&a[1]).as_deref())?;
        Some(needs.met_by(version(&a[2])?.as_ref()))
    };
    "package_runs_on" (param("package", str_type), optional("version", version_type), param("compute_capability", version_type)) -> Output::Type(bool_type), "Whether a release of a package, whatever CUDA its name ends with, runs on a compute capability.", |a| {
        let name = text(&a[0])?;
        let plain = name.rsplit_once("-cu").filter(|(_, digits)| digits.chars().all(|c| c.is_ascii_digit()));
        let needs = catalog::feature_needs(plain.map_or(&name, |(name, _)| name), "engine", "", version(&a[1]).as_deref())?;
        Some(needs.met_by(version(&a[2])?.as_ref()))
    };
    "model_supported_since" (param("engine", str_type), param("model", str_type)) -> Output::Type(version_type), "The release of an engine that first serves a model.", |a| {
        catalog::model_supported_since(&text(&a[0])?, &text(&a[1])?)
    };
    "model_parameters" (param("model", str_type)) -> Output::Type(float_type), "Parameters of a model in billions.", |a| {
        catalog::model(&text(&a[0])?)?.parameters_b()
    };
    "model_weight_gib" (param("model", str_type), optional("dtype", str_type), optional("quantization", str_type)) -> Output::Type(float_type), "Size of a model's weights in GiB for a dtype or quantization.", |a| {
        let named = catalog::named_model("", &text(&a[0])?)?;
        let model = catalog::model(&named.name)?;
        let says = |i: usize| a.get(i).and_then(text).filter(|text| !text.is_empty());
        let quantization = says(2).or(named.format.map(Cow::Borrowed));
        // A checkpoint that is published quantized is loaded as it is.
        let published = model.files_gib().filter(|_| quantization.is_none() && !model.quantization().is_empty());
        let format = vram::format_of(&named.name, quantization.as_deref(), says(1).as_deref());
        published.or_else(|| Some(model.parameters_b()? * 1e9 * format?.bits / 8.0 / vram::GIB))
    };
    "package_python" (param("package", str_type), param("version", version_type)) -> Output::Type(str_type), "The range of Python releases that a release of a package installs on.", |a| {
        let build = catalog::framework_build(&text(&a[0])?, version(&a[1])?.as_ref(), None)?;
        Some(build.python).filter(|range| !range.is_empty())
    };
    "toolkit_supported" (param("package", str_type), param("version", version_type), param("cuda", version_type)) -> Output::Type(bool_type), "Whether a release of a package has libraries for a CUDA release.", |a| {
        let (least, most) = catalog::toolkit_range(&text(&a[0])?, version(&a[1])?.as_ref())?;
        let numbers = |v: &Version| (v.major(), v.minor());
        Some((numbers(&least)..=numbers(&most)).contains(&numbers(version(&a[2])?.as_ref())))
    };
    "runtime_cuda" (param("package", str_type), optional("version", version_type)) -> Output::Type(version_type), "The CUDA whose libraries a package loads from the system; null when it brings its own.", |a| {
        catalog::runtime_needs(&text(&a[0])?, version(&a[1]).as_deref()).map(|needs| needs.cuda)
    };
    "runtime_cudnn" (param("package", str_type), optional("version", version_type)) -> Output::Type(version_type), "The cuDNN that a package loads from the system; null when it needs none.", |a| {
        catalog::runtime_needs(&text(&a[0])?, version(&a[1]).as_deref()).map(|needs| needs.cudnn)
    };
    "only_for_gpus" (param("package", str_type), optional("version", version_type)) -> Output::Type(bool_type), "Whether a package that loads CUDA from the system is installed for nothing but GPUs.", |a| {
        catalog::runtime_needs(&text(&a[0])?, version(&a[1]).as_deref()).map(|needs| needs.only_gpu)
    };
    "package_requirement" (param("package", str_type), param("version", version_type), param("other", str_type)) -> Output::Type(str_type), "The range of another package that the metadata of a release states, to which pip keeps.", |a| {
        catalog::package_requirement(&text(&a[0])?, version(&a[1])?.as_ref(), &text(&a[2])?)
    };
    "broken_with" (param("package", str_type), param("version", version_type), param("other", str_type), param("other_version", version_type)) -> Output::Type(str_type), "How a release of a package fails next to a release of another one, although its metadata lets pip install both.", |a| {
        catalog::broken_with(&text(&a[0])?, version(&a[1])?.as_ref(), (&text(&a[2])?, version(&a[3])?.as_ref()))
    };
    "broken_since" (param("package", str_type), param("version", version_type), param("other", str_type)) -> Output::Type(version_type), "The release of another package from which on none runs with a release of a package, although pip installs both.", |a| {
        catalog::broken_since(&text(&a[0])?, version(&a[1])?.as_ref(), &text(&a[2])?)
    };
    "wheel_glibc" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), "The oldest glibc that the wheels of a release install on.", |a| {
        catalog::wheel_glibc(&text(&a[0])?, version(&a[1])?.as_ref())
    };
    "newest_python" (param("package", str_type), param("version", version_type)) -> Output::Type(version_type), "The newest Python that a release has wheels for.", |a| {
        catalog::newest_python(&text(&a[0])?, version(&a[1])?.as_ref())
    };
    "public_index" (param("urls", str_type)) -> Output::Type(bool_type), "Whether each of some URLs, which blanks separate, is of an index that everybody installs from: what is published there is what the catalog says of releases.", |a| {
        Some(catalog::is_public_index(&text(&a[0])?))
    };
    "releases_around" (param("package", str_type), param("version", version_type)) -> Output::Type(str_type), "The releases of a package next to a final one that was never published; null for one that was, or may be yet.", |a| {
        let (older, newer) = catalog::releases_around(&text(&a[0])?, version(&a[1])?.as_ref())?;
        Some(older.map_or_else(|| newer.to_string(), |older| format!("{older} and {newer}")))
    };
    "conflicting_packages" (param("package", str_type)) -> Output::Type(strings_type), "Packages that must not be installed together with this one.", |a| {
        catalog::conflicting_packages(&text(&a[0])?)
    };
    "gpu_package" (param("package", str_type), optional("version", version_type), optional("extras", str_type)) -> Output::Type(str_type), "What to install instead of a package that has no GPU code with these extras; null when it has.", |a| {
        let extras = a.get(2).and_then(text).unwrap_or_default();
        let extras: Vec<&str> = extras.split(',').filter(|e| !e.is_empty()).collect();
        catalog::gpu_package(&text(&a[0])?, version(&a[1]).as_deref(), &extras)
    };
    "torch_variant_exists" (param("version", version_type), param("variant", str_type)) -> Output::Type(bool_type), "Whether the PyTorch index has a release for a variant of CUDA or ROCm.", |a| {
        catalog::torch_variant_exists(version(&a[0])?.as_ref(), &text(&a[1])?)
    };
    "torch_variant_known" (param("variant", str_type)) -> Output::Type(bool_type), "Whether the PyTorch index has any release for a variant of CUDA or ROCm; unknown for toolkits that are older or newer than all that are listed.", |a| {
        catalog::torch_variant_known(&text(&a[0])?)
    };
    "package_traits" (param("package", str_type), optional("version", version_type)) -> Output::Type(strings_type), "What is particular about a package: removed, builds-against-torch, needs-nvcc, needs-compiler, needs-cuda-libraries.", |a| {
        catalog::package_traits(&text(&a[0])?, a.get(1).and_then(version).as_deref())
    };
}

/// The type of what `catalog(column, …)` answers to this many keys.
///
/// # Errors
/// There is no such column, or its rows have another number of keys.
pub fn column_type(column: &str, keys: usize) -> Result<Type, String> {
    let Some(lookup) = catalog::Lookup::of(column) else {
        let known: Vec<String> = catalog::Lookup::all().map(|l| format!("{}.{}", l.table(), l.column())).collect();
        let hint = did_you_mean(column, known.iter().map(String::as_str));
        return Err(format!("the catalog has no column `{column}`{hint}"));
    };
    let wanted = lookup.keys();
    if wanted.len() != keys {
        return Err(format!("{column} is found by {}", wanted.join(", ")));
    }
    Ok(match lookup.holds() {
        Holds::Text => Type::Str,
        Holds::Number => Type::Float,
        Holds::Flag => Type::Bool,
        Holds::Version => Type::Version,
    })
}

/// What a row can say.
trait Said {
    /// As a value of the rule language.
    fn data<'a>(self) -> Data<'a>;
}

macro_rules! said {
    ($($ty:ty => |$value:ident| $data:expr;)*) => {$(
        impl Said for $ty {
            fn data<'a>(self) -> Data<'a> {
                let $value = self;
                $data
            }
        }
    )*};
}

said! {
    bool => |value| Data::Bool(value);
    i64 => |value| Data::Int(value);
    u64 => |value| Data::Int(value as i64);
    f64 => |value| Data::Float(value);
    String => |value| Data::Str(Cow::Owned(value));
    &'static str => |value| Data::Str(Cow::Borrowed(value));
    Version => |value| Data::Version(Cow::Owned(value));
}

impl Said for Cell {
    fn data<'a>(self) -> Data<'a> {
        match self {
            Cell::Text(text) => text.data(),
            Cell::Number(number) => number.data(),
            Cell::Flag(flag) => flag.data(),
            Cell::Version(version) => version.data(),
        }
    }
}

/// A row that says none.
impl<T: Said> Said for Option<T> {
    fn data<'a>(self) -> Data<'a> {
        self.map_or(Data::Null, Said::data)
    }
}

impl<T: Said> Said for Vec<T> {
    fn data<'a>(self) -> Data<'a> {
        list(self.into_iter().map(|item| Value::of(item.data()))).data
    }
}

/// The one way to answer: null of nothing, what a row says, or unknown.
fn answer<'a, T: Said>(a: &[Value<'a>], params: &[Param], found: impl FnOnce() -> Option<T>) -> Value<'a> {
    let nothing = |(value, param): (&Value<'_>, &Param)| matches!(value.data, Data::Null) && !param.optional;
    if a.iter().zip(params).any(nothing) {
        return Value::of(Data::Null);
    }
    match found() {
        Some(said) => Value::of(said.data()),
        None => {
            let asked = a.iter().filter(|value| !matches!(value.data, Data::Null));
            let asked: Vec<String> = asked.map(Value::to_string).collect();
            Value::unknown(Why::NotInCatalog(asked.join(" ").into()), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions over a table that says of itself that it is complete: what it does not hold does not exist.
    const COMPLETE: &[&str] = &["gke_accelerator_known", "product_known", "gpu_family_known", "public_index"];

    #[test]
    fn no_row_is_unknown() {
        let facts = Facts::default();
        let around = Surroundings::alone(&facts);
        let context = Context::anywhere(&around);
        for function in FUNCTIONS {
            let args = function.params.iter().map(|param| match (param.ty)() {
                Type::Version => Value::of(Data::Version(Cow::Owned(Version::parse("9999.9").expect("a version")))),
                Type::Int | Type::Float => Value::of(Data::Float(1e15)),
                _ => Value::of(Data::Str(Cow::Borrowed("no-such-thing-9"))),
            });
            let answer = (function.call)(&args.collect::<Vec<_>>(), &context);
            let unknown = matches!(answer.data, Data::Unknown(_));
            let no = matches!(answer.data, Data::Bool(false)) && COMPLETE.contains(&function.name);
            assert!(unknown || no, "{} answers {answer} for what has no row", function.name);
        }
    }

    #[test]
    fn every_declared_table_can_be_asked() {
        let asked = |keys: &[&str]| {
            let args: Vec<Value<'_>> =
                keys.iter().map(|key| Value::of(Data::Str(Cow::Owned((*key).to_owned())))).collect();
            let facts = Facts::default();
            (find("catalog").expect("a function").call)(&args, &Context::anywhere(&Surroundings::alone(&facts)))
                .to_string()
        };
        assert_eq!(asked(&["tls_policies.minimum", "ELBSecurityPolicy-2016-08"]), "1.0");
        assert_eq!(asked(&["promised_availability.percent", "aks", "single-instance"]), "99.9");
        assert!(matches!(column_type("tls_policies.minimum", 1), Ok(Type::Version)));
        let wrong = column_type("tls_policies.minimun", 1).expect_err("no such column");
        assert!(wrong.contains("did you mean `tls_policies.minimum`"), "{wrong}");
        assert_eq!(
            column_type("tls_policies.minimum", 2).expect_err("one key"),
            "tls_policies.minimum is found by policy"
        );
    }
}
