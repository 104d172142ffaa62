"""Checks that the common options of a tool fit on a screen and are part of all its options.

usage: check_help.py TOOL [ALL]

ALL is the flag that prints all options (--help-all)."""

import re
import subprocess
import sys

ROWS, COLUMNS = 40, 80
FLAG = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")


def text_of(tool, flag):
    return subprocess.run([tool, flag], capture_output=True, text=True, check=True).stdout


def main():
    tool, everything = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "--help-all"
    common, known = text_of(tool, "--help"), text_of(tool, everything) + " --help-all\n"
    lines = common.splitlines()
    assert len(lines) <= ROWS, f"{len(lines)} lines, at most {ROWS} are expected"
    for line in lines:
        if "Display list of" in line:  # options of LLVM's command line
            continue
        assert len(line) <= COLUMNS, f"more than {COLUMNS} columns: {line}"
    # These tools take options of zeroc, to compile a model and to import one.
    if tool in ("zero-run", "zero-opt"):
        known += text_of("zeroc", "--help-all")
    missing = set(FLAG.findall(common)) - set(FLAG.findall(known))
    assert not missing, f"options that do not exist: {sorted(missing)}"


main()
