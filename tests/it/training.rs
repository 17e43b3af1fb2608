//! Training runs: what command lines and the configuration files they name state together.

use gpulint::discover::Kind;
use gpulint::facts::{Facts, Training};
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;

const AXOLOTL: &str = "base_model: mistralai/Mistral-7B-v0.3\nload_in_4bit: true\nadapter: qlora\nlora_r: 16\n\
                       sequence_len: 1024\nmicro_batch_size: 1\nfp16: true\nflash_attention: true\n";

/// The training run of the first workload of some files.
fn run(files: &[(&str, &str)]) -> Training {
    let input = |(path, text): &(&str, &str)| {
        let kind = if path.ends_with(".json") { Kind::Json } else { Kind::Yaml };
        Input { path: (*path).to_owned(), kind, text: (*text).to_owned(), repository: 0 }
    };
    let outcome = lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::empty());
    *outcome.facts.workloads[0].pods[0].containers[0].training.clone().expect("a training run")
}

fn job(command: &str, volume: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: tune}}\nspec:\n  template:\n    spec:\n      containers:\n      \
         - name: c\n        image: x\n        command: [{command}]\n        volumeMounts: [{{name: cfg, mountPath: /cfg}}]\n      \
         volumes: [{{name: cfg, {volume}}}]\n"
    )
}

#[test]
fn the_configuration_of_a_mounted_config_map_is_read_with_its_places() {
    let job = job("accelerate, launch, -m, axolotl.cli.train, /cfg/qlora.yml", "configMap: {name: tune}");
    let data = AXOLOTL.replace('\n', "\n    ");
    let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: tune}}\ndata:\n  qlora.yml: |\n    {data}\n");
    let training = run(&[("job.yaml", &job), ("map.yaml", &map)]);
    assert_eq!(training.attention.get().map(String::as_str), Some("flash_attention_2"));
    assert_eq!(&map[training.attention.span.range()], "true");
    assert_eq!((training.lora_rank.get(), training.micro_batch_size.get()), (Some(&16), Some(&1)));
    assert_eq!(training.gradient_checkpointing.get(), Some(&false), "axolotl's default");
}

#[test]
fn files_of_the_repository_fill_what_flags_leave_out() {
    let ds = r#"{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}, "bf16": {"enabled": "auto"},
                 "train_micro_batch_size_per_gpu": "auto"}"#;
    let command = "torchrun, train.py, --model_name_or_path, meta-llama/Llama-3.1-8B, --per_device_train_batch_size, '2', \
                   --bf16, 'True', --deepspeed, configs/z3.json";
    let training = run(&[("train/job.yaml", &job(command, "emptyDir: {}")), ("train/configs/z3.json", ds)]);
    assert_eq!(training.trainer.get().map(String::as_str), Some("transformers"));
    assert_eq!((training.zero_stage.get(), training.micro_batch_size.get()), (Some(&3), Some(&2)));
    assert_eq!(training.optimizer_offload.get(), Some(&true));
    assert_eq!(training.precision.get().map(String::as_str), Some("bf16"));
}

#[test]
fn a_file_that_is_not_at_hand_leaves_the_rest_unknown() {
    let training = run(&[("job.yaml", &job("axolotl, train, /data/config.yml", "emptyDir: {}"))]);
    assert!(training.micro_batch_size.is_unknown() && training.method.is_unknown());
}

#[test]
fn a_trainer_on_top_of_another_takes_its_options_and_has_defaults_of_its_own() {
    let command = |more: &str| job(&format!("trl, sft, --model_name_or_path, Qwen/Qwen3-8B{more}"), "emptyDir: {}");
    let training = run(&[("job.yaml", &command(""))]);
    assert_eq!(training.model.get().map(String::as_str), Some("Qwen/Qwen3-8B"));
    assert_eq!(training.gradient_checkpointing.get(), Some(&true), "of trl, not of transformers");
    assert_eq!((training.sequence_len.get(), training.micro_batch_size.get()), (Some(&1024), Some(&8)));
    assert_eq!(training.stack.get().map(String::as_str), Some("autocast"));
    let training =
        run(&[("job.yaml", &command(", --use_peft, --dtype, bfloat16, --activation_checkpointing, 'False'"))]);
    assert_eq!(training.method.get().map(String::as_str), Some("lora"));
    assert_eq!(training.stack.get().map(String::as_str), Some("as-loaded"));
    assert_eq!(training.gradient_checkpointing.get(), Some(&false));
}

/// Rules of the training ledger that fire on some files, with the text they stand at.
fn found(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let kind = |path: &str| match path.rsplit('.').next() {
        Some("json") => Kind::Json,
        Some("sh") => Kind::Shell,
        _ => Kind::Yaml,
    };
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        kind: kind(path),
        text: (*text).to_owned(),
        repository: 0,
    };
    let outcome = lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin());
    let findings = outcome.evaluation.findings.into_iter();
    let ours = findings.filter(|f| matches!(f.rule.as_str(), "training-does-not-fit" | "training-memory-tight"));
    ours.map(|f| (f.rule.clone(), outcome.sources.slice(f.span).to_owned())).collect()
}

const FULL: &str = "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 1\nbf16: true\n\
                    gradient_checkpointing: true\ndeepspeed: deepspeed_configs/zero2.json\noptimizer: adamw_torch\n";
const ZERO2: &str = r#"{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}"#;
const ZERO3: &str = r#"{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}"#;

fn pytorch_job(workers: usize) -> String {
    let replica = |role: &str, count: usize| {
        format!(
            "    {role}:\n      replicas: {count}\n      template:\n        spec:\n          \
             nodeSelector: {{nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}\n          containers:\n          \
             - name: pytorch\n            image: axolotlai/axolotl:main-latest\n            \
             command: [accelerate, launch, -m, axolotl.cli.train, configs/full.yml]\n            \
             resources: {{limits: {{nvidia.com/gpu: 8}}}}\n"
        )
    };
    format!(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: full}}\nspec:\n  pytorchReplicaSpecs:\n{}{}",
        replica("Master", 1),
        if workers > 0 { replica("Worker", workers) } else { String::new() }
    )
}

#[test]
fn sharding_over_the_whole_group_decides() {
    let files = |zero: &'static str, job: &str| {
        let job = job.to_owned();
        found(&[
            ("train/job.yaml", &job),
            ("train/configs/full.yml", FULL),
            ("train/deepspeed_configs/zero2.json", zero),
        ])
    };
    assert_eq!(files(ZERO3, &pytorch_job(1)), [], "16 bytes x 8 billion over 16 GPUs");
    let alone = pytorch_job(0).replace("nvidia.com/gpu: 8", "nvidia.com/gpu: 2");
    let wrong = ("training-does-not-fit".to_owned(), "NousResearch/Meta-Llama-3-8B".to_owned());
    assert_eq!(files(ZERO2, &alone), [wrong], "weights whole, the rest halved");
}

#[test]
fn flags_of_a_batch_script_decide() {
    let script = |method: &str| {
        format!(
            "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:a10g:1\ntorchrun --nproc_per_node 1 finetune.py \\\n  \
             --model_name_or_path mistralai/Mistral-7B-v0.3 --bf16 True --per_device_train_batch_size 1 \\\n  \
             --model_max_length 2048 --gradient_checkpointing True --attn_implementation flash_attention_2 {method}\n"
        )
    };
    let full = found(&[("job.sh", &script(""))]);
    assert_eq!(full, [("training-does-not-fit".to_owned(), "mistralai/Mistral-7B-v0.3".to_owned())]);
    assert_eq!(found(&[("job.sh", &script("--use_peft True --load_in_4bit True --lora_r 16"))]), []);
}

#[test]
fn a_sky_task_names_its_files_beside_it() {
    let task =
        |gpu: &str| format!("resources:\n  accelerators: {gpu}\nrun: |\n  llamafactory-cli train configs/sft.yaml\n");
    let sft = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\nfinetuning_type: full\npure_bf16: true\n\
               optim: paged_adamw_8bit\nper_device_train_batch_size: 1\ncutoff_len: 2048\n";
    let files = |gpu: &str| found(&[("sky/task.yaml", &task(gpu)), ("sky/configs/sft.yaml", sft)]);
    assert_eq!(files("H100:1"), []);
    assert_eq!(files("L4:1"), [("training-does-not-fit".to_owned(), "Qwen/Qwen2.5-7B-Instruct".to_owned())]);
}

#[test]
fn what_the_files_leave_open_is_no_finding() {
    let job = pytorch_job(0);
    assert_eq!(found(&[("train/job.yaml", &job)]), [], "the configuration is elsewhere");
    let unknown = FULL.replace("NousResearch/Meta-Llama-3-8B", "./models/own");
    let files = [
        ("train/job.yaml", job.as_str()),
        ("train/configs/full.yml", &unknown),
        ("train/deepspeed_configs/zero2.json", ZERO2),
    ];
    assert_eq!(found(&files), [], "nobody knows the model");
}

#[test]
fn a_script_of_a_mounted_config_map_is_what_the_container_launches() {
    let job = job("bash, -c, /cfg/train.sh", "configMap: {name: tune}");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tune}\ndata:\n  train.sh: |\n    #!/bin/bash\n    set -e\n    \
               torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B \\\n      \
               --per_device_train_batch_size 4 --bf16 True\n";
    let training = run(&[("job.yaml", &job), ("map.yaml", map)]);
    assert_eq!(training.micro_batch_size.get(), Some(&4));
    assert_eq!(&map[training.model.span.range()], "Qwen/Qwen2.5-7B");
}

#[test]
fn a_trainer_is_told_by_what_runs_and_not_by_a_word() {
    let trainer = |command: &str| {
        let text = job(command, "emptyDir: {}");
        let input = Input { path: "job.yaml".to_owned(), kind: Kind::Yaml, text, repository: 0 };
        let outcome = lint::run(vec![input], Facts::default(), Vec::new(), &Ruleset::empty());
        let training = outcome.facts.workloads[0].pods[0].containers[0].training.clone();
        training.and_then(|training| training.trainer.get().cloned())
    };
    assert_eq!(trainer("accelerate, launch, -m, axolotl.cli.train, a.yaml").as_deref(), Some("axolotl"));
    assert_eq!(
        trainer("/usr/bin/tune, run, full_finetune_single_device, --config, a.yaml").as_deref(),
        Some("torchtune")
    );
    assert_eq!(trainer("python, train.py, --per_device_train_batch_size=4").as_deref(), Some("transformers"));
    assert_eq!(trainer("vllm, serve, models/tune"), None);
    assert_eq!(trainer("vllm, serve, my-org/axolotl"), None);
    assert_eq!(
        trainer("accelerate, launch, train_text_to_image.py, --train_batch_size=1, --gradient_checkpointing"),
        None
    );
}

#[test]
fn every_file_that_a_run_names_is_read() {
    let files = ["a", "b", "c", "d", "e", "f"].map(|name| (format!("{name}.json"), "{\"fp16\": {\"enabled\": true}}"));
    let last =
        ("last.json".to_owned(), "{\"zero_optimization\": {\"stage\": 3}, \"train_micro_batch_size_per_gpu\": 7}");
    let words =
        files.iter().chain([&last]).map(|(name, _)| format!("--deepspeed, {name}")).collect::<Vec<_>>().join(", ");
    let job = job(&format!("deepspeed, train.py, {words}"), "emptyDir: {}");
    let all: Vec<(&str, &str)> = files.iter().chain([&last]).map(|(name, text)| (name.as_str(), *text)).collect();
    let read = run(&[&[("job.yaml", job.as_str())], &all[..]].concat());
    assert_eq!(read.micro_batch_size.get(), Some(&7));
}
