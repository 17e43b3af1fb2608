//! What Compose projects say and leave open: devices in each of the ways to ask for them, layers, what is reset, variables
//! and their files, command lines.

use crate::languages::{places, run};
use gpulint::facts::{Container, Facts, Workload};
use gpulint::known::Known;
use gpulint::rules::Ruleset;

fn facts(files: &[(&str, &str)]) -> Facts {
    run(files, &Ruleset::empty()).facts
}

fn service<'f>(facts: &'f Facts, name: &str) -> &'f Workload {
    facts.workloads.iter().find(|w| w.name.get().is_some_and(|n| n == name)).expect(name)
}

fn container<'f>(facts: &'f Facts, name: &str) -> &'f Container {
    &service(facts, name).pods[0].containers[0]
}

/// The number of GPUs of a service with some keys: `Some(None)` is unknown.
fn gpus(keys: &str) -> Option<Option<i64>> {
    let text = format!("services:\n  s:\n    image: vllm/vllm-openai:v0.10.0\n    {}\n", keys.replace('\n', "\n    "));
    let of = facts(&[("compose.yaml", &text)]);
    match &container(&of, "s").gpus.known {
        Known::Value(count) => Some(Some(*count)),
        Known::Unknown(_) => Some(None),
        Known::Absent => None,
    }
}

#[test]
fn gpus_are_counted_in_every_way_to_ask_for_them() {
    let devices = |device: &str| format!("deploy: {{resources: {{reservations: {{devices: [{{{device}}}]}}}}}}");
    for (device, count) in [
        ("driver: nvidia, count: 2, capabilities: [gpu]", Some(2)),
        ("driver: nvidia, count: '2', capabilities: [gpu]", Some(2)),
        ("driver: nvidia, count: all, capabilities: [gpu]", None),
        ("driver: nvidia, capabilities: [gpu]", None),
        ("capabilities: [gpu]", None),
        ("driver: nvidia, count: '${N}', capabilities: [gpu]", None),
        ("driver: nvidia, count: '${N:-4}', capabilities: [gpu]", Some(4)),
        ("driver: nvidia, device_ids: ['0', '3'], capabilities: [gpu]", Some(2)),
        ("driver: nvidia, device_ids: ['0,3'], capabilities: [gpu]", Some(2)),
        ("driver: nvidia, device_ids: ['${IDS}'], capabilities: [gpu]", None),
        ("driver: nvidia, device_ids: [all], capabilities: [gpu]", None),
        ("driver: cdi, device_ids: ['nvidia.com/gpu=0', 'nvidia.com/gpu=1'], capabilities: [gpu]", Some(2)),
        ("driver: cdi, device_ids: ['nvidia.com/gpu=all'], capabilities: [gpu]", None),
        ("driver: '${D}', count: 1, capabilities: ['${C}']", None),
        ("driver: other, count: 1, capabilities: [tpu]", Some(0)),
    ] {
        assert_eq!(gpus(&devices(device)), Some(count), "{device}");
    }
    for (keys, count) in [
        ("gpus: all", None),
        ("gpus: 2", Some(2)),
        ("gpus: [{driver: nvidia, count: 3}]", Some(3)),
        ("runtime: nvidia", None),
        ("runtime: nvidia\nenvironment: [NVIDIA_VISIBLE_DEVICES=none]", Some(0)),
        ("devices: ['nvidia.com/gpu=all']", None),
        ("devices: ['nvidia.com/gpu=0']", Some(1)),
        ("devices: [/dev/kfd, /dev/dri]", None),
        ("devices: [/dev/snd]", Some(0)),
        (
            "deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: NVIDIA-GPU, value: 2}}]}}}",
            Some(2),
        ),
        ("develop: {watch: [{action: sync, path: ., target: /app}]}", Some(0)),
        ("extends: {file: elsewhere.yaml, service: base}", None),
    ] {
        assert_eq!(gpus(keys), Some(count), "{keys}");
    }
}

#[test]
fn a_server_whose_device_cannot_be_told_is_not_said_to_have_none() {
    for keys in [
        "deploy: {resources: {reservations: {devices: [{driver: '${D}', count: 1, capabilities: ['${C}']}]}}}",
        "deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: GPU, value: 1}}]}}}",
        "devices: ['nvidia.com/gpu=all']",
        "gpus: all",
    ] {
        let text = format!("services:\n  s:\n    image: vllm/vllm-openai:v0.10.0\n    {keys}\n");
        let outcome = run(&[("compose.yaml", &text)], &Ruleset::builtin());
        assert_eq!(places(&outcome, "compose-server-without-gpu"), [] as [&str; 0], "{keys}");
    }
    let none = "services:\n  s:\n    image: vllm/vllm-openai:v0.10.0\n";
    let outcome = run(&[("compose.yaml", none)], &Ruleset::builtin());
    assert_eq!(places(&outcome, "compose-server-without-gpu"), ["compose.yaml:3"]);
}

#[test]
fn an_override_resets_replaces_and_merges() {
    let base = "services:\n  s:\n    image: vllm/vllm-openai:v0.10.0\n    gpus: all\n    ports: ['8000:8000']\n    volumes: ['/a:/models', '/c:/cache']\n    environment: [A=1, B=2]\n    command: [--model, org/a]\n    entrypoint: [vllm, serve]\n";
    for (over, check) in [
        ("gpus: !reset null", (|c| c.gpus.get() == Some(&0)) as fn(&Container) -> bool),
        ("entrypoint: !reset null", |c| c.command.len() == 2),
        ("ports: !reset []", |c| c.ports.is_empty()),
        ("ports: ['9000:8000']", |c| c.ports.len() == 2),
        ("ports: !override ['9000:8000']", |c| c.ports.len() == 1 && c.ports[0].host_port.get() == Some(&9000)),
        ("volumes: ['/b:/models']", |c| c.mounts.len() == 2),
        ("environment: {B: '3', C: '4'}", |c| c.env.len() == 3 && c.env["B"].value.get().is_some_and(|v| v == "3")),
        ("environment: !override {C: '4'}", |c| c.env.len() == 1),
        ("environment: {A: !reset null}", |c| c.env.len() == 1 && c.env.contains_key("B")),
        ("command: [--model, org/b]", |c| c.command.len() == 4 && c.command[3].get().is_some_and(|m| m == "org/b")),
    ] {
        let over = format!("services:\n  s:\n    {over}\n");
        let of = facts(&[("compose.yaml", base), ("compose.override.yaml", &over)]);
        assert!(check(container(&of, "s")), "{over}: {:#?}", container(&of, "s").env);
    }
}

#[test]
fn variables_have_their_defaults_or_none() {
    let text = "services:\n  s:\n    image: ${IMAGE:-vllm/vllm-openai}:${TAG:-v0.10.0}\n    scale: 3\n    gpus: all\n    command: --model ${MODEL:?set it} --dtype ${DTYPE-half} --tensor-parallel-size ${TP} --seed ${SEED:-7}\n";
    let of = facts(&[("compose.yaml", text)]);
    let launch = container(&of, "s").launch.as_ref().expect("a launch");
    assert!(launch.model.is_unknown() && launch.tensor_parallel.is_unknown());
    assert_eq!(
        (launch.dtype.get().map(String::as_str), launch.flags["seed"].get().map(String::as_str)),
        (Some("half"), Some("7"))
    );
    assert_eq!(container(&of, "s").image.tag.get().map(String::as_str), Some("v0.10.0"));
    assert_eq!(service(&of, "s").replicas.get(), Some(&3));
    let of = facts(&[("compose.yaml", text), (".env", "TP=8\nDTYPE=\n")]);
    let launch = container(&of, "s").launch.as_ref().expect("a launch");
    assert_eq!(launch.tensor_parallel.get(), Some(&8));
}

#[test]
fn a_file_of_variables_that_is_not_here_may_set_anything() {
    let text = |environment: &str| {
        format!(
            "services:\n  s:\n    image: vllm/vllm-openai:v0.10.0\n    gpus: all\n    ports: ['8000:8000']\n    env_file: [there.env, {{path: secret.env, required: false}}]\n    {environment}\n"
        )
    };
    for environment in ["environment: [C=3]", "environment: {C: '3'}", ""] {
        let text = text(environment);
        let files = [("compose.yaml", text.as_str()), ("there.env", "D=4\n")];
        let of = facts(&files);
        let env = &container(&of, "s").env;
        assert_eq!(env["D"].value.get().map(String::as_str), Some("4"), "{environment}");
        assert_eq!(env.contains_key("C"), !environment.is_empty(), "{environment}");
        assert!(container(&of, "s").launch.as_ref().expect("a launch").authenticated.is_unknown(), "{environment}");
        let outcome = run(&files, &Ruleset::builtin());
        assert_eq!(places(&outcome, "model-server-published"), [] as [&str; 0], "{environment}");
        let both = [files[0], files[1], ("secret.env", "X=1\n")];
        assert_eq!(places(&run(&both, &Ruleset::builtin()), "model-server-published"), ["compose.yaml:5"]);
    }
}

#[test]
fn entrypoint_and_command_are_one_line_however_each_is_written() {
    for (entrypoint, command) in [
        ("[vllm, serve]", "org/m --tensor-parallel-size 2"),
        ("vllm serve", "[org/m, --tensor-parallel-size, '2']"),
        ("vllm serve", "org/m --tensor-parallel-size 2"),
        ("[/bin/bash, -c]", "vllm serve org/m --tensor-parallel-size 2"),
        ("[/bin/bash, -c]", "[vllm serve org/m --tensor-parallel-size 2]"),
        ("[tini, --]", "vllm serve org/m --tensor-parallel-size 2"),
    ] {
        let text = format!(
            "services:\n  s:\n    image: acme/own:1\n    gpus: all\n    entrypoint: {entrypoint}\n    command: {command}\n"
        );
        let of = facts(&[("compose.yaml", &text)]);
        let launch = container(&of, "s").launch.as_ref().expect("a launch");
        let model = launch.model.get().map(String::as_str);
        assert_eq!((model, launch.tensor_parallel.get()), (Some("org/m"), Some(&2)), "{entrypoint} {command}");
    }
}

#[test]
fn services_of_profiles_that_exclude_each_other_share_no_gpu() {
    let service = |name: &str, profile: &str| {
        format!(
            "  {name}:\n    image: vllm/vllm-openai:v0.10.0\n    command: --model org/{name} --gpu-memory-utilization 0.9\n    {profile}\n    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, device_ids: ['0'], capabilities: [gpu]}}]}}}}}}\n"
        )
    };
    let told = |one: &str, other: &str, dotenv: &str| {
        let text = format!("services:\n{}{}", service("a", one), service("b", other));
        let outcome = run(&[(".env", dotenv), ("compose.yaml", &text)], &Ruleset::builtin());
        let found = outcome.evaluation.findings.into_iter().find(|f| f.rule == "servers-exceed-one-gpu");
        found.map(|finding| finding.values.join(", "))
    };
    let fired = |one: &str, other: &str, dotenv: &str| told(one, other, dotenv).is_some();
    assert!(fired("", "", ""));
    assert!(!fired("profiles: [small]", "profiles: [big]", ""));
    assert!(!fired("profiles: [small]", "profiles: [big]", "COMPOSE_PROFILES=big\n"));
    for together in ["COMPOSE_PROFILES=small,big\n", "COMPOSE_PROFILES=*\n"] {
        assert!(fired("profiles: [small]", "profiles: [big]", together), "{together}");
    }
    // With a profile runs what has none, and what else has it.
    let small = Some("the profile small of compose.yaml".to_owned());
    assert_eq!(told("", "profiles: [small]", ""), small);
    assert_eq!(told("profiles: [small, big]", "profiles: [small]", ""), small);
}

#[test]
fn a_file_that_others_extend_is_no_project_of_its_own() {
    let base = "services:\n  gpu: {image: base, deploy: {replicas: 2}}\n";
    let extending = "services:\n  s: {extends: {file: common.yaml, service: gpu}, image: own}\n";
    let names = |common: &str, base: &str| {
        let facts = facts(&[(common, base), ("compose.yaml", &extending.replace("common.yaml", common))]);
        facts.workloads.iter().filter_map(|w| w.name.get().cloned()).collect::<Vec<_>>()
    };
    assert_eq!(names("common-compose.yaml", base), ["s"]);
    // What the tool starts by itself, and what states more, is one.
    assert_eq!(names("base/compose.yaml", base), ["gpu", "s"]);
    assert_eq!(names("common-compose.yaml", &format!("{base}  more: {{image: m}}\n")), ["gpu", "more", "s"]);
}
