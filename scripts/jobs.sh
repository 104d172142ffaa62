#!/bin/bash
# Prints how many compilers or tests this machine runs at once: one for each core that may be
# used, as long as each has 2 GiB of memory, in a container those of its limit. $JOBS overrides.
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
