//! Hardware, drivers, images, frameworks and machines: the tables of `rules/catalog/`. Knows no files of the
//! user, no facts and no rules.
//!
//! Each table is declared in `tables.rs` and read on first use. `None` means that the catalog does not say, never "no";
//! "no such thing" is an answer only of a table that says of itself that it is complete ([`complete`]).
//!
//! | about | ask |
//! |---|---|
//! | GPUs | [`gpu`], [`product_known`], [`gke_accelerator_known`], [`mig_profile`], [`mig_profiles`], [`architecture`], [`coverage`], [`family_label`] |
//! | machines | [`instance`], [`instance_gpu`], [`nearest_instance`], [`is_instance_like`], [`attachable_counts`], [`cloud_run_minimum`] |
//! | platforms | [`platform_driver`], [`default_driver`], [`platform_toolkit`], [`eks_ami_driver`], [`node_image`] |
//! | CUDA and drivers | [`min_driver`], [`native_driver`], [`native_cuda`], [`branch`], [`image_accepts_driver`], [`sm_supported`], [`first_cuda`], [`last_cuda`], [`cuda_exists`], [`cuda_image_exists`], [`newest_host_gcc`] |
//! | images | [`familiar_name`], [`image`], [`image_family`], [`image_flaw`], [`image_floats`], [`image_move`], [`image_newest`], [`image_traits`], [`image_build`], [`image_program`], [`registry_parts`] |
//! | packages | [`framework_build`], [`newest_release`], [`package_requirement`], [`broken_with`], [`broken_since`], [`constrains`], [`decides_others`], [`extra_packages`], [`torch_variant_exists`], [`newest_python`], [`runtime_needs`], [`toolkit_range`], [`wheel_glibc`], [`conflicting_packages`], [`gpu_package`], [`package_traits`] |
//! | releases | [`wheel_requirements`], [`wheel_pythons`], [`newest_release_with`], [`newest_wheel`], [`releases_around`], [`Bounds`] |
//! | systems | [`base_os`] |
//! | prices | [`price`], [`price_region`] |
//! | programs | [`server`], [`server_of_program`], [`server_of_image`], [`is_tagged_by_release`], [`launcher_of_program`], [`wrappers`] |
//! | engines | [`launch_flags`], [`flag_program`], [`environments`], [`feature_needs`], [`model_supported_since`], [`engine_default`] |
//! | models | [`model`], [`models`], [`named_model`], [`model_gated`], [`weight_format`], [`encoder_peak`] |
//! | trainers | [`training_options`], [`training_defaults`], [`optimizer_state_bytes`] |
//! | Kubernetes | [`pod_places`], [`inner_names`], [`references`], [`creators`] |
//! | configuration files | [`configurations`] |
//! | data | [`stores_of`], [`key_of`], [`key_references_of`], [`endpoints_of`], [`is_key`], [`tls_minimum`] |
//! | the rest | [`accelerator`], [`advisories`], [`api_removed_in`], [`Lookup`], [`within`] |

mod advisories;
mod base_images;
mod charts;
mod drivers;
mod engines;
mod flags;
mod gpus;
mod images;
mod kinds;
mod machinery;
mod machines;
mod mentions;
mod model_names;
mod models;
mod names;
mod prices;
mod programs;
mod protection;
mod published;
mod ranges;
mod servers;
mod software;
mod table;
mod tables;
mod training;
mod wheels;

pub use advisories::{Advisory, advisories};
pub use base_images::{BaseImage, SystemPackage, base_image, package_of_program, shell_is_dash, system_package};
pub use charts::{ChartValues, Taken, chart_values, knows_chart};
pub use drivers::{
    DriverBranch, branch, cuda_exists, cuda_image_exists, driver_branch, first_cuda, image_accepts_driver,
    image_accepts_geforce, last_cuda, min_driver, native_cuda, native_driver, newest_host_gcc, sm_supported,
};
pub use engines::{EncoderPeak, Scope, WeightFormat, encoder_peak, engine_default, weight_format, weight_formats};
pub use flags::{Environment, FlagProgram, ProgramFlag, environments, flag_program, flags_of};
pub use gpus::{
    Architecture, Coverage, Gpu, MigProfile, accelerator_cores, architecture, coverage, family_label,
    family_label_known, gke_accelerator_known, gke_accelerators, gpu, gpu_named_in, gpu_names, gpu_total_gib, gpus,
    gpus_called, gpus_named, karpenter_gpus, mig_instances, mig_layout_fits, mig_profile, mig_profiles,
    nearest_gke_accelerator, nearest_product, product_known, reported_memory, skypilot_gpus,
};
pub use images::{
    ImageInfo, Unrecognised, image, image_family, image_flaw, image_floats, image_move, image_newest, image_traits,
    registry_parts,
};
pub use kinds::{
    Absence, FieldFlag, PodPlace, Stands, are_distinct, asks_for_no_device, configurations, field_flags, gpu_suffix,
    pod_places, workload_kinds,
};
pub use machinery::{BuildOption, build_option, device_option, version_variable};
pub use machines::{
    Instance, NodeImage, ami_family, attachable_counts, cloud_run_minimum, cluster_agents, default_driver,
    eks_ami_driver, family_cards, family_counts, gke_machine, host, instance, instance_family_gpu, instance_gpu,
    instances, instances_of_family, is_instance_like, is_machine, is_offered, is_plain_machine, likeliest_instance,
    machine_gpus, machine_names, machines_with_gpus, most_gpus, nearest_instance, node_image, platform_driver,
    platform_toolkit, runs_admission_plugin, spot_label_platform, spot_marks, spot_taints,
};
pub use mentions::mentions;
pub use model_names::{NamedModel, named_model};
pub use models::{Model, model, models, published_quantization};
pub use names::{Creator, InnerName, Reference, creators, inner_names, made_by, named_kind, references};
pub use prices::{Price, price, price_region};
pub use programs::{
    ImageModel, Planner, Server, StatingCommand, Wrapper, is_launcher, is_tagged_by_release, launcher_of_program,
    server, server_of_image, server_of_metric, server_of_program, servers, stating_commands, wrappers,
};
pub use protection::{
    EndpointShape, KeyReferenceShape, KeyShape, OpeningShape, Reach, ScalingAlarm, ScalingShape, SpendingShape,
    StoreShape, default_reach, endpoints_of, is_about_reach, is_key, key_of, key_references_of, names_login,
    openings_of, reach_of_annotation, scaling_alarm_of, scaling_policy_of, spending_limit_of, stores_of, tls_minimum,
};
pub use published::{ImageBuild, familiar_name, image_build, image_program};
pub use ranges::Bounds;
pub use servers::{
    Accelerator, FeatureNeeds, LaunchFlag, accelerator, api_removed_in, device_class, device_class_of, device_plugin,
    device_vendor, feature_needs, is_fabric, launch_flags, model_gated, model_supported_since, nearest_accelerator,
    options_file, resource_unknown, whole_gpu,
};
pub use software::{
    BaseOs, Build, RuntimeNeeds, base_os, conflicting_packages, constrains, decides_others, extra_packages,
    framework_build, gpu_package, newest_python, newest_release, package_requirement, package_traits, runtime_needs,
    toolkit_range, torch_variant_exists, torch_variant_known, wheel_glibc,
};
pub use table::{Cell, Holds, within};
pub use training::{TrainingOption, optimizer_state_bytes, training_defaults, training_options};
pub use wheels::{
    WheelRequirement, broken_since, broken_with, is_default_index, is_public_index, newest_release_with, newest_wheel,
    releases_around, wheel_pythons, wheel_requirements,
};

/// Whether a table says of itself that it holds everything of a family, so that what it does not hold does not exist.
pub fn complete(table: &str, family: &str) -> bool {
    let row = tables::COMPLETE.rows().find(|r| r.text("table") == table && r.text("family") == family);
    row.inspect(|row| row.used()).is_some()
}

/// Whether some row of a table is about a name, which stands in its first column. None when there is no such table.
pub fn names(table: &str, name: &str) -> Option<bool> {
    let table = tables::ALL.iter().find(|known| known.name == table)?;
    Some(table.names(name))
}

/// A column of a table that is read by the keys of its rows.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    table: &'static table::Table,
    column: &'static table::Column,
}

impl Lookup {
    /// The column that `table.column` names.
    pub fn of(path: &str) -> Option<Self> {
        let (table, column) = path.split_once('.')?;
        let table = tables::ALL.iter().find(|known| known.name == table)?;
        Some(Self { table, column: table.column(column)? })
    }

    /// Every column that is no key.
    pub fn all() -> impl Iterator<Item = Self> {
        tables::ALL.iter().flat_map(|table| table.values().map(|column| Self { table, column }))
    }

    /// The name of its table.
    pub fn table(self) -> &'static str {
        self.table.name
    }

    /// Its name.
    pub fn column(self) -> &'static str {
        self.column.name
    }

    /// The names of the key columns of its table.
    pub fn keys(self) -> Vec<&'static str> {
        self.table.keys().map(|column| column.name).collect()
    }

    /// What it holds.
    pub fn holds(self) -> Holds {
        self.column.kind()
    }

    /// What it says in the first row with these keys; nothing where the cell is blank, `None` where there is no such row.
    /// A text is a key where it is one of the words of the field, a version where it is in the range.
    pub fn find(self, keys: &[String]) -> Option<Option<Cell>> {
        self.table.by_keys(keys).map(|row| row.cell(self.column))
    }
}

/// The names of the tables.
pub fn tables() -> impl Iterator<Item = &'static str> {
    tables::ALL.iter().map(|table| table.name)
}

/// What the tables say against their declarations.
pub fn faults() -> Vec<String> {
    tables::ALL.iter().flat_map(|table| table.faults()).collect()
}
