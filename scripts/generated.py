"""Writes a file that a script generates, or checks that it is up to date."""

import sys


def write(path, text):
    """Writes `text` to `path` unless it is there already. With --check among the arguments of the
    script nothing is written; it exits with 1 if the file has another text."""
    is_new = not path.exists() or path.read_text() != text
    if is_new and "--check" in sys.argv:
        sys.exit(f"{path} is not up to date: run {sys.argv[0]}")
    if is_new:
        path.write_text(text)
