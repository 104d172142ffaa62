"""Runs a tool: python -m zero zeroc|zero-run|zero-sim|zero-opt|zero-translate ARGUMENTS."""

import sys

from .scripts import run_script
from .tools import NAMES


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        asked = sys.argv[1] if len(sys.argv) > 1 else ""
        text = f"usage: python -m zero {'|'.join(NAMES)} ARGUMENTS"
        if asked in ("-h", "--help"):
            print(text)
            return
        sys.exit(f"zero: error: expected a tool, got '{asked}'\n{text}")
    run_script(sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    main()
