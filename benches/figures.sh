#!/usr/bin/env bash
# Prints the tables of docs/speed.md for one or more builds of gpulint, measured in turn on trees that are generated.
# Usage: benches/figures.sh LABEL=GPULINT...      RUNS=3, SIZES="500 … 32000", TREE=a tree of your own with
#        FLOOR=target/release/examples/read_parse, which finds, reads and parses the same files and does nothing else
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-3}
sizes=(${SIZES:-500 1000 2000 4000 8000 16000 32000})
file=$here/../fixtures/guides/hpa-on-gpu-resource/hpa.yaml
builds=("$@")
cargo build --quiet --example tree
tree=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/examples/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

binary() { realpath "${1#*=}"; }
instructions() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'; }
# measured COMMAND-BEHIND-GPULINT: the medians of each build
measured() {
  local build commands=()
  for build in "${builds[@]}"; do commands+=("${build%%=*}=$(binary "$build") $1"); done
  "$here/measure.py" "$runs" "${commands[@]}"
}
as_rows() { awk -F'\t' -v what="$1" '{ printf "| %s | %s | %.0f ms | %.0f ms | %.0f MB |\n", what, $1, $2, $3, $4 }'; }

none=$(instructions /bin/true)
echo "| one small file | binary | instructions | times \`/bin/true\` ($none) |"
echo "|---|---:|---:|---:|"
for build in "${builds[@]}"; do
  one=$(instructions "$(binary "$build")" check --jobs 1 "$file" || true)
  awk -v label="${build%%=*}" -v size="$(stat -Lc %s "$(binary "$build")")" -v one="$one" -v none="$none" \
    'BEGIN { printf "| %s | %.1f MB | %.0f | %.1f |\n", label, size / 1e6, one, one / none }'
done

echo
echo "| manifests in one folder | build | CPU | exponent | wall | peak memory |"
echo "|---:|---|---:|---:|---:|---:|"
for size in "${sizes[@]}"; do
  "$tree" manifests "$size" "$work/$size"
  measured "check $work/$size --quiet --exit-zero" | sed "s/^/$size\t/"
  rm -rf "${work:?}/$size"
done | awk -F'\t' '{
  exponent = $2 in cpu ? sprintf("%.2f", log($3 / cpu[$2]) / log($1 / size[$2])) : ""
  cpu[$2] = $3; size[$2] = $1
  printf "| %d | %s | %.0f ms | %s | %.0f ms | %.0f MB |\n", $1, $2, $3, exponent, $4, $5 }'

echo
echo "| tree | build | CPU | wall | peak memory |"
echo "|---|---|---:|---:|---:|"
"$tree" mixed 200 "$work/mixed"
measured "check $work/mixed --quiet --exit-zero" | as_rows "200 charts, kustomizations, Terraform modules, images and jobs each"
"$tree" repositories 200 "$work/repositories"
measured "check $work/repositories --quiet --exit-zero" | as_rows "200 repositories in one run"
for build in "${builds[@]}"; do
  "$here/measure.py" "$runs" "${build%%=*}=bash -c 'for r in $work/repositories/*; do $(binary "$build") check \$r --quiet --exit-zero; done'"
done | as_rows "the same in 200 runs"
if [ -n "${TREE:-}" ]; then
  measured "check $TREE --quiet --exit-zero" | as_rows "$(basename "$TREE")"
  [ -z "${FLOOR:-}" ] || "$here/measure.py" "$runs" "=$FLOOR $TREE" | as_rows "finding, reading and parsing its files"
fi
