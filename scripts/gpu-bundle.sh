#!/bin/bash
# Makes build/gpu-bundle: what test/gpu needs on a machine where nothing of this project is installed.
# usage: scripts/gpu-bundle.sh (after scripts/wheel.sh, as in `make gpu-bundle`)
set -euo pipefail
cd "$(dirname "$0")/.."

bundle=build/gpu-bundle
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

graphs=(mlp gpt2-tiny llama-tiny resnet-tiny bert-tiny)

.deps/venv/bin/python -m zipfile -e build/wheel/dist/*.whl "$stage"
rm -r "$stage"/*.dist-info "$stage"/zero/_native.* # the steps start tools only
chmod +x "$stage"/zero/bin/*
mkdir -p "$stage"/test/{data,execute,gpu,support} "$stage/lib/Machine"
cp test/gpu/*.py "$stage/test/gpu"
cp test/support/zero_test.py "$stage/test/support"
cp test/execute/check_groundtruth.py "$stage/test/execute"
cp -r "${graphs[@]/#/test/data/}" "$stage/test/data"
cp -r lib/Machine/presets "$stage/lib/Machine"
.deps/venv/bin/python test/gpu/make_graphs.py "$stage/test/gpu/graphs"
git describe --always --dirty >"$stage/COMMIT"

rm -rf $bundle
mkdir -p $bundle
# Bundle and checkout have to travel together, within 64 MiB. xz compresses calls of x86 better once
# their targets are absolute.
tar -C "$stage" --sort=name --owner=0 --group=0 -c . |
  xz --x86 --lzma2=preset=6,dict=64MiB >$bundle/bundle.tar.xz
install test/gpu/bundle_run $bundle/run
du -sh $bundle
