#!/usr/bin/env python3
"""Checks that the include guard of every header is derived from its path.

usage: check-guards.py [--fix] [ROOT]

The guard is the path of the header in capitals, relative to ROOT or to a directory named
`include`: lib/Ops/Shape.h has LIB_OPS_SHAPE_H, and include/zero/Ops/Ops.h has ZERO_OPS_OPS_H.
So no two headers have the same guard, and a header that was moved is reported. Prints each
violation, and exits with 1 if there is one. With --fix it corrects guards, and reports only
missing ones.
"""

import os
import re
import sys
from pathlib import Path

SKIPPED = {"build", "data", "__pycache__"}
OPENING = re.compile(r"^#ifndef (\w+)\n#define (\w+)\n", re.MULTILINE)
CLOSING = re.compile(r"^#endif (?:// |/\* )(\w+)(?: \*/)?\n\Z", re.MULTILINE)


def guard_of(path):
    """The guard of a header, given by its path from the root."""
    parts = path.parts
    if "include" in parts:
        parts = parts[parts.index("include") + 1:]
    return re.sub(r"\W", "_", "/".join(parts)).upper()


def headers(root):
    for directory, inner, names in os.walk(root):
        inner[:] = sorted(d for d in inner if not d.startswith(".") and d not in SKIPPED)
        yield from (Path(directory) / name for name in sorted(names) if name.endswith(".h"))


def violation(path, text):
    """What is wrong with the guard of a header, or None."""
    expected = guard_of(path)
    opening, closing = OPENING.search(text), CLOSING.search(text)
    if not opening or not closing:
        return (f"{path}: expected '#ifndef {expected}', '#define {expected}' and, as the last "
                f"line, '#endif // {expected}'")
    for found in (*opening.groups(), closing[1]):
        if found != expected:
            return f"{path}: expected the guard {expected}, got {found}"
    return None


def fix(file, path, text):
    expected = guard_of(path)
    text = OPENING.sub(f"#ifndef {expected}\n#define {expected}\n", text, count=1)
    text = re.sub(r"^#endif[^\n]*\n*\Z", f"#endif // {expected}\n", text, flags=re.MULTILINE)
    file.write_text(text, encoding="utf-8")
    return violation(path, text)


def main():
    arguments = sys.argv[1:]
    fixes = "--fix" in arguments
    arguments = [a for a in arguments if a != "--fix"]
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    count, violations = 0, []
    for file in headers(root):
        path, text = file.relative_to(root), file.read_text(encoding="utf-8")
        found = violation(path, text)
        if found and fixes:
            found = fix(file, path, text)
        count += 1
        violations += [found] if found else []
    print("\n".join([*violations, f"{count} headers, {len(violations)} violations"]))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
