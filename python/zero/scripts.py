"""The console scripts zeroc, zero-run, zero-sim, zero-opt and zero-translate."""

import os
import sys
from pathlib import Path


def _script(name):
    def run():
        """The tool takes the place of this process: signals and exit codes are its own."""
        os.execv(Path(__file__).parent / "bin" / name, [name, *sys.argv[1:]])
    return run


zeroc = _script("zeroc")
zero_run = _script("zero-run")
zero_sim = _script("zero-sim")
zero_opt = _script("zero-opt")
zero_translate = _script("zero-translate")
