#!/usr/bin/env python3
"""Writes python/zero/_flags.py, the keywords of zero.compile(), from `zeroc --list-flags`.

usage: list-python-flags.py [--check] [ZEROC]

With --check nothing is written; exits with 1 if the file is not up to date."""

import json
import subprocess
import sys
from pathlib import Path
from textwrap import fill

from generated import write

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "python/zero/_flags.py"
HEAD = '''"""The keywords of zero.compile(): the flags of zeroc.

scripts/list-python-flags.py writes this file from `zeroc --list-flags`; test/python/flags.test
compares them."""

from collections import namedtuple
from os import PathLike
from typing import Any, Literal, Sequence, TypedDict, Union

# The flag; what its value is: switch, integer, number, bytes, word or text; the name of the value,
# or its words; what it means.
Flag = namedtuple("Flag", "flag kind value meaning")
_Path = Union[str, PathLike]
'''
# -o is `output`, and -v is `verbose`. With --prices nothing is compiled.
LEFT_OUT = ("o", "v", "prices", "tokens")
TYPES = {"switch": "bool", "integer": "int", "number": "float", "bytes": "Union[int, str]",
         "text": "_Path"}


# These are more than names where the model is a module of PyTorch or a function of JAX, and the
# others are keywords of their exporters.
LOOSE = ("loss", "carry", "roles")
EXPORT = ("params", "buffers", "keywords", "locations")


def type_of(flag):
    """The type of a keyword, for checkers of types."""
    if flag["kind"] == "number" and flag["list"]:
        return "Union[Sequence[float], str]"
    if flag["list"] or flag["flag"] in LOOSE:
        return "Any"
    if flag["value"].startswith("N|"):
        return "Union[int, str]"
    words = flag["value"].split("|")
    if flag["kind"] == "word" and len(words) > 1:
        return f"Literal[{', '.join(json.dumps(word) for word in words)}]"
    return TYPES.get(flag["kind"], "str")


def keyword(flag):
    return flag["flag"].replace("-", "_")


def class_of(flags):
    lines = ["class Flags(TypedDict, total=False):",
             '    """The keywords of zero.compile(), for checkers of types."""']
    short = {"flag": "stage", **{key: value for key, value in next(
        flag for flag in flags if flag["flag"] == "zero-stage").items() if key != "flag"}}
    for flag in [*flags, short]:
        line = f"    {keyword(flag)}: {type_of(flag)}"
        if len(line) > 100:
            start, _, words = line.partition("[")
            line = start + "[\n" + fill(words, 98, initial_indent=" " * 8,
                                         subsequent_indent=" " * 8)
        lines.append(line)
    return lines + [f"    {name}: Any" for name in EXPORT]


def entry(flag):
    fields = ", ".join(json.dumps(flag[key]) for key in ("flag", "kind", "value"))
    meaning = fill(json.dumps(flag["meaning"], ensure_ascii=False)[1:-1], 88,
                   break_long_words=False, break_on_hyphens=False, drop_whitespace=False)
    texts = "\n".join(f'        "{line}"' for line in meaning.splitlines())
    return f"    {json.dumps(keyword(flag))}: Flag(\n        {fields},\n{texts}),"


def text_of(flags):
    flags = [flag for flag in flags if flag["of"] != "lists" and flag["flag"] not in LEFT_OUT]
    return "\n".join([HEAD, "FLAGS = {", *map(entry, flags), "}", "", "", *class_of(flags)]) + "\n"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    zeroc = arguments[0] if arguments else ROOT / "build/bin/zeroc"
    flags = json.loads(subprocess.run([zeroc, "--list-flags"], check=True, capture_output=True,
                                      text=True).stdout)
    text = text_of(flags)
    write(FILE, text)


if __name__ == "__main__":
    main()
