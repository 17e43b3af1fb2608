//! Launches as manifests of many kinds: `check` says what the ledger says, at the setting that decides.

mod launches;

use launches::LAUNCHES;
use std::path::Path;
use std::process::Command;

fn gpulint(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).output().expect("gpulint runs");
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// A launch, and what is to be found at which text.
struct Case {
    kind: &'static str,
    image: &'static str,
    args: &'static [&'static str],
    gpu: &'static str,
    gpus: u64,
    finding: Option<(&'static str, &'static str)>,
}

const VLLM: &str = "vllm/vllm-openai:v0.11.0";
const SGLANG: &str = "lmsysorg/sglang:v0.5.3";
const TGI: &str = "ghcr.io/huggingface/text-generation-inference:2.2.0";
const L4: &str = "NVIDIA-L4";
const A100: &str = "NVIDIA-A100-SXM4-80GB";
const H100: &str = "NVIDIA-H100-80GB-HBM3";
const LLAMA_8B: &str = "meta-llama/Llama-3.1-8B-Instruct";
const LLAMA_70B: &str = "meta-llama/Llama-3.1-70B-Instruct";

const CASES: &[Case] = &[
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", LLAMA_8B],
        gpu: L4,
        gpus: 1,
        finding: Some(("longest-request-does-not-fit", LLAMA_8B)),
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", LLAMA_8B, "--max-model-len", "16384"],
        gpu: L4,
        gpus: 1,
        finding: None,
    },
    Case {
        kind: "StatefulSet",
        image: VLLM,
        args: &["--model", LLAMA_8B, "--max-model-len", "90000"],
        gpu: L4,
        gpus: 1,
        finding: Some(("longest-request-does-not-fit", "90000")),
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", LLAMA_8B, "--max-model-len", "64k", "--kv-cache-dtype", "fp8"],
        gpu: "NVIDIA-A10G",
        gpus: 1,
        finding: Some(("memory-tight", "64k")),
    },
    Case {
        kind: "Pod",
        image: VLLM,
        args: &["--model", LLAMA_70B],
        gpu: A100,
        gpus: 1,
        finding: Some(("model-does-not-fit", LLAMA_70B)),
    },
    Case {
        kind: "Pod",
        image: VLLM,
        args: &["--model", LLAMA_70B, "--tensor-parallel-size", "4", "--max-model-len", "32768"],
        gpu: A100,
        gpus: 4,
        finding: None,
    },
    Case {
        kind: "Job",
        image: VLLM,
        args: &[
            "--model",
            LLAMA_70B,
            "--tensor-parallel-size",
            "2",
            "--quantization",
            "fp8",
            "--max-model-len",
            "8192",
        ],
        gpu: H100,
        gpus: 2,
        finding: None,
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", LLAMA_8B, "--max-model-len", "8192", "--tensor-parallel-size", "3"],
        gpu: L4,
        gpus: 3,
        finding: Some(("heads-not-divisible", "3")),
    },
    Case {
        kind: "Pod",
        image: VLLM,
        args: &["--model", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len", "8192", "--tensor-parallel-size", "8"],
        gpu: H100,
        gpus: 8,
        finding: Some(("heads-not-divisible", "8")),
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", LLAMA_8B, "--max-model-len", "8192", "--gpu-memory-utilization", "1.0"],
        gpu: A100,
        gpus: 1,
        finding: Some(("memory-utilization-leaves-no-room", "1.0")),
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", "openai/gpt-oss-120b", "--max-model-len", "32768"],
        gpu: H100,
        gpus: 1,
        finding: Some(("memory-tight", "openai/gpt-oss-120b")),
    },
    Case { kind: "Deployment", image: VLLM, args: &["--model", "openai/gpt-oss-20b"], gpu: L4, gpus: 1, finding: None },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", "deepseek-ai/DeepSeek-R1", "--tensor-parallel-size", "8"],
        gpu: H100,
        gpus: 8,
        finding: Some(("model-does-not-fit", "deepseek-ai/DeepSeek-R1")),
    },
    Case {
        kind: "ReplicaSet",
        image: VLLM,
        args: &["--model", "mistralai/Mixtral-8x7B-Instruct-v0.1", "--max-model-len", "8192"],
        gpu: A100,
        gpus: 1,
        finding: Some(("model-does-not-fit", "mistralai/Mixtral-8x7B-Instruct-v0.1")),
    },
    Case {
        kind: "DaemonSet",
        image: VLLM,
        args: &["--model", "TheBloke/Mixtral-8x7B-Instruct-v0.1-AWQ", "--max-model-len", "8192"],
        gpu: A100,
        gpus: 1,
        finding: None,
    },
    Case {
        kind: "Deployment",
        image: SGLANG,
        args: &["python3", "-m", "sglang.launch_server", "--model-path", LLAMA_70B],
        gpu: A100,
        gpus: 1,
        finding: Some(("model-does-not-fit", LLAMA_70B)),
    },
    Case {
        kind: "Deployment",
        image: SGLANG,
        args: &["python3", "-m", "sglang.launch_server", "--model-path", LLAMA_8B],
        gpu: A100,
        gpus: 1,
        finding: None,
    },
    Case {
        kind: "StatefulSet",
        image: SGLANG,
        args: &["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen2.5-72B-Instruct", "--tp", "2"],
        gpu: L4,
        gpus: 2,
        finding: Some(("model-does-not-fit", "Qwen/Qwen2.5-72B-Instruct")),
    },
    Case {
        kind: "Deployment",
        image: TGI,
        args: &["--model-id", LLAMA_70B],
        gpu: L4,
        gpus: 2,
        finding: Some(("model-does-not-fit", LLAMA_70B)),
    },
    Case {
        kind: "Deployment",
        image: TGI,
        args: &["--model-id", LLAMA_70B, "--num-shard", "4"],
        gpu: H100,
        gpus: 4,
        finding: None,
    },
    Case { kind: "Pod", image: TGI, args: &["--model-id", LLAMA_8B], gpu: L4, gpus: 1, finding: None },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", "somebody/unheard-of-70b"],
        gpu: L4,
        gpus: 1,
        finding: None,
    },
    Case {
        kind: "Deployment",
        image: VLLM,
        args: &["--model", "Qwen/Qwen3-Next-80B-A3B-Instruct"],
        gpu: L4,
        gpus: 1,
        finding: None,
    },
];

/// The rules of the ledger.
const RULES: &str = "model-does-not-fit,longest-request-does-not-fit,memory-tight,heads-not-divisible,memory-utilization-leaves-no-room";

/// The launch as a manifest of its kind.
fn manifest(case: &Case) -> String {
    let args = case.args.iter().map(|a| format!("\"{a}\"")).collect::<Vec<_>>().join(", ");
    let (image, gpus, gpu) = (case.image, case.gpus, case.gpu);
    let pod = format!(
        "{{nodeSelector: {{nvidia.com/gpu.product: {gpu}}}, restartPolicy: Never, containers: [{{name: llm, image: '{image}', args: [{args}], resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}"
    );
    match case.kind {
        "Pod" => format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: llm}}\nspec: {pod}\n"),
        "Job" => {
            format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{name: llm}}\nspec: {{template: {{spec: {pod}}}}}\n")
        }
        kind => format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: llm}}\nspec: {{selector: {{matchLabels: {{app: llm}}}}, template: {{metadata: {{labels: {{app: llm}}}}, spec: {pod}}}}}\n"
        ),
    }
}

#[test]
fn manifests_of_many_kinds_are_judged_at_the_setting_that_decides() {
    let mut wrong = Vec::new();
    for (index, case) in CASES.iter().enumerate() {
        let directory = tempfile::tempdir().expect("a directory");
        let text = manifest(case);
        std::fs::write(directory.path().join("app.yaml"), &text).expect("a file");
        let path = directory.path().to_string_lossy().into_owned();
        let report = gpulint(&["check", "--format", "json", "--select", RULES, "--exit-zero", "--quiet", &path]);
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let found: Vec<(&str, String)> = report["diagnostics"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|d| {
                let column = |end: &str| d["range"][end]["column"].as_u64().expect("a column") as usize - 1;
                let line = d["range"]["start"]["line"].as_u64().expect("a line") as usize - 1;
                let line = text.lines().nth(line).expect("a line");
                (d["rule"].as_str().expect("a rule"), line[column("start")..column("end")].trim_matches('"').to_owned())
            })
            .collect();
        let wanted: Vec<(&str, String)> = case.finding.iter().map(|(rule, at)| (*rule, (*at).to_owned())).collect();
        if found != wanted {
            wrong.push(format!("{index}: {} {:?} on {} x {}: {found:?}", case.kind, case.args, case.gpus, case.gpu));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a report found: rules and the texts that they stand at, by file.
fn found(directory: &Path) -> Vec<(String, String, String)> {
    let path = directory.to_string_lossy().into_owned();
    let report = gpulint(&["check", "--format", "json", "--select", RULES, "--exit-zero", "--quiet", &path]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let read = |d: &serde_json::Value| {
        let file = d["path"].as_str().expect("a path").to_owned();
        let text = std::fs::read_to_string(&file).expect("the file");
        let number = |end: &str, unit: &str| d["range"][end][unit].as_u64().expect("a number") as usize - 1;
        let line = text.lines().nth(number("start", "line")).expect("a line");
        let at = line[number("start", "column")..number("end", "column")].trim_matches('"').to_owned();
        let name = Path::new(&file).strip_prefix(directory).expect("a file of the run").to_string_lossy().into_owned();
        (name, d["rule"].as_str().expect("a rule").to_owned(), at)
    };
    report["diagnostics"].as_array().expect("a list").iter().map(read).collect()
}

#[test]
fn launches_of_every_format_are_judged() {
    let mut wrong = Vec::new();
    for (name, rule, files) in LAUNCHES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut wanted = Vec::new();
        for (file, text) in *files {
            if let Some((_, rest)) = text.split_once('‹') {
                let marked = rest.split('›').next().expect("an end");
                wanted.push(((*file).to_owned(), (*rule).to_owned(), marked.to_owned()));
            }
            let path = directory.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, text.replace(['‹', '›'], "")).expect("a file");
        }
        let found = found(directory.path());
        if found != wanted {
            wrong.push(format!("{name}: {found:?} instead of {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The answer of `gpulint vram` as JSON.
fn answer(arguments: &[&str]) -> serde_json::Value {
    let mut all = vec!["vram", "--format", "json"];
    all.extend(arguments);
    serde_json::from_str(&gpulint(&all)).expect("JSON")
}

#[test]
fn the_command_line_says_the_same_of_the_same_launch() {
    for case in CASES.iter().filter(|case| case.image == VLLM && !case.args.contains(&"64k")) {
        let gpus = case.gpus.to_string();
        let mut asked = vec!["--engine-version", "0.11.0", "--gpu", case.gpu, "--gpus", &gpus];
        asked.extend(case.args);
        let verdict = answer(&asked)["verdict"].as_str().expect("a verdict").to_owned();
        let wanted: &[&str] = match case.finding {
            Some(("memory-tight", _)) => &["tight"],
            // Who asks about a model alone may choose a shorter length.
            Some(("longest-request-does-not-fit", _)) if !case.args.contains(&"--max-model-len") => &["tight"],
            Some(_) => &["does-not-fit"],
            None => &["fits", "unknown"],
        };
        assert!(wanted.contains(&verdict.as_str()), "{:?} on {gpus} x {}: {verdict}", case.args, case.gpu);
    }
}

/// Launches of public reports that were read after the formulas had been written: source, whether it started, arguments.
const REPORTS: &[(&str, bool, &str)] = &[
    (
        "QwenLM/Qwen3#12",
        false,
        "--engine-version 0.3.0 --model Qwen/Qwen1.5-14B-Chat --gpu V100-SXM2-32GB --gpu-memory-utilization 0.95 --max-model-len 32768",
    ),
    (
        "QwenLM/Qwen3#295",
        false,
        "--engine-version 0.4.0 --model Qwen/Qwen1.5-7B-Chat --gpu RTX-3090 --max-model-len 32768",
    ),
    (
        "vllm-project/vllm#13882",
        false,
        "--engine-version 0.7.3 --model Qwen/Qwen2.5-7B-Instruct-AWQ --gpu RTX-4060 --gpu-memory-gib 8 --gpu-memory-utilization 0.7 --max-model-len 4096",
    ),
    (
        "vllm-project/vllm#10517",
        false,
        "--engine-version 0.5.4 --model meta-llama/Llama-3.1-70B-Instruct --gpu H100-SXM --gpus 2 --max-model-len 131072",
    ),
    (
        "deepseek-ai/DeepSeek-V2#83",
        false,
        "--engine-version 0.5.4 --model deepseek-ai/DeepSeek-V2 --gpu A100-SXM4-80GB --gpus 8 --max-model-len 163840",
    ),
    (
        "vllm-project/vllm#17327",
        false,
        "--engine-version 0.8.5 --model Qwen/Qwen3-235B-A22B --gpu H20 --gpu-memory-gib 95.1 --gpus 4",
    ),
    (
        "vllm-project/vllm#17327",
        true,
        "--engine-version 0.8.5 --model Qwen/Qwen3-235B-A22B --gpu H20 --gpu-memory-gib 95.1 --gpus 8",
    ),
    (
        "vllm-project/vllm#32773",
        false,
        "--engine-version 0.14.0 --model Qwen/Qwen3-30B-A3B --gpu H100-SXM --quantization fp8",
    ),
    (
        "vllm-project/vllm#31273",
        false,
        "--engine-version 0.13.0 --model Qwen/Qwen2.5-72B-Instruct --gpu H20 --gpu-memory-gib 139.72 --quantization fp8",
    ),
    (
        "vllm-project/vllm#31273",
        true,
        "--engine-version 0.12.0 --model Qwen/Qwen2.5-72B-Instruct --gpu H20 --gpu-memory-gib 139.72 --quantization fp8",
    ),
    (
        "vllm-project/vllm#12569",
        true,
        "--engine-version 0.7.0 --model neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8 --gpu H100-SXM --max-model-len 2048 --gpu-memory-utilization 0.98",
    ),
    (
        "huggingface/text-generation-inference#2301",
        false,
        "--engine tgi --engine-version 2.2.0 --model meta-llama/Llama-3.1-70B-Instruct --gpu H100-SXM --gpus 4 --max-model-len 139264 --max-num-batched-tokens 131122",
    ),
    (
        "huggingface/text-generation-inference#2301",
        true,
        "--engine tgi --engine-version 2.2.0 --model meta-llama/Llama-3.1-70B-Instruct --gpu H100-SXM --gpus 4 --max-model-len 69632 --max-num-batched-tokens 65586",
    ),
    (
        "huggingface/text-generation-inference#2744",
        true,
        "--engine tgi --engine-version 2.4.0 --model meta-llama/Llama-3.1-70B-Instruct --gpu A100-SXM4-80GB --gpus 2 --max-model-len 10049 --max-num-batched-tokens 10049",
    ),
    (
        "sgl-project/sglang#4895",
        false,
        "--engine sglang --engine-version 0.4.4 --model google/gemma-3-27b-it --gpu RTX-4090 --quantization awq",
    ),
];

#[test]
fn reports_that_nothing_was_made_for() {
    for (source, started, arguments) in REPORTS {
        let arguments: Vec<&str> = arguments.split_ascii_whitespace().collect();
        let verdict = answer(&arguments)["verdict"].as_str().expect("a verdict").to_owned();
        let wrong = if *started { "does-not-fit" } else { "fits" };
        assert!(verdict != wrong && verdict != "unknown", "{source}: {verdict}");
    }
}

#[test]
fn numbers_of_the_guides() {
    // 175 billion parameters in 16 bits are 326 GiB: more than 4 x A100 80GB, which hold 317.
    let gpt3 =
        answer(&["--model", "(paper) GPT-3 175B", "--gpu", "A100-80GB", "--gpus", "4", "--max-model-len", "2048"]);
    assert_eq!(gpt3["verdict"], "does-not-fit");
    let weights = gpt3["per_gpu"]["weights_gib"].as_f64().expect("a number");
    assert!((weights - 326.3 / 4.0).abs() < 1.0, "{weights}");
    let eight =
        answer(&["--model", "(paper) GPT-3 175B", "--gpu", "A100-80GB", "--gpus", "8", "--max-model-len", "2048"]);
    assert_eq!(eight["verdict"], "fits");

    // Adam in mixed precision: 16 bytes a parameter before any activation.
    let train = answer(&[
        "--task",
        "train",
        "--engine",
        "transformers+deepspeed",
        "--model",
        "meta-llama/Llama-3.1-8B-Instruct",
        "--gpu",
        "H200",
        "--batch-size",
        "1",
        "--seq-len",
        "512",
        "--method",
        "full",
        "--gradient-checkpointing",
        "--zero-stage",
        "1",
    ]);
    let states: f64 = train["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .filter(|p| matches!(p["name"].as_str(), Some("weights" | "gradients" | "optimizer states")))
        .map(|p| p["gib"].as_f64().expect("a number"))
        .sum();
    let bytes = states * 1024.0_f64.powi(3) / 8.03e9;
    assert!((bytes - 16.0).abs() < 0.2, "{bytes} bytes a parameter");

    // Fine-tuning BERT-base takes 6-8 GB at most.
    let bert = answer(&[
        "--task",
        "train",
        "--engine",
        "transformers",
        "--model",
        "google-bert/bert-base-uncased",
        "--gpu",
        "T4",
        "--batch-size",
        "16",
        "--seq-len",
        "256",
        "--method",
        "full",
    ]);
    let total = bert["per_gpu"]["total_gib"].as_f64().expect("a number");
    assert!((3.0..8.0).contains(&total), "{total}");
    assert_eq!(bert["verdict"], "fits");
}

#[test]
fn what_cannot_be_told_is_not_guessed() {
    let answer = answer(&["--model", "somebody/unheard-of", "--gpu", "L4"]);
    assert_eq!(answer["verdict"], "unknown");
    assert!(answer["per_gpu"]["weights_gib"].is_null());
}

#[test]
fn a_table_for_people_and_what_to_rent() {
    let table = gpulint(&["vram", "--model", LLAMA_70B, "--gpu", "H100", "--gpus", "4", "--max-model-len", "32768"]);
    assert!(table.contains("weights") && table.contains("█") && table.contains("fits: "), "{table}");
    assert!(table.contains("H100 is taken for H100-PCIE; it may also be H100-SXM"), "{table}");
    let list = gpulint(&["vram", "--model", LLAMA_8B, "--max-model-len", "8192", "--recommend"]);
    let prices: Vec<f64> = list
        .lines()
        .filter_map(|line| {
            line.split(" USD/h").next().filter(|head| head.len() < line.len())?.rsplit(' ').next()?.parse().ok()
        })
        .collect();
    assert!(prices.len() > 3 && prices.is_sorted(), "{list}");
}
