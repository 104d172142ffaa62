#!/bin/bash
# Runs clang-tidy (with the nearest .clang-tidy) over the given files, over those that differ from
# the commit BASE, or over all sources. Needs a complete build folder, because clang-tidy reads
# generated headers. Fails if there is a finding.
#
# usage: check-tidy.sh [-p BUILD] [--since BASE | FILE.cpp...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
if [[ ${1:-} == -p ]]; then
  build=$2
  shift 2
fi
if [[ ${1:-} == --since ]]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$2" -- '*.cpp')
elif (($#)); then
  files=("$@")
else
  mapfile -t files < <(git ls-files '*.cpp')
fi
((${#files[@]})) || { echo "check-tidy: no files"; exit 0; }
[[ -f $build/compile_commands.json ]] ||
  { echo "check-tidy: no $build/compile_commands.json: configure with cmake --preset release" >&2; exit 2; }
tidy=$(command -v clang-tidy-22 || command -v clang-tidy) ||
  { echo "check-tidy: clang-tidy is not installed" >&2; exit 2; }

# Progress, and the number of omitted warnings of system headers, are not findings.
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(scripts/jobs.sh)" -n 4 "$tidy" -p "$build" --quiet \
    2> >(grep -v "Processing file\|warnings\? generated\|warnings\? treated as" >&2)
echo "check-tidy: ${#files[@]} files, no findings"
