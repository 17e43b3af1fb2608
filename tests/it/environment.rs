//! Environment variables against what programs read: where they are told, and when that is not certain.

use gpulint::discover::Kind;
use gpulint::facts::Facts;
use gpulint::lint::{self, Input};
use gpulint::rules::Ruleset;

/// What is told of variables, with the text that it is told at.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        text: (*text).into(),
        kind: gpulint::discover::kind_of(path).unwrap_or(Kind::Data),
        repository: 0,
    };
    let outcome = lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), &Ruleset::builtin());
    let findings = outcome.evaluation.findings.into_iter().filter(|finding| finding.rule == "variable-unread");
    let at = |place: gpulint::source::Span| files[place.source.0 as usize].1[place.range()].to_owned();
    findings.map(|finding| format!("{}: {}", at(finding.span), finding.message)).collect()
}

fn pod(name: &str, image: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n    - name: {name}\n      image: \
         {image}\n      envFrom: [{{configMapRef: {{name: shared}}}}]\n      resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
    )
}

#[test]
fn what_a_config_map_gives_to_others_too_is_for_them() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {OLLAMA_MODEL: llama3.1}\n";
    let server = pod("ollama", "ollama/ollama:0.12.3");
    let found = told(&[("map.yaml", map), ("ollama.yaml", &server)]);
    assert_eq!(found, ["llama3.1: Ollama 0.12.3: OLLAMA_MODEL is not read"]);
    let agent = pod("agent", "registry.example/agent:1");
    assert_eq!(told(&[("map.yaml", map), ("ollama.yaml", &server), ("agent.yaml", &agent)]), [""; 0]);
}

#[test]
fn what_a_file_of_variables_gives_to_others_too_is_for_them() {
    let file = "OLLAMA_TEMPERATURE=0.2\nOLLAMA_KEEP_ALIVE=1h\n";
    let server = "services:\n  ollama: {image: 'ollama/ollama:0.12.3', env_file: server.env, gpus: all}\n";
    let found = told(&[("compose.yaml", server), ("server.env", file)]);
    assert!(found.len() == 1 && found[0].ends_with("Ollama 0.12.3: OLLAMA_TEMPERATURE is not read"), "{found:?}");
    let both = format!("{server}  agent: {{image: 'registry.example/agent:1', env_file: server.env}}\n");
    assert_eq!(told(&[("compose.yaml", &both), ("server.env", file)]), [""; 0]);
}

#[test]
fn an_image_of_any_age_may_read_what_the_newest_does_not() {
    let service =
        |image: &str| format!("services: {{s: {{image: '{image}', environment: [OLLAMA_MODEL=a], gpus: all}}}}\n");
    let digest = "0123456789abcdef".repeat(4);
    assert_eq!(told(&[("compose.yaml", &service("ollama/ollama"))]).len(), 1);
    assert_eq!(told(&[("compose.yaml", &service(&format!("ollama/ollama:0.12.3@sha256:{digest}")))]).len(), 1);
    for other in
        [&format!("ollama/ollama@sha256:{digest}"), "ollama/ollama:${TAG}", "ollama/ollama:9999.1", "acme/ollama"]
    {
        assert_eq!(told(&[("compose.yaml", &service(other))]), [""; 0], "{other}");
    }
}

#[test]
fn a_command_states_variables_as_a_service_does() {
    let script = "docker run -d --gpus=all -e OLLAMA_GPU_LAYERS=99 -e OLLAMA_NUM_PARALLEL=2 ollama/ollama:0.12.3\n";
    let found = told(&[("run.sh", script)]);
    assert!(found.len() == 1 && found[0].contains("OLLAMA_GPU_LAYERS"), "{found:?}");
}
