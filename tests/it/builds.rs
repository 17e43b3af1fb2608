//! What Dockerfiles say and leave open: branches of their scripts, what entrypoint and command start together, what a
//! stage defers or copies.

use crate::languages::{places, run};
use gpulint::facts::Facts;
use gpulint::rules::Ruleset;

fn facts(files: &[(&str, &str)]) -> Facts {
    run(files, &Ruleset::empty()).facts
}

fn build(lines: &str) -> Facts {
    facts(&[("Dockerfile", &format!("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{lines}\n"))])
}

/// The release of a package in the last stage: `?` when it cannot be told, nothing when it is not there.
fn release(lines: &str, package: &str) -> Option<String> {
    let facts = build(lines);
    let software = facts.builds.last().expect("a stage").software.as_ref().expect("software");
    software.packages.get(package).map(|p| p.version.get().map_or("?".to_owned(), ToString::to_string))
}

#[test]
fn what_branches_install_is_known_where_all_agree() {
    for (script, torch) in [
        ("if [ \"$V\" = 1 ]; then pip install torch==2.5.1; else pip install torch==2.6.0; fi", "?"),
        ("if [ \"$V\" = 1 ]; then pip install torch==2.5.1; else pip install torch==2.5.1; fi", "2.5.1"),
        ("case \"$V\" in 1) pip install torch==2.5.1 ;; *) pip install torch==2.6.0 ;; esac", "?"),
        ("case \"$V\" in 1) pip install torch==2.5.1 ;; *) pip install torch==2.5.1 ;; esac", "2.5.1"),
        ("if [ \"$V\" = 1 ]; then pip install torch==2.5.1; fi", "?"),
        ("pip install torch==2.5.1 && if [ \"$V\" = 1 ]; then pip install torch==2.6.0; fi", "?"),
        ("if [ \"$V\" = 1 ]; then pip install torch==2.6.0; fi; pip install torch==2.5.1", "2.5.1"),
        ("[ \"$V\" = 1 ] && pip install torch==2.5.1 || pip install torch==2.6.0", "?"),
        ("[ \"$V\" = 1 ] && pip install torch==2.5.1 || pip install torch==2.5.1", "2.5.1"),
        ("pip install torch==2.5.1 || pip install torch==2.5.1 --retries 9", "2.5.1"),
        ("pip install torch==2.5.1 || pip install torch==2.6.0", "?"),
        ("for n in 1 2 3; do pip install torch==2.5.1; done", "2.5.1"),
        ("pip install torch==2.5.1", "2.5.1"),
    ] {
        assert_eq!(release(&format!("RUN {script}"), "torch").as_deref(), Some(torch), "{script}");
        let lines = if script.contains(";;") { script.to_owned() } else { script.replace("; ", "\n") };
        assert_eq!(release(&format!("RUN <<EOF\n{lines}\nEOF"), "torch").as_deref(), Some(torch), "heredoc: {script}");
    }
}

#[test]
fn packages_of_branches_that_exclude_each_other_are_no_conflict() {
    let fired = |lines: &str, rule: &str| {
        let text = format!("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{lines}\n");
        places(&run(&[("Dockerfile", &text)], &Ruleset::builtin()), rule)
    };
    let both = "pip install onnxruntime-gpu==1.20.0";
    let other = "pip install onnxruntime==1.20.0";
    for exclusive in [
        format!("RUN if [ $(uname -m) = x86_64 ]; then {both}; else {other}; fi"),
        format!("RUN case $TARGETARCH in amd64) {both} ;; arm64) {other} ;; esac"),
        format!("RUN [ \"$GPU\" ] && {both} || {other}"),
    ] {
        assert_eq!(fired(&exclusive, "conflicting-packages"), [] as [&str; 0], "{exclusive}");
    }
    for together in [
        format!("RUN {both} && {other}"),
        format!("RUN if [ \"$A\" ]; then {both}; fi\nRUN if [ \"$B\" ]; then {other}; fi"),
        format!("RUN if [ \"$A\" ]; then {both}; {other}; fi"),
    ] {
        assert!(!fired(&together, "conflicting-packages").is_empty(), "{together}");
    }
    let companions = "RUN if [ \"$CUDA\" = 11 ]; then pip install torch==2.2.2 torchvision==0.17.2; else pip install torch==2.6.0 torchvision==0.21.0; fi";
    assert_eq!(fired(companions, "requirement-conflict"), [] as [&str; 0]);
    let wrong = companions.replace("0.21.0", "0.17.2");
    assert_eq!(fired(&wrong, "requirement-conflict"), ["Dockerfile:2"]);
}

/// Engine, model and tensor parallelism of what the last stage starts.
fn started(text: &str) -> Option<(String, Option<String>, Option<i64>)> {
    let facts = facts(&[("Dockerfile", text)]);
    let launch = facts.builds.last().expect("a stage").launch.clone()?;
    Some((launch.engine.get()?.clone(), launch.model.get().cloned(), launch.tensor_parallel.get().copied()))
}

#[test]
fn entrypoint_and_command_are_what_the_image_starts() {
    let vllm = Some(("vllm".to_owned(), Some("org/m".to_owned()), Some(2)));
    for lines in [
        "ENTRYPOINT [\"vllm\", \"serve\"]\nCMD [\"org/m\", \"--tensor-parallel-size\", \"2\"]",
        "CMD [\"org/m\", \"--tensor-parallel-size\", \"2\"]\nENTRYPOINT [\"vllm\", \"serve\"]",
        "ENTRYPOINT [\"tini\", \"--\", \"vllm\", \"serve\"]\nCMD [\"org/m\", \"-tp\", \"2\"]",
        "ENTRYPOINT [\"/entrypoint.sh\"]\nCMD [\"vllm\", \"serve\", \"org/m\", \"-tp\", \"2\"]",
        "ENTRYPOINT [\"dumb-init\", \"--\"]\nCMD [\"gosu\", \"app\", \"vllm\", \"serve\", \"org/m\", \"-tp\", \"2\"]",
        "ENTRYPOINT [\"python3\", \"-m\", \"vllm.entrypoints.openai.api_server\"]\nCMD [\"--model\", \"org/m\", \"-tp\", \"2\"]",
        "ENTRYPOINT [\"tini\", \"--\"]\nCMD vllm serve org/m -tp 2",
        "CMD vllm serve org/m -tp 2",
        "ENTRYPOINT exec vllm serve org/m -tp 2\nCMD [\"--ignored\"]",
        "ENV MODEL=org/m\nCMD vllm serve $MODEL -tp 2",
    ] {
        assert_eq!(started(&format!("FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n{lines}\n")), vllm, "{lines}");
        let stages = format!("FROM nvidia/cuda:12.4.1-base-ubuntu22.04 AS base\n{lines}\nFROM base\nRUN true\n");
        assert_eq!(started(&stages), vllm, "inherited: {lines}");
    }
    let of_image = "FROM vllm/vllm-openai:v0.10.0\nCMD [\"--model\", \"org/m\", \"-tp\", \"2\"]\n";
    assert_eq!(started(of_image), vllm);
    for other in [
        "FROM vllm/vllm-openai:v0.10.0\nENTRYPOINT [\"/app/start\"]\nCMD [\"--model\", \"org/m\"]\n",
        "FROM vllm/vllm-openai:v0.10.0\nCMD [\"sleep\", \"infinity\"]\n",
        "FROM a AS base\nCMD [\"vllm\", \"serve\", \"org/m\"]\nFROM base\nENTRYPOINT [\"/app/start\"]\n",
    ] {
        assert_eq!(started(other), None, "{other}");
    }
}

#[test]
fn a_container_without_a_command_starts_what_its_image_does() {
    let dockerfile = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nENTRYPOINT [\"vllm\", \"serve\"]\nCMD [\"org/m\"]\n";
    let launch = |keys: &str| {
        let compose = format!("services:\n  s:\n    build: .\n    gpus: all\n    {keys}\n");
        let of = facts(&[("compose.yaml", &compose), ("Dockerfile", dockerfile)]);
        let compose =
            |workload: &&gpulint::facts::Workload| workload.kind.get().is_some_and(|kind| kind != "Dockerfile");
        let service = of.workloads.iter().find(compose).expect("the service");
        service.pods[0].containers[0].launch.as_ref().and_then(|launch| launch.model.get().cloned())
    };
    assert_eq!(launch("").as_deref(), Some("org/m"));
    assert_eq!(launch("command: [sleep, infinity]"), None);
    assert_eq!(launch("entrypoint: [vllm, serve, org/other]").as_deref(), Some("org/other"));
}

#[test]
fn what_a_stage_defers_runs_in_the_stages_on_it() {
    let text = "FROM python:3.12 AS base\nONBUILD RUN pip install torch==2.5.1\nFROM base\nRUN true\n";
    let of = facts(&[("Dockerfile", text)]);
    let has = |at: usize| of.builds[at].software.as_ref().is_some_and(|s| s.packages.contains_key("torch"));
    assert_eq!((has(0), has(1)), (false, true));
}

#[test]
fn mounts_and_shells_are_no_part_of_the_command() {
    for lines in [
        "RUN --mount=type=cache,target=/root/.cache pip install torch==2.5.1",
        "RUN --mount=type=cache,target=/a --mount=type=secret,id=x --network=host pip install torch==2.5.1",
        "SHELL [\"/bin/bash\", \"-eo\", \"pipefail\", \"-c\"]\nRUN pip install torch==2.5.1 | tee log",
        "RUN [\"pip\", \"install\", \"torch==2.5.1\"]",
        "RUN bash -c 'pip install torch==2.5.1'",
        "RUN <<EOF\nset -e\npip install torch==2.5.1\nEOF",
        "RUN conda run -n base pip install torch==2.5.1",
        "RUN uv pip install --system torch==2.5.1",
        "RUN . /venv/bin/activate && pip install torch==2.5.1",
    ] {
        assert_eq!(release(lines, "torch").as_deref(), Some("2.5.1"), "{lines}");
    }
}
