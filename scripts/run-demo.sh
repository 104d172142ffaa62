#!/bin/bash
# The demo of `make run`: trains a real GPT-2 export under ZeRO stage 3 on 4 ranks, then compares
# all four stages. $1 is the build directory.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
exec .deps/venv/bin/python scripts/demo.py "$build/bin" test/data/gpt2-mini/model.onnx
