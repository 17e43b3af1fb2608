#!/usr/bin/env bash
# How the work grows with a file: shapes at a size and at twice that size, in instructions (valgrind counts them, so a busy
# machine changes nothing). Twice as much text may cost at most 2.5 times as much. SIZE=1000 is the smaller size.
# Usage: benches/growth.sh GPULINT [SHAPE ...]
set -euo pipefail
gpulint=$(realpath "$1")
shift
size=${SIZE:-1000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A text as often as the size says; `@` is the number of the turn, `^` the one before.
each() { seq 1 "$n" | awk -v form="$1" '{ text = form; gsub(/@/, $1, text); gsub(/\^/, $1 - 1, text); printf "%s", text }'; }
foo='apiVersion: x/v1\nkind: Foo\nmetadata: {name: f}\nspec:\n'

declare -A shapes=(
  [requirements.txt]='each "p@==2.0\n"'
  [same/requirements.txt]='each "numpy==1.@\n"'
  [uv.lock]='each "[[package]]\nname = \"p@\"\nversion = \"1.0\"\n"'
  [groups/pyproject.toml]='printf "[project]\nname = \"x\"\n[dependency-groups]\n"; each "g@ = [{include-group = \"g1\"}, \"p@\"]\n"'
  [extras/pyproject.toml]='printf "[tool.poetry.dependencies]\n"; each "p@ = {version = \"1.0\", optional = true}\n"
    printf "[tool.poetry.extras]\n"; each "e@ = [\"p@\"]\n"'
  [sources/pyproject.toml]='printf "[project]\nname = \"x\"\ndependencies = ["; each "\"p@\","
    printf "]\n[tool.uv.sources]\n"; each "p@ = {index = \"a\"}\n"'
  [train.json]='each "{\"input\": \"a b c\", \"output\": \"d\"}\n"'
  [aliases.yaml]='printf "$foo  a: &a {x: 1}\n"; each "  b@: *a\n"'
  [merges.yaml]='printf "$foo  a: &a {x: 1}\n"; each "  b@: {<<: *a, y: @}\n"'
  [chain.yaml]='printf -- "- &a0 [x]\n"; each "- &a@ [*a^]\n"'
  [keys.yaml]='each "a: @\n"'
  [pods.yaml]='printf "$foo"; each "  g@: {image: x, resources: {limits: {nvidia.com/gpu: 1}}}\n"'
  [documents.yaml]='each "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c@}\ndata: {a: b}\n"'
  [links.yaml]='each "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d@}\nspec:\n  selector: {matchLabels: {app: d@}}\n  template:\n    metadata: {labels: {app: d@}}\n    spec: {containers: [{name: c, image: vllm/vllm-openai:v0.6.0, resources: {limits: {nvidia.com/gpu: 1}}}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: d@}\nspec: {selector: {app: d@}, ports: [{port: 80}]}\n"'
  [fixes.yaml]='each "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p@, annotations: {karpenter.sh/do-not-disrupt: true}}\nspec: {containers: [{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 1}}}]}\n"'
  [quoted.yaml]='each "a@: \"b\nc\"\n"'
  [signs.yaml]='printf "a: {{ b }} c\nx: y\n# "; each "{{"'
  [nested.yaml]='each "{{ if a }}\n"; printf "a: b\n"; each "{{ end }}\n"'
  [references/main.tf]='each "resource \"x\" \"r@\" {\n  a = y.z.b\n}\n"'
  [blocks/main.tf]='printf "resource \"x\" \"r\" {\n"; each "  b@ {}\n"; printf "}\n"'
  [keys/main.tf]='each "locals {\n  l@ = { a = 1, a = 2 }\n}\n"'
  [loops/main.tf]='printf "locals {\n  l = ["; each "@,"; printf "]\n}\nresource \"x\" \"y\" {\n  a = [for i in local.l : i + 1]\n}\n"'
  [pools/main.tf]='each "resource \"aws_launch_template\" \"t@\" {\n  name = \"t@\"\n}\nresource \"aws_eks_node_group\" \"g@\" {\n  instance_types = [\"g5.xlarge\"]\n  launch_template {\n    id = aws_launch_template.t@.id\n  }\n}\n"'
  [strips/main.tf]='printf "resource \"x\" \"r\" {\n  a = <<-E\n"; each "  %{ if true ~}\n  x\n  %{ endif ~}\n"; printf "  E\n}\n"'
  [stages/Dockerfile]='each "FROM x AS s@\nRUN pip install torch==@\n"'
  [chained/Dockerfile]='printf "FROM x AS s0\n"; each "FROM s^ AS s@\nUSER a\n"'
  [runs/Dockerfile]='printf "FROM x\n"; each "ENV A@=1\nRUN pip install p@==1.0\nCMD [\"a\"]\n"'
  [branches/Dockerfile]='printf "FROM x\nRUN true"; each "; if [ a ]; then A=@; fi; run \$A"; printf "\n"'
  [tests/Dockerfile]='printf "FROM x\nRUN true"; each " && [ a ] && b@"; printf "\n"'
  [copies/Dockerfile]='printf "FROM x AS s0\n"; each "FROM s^ AS s@\nRUN pip install torch==2.1.0\nCOPY --from=s^ /a /a\n"'
  [flags/serve.sh]='printf "#!/bin/bash\nvllm serve a/b"; each " --tensor-paralel-size@ 1"; printf "\n"'
  [indexes/requirements.txt]='each "p@==1.0 --extra-index-url https://a@.example.com/simple\n"'
  [layers.yaml]='printf "$foo  a: 1\nm0: &m0 {k0: 1}\n"; each "m@: &m@ {<<: *m^, k@: 1}\n"'
  [machines/main.tf]='each "resource \"aws_instance\" \"i@\" {\n  instance_type = \"g5.xlarge\"\n  ami = \"ami-@\"\n}\n"'
  [policies.yaml]='each "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p@, labels: {app: p@, all: y}}\nspec: {containers: [{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 1}}}]}\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n@}\nspec: {podSelector: {matchLabels: {all: y}}, ingress: [{}]}\n"'
  [queues.yaml]='each "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q@, namespace: a}\nspec: {clusterQueue: q}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {namespaceSelector: {}}\n"'
  [unknown.yaml]='printf "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 1}}}]\n"; each "  k@: 1\n"'
  [variables.yaml]='each "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d@}\nspec:\n  selector: {matchLabels: {app: d@}}\n  template:\n    metadata: {labels: {app: d@}}\n    spec: {containers: [{name: c, image: vllm/vllm-openai:v0.6.0, env: [{name: U, value: https://d@:80}], envFrom: [{configMapRef: {name: m@}}], resources: {limits: {nvidia.com/gpu: 1}}}]}\n"'
  [train.sh]='printf "#!/bin/bash\n#SBATCH --gpus=1\n"; each "if a; then A=@; fi\nrun \$A\n"'
)
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(printf '%s\n' "${!shapes[@]}" | sort)

# Instructions to lint a shape of a size.
cost() {
  local name=$1 n=$2
  rm -rf "$dir/w"
  mkdir -p "$dir/w/$(dirname "$name")"
  eval "${shapes[$name]}" >"$dir/w/$name"
  (cd "$dir/w" && valgrind --tool=callgrind --callgrind-out-file=/dev/null "$gpulint" check . --jobs 1 2>&1 >/dev/null || true) |
    sed -n 's/.*Collected : //p'
}

failed=0
for name in "${names[@]}"; do
  none=$(cost "$name" 1)
  one=$(($(cost "$name" "$size") - none))
  two=$(($(cost "$name" $((2 * size))) - none))
  awk -v name="$name" -v a="$one" -v b="$two" 'BEGIN {
    ratio = a > 0 ? b / a : 0
    printf "%-24s %14.0f %14.0f  %.2f%s\n", name, a, b, ratio, (ratio > 2.5 ? "  grows too fast" : "")
    exit ratio > 2.5 }' || failed=1
done
exit $failed
