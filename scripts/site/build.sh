#!/bin/bash
# usage: build.sh SITE [ZEROC]
#
# Builds the documentation site into the directory SITE and checks it. With ZEROC it has an example
# of a page of --report. ZERO_DOCS_PYTHON names another interpreter than that of .deps/docs.
set -euo pipefail
site=$(realpath -m "${1:?usage: build.sh SITE [ZEROC]}")
zeroc=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."
python=${ZERO_DOCS_PYTHON:-.deps/docs/bin/python}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ $zeroc ]]; then
  "$zeroc" test/data/gpt2-mini/model.onnx --zero-stage=3 --ranks=4 --optimizer=adamw --plan-only \
    --report="$work/plan.html" >"$work/log" || { cat "$work/log" >&2 && exit 1; }
  export ZERO_REPORT=$work/plan.html
fi
# The theme prints an announcement otherwise.
export NO_MKDOCS_2_WARNING=1
"$python" -m mkdocs build --quiet --strict -f scripts/site/mkdocs.yml -d "$site"
"$python" scripts/site/check.py "$site" index.html docs/reference/python-api.html \
  ${zeroc:+docs/reference/plan.html}
