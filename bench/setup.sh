#!/bin/bash
# Installs the peers that bench/ measures beside Zero, each kind in a Python environment
# of its own: .deps/bench/torch (PyTorch, Transformers, DeepSpeed; 7 GiB) and
# .deps/bench/jax (JAX; 0.5 GiB). Does nothing where nothing is missing.
# usage: bench/setup.sh [torch] [jax]
set -euo pipefail
cd "$(dirname "$0")/.."

environments=.deps/bench

say() { echo "bench/setup: $*"; }

# Installs into the environment $1; the output goes into a log, shown only if it fails.
install() {
  local log=$environments/$1.log python=$environments/$1/bin/python
  if ! "$python" -m pip install --disable-pip-version-check "${@:2}" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "bench/setup: failed: pip install ${*:2} (whole log: $log)" >&2
    exit 1
  fi
}

# The wheel of PyTorch for the CPU alone is not in the index that pip asks, so the one
# with CUDA is installed; it runs without a GPU. DeepSpeed's own kernels are left out: it
# would build them when installed, and none is used here.
fill_torch() {
  install torch -r bench/peers/torch.txt
  DS_BUILD_OPS=0 DS_ACCELERATOR=cpu \
    install torch --no-build-isolation -r bench/peers/torch-deepspeed.txt
}

fill_jax() { install jax -r bench/peers/jax.txt; }

# A stamp holds what an environment was made from; it is made again when that changes.
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

(($#)) || set -- torch jax
mkdir -p "$environments"
for environment in "$@"; do
  [[ $environment == torch || $environment == jax ]] || {
    echo "bench/setup: expected torch or jax, got '$environment'" >&2
    exit 1
  }
  make_environment "$environment"
done
