#!/bin/bash
# Prints how many compilers or tests to run in parallel: one per usable core, but at most one per
# 2 GiB of memory (in a container, of its memory limit). $JOBS overrides the number.
if [[ ${JOBS:-} ]]; then
  echo "$JOBS"
  exit
fi
kib=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null)
if [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1024 < kib)); then
  kib=$((limit / 1024))
fi
jobs=$((kib / (2 << 20)))
cores=$(nproc)
((jobs > cores)) && jobs=$cores
((jobs < 1)) && jobs=1
echo "$jobs"
