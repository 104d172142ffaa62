"""What new-op.py, new-optimizer.py and new-pass.py share."""

import argparse
import re
import sys
from pathlib import Path

WIDTH = 100


def fail(text):
    sys.exit(f"error: {text}")


def parser_of(description):
    """A parser with the first line of a docstring and the root of the repository."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    return parser


def check_class_name(name, example):
    if not re.fullmatch(r"([A-Z][a-z0-9]*)+", name):
        fail(f"expected a name such as {example}, got '{name}'")


def title_of(name):
    """The first line of a source file, 80 columns wide."""
    head = f"//===- {name}.cpp - TODO: what it does in a few words "
    return head + "-" * (75 - len(head)) + "===//"


def signature(head, *parameters):
    """A function's head and parameters, in lines that begin below the first parameter."""
    lines, indent = [head + "("], " " * (len(head) + 1)
    for index, parameter in enumerate(parameters):
        text = parameter + ("," if index + 1 < len(parameters) else ") {")
        if not lines[-1].endswith("("):
            text = (" " if len(lines[-1]) + 1 + len(text) <= WIDTH else "\n" + indent) + text
        *ended, last = (lines.pop() + text).split("\n")
        lines += [*ended, last]
    return "\n".join(lines)


def inserted(text, before, addition):
    """`text` with `addition` in front of the first match of the pattern `before`."""
    match = re.search(before, text, re.M)
    return text[:match.start()] + addition + text[match.start():]


def write(root, files, what):
    """Writes files, of which those that exist already are changed, and says which."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    print(f"next: {what}")
