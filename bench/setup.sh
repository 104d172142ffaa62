#!/bin/bash
# Installs the peers that bench/ compares with Zero, each kind in a separate Python environment:
# .deps/bench/torch (PyTorch, Transformers, DeepSpeed; 7 GiB), .deps/bench/jax (JAX; 0.5 GiB),
# .deps/bench/onnxsim (onnxsim on onnxruntime) and .deps/bench/ort (onnxruntime's training API).
# Does nothing if nothing is missing.
# usage: bench/setup.sh [torch] [jax] [onnxsim] [ort]
set -euo pipefail
cd "$(dirname "$0")/.."

environments=.deps/bench

say() { echo "bench/setup: $*"; }

# Installs into the environment $1. The output is written to a log, which is shown only on failure.
install() {
  local log=$environments/$1.log python=$environments/$1/bin/python
  if ! "$python" -m pip install --disable-pip-version-check "${@:2}" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "bench/setup: failed: pip install ${*:2} (whole log: $log)" >&2
    exit 1
  fi
}

# The index that pip uses does not have the CPU-only wheel of PyTorch, so the one with CUDA is
# installed; it runs without a GPU. DeepSpeed's kernels are omitted: it would build them during
# installation, and none is used here.
fill_torch() {
  install torch -r bench/peers/torch.txt
  DS_BUILD_OPS=0 DS_ACCELERATOR=cpu \
    install torch --no-build-isolation -r bench/peers/torch-deepspeed.txt
}

fill_jax() { install jax -r bench/peers/jax.txt; }
fill_onnxsim() { install onnxsim -r bench/peers/onnxsim.txt; }
fill_ort() { install ort -r bench/peers/ort.txt; }

# A stamp contains the requirements of an environment, which is recreated when they change.
make_environment() {
  local name=$1 stamp=$environments/$1.stamp want
  want=$(cat bench/peers/"$name"*.txt | sha256sum)
  [[ -f $stamp && $(<"$stamp") == "$want" ]] && return 0
  say "installing $(grep -hv '^#' bench/peers/"$name"*.txt | paste -sd' ') into $environments/$name"
  rm -f "$stamp" "$environments/$name.log"
  /usr/bin/python3 -m venv --clear "$environments/$name"
  "fill_$name"
  echo "$want" >"$stamp"
}

(($#)) || set -- torch jax onnxsim ort
mkdir -p "$environments"
for environment in "$@"; do
  declare -F "fill_$environment" >/dev/null || {
    echo "bench/setup: expected torch, jax, onnxsim or ort, got '$environment'" >&2
    exit 1
  }
  make_environment "$environment"
done
