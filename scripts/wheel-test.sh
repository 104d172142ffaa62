#!/bin/bash
# Tests the wheel of `make wheel`, and the bundle of `make gpu-bundle`, on a Debian system without LLVM, MLIR, Protobuf, oneDNN, compilers
# and linkers, which debootstrap makes in build/wheel/system. Needs root.
#
# ZERO_WHEEL_PYTHONS: installations of other versions of Python, as /opt/python3.10:/opt/python3.13,
# which are tested in that system, too.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=build/wheel
export ZERO_WHEEL_PYTHONS=${ZERO_WHEEL_PYTHONS:-}

say() { echo "wheel-test: $*"; }

if ((EUID != 0)); then
  say "expected root, which debootstrap and chroot need" >&2
  exit 1
fi
if ! command -v debootstrap >/dev/null; then
  say "installing Debian package: debootstrap"
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends debootstrap >/dev/null
fi

# The image is complete when it has its name.
if [[ ! -d $wheel/system ]]; then
  say "making the system image (275 MiB)"
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
    awk '$2 == "bookworm" { print $1; exit }')
  rm -rf $wheel/system.part
  debootstrap --variant=minbase --include=python3-venv bookworm $wheel/system.part "$mirror" \
    >$wheel/system.log
  mv $wheel/system.part $wheel/system
fi

# What the wheel depends on, for each Python: the image has no network.
rm -rf $wheel/index
IFS=: read -ra pythons <<<"$wheel/system/usr${ZERO_WHEEL_PYTHONS:+:$ZERO_WHEEL_PYTHONS}"
for python in "${pythons[@]}"; do
  version=$(basename "$(echo "$python"/bin/python3.[0-9]* | tr ' ' '\n' | grep -E '[0-9]$')")
  $wheel/venv/bin/python -m pip download -q --disable-pip-version-check --only-binary :all: \
    --python-version "${version#python}" --dest $wheel/index $wheel/dist/*.whl
done

lit=$(sed -n 's/^ZERO_LIT:[A-Z]*=//p' build/CMakeCache.txt)
exec "$lit" -v --param build="$PWD/build" --filter 'python/wheel[.]test|gpu/bundle[.]test' test
