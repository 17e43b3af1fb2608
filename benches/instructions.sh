#!/usr/bin/env bash
# The guard against slow changes: instructions of three runs on one thread, which a busy machine does not change, against
# benches/instructions.txt. More than 5 % above fails. Counts depend on compiler and C library: with others they are told,
# and compared with nothing.
# Usage: benches/instructions.sh [--renew]     writes the baselines anew
set -euo pipefail
cd "$(dirname "$0")/.."
known=benches/instructions.txt

if ! command -v valgrind >/dev/null; then
  echo "valgrind is missing, which counts instructions; installing it" >&2
  apt-get update -qq && apt-get install -y -qq valgrind
fi
cargo build --quiet --locked --profile guard --bin gpulint --example tree
built=${CARGO_TARGET_DIR:-target}/guard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$built/gpulint" fixtures/guides/hpa-on-gpu-resource/hpa.yaml "$work"
"$built/examples/tree" manifests 800 "$work/manifests"
"$built/examples/tree" mixed 40 "$work/mixed"

machine="$(rustc --version), $(getconf GNU_LIBC_VERSION), $(uname -m)"
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null ./gpulint check "$1" --jobs 1 --exit-zero 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}
now=$(cd "$work" && echo "# $machine" && for run in hpa.yaml manifests mixed; do echo "$run $(count "$run")"; done)
if [ "${1:-}" = --renew ]; then
  echo "$now" | tee "$known"
elif [ "$(head -1 "$known")" = "# $machine" ]; then
  awk 'FNR == 1 { next } NR == FNR { known[$1] = $2; next } {
      more = 100 * ($2 / known[$1] - 1)
      printf "instructions of %s: %.0f, %+.1f %%\n", $1, $2, more
      if (more > 5) { print "  too many: make it cheaper, or say why in the change that runs benches/instructions.sh --renew"; bad = 1 }
      if (more < -5) print "  fewer: benches/instructions.sh --renew keeps it so"
    } END { exit bad }' "$known" - <<<"$now"
else
  printf 'NOT COMPARED: the baselines are of another compiler or C library (%s)\n%s\n' "$(head -1 "$known")" "$now" >&2
fi
