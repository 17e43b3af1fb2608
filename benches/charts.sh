#!/usr/bin/env bash
# Prints how long rendering the charts below some directories takes, as a multiple of parsing what they render to: for all
# of them, and for the one with the longest output. Both sides are medians of runs in one process.
# Usage: benches/charts.sh DIRECTORY...
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --quiet --release --example render_parse -- "$@"
