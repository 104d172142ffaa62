"""Warnings of the tools and of the runtime as Python's."""

import inspect
import re
import warnings
from pathlib import Path

# "zeroc: warning: ...", "model.mlir:3:5: warning: ..."; a place of line 0 says only the file.
_FINDING = re.compile(r"(?:zero[a-z-]*: |\S*:0:0: |(?P<place>\S.*?: ))?"
                      r"(?P<kind>error|warning|remark|note): (?P<text>.*)")


def warn(texts):
    """Warns at the line of the caller's caller that is not of this package."""
    package = str(Path(__file__).parent)
    frame = inspect.currentframe()
    level = 1
    while frame and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, stacklevel=level)


def warnings_in(output):
    """The warnings that a tool has printed, each with the notes that belong to it."""
    found, is_warning = [], False
    for match in filter(None, map(_FINDING.match, output.splitlines())):
        text = (match["place"] or "") + match["text"]
        if match["kind"] == "warning":
            found.append(text)
        elif match["kind"] == "note" and is_warning:
            found[-1] += f"\nnote: {text}"
        is_warning = match["kind"] == "warning" or (match["kind"] == "note" and is_warning)
    return found
