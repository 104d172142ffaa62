#!/bin/bash
# Builds the wheel of the Python package into build/wheel/dist: self-contained, with the compiler,
# the runtime, the tools, the libraries that these need, and their licences.
# usage: scripts/wheel.sh (after scripts/setup.sh, as in `make wheel`)
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=build/wheel
python=$wheel/venv/bin/python

say() { echo "wheel: $*"; }

install_python() {
  cmp -s scripts/wheel-requirements.txt $wheel/venv/requirements.txt && return 0
  say "making the Python environment"
  # The python3 of PATH may not be Debian's.
  /usr/bin/python3 -m venv --clear $wheel/venv
  $python -m pip install -q --disable-pip-version-check -r scripts/wheel-requirements.txt
  cp scripts/wheel-requirements.txt $wheel/venv/requirements.txt
}

# Builds the wheel with the libraries of this system, then adds those it needs to a copy.
build_wheel() {
  rm -rf $wheel/raw $wheel/dist
  CMAKE_BUILD_PARALLEL_LEVEL=$(scripts/jobs.sh) \
    $python -m build --wheel --no-isolation --outdir $wheel/raw .
  PATH=$PWD/$wheel/venv/bin:$PATH auditwheel repair --wheel-dir $wheel/dist $wheel/raw/*.whl
}

mkdir -p $wheel
install_python
build_wheel
du -h $wheel/dist/*.whl
