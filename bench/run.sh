#!/bin/bash
# Output of `make bench` and `make bench-peers`. Figures are also written to BUILD/bench/*.json.
# usage: bench/run.sh BUILD [peers]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")

measure() {
  echo
  .deps/venv/bin/python "bench/$1.py" --build "$build" --json "$build/bench/$1.json" "${@:2}"
}

if [[ ${2:-} == peers ]]; then
  bench/setup.sh
  measure step
  measure single
  measure sequence
  measure compile --sides=zero,jax
else
  measure step --cases=A,B --sides=zero --rounds=2
  measure simulate --rounds=1
  measure compile --cases=B,depth-12,depth-24,depth-48 --rounds=1
  measure plans
fi
