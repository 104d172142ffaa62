#!/bin/bash
# Copies the licences of the libraries in the wheel: the copyright files of the Debian packages and
# those of the Python packages that the libraries were built from.
# usage: scripts/collect-licenses.sh DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
to=$1

# Linked statically or compiled in, then bundled as shared libraries.
debian=(
  libmlir-22-dev llvm-22-dev liblld-22-dev libflatbuffers-dev libeigen3-dev
  libdnnl2 ocl-icd-libopencl1 libgomp1 libprotobuf32 libsodium23 liburing2 libzstd1 zlib1g
)

rm -rf "$to"
for package in "${debian[@]}"; do
  install -D -m 644 "/usr/share/doc/$package/copyright" "$to/$package/copyright"
done
# The licences that the copyright files refer to.
for license in Apache-2.0 BSD MPL-2.0 GPL-2 GPL-3 LGPL-2.1; do
  install -D -m 644 "/usr/share/common-licenses/$license" "$to/common-licenses/$license"
done
# scripts/setup.sh builds the ONNX library from the sources of this version.
for package in onnx nanobind; do
  files=(.deps/venv/lib/python3*/site-packages/"$package"-*.dist-info/licenses/*)
  mkdir -p "$to/$package"
  cp "${files[@]}" "$to/$package"
done
