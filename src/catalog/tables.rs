//! Every table of `rules/catalog/`, declared once: its columns, what they hold, and which of them find a row.
//!
//! A column is written `name`, `name*` (part of the key: rows are sorted by it and unique) or `name+` (rows are found by
//! it, too), then `:` and what it holds: `version`, `range` (of versions), `pattern` (a regular expression), `flag`, `date`,
//! `least..most`, or one of `a|b|c`; text where nothing is said. Each table ends with how the source of a row was read, and
//! the source. A column that is no part of the declaration cannot be read.

use super::table::{Table, tables};

tables! {
    ABSENT_PACKAGES absent_packages "package* distribution* versions*:range instead also_not_in";
    ACCELERATOR_CORES accelerator_cores "gpu* cores:1..64";
    ACCELERATOR_RESOURCES accelerator_resources "resource* vendor unit:core|device|memory|none|percent device name";
    ACCELERATOR_VENDORS accelerator_vendors "vendor* title title_zh own_torch:flag nodes:pattern";
    ADMISSION_PLUGINS admission_plugins "platform* plugin*";
    ADVISORIES advisories
        "product* id* aliases affected*:range fixed:version severity:critical|high|medium|low cvss:0..10 \
        condition title published:date";
    AMI_FAMILIES ami_families "family* pod_disk";
    ARCHITECTURES architectures
        "model* arch+ parameters_b:0.001..10000 check+:hub|name|published|shape|total layers:0.. \
        hidden:0.. heads:0.. kv_heads:0.. head_dim:0.. \
        vocab:0.. ffn:0.. experts:0.. experts_per_token:0.. \
        expert_ffn:0.. shared_ffn:0.. moe_layers:0.. gated:flag tied:flag dtype \
        quantization+ max_position:0.. sliding_window:0.. sliding_layers:0.. \
        full_layers:0.. linear_layers:0.. global_head_dim:0.. \
        global_kv_heads:0.. kv_shared_layers:0.. kv_lora_rank:0.. \
        q_lora_rank:0.. qk_nope_head_dim:0.. qk_rope_head_dim:0.. \
        v_head_dim:0.. qkv_bias:flag linear_state_bytes:0.. files_gib:0.1..20000 \
        extra_parameters_b:0..100";
    BALANCER_DEFAULTS balancer_defaults "made_by* reach:elsewhere|private|public";
    BASE_IMAGES base_images "repository* tag*:pattern os os_version:version env lacks";
    BASE_OS base_os
        "distribution* version*:version codename+ libc:glibc|musl glibc:version python:version \
        externally_managed:flag gcc:4..99 sh:dash apt_key:kept|last|gone";
    BROKEN_PAIRS broken_pairs "package* versions*:range provider* broken*:range error";
    BUILD_OPTIONS build_options "option*:pattern says:architectures|switch";
    BUILDS builds
        "package* version*:version variant* default+:flag cuda:version cuda_major:version rocm:version \
        cudnn:version torch:version torch_requirement:range python+:range sm ptx min_compute_capability:version \
        min_driver:version confidence:documented|interpolated|wheel released:date";
    CHART_VALUES chart_values "chart* under* versions*:range keys+ repository+";
    CLOUD_RUN_GPUS cloud_run_gpus "accelerator* vcpu:1..2048 memory_gib:1..65536";
    CLUSTER_AGENTS cluster_agents "program*";
    COMPLETE complete "table* family*";
    COMPUTE_CAPABILITIES compute_capabilities
        "compute_capability*:version architecture first_cuda:version last_cuda:version first_branch:300..2000 \
        last_branch:300..2000 kernel_modules:either|open|proprietary family+";
    CONFIGURATIONS configurations "kind* keys*";
    CONFLICTING_PACKAGES conflicting_packages "group* package*";
    CPU_ONLY_PACKAGES cpu_only_packages "package* versions*:range extras+ gpu_package";
    CUDA cuda
        "cuda*:version driver:version min_driver:version sm image_branches image_brands image_os \
        image_os_supported";
    DEVICE_CLASSES device_classes "class* driver type resource";
    DEVICE_OPTIONS device_options "program* setting* options+";
    DEVICE_PLUGINS device_plugins "sign* domain";
    DISTINCT_ITEMS distinct_items "field* keys*";
    DRIVER_BRANCHES driver_branches
        "branch*:300..2000 kind:LTSB|PB|NFB|dev released:date end_of_life:date latest:version native_cuda:version \
        max_cuda_major:version forward_compat_cuda:version";
    EMBEDDING_SWITCHES embedding_switches "engine* model* flag";
    ENCODER_PEAKS encoder_peaks "models* gib:0..200 gib_per_1k_tokens:0..10";
    ENDED_CLUSTER_RELEASES ended_cluster_releases "platform* release*:version ended:date";
    ENDPOINTS endpoints "type* at* applies* tls default ciphers";
    ENGINE_DEFAULTS engine_defaults "engine* setting* versions*:range min_card_gib*:1..2000 not_gpus+ value";
    ENGINE_IMAGES engine_images "engine* versions*:range cuda:version";
    ENVIRONMENTS environments "program* name prefixes images engine";
    FABRIC_RESOURCES fabric_resources "resource* fabric";
    FEATURE_COMPUTE_CAPABILITIES feature_compute_capabilities
        "engine* feature* value* versions*:range min:version only";
    FIELD_FLAGS field_flags "kind* field* flag switch:flag";
    FLAG_PROGRAMS flag_programs "engine* commands program*";
    FLOATING_TAGS floating_tags "repository* tag*:pattern";
    GATED_MODELS gated_models "models*";
    GCP_ATTACHABLE_GPUS gcp_attachable_gpus "accelerator* machine_family counts";
    GCP_GPU_ZONES gcp_gpu_zones "family* region* zones";
    GCP_MACHINE_FAMILIES gcp_machine_families "family* memory_gib_per_vcpu:0..64";
    GKE_MACHINES gke_machines "accelerator* machine_type";
    GPU_NAMES gpu_names "name* product_label+ gpu+";
    GPU_TOTALS gpu_totals "gpu* total_gib:1..2000";
    GPU_WORDS gpu_words "word*";
    GPUS gpus
        "id* name+ aliases+ vendor architecture compute_capability:version gfx memory_gb:1..2000 \
        memory_mib:1024..2000000 memory_gb_per_s:10..50000 nvlink_gb_per_s:0..10000 tdp_w:10..5000 mig:flag \
        nvenc:flag arm64:flag first_branch:300..2000 bf16_tflops:1..50000 fp8_tflops:1..100000 form \
        product_label+ gke_accelerators+ karpenter_name+";
    HOST_COMPILERS host_compilers "cuda*:range newest_gcc:4..99";
    IMAGE_BUILDS image_builds "repository* tag*:pattern accelerator:cpu|cuda own_suffix cuda_suffix device_variable";
    IMAGE_FAMILIES image_families
        "family* repositories+ tag+:pattern package accelerator cuda_from:build|ngc|none|tag require_cuda:flag \
        forward_compat:flag brings_code:flag";
    IMAGE_FLAWS image_flaws "repository* tag*:pattern flaw";
    IMAGE_MOVES image_moves "repository* tag*:pattern moved_to since state:frozen|gone|private|redirected";
    IMAGE_NEWEST image_newest "repository* pinned";
    IMAGE_PROGRAMS image_programs "repository* tag*:pattern program starts:flag";
    IMAGE_RELEASES image_releases "repository* tag* package module since:version until:version holes releases";
    IMAGE_SERVICES image_services "repository* product ports keeps loads moved_by needs devices uploads:flag";
    IMAGE_SIZES image_sizes "repository* variant* since:version gb:1..200";
    IMAGE_TAGS image_tags
        "repository* tag* cuda:version min_driver:version framework framework_version tensorrt:version \
        python:version os min_compute_capability:version released:date end_of_life:date";
    IMAGE_TRAITS image_traits "repository* tag*:pattern versions*:range trait*";
    IMAGE_VARIABLES image_variables "repository* variable* values companion address:none|version";
    INNER_NAMES inner_names "group* kind* at* from* to+ what+ unless+ fails+";
    INSTANCES instances
        "provider instance_type* gpu gpu_name gpu_count:0..64 gpu_memory_gb:1..2000 vcpu:1..2048 \
        memory_gib:1..65536 network_gbps:0..100000 rdma rdma_nics:0..128 nvlink:flag nvswitch:flag \
        nvme_tb:0..1000 price_per_hour:0..10000 currency price_as_of retired";
    KEY_FORMS key_forms "form* pattern:pattern cloud cloud_zh example";
    KEY_REFERENCES key_references
        "type* at* form+ role:bucket|database|disk|file-system|volume-class place of_provider:flag";
    KEYS keys "type* applies rotates period unit:days|months default:no|yes";
    KINDS_WITHOUT_DEVICES kinds_without_devices "group* kind*";
    KUBERNETES_API_REMOVALS kubernetes_api_removals "api_version* kind* removed_in:version";
    LAUNCH_FLAGS launch_flags "engine* field* flags+ envs+";
    LAUNCHERS launchers "engine* programs+ spawns:flag";
    LOAD_BALANCERS load_balancers "annotation* value* reach:addresses|elsewhere|private|public";
    MACHINE_DISKS machine_disks "machine_type* disks boot";
    MACHINE_NAMES machine_names "prefix* names";
    MACHINE_SIZES machine_sizes "family* sizes";
    MIG_PROFILES mig_profiles
        "gpu* profile* resource compute_slices:0..16 total_slices:1..16 memory_gb:1..2000 \
        memory_mib:1024..2000000 max_instances:1..16";
    MODEL_NAMES model_names "engine* names* model format";
    MODEL_SUPPORT model_support "engine* models* versions:range since:version";
    MOVED_DIRECTORIES moved_directories "repository* versions*:range before now";
    NAME_CREATORS name_creators "makes* by* name*";
    NGC ngc
        "month*:version cuda:version driver:version min_driver:version tensorrt:version cudnn:version \
        nccl:version os python:version min_compute_capability:version";
    NODE_IMAGES node_images "platform* image* driver:flag last_kubernetes:version end_of_support:date";
    NUMPY_FREE numpy_free "package*";
    OPENINGS openings "type* at* applies ports from to sources public";
    OPTIMIZERS optimizers "optimizer* aliases+ state_bytes:0..64 state_bytes_16bit:0..64";
    PACKAGE_ENDS package_ends "package* index*:conda|pypi|pytorch last:version instead";
    PACKAGE_EXTRAS package_extras "package* extra* brings";
    PACKAGE_PROGRAMS package_programs "package* program";
    PACKAGE_RELEASES package_releases "package* releases";
    PACKAGE_REQUIRES package_requires
        "package* versions*:range extra* requires* python*:range requirement:range linux_only:flag";
    PACKAGE_TRAITS package_traits "package* versions*:range trait*";
    PACKAGE_WHEELS package_wheels
        "package* versions*:range oldest_python:version newest_python:version platforms";
    PLAIN_MACHINES plain_machines "provider* types*:pattern";
    PLATFORMS platforms
        "platform* version* variant* kubernetes* date+:date driver:version other_drivers \
        container_toolkit:version device_plugin";
    PORT_VARIABLES port_variables "program* variable";
    PRICES prices
        "instance_type* region* form*:on-demand|reserved-1y|reserved-3y|spot currency per_hour:0..10000 date:date";
    PROGRAMS programs "program* package pip:flag";
    PROGRAM_FLAGS program_flags "program* flag* aliases+ takes choices versions*:range replaced_by needs excludes";
    PROMISED_AVAILABILITY promised_availability
        "platforms* topology*:load-balancer|several-zones|single-instance percent:90..100 condition";
    PUBLIC_INDEXES public_indexes "host* holds:builds|releases";
    REFERENCES references
        "group* kind* at* name* names* part* kind_at+ namespace_at+ parts+ optional+ near+:flag fails+";
    REGION_PAIRS region_pairs "region* pair";
    REGISTRIES registries "registry* least:1..10 most:1..10";
    REMOVED_METRICS removed_metrics "metric* engine since:version instead";
    REMOVED_PROGRAMS removed_programs "program* package since:version instead";
    RUNTIME_NEEDS runtime_needs "package* versions*:range cuda:version cudnn:version only_gpu:flag";
    SCALING_ALARMS scaling_alarms "type* metric actions";
    SCALING_POLICIES scaling_policies "type* at metric inward outward target alarm";
    SERVERS servers
        "engine* serves+:no|notebook|yes programs+ workers+ images+ release_images+ model_after+ image_model+ fetches+ \
        planner+:layered|plain|profiled|share-of-free|static-fraction|warmed-up spreads+:flag own_layout+:flag \
        context_each+:flag port:1..65535 health_path auth_flags auth_envs metric_prefix+ \
        gpu_only:flag downloads:flag several_ports:flag product attention_env+ login_off sample_keys";
    SERVING_RUNTIMES serving_runtimes "runtime* gpu_suffix";
    SKYPILOT_ACCELERATORS skypilot_accelerators "accelerator* cloud* gpus";
    SPOT_MARKS spot_marks "stands*:annotation|selector key* value* platform";
    SPOT_NOTICES spot_notices "platforms* cloud seconds:1..1000";
    SPOT_TAINTS spot_taints "platform* key* value effect:NoExecute|NoSchedule|PreferNoSchedule";
    STATING_COMMANDS stating_commands "command* says+ keys+ value_options+";
    SPENDING_LIMITS spending_limits "type* amount alerts unit:fraction|percent unless";
    STORE_THROUGHPUTS store_throughputs "type* variant* mb_per_s_per_tib:0.. mb_per_s:0..";
    STORES stores
        "type* at* role:access|bucket|database|disk|file-system|volume-class encrypted key default:no|yes switch \
        access public names";
    SYSTEM_PACKAGES system_packages "package* programs needs_more:flag";
    TAG_WORDS tag_words "word* accelerator";
    TEI_IMAGES tei_images "prefix* compute_capabilities";
    TLS_POLICIES tls_policies "policy* minimum:version";
    TOOLKIT_RANGES toolkit_ranges "package* versions*:range min_cuda:version max_cuda:version";
    TORCH_VARIANTS torch_variants "package* versions*:range variants";
    TPU_TYPES tpu_types "type*:pattern";
    TRAINING_OPTIONS training_options "trainer* field* key* written* means";
    VERSION_VARIABLES version_variables "variable*:pattern software";
    VOLUME_DURABILITY volume_durability "provisioner* type* percent:0..100";
    WEIGHT_FORMATS weight_formats
        "format* aliases+ bits:1..64 scope:all|experts|feed-forward|file|linears|padded-experts";
    WHEEL_GLIBC wheel_glibc "package* versions*:range glibc:version";
    WORKLOAD_KINDS workload_kinds "group* kind* path* stands+ role+ count+ replicas+ together+ absent+ versions+";
    WRAPPERS wrappers
        "program* subcommands* operands+:0..4 value_options+ script_options+ runs_image+:flag behind_dashes+:flag";
}
