#!/usr/bin/env python3
"""Finds arithmetic on untrusted numbers that should use runtime/support/checked.h.

Usage: check_arithmetic.py ROOT. Files, flags and models may contain any number. Only the functions
of that header may parse, add and multiply such integers, multiply dimensions, and compare ranges of
files. Prints each violation and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

FOLDERS = ("runtime", "lib", "include", "tools")
HOME = "runtime/support/checked.h"
# Sizes of a model are bounded before other directories use them.
OUTSIDE = ("runtime/", "lib/Import/", "tools/")

RULES = [
    (re.compile(r"__builtin_\w+_overflow"), "checkedAdd, checkedSubtract or checkedMultiply", ()),
    (re.compile(r"\b(?:strto(?:u?ll?|u?max|d|f|ld)|ato(?:i|l|ll|f)|sto(?:i|l|ll|ul|ull|f|d|ld)|"
                r"\w*scanf|from_chars)\s*\("), "parseWhole or parseReal", ()),
    (re.compile(r"\.getAsInteger\(\s*\w|\.getAsDouble\("), "parseWhole or parseReal", ()),
    (re.compile(r"\*=\s*(?:[\w:<>]+\()?(?:dim|extent|shape\[)|std::multiplies"),
     "checkedProduct or saturatingProduct", OUTSIDE),
    # offset > size || bytes > size - offset, in either order.
    (re.compile(r"(\b[\w.()>-]+) > ([\w.()]+) \|\|\s+[^;|&]+ > \2 - \1(?![\w.(])"), "isWithin", OUTSIDE),
    (re.compile(r"(\b[\w.()>-]+) <= ([\w.()]+) &&\s+[^;|&]+ <= \2 - \1(?![\w.(])"), "isWithin", OUTSIDE),
]


def check(root, file):
    path = file.relative_to(root).as_posix()
    if path == HOME:
        return
    text = file.read_text()
    for pattern, instead, folders in RULES:
        if folders and not path.startswith(folders):
            continue
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            source = text.splitlines()[line - 1]
            if source.lstrip().startswith("//"):
                continue
            yield f"{path}:{line}: expected {instead}, got '{source.strip()}'"


def main():
    root = Path(sys.argv[1]).resolve()
    files = sorted(file for folder in FOLDERS for file in (root / folder).rglob("*")
                   if file.suffix in (".cpp", ".h", ".c", ".in"))
    found = [text for file in files for text in check(root, file)]
    print("\n".join([*found, f"{len(files)} files, {len(found)} raw"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
