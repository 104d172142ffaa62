#!/bin/bash
# Runs all tests of the build folder $1 ("full" as $2: those that take long, too) and ends with one line 'N passed, N failed':
# lit's tests under test/ and the GoogleTest programs in bin/unit.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"

# A program that dies early leaves a log without a result: that is a failure, too.
for program in "$build"/bin/unit/*; do
  [[ -x $program ]] || continue
  name=$(basename "$program")
  if ! "$program" --gtest_brief=1 --gtest_output="json:$results/$name.unit.json" \
    >"$results/$name.unit.log" 2>&1; then
    echo "FAIL: $name"
    cat "$results/$name.unit.log"
  fi
done

/usr/bin/python3 /usr/lib/llvm-22/bin/lit --verbose --no-progress-bar --workers "$(scripts/jobs.sh)" \
  --param build="$build" --param full="${2:-}" --output "$results/lit.json" test

exec /usr/bin/python3 scripts/count-results.py "$results"
