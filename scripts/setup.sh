#!/bin/bash
# Installs what is needed to build Zero: Debian packages, a Python environment in .deps/venv, and
# the ONNX C++ library in .deps/onnx. Does nothing if nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(scripts/jobs.sh)
onnx_version=1.23.2
packages=(
  make git cmake ninja-build ccache python3 python3-venv python3-dev
  clang-22 lld-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev libzstd-dev
  libprotobuf-dev protobuf-compiler libdnnl-dev libgtest-dev liburing-dev libsodium-dev zlib1g-dev libflatbuffers-dev flatbuffers-compiler
  libeigen3-dev qemu-user
  pkg-config libopenmpi-dev openmpi-bin libmpich-dev mpich slurmd slurmctld slurm-client munge iproute2
)

say() { echo "setup: $*"; }

# Runs a command with its output in a log, which is printed only if the command fails.
quietly() {
  local log=.deps/setup.log
  mkdir -p .deps
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "setup: failed: $* (whole log: $log)" >&2
    exit 1
  fi
}

install_packages() {
  local missing=() package
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^installed //p') || true
  for package in "${packages[@]}"; do
    grep -qx -- "$package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing Debian packages: ${missing[*]}"
  local root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: run as root: apt-get install ${missing[*]}" >&2
      exit 1
    }
    root=(sudo)
  fi
  quietly "${root[@]}" apt-get update
  quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# A stamp file contains the version that a step installed. The step is repeated when it changes.
is_done() { [[ -f .deps/$1.stamp && $(<".deps/$1.stamp") == "$2" ]]; }
mark_done() { echo "$2" >".deps/$1.stamp"; }

install_python() {
  local want
  want=$(sha256sum <scripts/requirements.txt)
  is_done venv "$want" && [[ -x .deps/venv/bin/python ]] && return 0
  say "making the Python environment"
  # The python3 of PATH may not be Debian's.
  quietly /usr/bin/python3 -m venv --clear .deps/venv
  quietly .deps/venv/bin/python -m pip install --disable-pip-version-check \
    -r scripts/requirements.txt
  mark_done venv "$want"
}

# Commands are joined by && because `quietly` calls this in a condition, where set -e has no effect.
build_onnx() {
  local work=$1 python=$PWD/.deps/venv/bin/python
  export PATH=$PWD/.deps/venv/bin:$PATH
  "$python" -m pip download --disable-pip-version-check --no-binary :all: --no-deps \
    --no-build-isolation -d "$work" "onnx==$onnx_version" &&
    tar -xzf "$work/onnx-$onnx_version.tar.gz" -C "$work" &&
    "$python" -m cmake -S "$work/onnx-$onnx_version" -B "$work/build" -G Ninja \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PWD/.deps/onnx" \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DONNX_BUILD_PYTHON=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=ON &&
    ninja -C "$work/build" -j "$jobs" install
}

install_onnx() {
  is_done onnx "$onnx_version" && [[ -d .deps/onnx/lib ]] && return 0
  say "building the ONNX $onnx_version library (a few minutes)"
  local work
  work=$(mktemp -d)
  trap "rm -rf '$work'" EXIT
  rm -rf .deps/onnx
  quietly build_onnx "$work"
  mark_done onnx "$onnx_version"
}

install_packages
install_python
install_onnx
