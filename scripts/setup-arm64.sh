#!/bin/bash
# Unpacks what the runtime for 64-bit ARM is compiled and linked with into .deps/arm64: Debian's
# arm64 packages, from the mirrors that this system uses. Needs no root, and adds no architecture to
# the system. Does nothing if nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libgcc-12-dev libstdc++6 libstdc++-12-dev
  libgomp1 libatomic1 libprotobuf32 libprotobuf-lite32 libprotobuf-dev zlib1g zlib1g-dev liburing2 liburing-dev
  libsodium23 libsodium-dev libflatbuffers-dev libeigen3-dev
)
root=.deps/arm64
want=$(sha256sum <scripts/setup-arm64.sh)
[[ -f .deps/arm64.stamp && $(<.deps/arm64.stamp) == "$want" && -d $root/usr ]] && exit 0

echo "setup: unpacking Debian's arm64 packages into $root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,debs} .deps
: >"$work/status"
apt=(apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$work/state"
  -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=
  -o Acquire::Languages=none)
log=.deps/setup-arm64.log
# The update fails if another mirror of the system has no arm64 packages.
if ! {
  "${apt[@]}" update || true
  (cd "$work/debs" && "${apt[@]}" download "${packages[@]}")
} >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: cannot download Debian's arm64 packages (whole log: $log)" >&2
  exit 1
fi
rm -rf "$root.new"
mkdir -p "$root.new"
for package in "$work"/debs/*.deb; do
  dpkg-deb -x "$package" "$root.new"
done
# Absolute links lead out of the directory.
find "$root.new" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$root.new$(readlink "$link")" "$link"
done
rm -rf "$root.new/usr/share" "$root.old"
[[ ! -e $root ]] || mv "$root" "$root.old"
mv "$root.new" "$root"
rm -rf "$root.old"
echo "$want" >.deps/arm64.stamp
