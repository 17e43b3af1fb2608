//! What the languages of files say, and what they leave open: presence without a value, conditions of packages, variables
//! of scripts, layers of projects, programs behind wrappers. Each over several formats.

use gpulint::discover::{Kind, kind_of};
use gpulint::facts::Facts;
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::{SourceId, Span};

pub fn run(files: &[(&str, &str)], rules: &Ruleset) -> Outcome {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_owned(),
        kind: kind_of(path).unwrap_or(Kind::Data),
        text: (*text).to_owned(),
        repository: 0,
    };
    lint::run(files.iter().map(input).collect(), Facts::default(), Vec::new(), rules)
}

/// `path:line` of the places at which a rule fires.
pub fn places(outcome: &Outcome, rule: &str) -> Vec<String> {
    let place = |span: Span| {
        let source = outcome.sources.get(span.source);
        format!("{}:{}", source.path, source.position(span.start).line)
    };
    outcome.evaluation.findings.iter().filter(|f| f.rule == rule).map(|f| place(f.span)).collect()
}

/// What a condition on raw resources says of files: `fires`, `silent` or `undecided`.
pub fn answer(condition: &str, applies_to: &str, files: &[(&str, &str)]) -> &'static str {
    let rule = format!(
        "id: asked\npack: asked\nseverity: error\nconfidence: high\napplies_to: {applies_to}\nforbid: \"{condition}\"\n\
         message: asked\nhelp: asked\nwhy: asked\nreferences: ['https://example.com']\nexamples:\n- fires: {{a.yaml: ''}}\n- silent: {{a.yaml: ''}}\n  because: asked\n"
    );
    let mut rules = Ruleset::empty();
    let problems = rules.add(SourceId(files.len() as u32), "asked.yaml", &rule);
    assert!(problems.is_empty(), "{problems:?}");
    let outcome = run(files, &rules);
    match (outcome.evaluation.findings.is_empty(), outcome.evaluation.undecided.is_empty()) {
        (false, _) => "fires",
        (true, false) => "undecided",
        (true, true) => "silent",
    }
}

#[test]
fn a_value_that_cannot_be_told_is_stated_all_the_same() {
    let volume = "{resource: {type: [aws_ebs_volume, 'AWS::EC2::Volume']}}";
    let terraform =
        |value: &str| format!("variable \"k\" {{}}\nresource \"aws_ebs_volume\" \"v\" {{\n  key = {value}\n}}\n");
    for value in [
        "aws_kms_key.k.arn",
        "var.k",
        "data.aws_kms_key.k.arn",
        "module.k.arn",
        "\"${var.k}-x\"",
        "var.k ? \"a\" : \"b\"",
    ] {
        let file = terraform(value);
        assert_eq!(answer("body.key == null", volume, &[("main.tf", &file)]), "silent", "{value}");
        assert_eq!(answer("body.key != null", volume, &[("main.tf", &file)]), "fires", "{value}");
    }
    for value in ["var.k ? aws_kms_key.k.arn : null", "one(aws_kms_key.k[*].arn)", "try(aws_kms_key.k.arn, null)"] {
        let file = terraform(value);
        assert_eq!(answer("body.key == null", volume, &[("main.tf", &file)]), "undecided", "{value}");
    }
    assert_eq!(answer("body.key == null", volume, &[("main.tf", &terraform("null"))]), "fires");
    let template =
        |value: &str| format!("Resources:\n  V:\n    Type: AWS::EC2::Volume\n    Properties:\n      key: {value}\n");
    for value in ["!Ref Key", "!GetAtt Key.Arn", "{Ref: Key}", "{'Fn::GetAtt': [Key, Arn]}", "!If [C, !Ref A, !Ref B]"]
    {
        let file = template(value);
        assert_eq!(answer("body.key == null", volume, &[("stack.yaml", &file)]), "silent", "{value}");
    }
    let no_value = "{'Fn::If': [C, {Ref: Key}, {Ref: 'AWS::NoValue'}]}";
    for value in ["!If [C, !Ref Key, !Ref AWS::NoValue]", no_value] {
        let file = template(value);
        assert_eq!(answer("body.key == null", volume, &[("stack.yaml", &file)]), "undecided", "{value}");
    }
    assert_eq!(answer("body.key == null", volume, &[("stack.yaml", &template("!Ref AWS::NoValue"))]), "fires");
}

#[test]
fn what_is_below_something_unknown_may_not_be_there() {
    let object = "{object: {kind: StorageClass}}";
    let class = |parameters: &str| {
        format!(
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: a}}\nparameters:\n  {parameters}\n"
        )
    };
    for (parameters, expected) in [
        ("kmsKeyId: ${KEY}", "silent"),
        ("kmsKeyId: <your key>", "silent"),
        ("kmsKeyId: '{{ key }}'", "silent"),
        ("type: gp3", "fires"),
    ] {
        let file = class(parameters);
        assert_eq!(
            answer("body.parameters.kmsKeyId == null", object, &[("class.yaml", &file)]),
            expected,
            "{parameters}"
        );
    }
    let open = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nparameters: {{ parameters }}\n";
    assert_eq!(answer("body.parameters.kmsKeyId == null", object, &[("class.yaml.j2", open)]), "undecided");
    assert_eq!(answer("body.parameters == null", object, &[("class.yaml.j2", open)]), "silent");
    let image =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: \"${IMAGE}\"}]}\n";
    assert_eq!(answer("image.reference == null", "container", &[("pod.yaml", image)]), "silent");
    assert_eq!(answer("image.tag == null", "container", &[("pod.yaml", image)]), "undecided");
    assert_eq!(answer("min_driver(software.cuda) != null", "container", &[("pod.yaml", image)]), "undecided");
}

/// Package rules that fire, with their places.
fn packages(files: &[(&str, &str)]) -> Vec<String> {
    let outcome = run(files, &Ruleset::builtin());
    let rules = ["conflicting-packages", "framework-not-pinned", "requirement-conflict", "torch-vulnerable"];
    rules
        .iter()
        .flat_map(|rule| places(&outcome, rule).into_iter().map(move |place| format!("{rule} {place}")))
        .collect()
}

#[test]
fn packages_that_exclude_each_other_are_no_conflict() {
    let mismatch = "requirement-conflict";
    for (path, exclusive, together) in [
        (
            "requirements.txt",
            "torch==2.6.0 ; sys_platform != 'darwin'\ntorch==2.2.2 ; sys_platform == 'darwin'\ntorchvision==0.21.0\n",
            "torch==2.2.2 ; python_version > '3.8'\ntorchvision==0.21.0\n",
        ),
        (
            "pyproject.toml",
            "[project]\nname = 'x'\ndependencies = []\n[project.optional-dependencies]\nold = ['torch==2.2.2', 'torchvision==0.17.2']\nnew = ['torch==2.6.0', 'torchvision==0.21.0']\n",
            "[project]\nname = 'x'\ndependencies = ['torch==2.2.2']\n[project.optional-dependencies]\nnew = ['torchvision==0.21.0']\n",
        ),
        (
            "pyproject.toml",
            "[dependency-groups]\nold = ['torch==2.2.2']\nnew = ['torch==2.6.0', 'torchvision==0.21.0']\n",
            "[dependency-groups]\nold = ['torch==2.2.2']\nnew = [{include-group = 'old'}, 'torchvision==0.21.0']\n",
        ),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\ntorch = [{version = '2.2.2', markers = \"python_version < '3.9'\"}, {version = '2.6.0', python = '>=3.9'}]\ntorchvision = {version = '0.21.0', python = '>=3.9'}\n",
            "[tool.poetry.dependencies]\ntorch = '2.2.2'\n[tool.poetry.group.vision.dependencies]\ntorchvision = '0.21.0'\n",
        ),
        (
            "Pipfile",
            "[packages]\ntorch = {version = '==2.2.2', sys_platform = \"== 'darwin'\"}\n[dev-packages]\ntorchvision = '==0.21.0'\n",
            "[packages]\ntorch = '==2.2.2'\n[dev-packages]\ntorchvision = '==0.21.0'\n",
        ),
    ] {
        let fired = |text: &str| packages(&[(path, text)]).iter().any(|found| found.starts_with(mismatch));
        assert!(!fired(exclusive), "{path}: {exclusive}");
        assert!(fired(together), "{path}: {together}");
    }
    let machines =
        "onnxruntime-gpu==1.20.0; platform_machine == 'x86_64'\nonnxruntime==1.20.0; platform_machine != 'x86_64'\n";
    assert_eq!(packages(&[("requirements.txt", machines)]), [] as [String; 0]);
    let nightlies = "torch==2.6.0.dev20241112\ntorchvision==0.20.0.dev20241112\n";
    assert!(!packages(&[("requirements.txt", nightlies)]).iter().any(|found| found.starts_with(mismatch)));
}

#[test]
fn constraints_pin_what_is_installed_and_install_nothing() {
    let pins = "torch==2.6.0\ntorchvision==0.17.2\n";
    assert_eq!(packages(&[("constraints.txt", pins)]), [] as [String; 0]);
    let alone = [("docker/Dockerfile", "FROM python:3.12\nRUN pip install torch\n")];
    assert_eq!(packages(&alone), ["framework-not-pinned docker/Dockerfile:2"]);
    let held = "FROM python:3.12\nCOPY constraints.txt .\nRUN pip install -c constraints.txt torch\n";
    assert_eq!(packages(&[("docker/Dockerfile", held), ("docker/constraints.txt", pins)]), [] as [String; 0]);
    let listed = [("requirements.txt", "-c constraints.txt\ntorch\ntorchvision\n"), ("constraints.txt", pins)];
    assert_eq!(packages(&listed), ["requirement-conflict requirements.txt:3"]);
    let included = [
        ("a.requirements.txt", "-r base/requirements.txt\ntorchvision==0.17.2\n"),
        ("base/requirements.txt", "torch==2.6.0\n"),
    ];
    assert_eq!(packages(&included), ["requirement-conflict a.requirements.txt:2"]);
}

#[test]
fn a_build_installs_the_extras_that_it_asks_for_in_its_environment() {
    let project = "[project]\nname = 'x'\nrequires-python = '>=3.9'\ndependencies = [\"numpy<2; python_version < '3.10'\"]\n[project.optional-dependencies]\ngpu = ['torch==2.6.0']\n";
    let of = |install: &str| {
        let dockerfile = format!("FROM python:3.12\nCOPY . .\nRUN {install}\n");
        let outcome = run(&[("Dockerfile", &dockerfile), ("pyproject.toml", project)], &Ruleset::empty());
        let software = outcome.facts.builds[0].software.clone().expect("software");
        software.packages.keys().filter(|name| *name != "pip").cloned().collect::<Vec<_>>()
    };
    assert_eq!(of("pip install ."), [] as [&str; 0]);
    for install in
        ["pip install .[gpu]", "uv sync --extra gpu", "poetry install --extras gpu", "uv pip install -e '.[gpu]'"]
    {
        assert_eq!(of(install), ["torch"], "{install}");
    }
}

/// Engine and model that the first workload, script or build launches.
fn launched(files: &[(&str, &str)]) -> Option<(String, Option<String>)> {
    let outcome = run(files, &Ruleset::empty());
    let of_pods = outcome.facts.workloads.first().and_then(|w| w.pods.first()?.containers.first()?.launch.clone());
    let launch = of_pods
        .or_else(|| outcome.facts.scripts.first().map(|(_, launch, _)| launch.clone()))
        .or_else(|| outcome.facts.builds.last()?.launch.clone())?;
    Some((launch.engine.get()?.clone(), launch.model.get().cloned()))
}

/// A command line in each format that can state one.
fn formats(command: &str) -> Vec<(&'static str, String)> {
    let script = command.replace('\n', "\n        ");
    vec![
        (
            "compose.yaml",
            format!(
                "services:\n  s:\n    image: acme/own:1\n    entrypoint: [bash, -c]\n    command:\n    - |\n        {script}\n"
            ),
        ),
        (
            "pod.yaml",
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - name: c\n    image: acme/own:1\n    command: [/bin/bash, -c]\n    args:\n    - |\n        {script}\n"
            ),
        ),
        ("job.sbatch", format!("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:8\n{command}\n")),
        (
            "map.yaml",
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  start.sh: |\n        #!/bin/bash\n        {script}\n"
            ),
        ),
    ]
}

#[test]
fn a_server_is_known_behind_what_runs_it() {
    for command in [
        "srun apptainer exec --nv --bind /a:/b vllm.sif vllm serve org/model --tensor-parallel-size 8",
        "exec uv run --with vllm -- vllm serve org/model",
        "conda run -n serve python -m vllm.entrypoints.openai.api_server --model org/model",
        "MODEL=org/model\nARGS=(--dtype half)\nvllm serve \"$MODEL\" \"${ARGS[@]}\"",
        "ray start --head\nvllm serve org/model",
        "timeout 100 /opt/site/pmixexec --verbose vllm serve org/model",
        "docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.10.2 --model org/model",
        "srun apptainer run --nv docker://vllm/vllm-openai:v0.10.2 org/model",
        "su - app -c 'vllm serve org/model'",
        "uvx --with x vllm serve org/model",
        "prun -np 2 vllm serve org/model",
    ] {
        for (path, text) in formats(command) {
            let expected = Some(("vllm".to_owned(), Some("org/model".to_owned())));
            assert_eq!(launched(&[(path, &text)]), expected, "{path}: {command}");
        }
    }
}

#[test]
fn what_an_unknown_program_starts_cannot_be_told() {
    let pod = |image: &str, command: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: '{image}', command: {command}}}]}}\n"
        )
    };
    let launches = |text: &str| answer("container.launch != null", "container", &[("pod.yaml", text)]);
    for (image, command) in [
        ("acme/own:1", "[/opt/start, --now, vllm, serve, m]"),
        ("acme/own:1", "[bash, -c, 'wrap vllm serve m']"),
        ("vllm/vllm-openai:v0.10.2", "[/start.sh]"),
    ] {
        assert_eq!(launches(&pod(image, command)), "undecided", "{image} {command}");
    }
    for (image, command) in [
        ("acme/own:1", "[bash, -c, 'pip install vllm litellm']"),
        ("acme/own:1", "[/start.sh]"),
        ("vllm/vllm-openai:v0.10.2", "[sleep, infinity]"),
    ] {
        assert_eq!(launches(&pod(image, command)), "silent", "{image} {command}");
    }
}

#[test]
fn what_only_sounds_like_a_server_is_none() {
    for command in [
        "mlflow models serve -m x",
        "bentoml serve app:svc",
        "vllm bench serve --model org/model",
        "vllm chat",
        "serve -s build",
        "pip install vllm",
        "curl vllm/serve",
    ] {
        for (path, text) in formats(command) {
            let found = launched(&[(path, &text)]).map(|(engine, _)| engine);
            assert!(found.as_deref().is_none_or(|engine| engine == "python"), "{path}: {command}: {found:?}");
        }
    }
    let idle = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: nvcr.io/nvidia/tritonserver:24.06-py3-sdk\n    command: [/bin/bash, -c, --]\n    args: ['while true; do sleep 30; done']\n";
    assert_eq!(launched(&[("pod.yaml", idle)]), None);
    for image in ["acme/chat-ui-vllm-openai:1", "ghcr.io/acme/my-ollama-proxy", "acme/litellm-dashboard"] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: '{image}'}}]}}\n"
        );
        assert_eq!(launched(&[("pod.yaml", &pod)]), None, "{image}");
    }
}

#[test]
fn the_first_argument_of_a_server_image_is_its_model() {
    let expected = Some(("vllm".to_owned(), Some("Qwen/Qwen3-8B".to_owned())));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'vllm/vllm-openai:v0.11.0', args: [Qwen/Qwen3-8B, --port, '9000']}]}\n";
    let compose = "services: {s: {image: 'vllm/vllm-openai:v0.11.0', command: Qwen/Qwen3-8B --port 9000}}\n";
    assert_eq!(launched(&[("pod.yaml", pod)]), expected);
    assert_eq!(launched(&[("compose.yaml", compose)]), expected);
}

#[test]
fn what_options_a_variable_may_bring_is_unknown() {
    let ask = |condition: &str, command: &str| {
        let files = formats(command);
        let (path, text) = &files[1];
        answer(condition, "container", &[(path, text)])
    };
    let branch =
        "ARGS=(--dtype half)\nif [ \"$BIG\" ]; then ARGS+=(--tensor-parallel-size 8); fi\nvllm serve m \"${ARGS[@]}\"";
    assert_eq!(ask("launch.tensor_parallel == 8", branch), "undecided");
    assert_eq!(ask("launch.dtype == 'half'", branch), "fires");
    assert_eq!(ask("launch.dtype == null", "vllm serve m $EXTRA"), "undecided");
    assert_eq!(ask("launch.dtype == null", "vllm serve m --port $PORT"), "fires");
    assert_eq!(ask("launch.tensor_parallel == 8", "N=2\nvllm serve m --tensor-parallel-size $((N * 4))"), "fires");
    assert_eq!(ask("launch.tensor_parallel == 8", "vllm serve m --tensor-parallel-size ${TP:-8}"), "fires");
}

#[test]
fn a_comparison_without_quotes_is_a_redirection_wherever_a_shell_reads_it() {
    let fired = |path: &str, text: &str| {
        places(&run(&[(path, text)], &Ruleset::builtin()), "version-taken-as-redirection").len()
    };
    let written = |install: &str| {
        let mut all = formats(&format!("set -e\n{install}\npython train.py"));
        all.extend([
            ("Dockerfile", format!("FROM python:3.12\nRUN {install}\n")),
            ("run.sh", format!("#!/bin/bash\n{install}\n")),
            (
                "task.sky.yaml",
                format!("resources: {{accelerators: 'A100:1'}}\nsetup: |\n  {install}\nrun: python train.py\n"),
            ),
            (
                "job.sky.yaml",
                format!("resources: {{accelerators: 'A100:1'}}\nrun: |\n  {install}\n  python train.py\n"),
            ),
            (
                "play.yaml",
                format!("- hosts: all\n  tasks:\n  - name: a\n    ansible.builtin.shell: |\n      {install}\n"),
            ),
        ]);
        all
    };
    for (path, text) in written("pip install torch>=2.0") {
        assert_eq!(fired(path, &text), 1, "{path}: {text}");
    }
    for (path, text) in written("pip install 'torch>=2.0' > log") {
        assert_eq!(fired(path, &text), 0, "{path}: {text}");
    }
}
