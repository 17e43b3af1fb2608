#!/usr/bin/env bash
# What it costs to install gpulint and to have it as a hook, beside ruff and zizmor: sizes, and seconds of the wall clock in
# fresh directories without any cache, medians of RUNS=3. Wheels come from the package index; FIND_LINKS=DIRECTORY has that of
# gpulint where the index has none. Needs python3 and pre-commit.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PIP_FIND_LINKS=${FIND_LINKS:+$(cd "$OLDPWD" && realpath "$FIND_LINKS")} PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
[ -n "$PIP_FIND_LINKS" ] || unset PIP_FIND_LINKS
runs=${RUNS:-3}

median() { sort -n | awk '{ all[NR] = $1 } END { printf "%.2f", all[int((NR + 1) / 2)] }'; }
seconds() { local start=$EPOCHREALTIME; "$@" >/dev/null 2>&1 || true; awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }
mib() { awk '{ printf "%.1f", $1 / 1048576 }'; }
again() { for ((i = 0; i < runs; i++)); do "$@"; done | median; }

fresh() { rm -rf venv && python3 -m venv venv && seconds venv/bin/pip install "$1"; }
hook() {
  rm -rf hooks repository && mkdir repository && cd repository && git init -q
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n' >pod.yaml
  printf 'repos: [{repo: local, hooks: [{id: %s, name: %s, entry: %s, language: python, pass_filenames: false, always_run: true, additional_dependencies: [%s]}]}]\n' \
    "$1" "$1" "$2" "$1" >.pre-commit-config.yaml
  git add -A
  export PRE_COMMIT_HOME=$work/hooks
  "$3"
  cd ..
}
first() { seconds pre-commit run --all-files; }
second() { pre-commit run --all-files >/dev/null 2>&1 || true; seconds pre-commit run --all-files; }

echo "| | wheel, MiB | installed, MiB | pip install, s | first run of the hook, s | each further run, s |"
echo "|---|---:|---:|---:|---:|---:|"
while read -r name entry; do
  rm -rf wheel && python3 -m pip download --quiet --no-deps --dest wheel "$name"
  packed=$(cat wheel/*.whl | wc -c | mib)
  installing=$(again fresh "$name")
  version=$(venv/bin/"$name" --version)
  size=$(du -sb venv/bin/"$name" venv/lib/python3*/site-packages/"$name"* | awk '{ sum += $1 } END { print sum }' | mib)
  echo "| $version | $packed | $size | $installing | $(again hook "$name" "$entry" first) | $(again hook "$name" "$entry" second) |"
done <<'TOOLS'
gpulint gpulint check
ruff ruff check
zizmor zizmor --offline .
TOOLS
