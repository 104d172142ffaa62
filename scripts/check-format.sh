#!/bin/bash
# Checks that all C and C++ sources in the directory $1 (by default this checkout) are formatted
# by clang-format ("make format"). Prints each place that is not, and then fails.
set -euo pipefail
style=$(realpath "$(dirname "$0")/../.clang-format")
cd "${1:-$(dirname "$0")/..}"
find . \( -name '.*' -o -name build -o -name data \) ! -name . -prune -o \
  \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -type f -print0 |
  sort -z | xargs -0 -P "$(nproc)" -n 32 clang-format-22 --style="file:$style" --dry-run --Werror
