//! What is told in Chinese.

use crate::cli::{code, directory};
use gpulint::parse::expression::{self, Piece};
use gpulint::rules::Ruleset;
use gpulint::rules::text::{RuleText, Words};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn rules_are_told_in_chinese() {
    let rules = Ruleset::builtin();
    let without = rules.entries().iter().filter(|entry| {
        let Words { message, help, why, labels } = entry.page().zh;
        message.is_none() || help.is_none() || why.is_none() || labels.len() != entry.text().labels.len()
    });
    let without: Vec<&str> = without.map(|entry| entry.id.as_ref()).collect();
    assert!(without.is_empty(), "no Chinese, or not of all that they say (CONTRIBUTING.md): {without:?}");
}

/// The expressions of a template, without the texts in them, which are of a language, as is what ends in `_zh`.
fn expressions(template: &str) -> BTreeSet<String> {
    let pieces = expression::template(template).expect("a template that was checked");
    let expressions =
        pieces.into_iter().filter_map(|piece| if let Piece::Expr(expr) = piece { Some(expr) } else { None });
    expressions.map(|expr| template[expr.range].split('\'').step_by(2).collect::<String>().replace("_zh", "")).collect()
}

#[test]
fn the_texts_in_chinese_tell_the_same_values() {
    for entry in Ruleset::builtin().entries() {
        let (english, zh) = (entry.text(), entry.page().zh);
        let told = english.told(&zh);
        let texts = |text: &RuleText| -> Vec<String> {
            let labels = text.labels.iter().map(|(_, text)| text.clone());
            [text.message.clone(), text.help.clone()].into_iter().chain(labels).collect()
        };
        for (english, chinese) in texts(english).iter().zip(texts(&told)) {
            assert_eq!(expressions(english), expressions(&chinese), "{}: {chinese}", entry.id);
        }
        for text in [zh.message, zh.help, zh.why].into_iter().flatten().chain(zh.labels) {
            let without_values = text.split('{').map(|part| part.rsplit('}').next().unwrap_or(part));
            let words: String = without_values.collect();
            assert!(!words.is_ascii() || !words.contains(|c: char| c.is_ascii_alphabetic()), "{}: {text}", entry.id);
        }
    }
}

const SCALER: &str = "\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  minReplicas: 1
  maxReplicas: 4
  metrics:
    - type: Resource
      resource: {name: nvidia.com/gpu, target: {type: Utilization, averageUtilization: 70}}
";

fn told(root: &Path, language: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", language);
    command.current_dir(root).args(arguments).output().expect("the binary runs")
}

fn text(output: Output) -> String {
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn an_environment_or_the_command_line_asks_for_it() {
    let root =
        directory(&[("hpa.yaml", SCALER), ("broken.yaml", "kind: Pod\nspec: [\nimage: nvidia/cuda:12.4.1-base\n")]);
    let select = ["check", "--select", "hpa-resource-metric-unsupported"];
    let chinese = told(root.path(), "zh_CN.UTF-8", &select);
    assert_eq!(code(&chinese), 1);
    let chinese = text(chinese);
    let expected = [
        "错误[hpa-resource-metric-unsupported]",
        "]: Resource 类型的指标只能是 cpu 或 memory",
        "\n  建议: 改用 Pods",
        "2 个错误，0 个警告，0 条提示 · 2 个文件：1 个已理解，1 个未能理解",
    ];
    for words in expected {
        assert!(chinese.contains(words), "{words}\n{chinese}");
    }
    for arguments in [&["--lang", "en"][..], &["--lang", "zh"]] {
        let language = if arguments[1] == "en" { "zh_CN.UTF-8" } else { "en_US.UTF-8" };
        let said = text(told(root.path(), language, &[&select[..], arguments].concat()));
        assert_eq!(said == chinese, arguments[1] == "zh", "--lang wins\n{said}");
    }
    let page = text(told(root.path(), "C", &["explain", "hpa-resource-metric-unsupported", "--lang", "zh"]));
    assert!(page.contains("metrics-server 只采集 cpu 和 memory") && page.contains("参考资料："), "{page}");
}

#[test]
fn a_finding_is_the_same_one_in_every_language() {
    let root = directory(&[("hpa.yaml", SCALER)]);
    let diagnostics = |language: &str| {
        let said = text(told(root.path(), language, &["check", "--format", "json"]));
        let report: Value = serde_json::from_str(&said).expect("JSON");
        let diagnostics = report["diagnostics"].as_array().expect("a list").clone();
        let strings = |key: &str| diagnostics.iter().map(|one| one[key].to_string()).collect::<Vec<_>>();
        (strings("message"), strings("fingerprint"))
    };
    let ((english, fingerprints), (chinese, same)) = (diagnostics("C"), diagnostics("zh_CN"));
    assert!(english != chinese && !same.is_empty());
    assert_eq!(fingerprints, same);
    let said = text(told(root.path(), "zh_CN", &["check", "--format", "sarif"]));
    let log: Value = serde_json::from_str(&said).expect("JSON");
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0]["help"]["markdown"];
    assert!(rule.as_str().is_some_and(|page| page.contains("**处理办法**")), "{rule}");
}

#[test]
fn the_words_of_added_rules_are_checked_and_told() {
    let rule = "\
id: gpu-job
pack: acme
severity: warning
applies_to: {object: {kind: Job}}
forbid: \"body.metadata.name != null\"
at: body.metadata.name
labels: [{at: body.kind, text: a job}]
message: \"nobody owns {body.metadata.name}\"
help: label it
why: nobody is asked
zh: {message: \"{body.metadata.name} 没有负责人\", labels: [任务]}
references: ['https://example.com']
examples: [{fires: {a.yaml: 'kind: Job'}}]
";
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\n";
    let run = |rule: &str| {
        let root = directory(&[("packs/gpu-job.yaml", rule), ("k8s/job.yaml", job)]);
        let arguments = ["check", "k8s", "--rules", "packs", "--select", "acme", "--lang", "zh"];
        told(root.path(), "C", &arguments)
    };
    let said = text(run(rule));
    assert!(said.contains("train 没有负责人") && said.contains("任务") && said.contains("label it"), "{said}");
    for (right, wrong, told) in
        [("labels: [任务]", "labels: [a, b]", "1 labels"), ("{body.metadata.name} 没", "{x} 没", "x")]
    {
        let refused = run(&rule.replace(right, wrong));
        let complaint = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(code(&refused) == 2 && complaint.contains("zh") && complaint.contains(told), "{complaint}");
    }
}
