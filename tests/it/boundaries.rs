//! What is joined with what: inside one chart, one kustomization, one project, one module, one directory of examples,
//! one repository.

use gpulint::discover::{charts, kind_in};
use gpulint::facts::{Facts, Workload};
use gpulint::lint::{self, Input, Outcome};
use gpulint::rules::Ruleset;
use gpulint::source::SourceId;
use std::collections::BTreeSet;

/// The repository of a file is the part of its path before `:`.
fn run(files: &[(&str, &str)]) -> Outcome {
    let paths: Vec<(usize, &str)> = files
        .iter()
        .map(|(path, _)| {
            path.split_once(':').map_or((0, *path), |(number, path)| (number.parse().expect("a number"), path))
        })
        .collect();
    let known = charts(paths.iter().map(|(_, path)| *path));
    let mut inputs: Vec<Input> = paths
        .iter()
        .zip(files)
        .map(|(&(repository, path), (_, text))| Input {
            path: path.to_owned(),
            kind: kind_in(&known, path).expect("a kind"),
            text: (*text).to_owned(),
            repository,
        })
        .collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    lint::run(inputs, Facts::default(), Vec::new(), &listing())
}

/// A rule about workloads whose message says what functions list there.
fn listing() -> Ruleset {
    let mut rules = Ruleset::empty();
    let page = "id: listing\npack: p\nseverity: error\napplies_to: workload\nforbid: \"true\"\nhelp: h\nwhy: w\nreferences: \
                ['https://a.example']\nmessage: \"{services().size()} {objects('ConfigMap').size()} \
                {pools().size()} {workloads().size()}\"\nexamples: [{fires: {a.yaml: ''}}]\n";
    assert!(rules.add(SourceId(u32::MAX), "listing.yaml", page).is_empty());
    rules
}

/// The workloads of all forms that a file states.
fn workloads<'o>(outcome: &'o Outcome, path: &str) -> Vec<&'o Workload> {
    let forms = outcome.forms.iter().map(|(_, facts)| facts);
    let all = [&outcome.facts].into_iter().chain(forms).flat_map(|facts| &facts.workloads);
    all.filter(|w| outcome.sources.get(w.span.source).path == path).collect()
}

/// The only workload that a file states.
fn workload<'o>(outcome: &'o Outcome, path: &str) -> &'o Workload {
    match workloads(outcome, path)[..] {
        [only] => only,
        ref all => panic!("{} workloads in {path}", all.len()),
    }
}

/// Files of what is joined with the workload of a file: Services, autoscalers, budgets, routes.
fn joined(outcome: &Outcome, path: &str) -> Vec<String> {
    let workload = workload(outcome, path);
    let spans = workload.services.iter().map(|e| e.span).chain(workload.autoscalers.iter().map(|e| e.span));
    let spans = spans.chain(workload.budgets.iter().map(|e| e.span)).chain(workload.routes.iter().map(|e| e.span));
    spans.map(|span| outcome.sources.get(span.source).path.clone()).collect()
}

/// Names of the pools that the pod of a file's workload may land on.
fn pools(outcome: &Outcome, path: &str) -> Vec<String> {
    workload(outcome, path).pods[0].pools.iter().filter_map(|pool| pool.name.get().cloned()).collect()
}

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec:\n  selector: {matchLabels: {app: \
                          llm}}\n  template:\n    metadata: {labels: {app: llm}}\n    spec:\n      containers:\n      - name: \
                          server\n        image: registry.example.com/team/llm:1.0\n        envFrom: [{configMapRef: {name: \
                          settings}}]\n        resources: {limits: {nvidia.com/gpu: 1}}\n      volumes: [{name: data, \
                          persistentVolumeClaim: {claimName: data}}]\n";
const AROUND: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: llm}\nspec: {selector: {app: llm}}\n---\napiVersion: \
                      autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llm}\nspec: {scaleTargetRef: {kind: Deployment, \
                      name: llm}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: llm}\nspec: {selector: \
                      {matchLabels: {app: llm}}}\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: \
                      llm}\nspec: {rules: [{http: {paths: [{path: /, backend: {service: {name: llm}}}]}}]}\n---\napiVersion: \
                      v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {MODE: here}\n---\napiVersion: v1\nkind: \
                      PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce]}\n";
const POOL: &str = "resource \"google_container_node_pool\" \"gpu\" {\n  name    = \"NAME\"\n  cluster = \"c\"\n  node_config {\n    \
                    machine_type = \"a2-highgpu-1g\"\n    guest_accelerator {\n      type  = \"nvidia-tesla-a100\"\n      count = \
                    1\n    }\n  }\n}\n";

/// What a workload takes from its ConfigMap.
fn mode(outcome: &Outcome, path: &str) -> Option<String> {
    workload(outcome, path).pods[0].containers[0].env.get("MODE")?.value.get().cloned()
}

const NODES: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec:\n  template:\n    spec:\n      \
                     requirements:\n      - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}\n";

/// Everything that is joined with the workload of a file, and what functions list where it stands.
fn all_joined(outcome: &Outcome, path: &str) -> BTreeSet<&'static str> {
    let workload = workload(outcome, path);
    let (pod, container) = (&workload.pods[0], &workload.pods[0].containers[0]);
    let listing = outcome.evaluation.findings.iter().find(|f| f.span.source == workload.span.source);
    let listed: Vec<bool> = listing.expect("a finding").message.split(' ').map(|size| size != "0").collect();
    let driver = pod.node.as_ref().is_some_and(|node| node.driver.get().is_some());
    let joins = [
        ("autoscaler", !workload.autoscalers.is_empty()),
        ("budget", !workload.budgets.is_empty()),
        ("build", container.image.build.is_some()),
        ("claim", pod.volumes.iter().any(|volume| !volume.access_modes.is_empty())),
        ("driver", driver),
        ("listed objects", listed[1]),
        ("listed pools", listed[2]),
        ("listed services", listed[0]),
        ("pool", !pod.pools.is_empty()),
        ("route", !workload.routes.is_empty()),
        ("service", !workload.services.is_empty()),
        ("variable", container.env.contains_key("MODE")),
    ];
    joins.into_iter().filter(|(_, joined)| *joined).map(|(name, _)| name).collect()
}

/// A boundary, the workload's file, what is joined with it, and the other files.
type Row<'t> = (&'t str, File<'t>, &'t [&'t [&'t str]], &'t [File<'t>]);

/// Path and text.
type File<'t> = (&'t str, &'t str);

/// Every join at every boundary: once where both sides are deployed together, once where the boundary is between them.
#[test]
fn every_join_asks_every_boundary() {
    const INSIDE: &[&str] = &["autoscaler", "budget", "claim", "route", "service", "variable", "listed services"];
    const CLUSTER: &[&str] = &["driver", "pool", "listed pools"];
    const OBJECTS: &[&str] = &["listed objects"];
    const BUILD: &[&str] = &["build"];
    const NOTHING: &[&str] = &[];
    let policy =
        "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {driver: {version: 570.86.15}}\n";
    let around = &*format!("{AROUND}---\n{NODES}---\n{policy}");
    let alone = &*DEPLOYMENT.replace("llm", "other");
    let machines = &*format!("provider \"google\" {{}}\n{}", POOL.replace("NAME", "gpu"));
    let library = &*format!("variable \"cluster\" {{}}\n{}", POOL.replace("NAME", "gpu"));
    let chart = "name: llm\n";
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [quota.yaml]\n";
    let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 4}}\n";
    let image = "services:\n  llm:\n    image: registry.example.com/team/server:1.0\n    deploy: {resources: {reservations: \
                 {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}\n";
    let service = &*format!("{image}    build: .\n");
    let dockerfile = "FROM python:3.12\n";
    let table: &[Row<'_>] = &[
        ("one directory", ("k8s/llm.yaml", DEPLOYMENT), &[INSIDE, OBJECTS, CLUSTER], &[("k8s/around.yaml", around)]),
        (
            "one chart",
            ("b/templates/llm.yaml", DEPLOYMENT),
            &[INSIDE, OBJECTS, CLUSTER],
            &[("b/Chart.yaml", chart), ("b/templates/around.yaml", around)],
        ),
        (
            "two charts",
            ("a/templates/llm.yaml", DEPLOYMENT),
            // Raw documents may be there for the whole cluster.
            &[OBJECTS, CLUSTER],
            &[("a/Chart.yaml", chart), ("b/Chart.yaml", chart), ("b/templates/around.yaml", around)],
        ),
        (
            "one kustomization",
            ("b/llm.yaml", DEPLOYMENT),
            &[INSIDE, OBJECTS, CLUSTER],
            &[("b/kustomization.yaml", "resources: [llm.yaml, around.yaml]\n"), ("b/around.yaml", around)],
        ),
        (
            "two kustomizations with a component in common",
            ("a/llm.yaml", DEPLOYMENT),
            &[OBJECTS, CLUSTER],
            &[
                ("a/kustomization.yaml", "resources: [llm.yaml]\ncomponents: [../shared]\n"),
                ("b/kustomization.yaml", "resources: [around.yaml]\ncomponents: [../shared]\n"),
                ("b/around.yaml", around),
                ("shared/kustomization.yaml", component),
                ("shared/quota.yaml", quota),
            ],
        ),
        ("one Compose project", ("a/compose.yaml", service), &[BUILD], &[("a/Dockerfile", dockerfile)]),
        (
            "two Compose projects",
            ("a/compose.yaml", &image.replace("server:1.0", "other:1.0")),
            &[NOTHING],
            &[("b/Dockerfile", dockerfile), ("b/compose.yaml", service)],
        ),
        (
            "two Compose projects, of which one builds what the other runs",
            ("a/compose.yaml", image),
            &[BUILD],
            &[("b/Dockerfile", dockerfile), ("b/compose.yaml", service)],
        ),
        ("a root module", ("k8s/llm.yaml", DEPLOYMENT), &[&["pool", "listed pools"]], &[("infra/main.tf", machines)]),
        ("a module that nobody calls", ("k8s/llm.yaml", DEPLOYMENT), &[NOTHING], &[("modules/gpu/main.tf", library)]),
        (
            "two directories of examples",
            ("e/a/llm.yaml", DEPLOYMENT),
            &[NOTHING],
            &[
                ("e/b/around.yaml", around),
                ("e/b/x.yaml", alone),
                ("e/c/x.yaml", alone),
                ("e/d/x.yaml", alone),
                ("e/f/x.yaml", alone),
            ],
        ),
        (
            "two repositories",
            ("0:k8s/llm.yaml", DEPLOYMENT),
            &[NOTHING],
            &[("1:k8s/Dockerfile", dockerfile), ("1:k8s/around.yaml", around), ("1:k8s/main.tf", machines)],
        ),
    ];
    for (boundary, (path, text), expected, others) in table {
        let files: Vec<(&str, &str)> = std::iter::once((*path, *text)).chain(others.iter().copied()).collect();
        let outcome = run(&files);
        let path = path.split_once(':').map_or(*path, |(_, path)| path);
        let expected: BTreeSet<&str> = expected.iter().copied().flatten().copied().collect();
        assert_eq!(all_joined(&outcome, path), expected, "{boundary}");
    }
}

#[test]
fn the_plain_files_of_one_directory_are_joined() {
    let outcome = run(&[
        ("k8s/around.yaml", AROUND),
        ("k8s/llm.yaml", DEPLOYMENT),
        ("infra/main.tf", &POOL.replace("NAME", "gpu")),
    ]);
    assert_eq!(joined(&outcome, "k8s/llm.yaml"), ["k8s/around.yaml"; 4]);
    assert_eq!(mode(&outcome, "k8s/llm.yaml").as_deref(), Some("here"));
    assert_eq!(pools(&outcome, "k8s/llm.yaml"), ["gpu"]);
}

#[test]
fn of_the_same_name_the_nearest_is_meant() {
    let outcome = run(&[
        ("a/around.yaml", AROUND),
        ("a/llm.yaml", DEPLOYMENT),
        ("b/around.yaml", &AROUND.replace("here", "there")),
        ("b/llm.yaml", DEPLOYMENT),
        ("c/llm.yaml", DEPLOYMENT),
    ]);
    assert_eq!(joined(&outcome, "a/llm.yaml"), ["a/around.yaml"; 4]);
    assert_eq!(joined(&outcome, "b/llm.yaml"), ["b/around.yaml"; 4]);
    assert_eq!(mode(&outcome, "b/llm.yaml").as_deref(), Some("there"));
    // What stands beside a workload of its own is not about another one elsewhere.
    assert_eq!(joined(&outcome, "c/llm.yaml"), [""; 0]);
}

#[test]
fn in_one_directory_the_same_file_is_nearest() {
    let whole = format!("{DEPLOYMENT}---\n{AROUND}");
    let outcome = run(&[("k8s/one.yaml", &whole), ("k8s/other.yaml", DEPLOYMENT)]);
    assert_eq!(joined(&outcome, "k8s/one.yaml"), ["k8s/one.yaml"; 4]);
    assert_eq!(joined(&outcome, "k8s/other.yaml"), [""; 0]);
}

/// An autoscaler in a folder below, beside its metrics adapter.
#[test]
fn a_folder_below_may_be_about_the_deployment_above() {
    let adapter = DEPLOYMENT.replace("llm", "adapter");
    let outcome =
        run(&[("llm/deployment.yaml", DEPLOYMENT), ("llm/hpa/adapter.yaml", &adapter), ("llm/hpa/hpa.yaml", AROUND)]);
    assert_eq!(joined(&outcome, "llm/deployment.yaml"), ["llm/hpa/hpa.yaml"; 4]);
    let values = &workload(&outcome, "llm/deployment.yaml").pods[0].containers[0].env;
    assert!(values.contains_key("MODE"), "{:?}", values.keys());
}

#[test]
fn examples_of_one_directory_are_no_deployment() {
    let alone = DEPLOYMENT.replace("llm", "other");
    let outcome = run(&[
        ("e/a/llm.yaml", DEPLOYMENT),
        ("e/b/around.yaml", AROUND),
        ("e/b/main.tf", &POOL.replace("NAME", "gpu")),
        ("e/b/x.yaml", &alone),
        ("e/c/x.yaml", &alone),
        ("e/d/x.yaml", &alone),
        ("e/f/x.yaml", &alone),
    ]);
    assert_eq!(joined(&outcome, "e/a/llm.yaml"), [""; 0]);
    assert_eq!(mode(&outcome, "e/a/llm.yaml"), None);
    assert_eq!(pools(&outcome, "e/a/llm.yaml"), [""; 0]);
    assert_eq!(pools(&outcome, "e/b/x.yaml"), ["gpu"]);
}

#[test]
fn nothing_is_joined_across_repositories() {
    let outcome = run(&[
        ("0:one/llm.yaml", DEPLOYMENT),
        ("1:two/Dockerfile", "FROM python:3.12\n"),
        ("1:two/around.yaml", AROUND),
        ("1:two/main.tf", &POOL.replace("NAME", "gpu")),
    ]);
    assert_eq!(joined(&outcome, "one/llm.yaml"), [""; 0]);
    assert_eq!(mode(&outcome, "one/llm.yaml"), None);
    assert_eq!(pools(&outcome, "one/llm.yaml"), [""; 0]);
    assert!(workload(&outcome, "one/llm.yaml").pods[0].containers[0].image.build.is_none());
}

#[test]
fn charts_of_one_default_name_are_two_deployments() {
    let named = |text: &str| text.replace("name: llm", "name: '{{ .Release.Name }}'").replace("app: llm", "app: model");
    let (deployment, around) = (named(DEPLOYMENT), named(AROUND));
    let outcome = run(&[
        ("a/Chart.yaml", "name: llm\n"),
        ("a/templates/llm.yaml", &deployment),
        ("b/Chart.yaml", "name: llm\n"),
        ("b/templates/around.yaml", &around),
        ("b/templates/llm.yaml", &deployment),
    ]);
    assert_eq!(joined(&outcome, "a/templates/llm.yaml"), [""; 0]);
    assert_eq!(mode(&outcome, "a/templates/llm.yaml"), None);
    assert_eq!(joined(&outcome, "b/templates/llm.yaml"), ["b/templates/around.yaml"; 4]);
    assert_eq!(mode(&outcome, "b/templates/llm.yaml").as_deref(), Some("here"));
}

#[test]
fn forms_of_one_chart_are_not_joined_with_each_other() {
    let guarded = format!("{{{{ if .Values.around }}}}\n{AROUND}{{{{ end }}}}\n");
    let outcome = run(&[
        ("a/Chart.yaml", "name: llm\n"),
        ("a/templates/around.yaml", &guarded),
        ("a/templates/llm.yaml", DEPLOYMENT),
        ("a/values-bare.yaml", "around: false\n"),
        ("a/values.yaml", "around: true\n"),
    ]);
    let services: Vec<usize> = workloads(&outcome, "a/templates/llm.yaml").iter().map(|w| w.services.len()).collect();
    assert_eq!(services, [1, 0]);
    assert_eq!(outcome.forms.len(), 1, "every form is told");
}

#[test]
fn kustomizations_that_share_a_component_are_two_deployments() {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [quota.yaml]\n";
    let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 4}}\n";
    let outcome = run(&[
        ("a/kustomization.yaml", "resources: [llm.yaml]\ncomponents: [../shared]\n"),
        ("a/llm.yaml", DEPLOYMENT),
        ("b/around.yaml", AROUND),
        ("b/kustomization.yaml", "resources: [llm.yaml, around.yaml]\ncomponents: [../shared]\n"),
        ("b/llm.yaml", DEPLOYMENT),
        ("shared/kustomization.yaml", component),
        ("shared/quota.yaml", quota),
    ]);
    assert_eq!(joined(&outcome, "a/llm.yaml"), [""; 0]);
    assert_eq!(joined(&outcome, "b/llm.yaml"), ["b/around.yaml"; 4]);
    assert!(outcome.forms.is_empty(), "neither is another form of the other");
}

#[test]
fn a_pool_of_one_chart_is_there_for_the_whole_cluster() {
    let outcome = run(&[
        ("llm/Chart.yaml", "name: llm\n"),
        ("llm/templates/llm.yaml", DEPLOYMENT),
        ("nodes/Chart.yaml", "name: nodes\n"),
        ("nodes/templates/pool.yaml", NODES),
        ("plain/llm.yaml", DEPLOYMENT),
    ]);
    assert_eq!(pools(&outcome, "llm/templates/llm.yaml"), ["gpu"]);
    assert_eq!(pools(&outcome, "plain/llm.yaml"), ["gpu"]);
}

#[test]
fn a_single_dockerfile_makes_what_something_says_it_makes() {
    let built =
        |files: &[(&str, &str)]| workload(&run(files), "k8s/llm.yaml").pods[0].containers[0].image.build.is_some();
    let dockerfile = "FROM python:3.12\n";
    let second = DEPLOYMENT.replace("llm", "router");
    assert!(built(&[("docker/llm/Dockerfile", dockerfile), ("k8s/llm.yaml", DEPLOYMENT)]));
    assert!(built(&[("Dockerfile", dockerfile), ("k8s/llm.yaml", DEPLOYMENT)]));
    assert!(!built(&[("tools/Dockerfile", dockerfile), ("k8s/llm.yaml", DEPLOYMENT)]));
    assert!(built(&[("server/Dockerfile", dockerfile), ("k8s/llm.yaml", DEPLOYMENT)]), "the container's name");
    let starting = format!("{dockerfile}CMD [\"python\", \"-m\", \"llm.server\"]\n");
    assert!(built(&[("tools/Dockerfile", &starting), ("k8s/llm.yaml", DEPLOYMENT)]), "what it starts");
    assert!(!built(&[("Dockerfile", dockerfile), ("k8s/llm.yaml", DEPLOYMENT), ("k8s/router.yaml", &second)]));
}

#[test]
fn a_module_that_nobody_calls_holds_for_nothing_elsewhere() {
    let variable = "variable \"machine\" {\n  default = \"a2-highgpu-1g\"\n}\n";
    let pool = POOL.replace("NAME", "gpu").replace("\"a2-highgpu-1g\"", "var.machine");
    let module = format!("{variable}{pool}");
    let needing = format!("variable \"project\" {{}}\n{pool}{variable}");
    // The pools of the workload, and the machines of every pool.
    let of = |path: &str, module: &str, more: &[(&str, &str)]| {
        let files: Vec<(&str, &str)> =
            [(path, module), ("k8s/llm.yaml", DEPLOYMENT)].iter().chain(more).copied().collect();
        let outcome = run(&files);
        let machines = outcome.facts.pools.iter().flat_map(|pool| &pool.instance_types);
        (pools(&outcome, "k8s/llm.yaml").len(), machines.filter(|machine| machine.get().is_some()).count())
    };
    assert_eq!(of("modules/gpu/main.tf", &module, &[]), (0, 0));
    // What a command line has to give is no reason against what is written, but a default may be among it.
    assert_eq!(of("gpu/main.tf", &needing, &[]), (1, 0));
    assert_eq!(
        of("modules/gpu/main.tf", &module, &[("main.tf", "module \"gpu\" {\n  source = \"./modules/gpu\"\n}\n")]),
        (1, 1)
    );
    assert_eq!(of("gpu/main.tf", &needing, &[("gpu/terraform.tfvars", "project = \"p\"\n")]), (1, 1));
    assert_eq!(of("gpu/main.tf", &format!("provider \"google\" {{}}\n{needing}"), &[]), (1, 1));
    assert_eq!(of("infra/main.tf", &module, &[]), (1, 1));
    // What one module states is joined, whoever calls it.
    assert_eq!(of("modules/gpu/main.tf", &module, &[("modules/gpu/llm.yaml", DEPLOYMENT)]).0, 0);
    let both = run(&[("modules/gpu/k8s/llm.yaml", DEPLOYMENT), ("modules/gpu/main.tf", &module)]);
    assert_eq!(pools(&both, "modules/gpu/k8s/llm.yaml"), ["gpu"]);
}

#[test]
fn compose_projects_are_built_each_from_their_own() {
    let compose = "services:\n  llm:\n    image: registry.example.com/team/llm:1.0\n    build: .\n";
    let outcome = run(&[
        ("a/Dockerfile", "FROM python:3.11\n"),
        ("a/compose.yaml", compose),
        ("b/Dockerfile", "FROM python:3.12\n"),
        ("b/compose.yaml", compose),
    ]);
    for project in ["a", "b"] {
        let workload = workload(&outcome, &format!("{project}/compose.yaml"));
        let build = workload.pods[0].containers[0].image.build.as_ref().expect("a build");
        assert_eq!(build.path.get().cloned(), Some(format!("{project}/Dockerfile")));
    }
}

/// The Dockerfile that makes the image of `k8s/llm.yaml`, of the two that there are, as a file says.
fn made_by(path: &str, text: &str) -> Option<String> {
    let outcome = run(&[
        (path, text),
        ("docker/cpu/Dockerfile", "FROM python:3.11\n"),
        ("docker/cuda.Dockerfile", "FROM python:3.12\n"),
        (
            "k8s/llm.yaml",
            &DEPLOYMENT.replace("registry.example.com/team/llm:1.0", "registry.example.com/team/server:1.0"),
        ),
    ]);
    let build = workload(&outcome, "k8s/llm.yaml").pods[0].containers[0].image.build.clone()?;
    build.path.get().cloned()
}

#[test]
fn what_builds_an_image_says_which_dockerfile_makes_it() {
    let job = |steps: &str| format!("on: push\njobs:\n  build:\n    runs-on: x\n    steps:\n{steps}");
    let action = |with: &str| {
        job(&format!(
            "    - uses: docker/build-push-action@v6\n      with: {{context: ., file: docker/cuda.Dockerfile, {with}}}\n"
        ))
    };
    let name = "registry.example.com/team/server";
    let meta = format!(
        "    - id: meta\n      uses: docker/metadata-action@v5\n      with: {{images: {name}}}\n    - uses: docker/build-push-action@v6\n      \
         with: {{file: docker/cuda.Dockerfile, tags: '${{{{ steps.meta.outputs.tags }}}}'}}\n"
    );
    let run = |command: &str| job(&format!("    - run: |\n        set -e\n        {command}\n"));
    let workflow = ".github/workflows/images.yml";
    for (path, text) in [
        (
            "compose.yaml",
            format!(
                "services:\n  s: {{image: '{name}:1.0', build: {{context: docker, dockerfile: cuda.Dockerfile}}}}\n"
            ),
        ),
        (
            "skaffold.yaml",
            format!(
                "apiVersion: skaffold/v4beta11\nkind: Config\nbuild:\n  artifacts:\n  - {{image: {name}, context: docker, docker: {{dockerfile: cuda.Dockerfile}}}}\n"
            ),
        ),
        (workflow, action(&format!("tags: '{name}:1.0'"))),
        (workflow, action(&format!("tags: '{name}:${{{{ github.sha }}}},other:1'"))),
        (workflow, job(&meta)),
        (workflow, run(&format!("docker build --no-cache -t {name}:1.0 -f docker/cuda.Dockerfile ."))),
        (
            workflow,
            run(&format!(
                "cd docker && docker buildx build --push --platform linux/amd64 --tag={name}:$TAG -f cuda.Dockerfile ."
            )),
        ),
        (
            ".gitlab-ci.yml",
            format!("image:\n  script:\n  - docker build -t {name}:1.0 . --file docker/cuda.Dockerfile\n"),
        ),
        (
            "cloudbuild.yaml",
            format!(
                "steps:\n- name: gcr.io/cloud-builders/docker\n  args: [build, -t, '{name}:1.0', -f, docker/cuda.Dockerfile, .]\n"
            ),
        ),
    ] {
        assert_eq!(made_by(path, &text).as_deref(), Some("docker/cuda.Dockerfile"), "{path}: {text}");
    }
    // Another name or tag, a stage, a name or path that is put together, and two that do not agree.
    for silent in [
        action(&format!("tags: '{name}:2.0'")),
        action("tags: 'other/server:1.0'"),
        action(&format!("target: dev, tags: '{name}:1.0'")),
        action(&format!("tags: '${{{{ env.REGISTRY }}}}/{name}:1.0'")),
        run(&format!("docker build -t {name}:1.0 -f $FILE .")),
        run(&format!(
            "docker build -t {name}:1.0 -f docker/cuda.Dockerfile .\n        docker build -t {name}:1.0 docker/cpu"
        )),
    ] {
        assert_eq!(made_by(workflow, &silent), None, "{silent}");
    }
}

#[test]
fn a_machine_by_itself_is_no_node_of_a_cluster_before_it_joins_one() {
    let pools = |machine: &str| {
        pools(&run(&[("deploy.yaml", DEPLOYMENT), ("main.tf", machine), ("stack.yaml", machine)]), "deploy.yaml")
    };
    let none: [&str; 0] = [];
    let plain = [
        "resource \"aws_instance\" \"vm\" {\n  instance_type = \"g5.xlarge\"\n}\n",
        "resource \"oci_core_instance\" \"vm\" {\n  shape = \"VM.GPU.A10.1\"\n}\n",
        "resource \"google_compute_instance\" \"vm\" {\n  name = \"vm\"\n  machine_type = \"g2-standard-4\"\n}\n",
        "resource \"azurerm_linux_virtual_machine\" \"vm\" {\n  name = \"vm\"\n  size = \"Standard_NV36ads_A10_v5\"\n}\n",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Vm:\n    Type: AWS::EC2::Instance\n    Properties: {InstanceType: \
         g5.xlarge}\n",
    ];
    for machine in plain {
        assert_eq!(pools(machine), none, "{machine}");
    }
    let joining = "resource \"aws_instance\" \"vm\" {\n  instance_type = \"g5.xlarge\"\n  user_data = <<-EOT\n    curl -sfL \
                   https://get.k3s.io | sh -\n  EOT\n}\n";
    assert_eq!(pools(joining), ["vm"]);
}

#[test]
fn what_other_schedulers_place_lands_on_no_node_of_a_cluster() {
    let task = "{\"family\": \"t\", \"containerDefinitions\": [{\"name\": \"c\", \"image\": \"x/y:1\", \"resourceRequirements\": \
                [{\"type\": \"GPU\", \"value\": \"1\"}]}]}";
    let compose = "services:\n  c:\n    image: x/y:1\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, \
                   capabilities: [gpu]}]}}}\n";
    for (path, text) in [("task-definition.json", task), ("compose.yaml", compose)] {
        let outcome = run(&[(path, text), ("nodes.yaml", NODES), ("pod.yaml", DEPLOYMENT)]);
        assert!(pools(&outcome, path).is_empty(), "{path}");
        assert_eq!(pools(&outcome, "pod.yaml"), ["gpu"], "{path}");
    }
}

#[test]
fn scripts_of_one_directory_are_started_each_by_itself() {
    let start = "docker run --gpus 1 vllm/vllm-openai:v0.11.0 --model a/b\n";
    let outcome = run(&[("a.sh", start), ("b.sh", &[start, start].concat())]);
    let told = |finding: &gpulint::finding::Finding| {
        (outcome.sources.get(finding.span.source).path.clone(), finding.message.clone())
    };
    let told: Vec<(String, String)> = outcome.evaluation.findings.iter().map(told).collect();
    let expected = [("a.sh", "0 0 0 1"), ("b.sh", "0 0 0 2"), ("b.sh", "0 0 0 2")];
    assert_eq!(told, expected.map(|(path, message)| (path.to_owned(), message.to_owned())));
}

#[test]
fn what_flux_puts_in_reaches_what_stands_below_its_path() {
    let deployment = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: ${{COPIES}}\n  \
             selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n      \
             containers: [{{name: c, image: x}}]\n"
        )
    };
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: llm}\nspec:\n  \
                         path: ./apps/llm/app\n  postBuild:\n    substitute: {COPIES: '3'}\n";
    let (below, beside) = (deployment("below"), deployment("beside"));
    let files = [
        ("0:cluster/apps/llm/app/llm.yaml", &*below),
        ("0:cluster/apps/other/app/x.yaml", &*beside),
        ("0:cluster/apps/llm/ks.yaml", kustomization),
    ];
    let replicas = |files: &[(&str, &str)], name: &str| {
        let facts = run(files).facts;
        let found = facts.workloads.iter().find(|workload| workload.name.get().is_some_and(|own| own == name));
        found.expect("it is read").replicas.get().copied()
    };
    assert_eq!((replicas(&files, "below"), replicas(&files, "beside")), (Some(3), None));
    // Two clusters that say different things of one path.
    let other = kustomization.replace("'3'", "'5'");
    let disputed = [files[0], files[1], files[2], ("0:cluster/two/ks.yaml", &*other)];
    assert_eq!(replicas(&disputed, "below"), None);
}
