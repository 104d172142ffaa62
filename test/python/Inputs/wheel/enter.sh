#!/bin/bash
# usage: unshare --mount enter.sh WHEEL DATA INPUTS PYTHON
#
# Installs the wheel into a virtual environment in WHEEL/system and trains with it. PYTHON: a
# directory with another Python, or empty. The system is mounted read-only, with a /srv in memory;
# nothing is left when the mount namespace ends.
set -euo pipefail
root=$1/system

mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind /dev "$root/dev"
mount -t proc none "$root/proc"
mount -t tmpfs none "$root/srv"

# show NAME DIRECTORY: the system sees DIRECTORY as /srv/NAME.
show() {
  mkdir "$root/srv/$1"
  mount --bind "$2" "$root/srv/$1"
}
show dist "$1/dist"
show index "$1/index"
show data "$2"
show inputs "$3"
python=/usr
if [[ $4 ]]; then
  show python "$4"
  python=/srv/python
fi

exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/srv TMPDIR=/srv "LD_LIBRARY_PATH=${4:+/srv/python/lib}" \
  bash -euo pipefail -c '
  if ls /usr/lib/*/ | grep -E "^lib(LLVM|MLIR|protobuf|dnnl|onnx)"; then exit 1; fi
  for tool in ld ld.lld lld cc gcc clang; do
    if command -v $tool; then exit 1; fi
  done
  python=$(ls '"$python"'/bin/python3.* | grep -E "[0-9]$")
  $python -m venv /srv/venv
  cd /srv
  venv/bin/python -m pip install -q --no-index --find-links index --disable-pip-version-check \
    dist/*.whl
  PATH=/srv/venv/bin:$PATH venv/bin/python inputs/train.py data'
