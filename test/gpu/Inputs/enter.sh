#!/bin/bash
# usage: unshare --mount --net enter.sh WHEEL BUNDLE DRIVER OUT
#
# Runs the bundle in WHEEL/system, which is mounted read-only with a /srv in memory. The Python there
# gets NumPy from WHEEL/index. DRIVER: a library in the place of CUDA's.
set -euo pipefail
root=$1/system

mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind /dev "$root/dev"
mount -t proc none "$root/proc"
mount -t tmpfs none "$root/srv"
for name in index bundle driver out tmp; do
  mkdir "$root/srv/$name"
done
mount --bind "$1/index" "$root/srv/index"
mount --bind "$2" "$root/srv/bundle"
mount -o remount,bind,ro "$root/srv/bundle"
mount --bind "$(dirname "$3")" "$root/srv/driver"
mount --bind "$4" "$root/srv/out"

library=/srv/driver/$(basename "$3")
exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/nonexistent TMPDIR=/srv/tmp CUDA_HOME=/nonexistent \
  ZERO_CUDA_DRIVER=$library ZERO_CUBLASLT=$library ZERO_NCCL=$library ZERO_PYTHON=/srv/venv/bin/python \
  bash -euo pipefail -c '
  python3 -m venv /srv/venv
  /srv/venv/bin/python -m pip install -q --no-index --find-links /srv/index --disable-pip-version-check numpy
  /srv/bundle/run --out=/srv/out --quick'
