"""The console scripts zeroc, zero-run, zero-sim, zero-opt and zero-translate."""

import sys

from .errors import ToolError
from .tools import become_tool


def run_script(name, arguments):
    """Puts a tool in the place of this process, or ends it with an error."""
    try:
        become_tool(name, arguments)
    except ToolError as error:
        sys.exit(f"zero: error: {error}")


def _script(name):
    return lambda: run_script(name, sys.argv[1:])


zeroc = _script("zeroc")
zero_run = _script("zero-run")
zero_sim = _script("zero-sim")
zero_opt = _script("zero-opt")
zero_translate = _script("zero-translate")
