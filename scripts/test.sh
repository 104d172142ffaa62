#!/bin/bash
# usage: test.sh [BUILD [full]]
#
# Runs the tests in test/, among which are the GoogleTest programs in BUILD/bin/unit; "full" includes
# those that take long. The last line of the output is 'N passed, N failed'.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
results=$build/test-results.json
rm -f "$results"

# LLVM's test runner, where CMake found it.
lit=$(sed -n 's/^ZERO_LIT:[A-Z]*=//p' "$build/CMakeCache.txt")
"${lit:?not in $build/CMakeCache.txt: run cmake --build $build}" --verbose --no-progress-bar --workers "$(scripts/jobs.sh)" \
  --param build="$build" --param full="${2:-}" --output "$results" test

# A second opinion on the executables that the tests have left.
PATH=$(realpath "$build")/bin:$PATH PYTHONPATH=test/support PYTHONDONTWRITEBYTECODE=1 \
  .deps/venv/bin/python test/check/check_built.py "$build/test" "$(scripts/jobs.sh)"
unproven=$?

/usr/bin/python3 scripts/count-results.py "$results" && exit "$unproven"
