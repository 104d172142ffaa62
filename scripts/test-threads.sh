#!/bin/bash
# usage: test-threads.sh [BUILD]
#
# Runs multithreaded code under ThreadSanitizer: the unit tests of communicators, lanes, tiers,
# checkpoints, devices, sessions and processes, and two training runs that use all of them, compiled
# by BUILD's zeroc. Builds build/tsan first (20 minutes on 2 cores). test/unit/runtime/tsan.supp
# lists the suppressed reports with their reasons. Compiled kernels and libraries are not
# instrumented.
set -euo pipefail
cd "$(dirname "$0")/.."
zeroc=$(realpath "${1:-build}")/bin/zeroc
targets=(zero-run)
for part in communicator checkpoint io tier executor device processes; do
  targets+=("runtime-$part-test")
done
cmake --preset tsan >/dev/null
cmake --build build/tsan --parallel "$(scripts/jobs.sh)" --target "${targets[@]}"

export TSAN_OPTIONS="exitcode=66 suppressions=$PWD/test/unit/runtime/tsan.supp"
for test in "${targets[@]:1}"; do
  echo "== $test"
  "build/tsan/bin/unit/$test" --gtest_brief=1
done

echo "== training with tiers, checkpoints and two threads a rank"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=test/data/gpt2-tiny-dyn
data=(--data="$model/groundtruth.npz")
"$zeroc" "$model/model.onnx" --shape=input_ids=1x32,labels=1x32 --ranks=4 --zero-stage=3 \
  --threads-per-rank=2 --offload-optimizer=nvme --offload-params=host \
  -o "$work/step.zexe" >/dev/null
build/tsan/bin/zero-run "$work/step.zexe" "${data[@]}" --steps=6 --nvme-dir="$work" \
  --save-state="$work/state" --save-every=2 --log="$work/log"
build/tsan/bin/zero-run "$work/step.zexe" "${data[@]}" --steps=8 --nvme-dir="$work" \
  --resume="$work/state"
