"""The console scripts zeroc, zero-run, zero-sim, zero-opt and zero-translate."""

import sys

from .tools import become_tool


def _script(name):
    return lambda: become_tool(name, sys.argv[1:])


zeroc = _script("zeroc")
zero_run = _script("zero-run")
zero_sim = _script("zero-sim")
zero_opt = _script("zero-opt")
zero_translate = _script("zero-translate")
