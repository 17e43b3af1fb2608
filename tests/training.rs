//! Training runs: what command lines and the configuration files they name state together.

use gpulint::discover::Kind;
use gpulint::facts::{Facts, Training};
use gpulint::pipeline::{self, Input};
use gpulint::rules::Ruleset;

const AXOLOTL: &str = "base_model: mistralai/Mistral-7B-v0.3\nload_in_4bit: true\nadapter: qlora\nlora_r: 16\n\
                       sequence_len: 1024\nmicro_batch_size: 1\nfp16: true\nflash_attention: true\n";

/// The training run of the first workload of some files.
fn run(files: &[(&str, &str)]) -> Training {
    let input = |(path, text): &(&str, &str)| {
        let kind = if path.ends_with(".json") { Kind::Json } else { Kind::Yaml };
        Input { path: (*path).to_owned(), kind, text: (*text).to_owned() }
    };
    let outcome = pipeline::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::empty());
    outcome.facts.workloads[0].pods[0].containers[0].training.clone().expect("a training run")
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
