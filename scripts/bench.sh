#!/bin/bash
# What `make bench` shows: step times, memory and compile times. $1 is the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
exec .deps/venv/bin/python scripts/bench.py "$(realpath "${1:-build}")" "${@:2}"
