#!/bin/bash
# browse.sh BROWSER PAGE: prints the page after its scripts ran. If a browser crashes or hangs
# during start, this says nothing about the page, so it is started again, at most twice. Each start
# has a separate profile, so that a lock of another browser does not block it.
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
