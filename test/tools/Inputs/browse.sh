#!/bin/bash
# browse.sh BROWSER PAGE: prints the page as it is after its scripts ran.
# A browser that dies or hangs while it starts says nothing about the page: it is started anew, twice at most, each time with a
# profile of its own, so that no other browser's lock is in its way.
set -u
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
for attempt in 1 2 3; do
  page=$(timeout 60 "$1" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-extensions \
    --disable-background-networking --no-first-run --user-data-dir="$profile/$attempt" --virtual-time-budget=10000 \
    --dump-dom "file://$2" 2>"$profile/log")
  if [[ $page == *"</html>"* ]]; then
    printf '%s\n' "$page"
    exit 0
  fi
done
cat "$profile/log" >&2
echo "browse.sh: $1 printed no page for $2 three times" >&2
exit 1
