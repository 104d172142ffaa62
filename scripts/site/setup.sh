#!/bin/bash
# Installs what builds the documentation site into the Python environment .deps/docs (170 MB).
# Does nothing if nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=.deps/docs
stamp=$environment.stamp
log=$environment.log
want=$(sha256sum <scripts/site/requirements.txt)
[[ -f $stamp && $(<"$stamp") == "$want" && -x $environment/bin/mkdocs ]] && exit 0

echo "site/setup: installing mkdocs into $environment"
mkdir -p .deps
rm -f "$stamp"
# The python3 of PATH may not be Debian's.
if ! { /usr/bin/python3 -m venv --clear "$environment" &&
  "$environment"/bin/python -m pip install --disable-pip-version-check \
    -r scripts/site/requirements.txt; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "site/setup: failed (whole log: $log)" >&2
  exit 1
fi
echo "$want" >"$stamp"
