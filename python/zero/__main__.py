"""Runs a tool: python -m zero zeroc|zero-run|zero-sim|zero-opt|zero-translate ARGUMENTS."""

import os
import sys

from .errors import ToolError
from .tools import NAMES, find_tool


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        asked = sys.argv[1] if len(sys.argv) > 1 else ""
        text = f"usage: python -m zero {'|'.join(NAMES)} ARGUMENTS"
        if asked in ("-h", "--help"):
            print(text)
            return
        sys.exit(f"zero: error: expected a tool, got '{asked}'\n{text}")
    try:
        tool = find_tool(sys.argv[1])
    except ToolError as error:
        sys.exit(f"zero: error: {error}")
    # The tool takes the place of this process: signals and exit codes are its own.
    os.execv(tool, sys.argv[1:])


if __name__ == "__main__":
    main()
