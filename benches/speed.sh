#!/usr/bin/env bash
# Prints two ratios, each measured in one run on one machine:
#   one file:   gpulint check FILE   against /bin/true, the cost of starting any process
#   large tree: gpulint check TREE   against examples/read_parse, which finds, reads and span-parses the same files
# Usage: benches/speed.sh [TREE]     (default: this repository)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
tree=$(realpath "${1:-$root}")
cd "$root"
cargo build --quiet --release --bin gpulint --example read_parse
gpulint=$root/target/release/gpulint
read_parse=$root/target/release/examples/read_parse
file=fixtures/guides/hpa-on-gpu-resource/hpa.yaml

# Microseconds that each of two commands takes, medians of N runs in turn: median N "first" "second"
medians() {
  local n=$1 i which start
  local -a first=() second=()
  for ((i = 0; i < n; i++)); do
    for which in first second; do
      local -n times=$which
      start=${EPOCHREALTIME/./}
      if [ "$which" = first ]; then $2 >/dev/null 2>&1 || true; else $3 >/dev/null 2>&1 || true; fi
      times+=($((${EPOCHREALTIME/./} - start)))
    done
  done
  printf '%s\n' "${first[@]}" | sort -n | sed -n "$((n / 2 + 1))p"
  printf '%s\n' "${second[@]}" | sort -n | sed -n "$((n / 2 + 1))p"
}

# report "what" MICROSECONDS "than what" MICROSECONDS
report() {
  awk -v a="$2" -v b="$4" -v x="$1" -v y="$3" 'BEGIN { printf "%-28s %9.1f ms\n%-28s %9.1f ms\nratio %32.2f\n\n", x, a/1000, y, b/1000, a/b }'
}

mapfile -t t < <(medians 101 "$gpulint check $file" /bin/true)
report "gpulint check, one file" "${t[0]}" /bin/true "${t[1]}"
cd "$tree"
"$read_parse" .
mapfile -t t < <(medians 7 "$gpulint check --quiet ." "$read_parse .")
report "gpulint check, tree" "${t[0]}" "read and parse, tree" "${t[1]}"
