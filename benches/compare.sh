#!/usr/bin/env bash
# What gpulint and other tools cost on the same tree: medians of CPU (user and system) of runs in turn, and their ratios to
# gpulint. Tools that are not on the PATH are named, with how to install them. They do different things: this compares what
# a pipeline pays for each, not what each finds.
# Usage: benches/compare.sh TREE      GPULINT=target/release/gpulint, RUNS=5, SCHEMAS=a copy of kubernetes-json-schema
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
gpulint=$(realpath "${GPULINT:-$here/../target/release/gpulint}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"

# Without schemas at hand kubeconform reads every document and holds none against a schema: no network either way.
schemas=${SCHEMAS:-$work}
find . -name '*.yaml' -not -path '*/templates/*' | sort >"$work/files"
printf 'package main\n\ndeny[msg] { input.kind == "Pod"; not input.spec.nodeSelector; msg := "no node selector" }\n' >"$work/deny.rego"

commands=("gpulint=$gpulint check . --exit-zero")
# tool NAME "COMMAND" "HOW TO INSTALL IT"
tool() {
  if command -v "$1" >/dev/null; then commands+=("$1=$2"); else echo "$1 is missing: $3" >&2; fi
}
tool kubeconform "kubeconform -ignore-missing-schemas -schema-location '$schemas/{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json' ." \
  "go install github.com/yannh/kubeconform/cmd/kubeconform@v0.6.7"
tool kube-linter "kube-linter lint ." "go install golang.stackrox.io/kube-linter/cmd/kube-linter@v0.7.1"
tool kube-score "xargs -a $work/files kube-score score" "go install github.com/zegl/kube-score/cmd/kube-score@v1.19.0"
tool trivy "trivy config --skip-check-update --offline-scan --quiet ." "https://trivy.dev/latest/getting-started/installation/"
tool conftest "xargs -a $work/files conftest test --policy $work" "go install github.com/open-policy-agent/conftest@v0.56.0"
tool checkov "checkov --directory . --compact --quiet --framework kubernetes helm kustomize terraform dockerfile" "pip install checkov"

echo "| tool | CPU | times gpulint | wall | peak memory |"
echo "|---|---:|---:|---:|---:|"
"$here/measure.py" "${RUNS:-5}" "${commands[@]}" | awk -F'\t' '
  NR == 1 { one = $2 }
  { printf "| %s | %.0f ms | %.1f | %.0f ms | %.0f MB |\n", $1, $2, $2 / one, $3, $4 }'
