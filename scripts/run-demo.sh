#!/bin/bash
# What `make run` shows: a real GPT-2 export trained under ZeRO stage 3 on 4 ranks,
# then all four stages side by side. $1 is the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
exec .deps/venv/bin/python scripts/demo.py "$build/bin" test/data/gpt2-mini/model.onnx
