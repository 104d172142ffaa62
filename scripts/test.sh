#!/bin/bash
# usage: test.sh [BUILD [full]]
#
# Runs lit's tests in test/ and the GoogleTest programs in BUILD/bin/unit; "full" includes the tests
# that take long. The last line of the output is 'N passed, N failed'.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"

# A program that crashes leaves a log without results, which counts as a failure.
for program in "$build"/bin/unit/*; do
  [[ -x $program ]] || continue
  name=$(basename "$program")
  if ! "$program" --gtest_brief=1 --gtest_output="json:$results/$name.unit.json" \
    >"$results/$name.unit.log" 2>&1; then
    echo "FAIL: $name"
    cat "$results/$name.unit.log"
  fi
done

# LLVM's test runner, where CMake found it.
lit=$(sed -n 's/^ZERO_LIT:[A-Z]*=//p' "$build/CMakeCache.txt")
"${lit:?not in $build/CMakeCache.txt: run cmake --build $build}" --verbose --no-progress-bar --workers "$(scripts/jobs.sh)" \
  --param build="$build" --param full="${2:-}" --output "$results/lit.json" test

exec /usr/bin/python3 scripts/count-results.py "$results"
