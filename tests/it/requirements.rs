//! Pins that one call of a resolver cannot install together.

use crate::languages::{places, run};
use gpulint::rules::Ruleset;

/// What is said of the pins of some files, with the text of the other end.
fn says(files: &[(&str, &str)]) -> Vec<String> {
    let outcome = run(files, &Ruleset::builtin());
    let found = outcome.evaluation.findings.iter().filter(|finding| finding.rule == "requirement-conflict");
    found.map(|finding| finding.message.clone()).collect()
}

/// What is said of a requirements file.
fn listed(lines: &str) -> Vec<String> {
    says(&[("requirements.txt", lines)])
}

#[test]
fn both_ends_are_told() {
    let files = [("requirements.txt", "torch==2.2.0\nvllm==0.6.3\n")];
    assert_eq!(says(&files), ["vllm 0.6.3 requires torch==2.4.0, and torch==2.2.0 is asked for"]);
    let outcome = run(&files, &Ruleset::builtin());
    assert_eq!(places(&outcome, "requirement-conflict"), ["requirements.txt:2"]);
    let finding = outcome.evaluation.findings.iter().find(|finding| finding.rule == "requirement-conflict");
    let other = &finding.expect("a finding").related[0];
    assert_eq!(outcome.sources.get(other.span.source).position(other.span.start).line, 1);
    assert_eq!(
        listed("torchvision==0.20.1\nxformers==0.0.28.post1\n"),
        ["xformers 0.0.28.post1 requires torch==2.4.1, and torchvision 0.20.1 requires torch==2.5.1"]
    );
}

#[test]
fn each_release_is_held_against_what_is_stated() {
    let lines = "torch==2.5.1\nvllm==0.8.5\nxformers==0.0.27\n";
    let said = listed(lines);
    assert!(said.contains(&"vllm 0.8.5 requires torch==2.6.0, and torch==2.5.1 is asked for".to_owned()), "{said:?}");
    assert!(said.contains(&"xformers 0.0.27 requires torch==2.3.1, and torch==2.5.1 is asked for".to_owned()));
}

#[test]
fn help_names_a_release_that_fits() {
    let outcome = run(&[("requirements.txt", "torch==2.5.1\ntorchvision==0.17.2\n")], &Ruleset::builtin());
    let finding = outcome.evaluation.findings.iter().find(|finding| finding.rule == "requirement-conflict");
    assert_eq!(finding.and_then(|finding| finding.help.as_deref()), Some("take torchvision==0.20.1 or torch==2.2.2"));
}

#[test]
fn a_chain_of_exact_requirements_leads_to_a_conflict() {
    let install = |python: &str| format!("FROM python:{python}-slim\nRUN pip install vllm==0.4.1 triton==2.1.0\n");
    let told = "vllm 0.4.1 requires torch==2.2.1, which requires triton==2.2.0, and triton==2.1.0 is asked for";
    assert_eq!(says(&[("Dockerfile", &install("3.11"))]), [told]);
    assert_eq!(says(&[("Dockerfile", &install("3.12"))]), [] as [&str; 0], "torch requires no Triton there");
    assert_eq!(listed("vllm==0.4.1\ntriton==2.1.0\n"), [] as [&str; 0], "any Python may be there");
}

#[test]
fn an_extra_requires_what_the_package_alone_does_not() {
    assert_eq!(
        listed("sglang[srt]==0.4.6\ntorch==2.5.1\n"),
        ["sglang 0.4.6 requires torch==2.6.0, and torch==2.5.1 is asked for"]
    );
    assert_eq!(listed("sglang==0.4.6\ntorch==2.5.1\n"), [] as [&str; 0]);
}

#[test]
fn only_what_is_resolved_together_is_refused() {
    let base = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n";
    let together = format!("{base}RUN pip install torch==2.2.0 torchvision==0.19.0\n");
    assert_eq!(says(&[("Dockerfile", &together)]).len(), 1);
    let apart = format!("{base}RUN pip install torch==2.2.0\nRUN pip install torchvision==0.19.0\n");
    assert_eq!(says(&[("Dockerfile", &apart)]), [] as [&str; 0]);
    let script = "pip install torch==2.2.0\npip install torchvision==0.19.0\n";
    assert_eq!(says(&[("install.sh", script)]), [] as [&str; 0]);
    let heredoc = |lines: &str| format!("{base}RUN <<EOF\n{lines}EOF\n");
    assert_eq!(says(&[("Dockerfile", &heredoc(script))]), [] as [&str; 0]);
    assert_eq!(says(&[("Dockerfile", &heredoc("pip install torch==2.2.0 torchvision==0.19.0\n"))]).len(), 1);
    for option in ["--no-deps", "--override pins.txt", "--extra-index-url https://wheels.example.com/simple"] {
        let text = format!("{base}RUN uv pip install {option} torch==2.2.0 torchvision==0.19.0\n");
        assert_eq!(says(&[("Dockerfile", &text)]), [] as [&str; 0], "{option}");
    }
    let pytorch = "--index-url https://download.pytorch.org/whl/cu121";
    let text = format!("{base}RUN pip install torch==2.2.0+cu121 torchvision==0.19.0+cu121 {pytorch}\n");
    assert_eq!(says(&[("Dockerfile", &text)]).len(), 1);
    let triton = format!("FROM python:3.11\nRUN pip install torch==2.2.0+cu121 triton==2.1.0 {pytorch}\n");
    assert_eq!(says(&[("Dockerfile", &triton)]), [] as [&str; 0], "another build may bring another Triton");
}

#[test]
fn what_may_be_another_release_is_not_judged() {
    for lines in [
        "torch>=2.2\nvllm==0.6.3\n",
        "torch==2.4.0+cu121\nvllm==0.6.3\n",
        "torch==2.2.0\nvllm==0.6.3.dev1\n",
        "torch==2.2.0\nvllm @ https://wheels.example.com/vllm-0.6.3-py3-none-any.whl\n",
        "torch==2.2.0 ; sys_platform == 'darwin'\nvllm==0.6.3\n",
        "torch==$TORCH\nvllm==0.6.3\n",
    ] {
        assert_eq!(listed(lines), [] as [&str; 0], "{lines}");
    }
}
