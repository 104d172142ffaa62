"""The docstrings of python/zero in the form that mkdocstrings reads.

A paragraph of a docstring may describe arguments, one each, continued with more indentation:

    path: ends with .mlir. The names file is written
        beside it.

If all its names are parameters of the function, it becomes the section `Args:`. Elsewhere it
becomes a list.
"""

import re

from griffe import Extension

ENTRY = re.compile(r"(\*{0,2}\w+(?:, \w+)*): (?=\S)")


def _entries(paragraph):
    """Pairs of name and text, or None if the paragraph is not a list of them."""
    lines = paragraph.split("\n")
    if not all(ENTRY.match(line) or line.startswith("    ") for line in lines):
        return None
    entries = []
    for line in lines:
        found = ENTRY.match(line)
        if found:
            entries.append((found[1], [line[found.end():]]))
        elif entries:
            entries[-1][1].append(line.strip())
        else:
            return None
    return [(name, " ".join(text)) for name, text in entries]


def _rewrite_paragraph(paragraph, parameters):
    entries = _entries(paragraph)
    if not entries:
        return paragraph
    if all(name.lstrip("*") in parameters for name, _ in entries):
        # Names have their stars in the signature.
        rows = [f"    {parameters[name.lstrip('*')]}: {text}" for name, text in entries]
        return "\n".join(["Args:", *rows])
    return "\n".join("- " + ", ".join(f"`{part}`" for part in name.split(", ")) + f": {text}"
                     for name, text in entries)


def rewrite(text, parameters=()):
    """The docstring for mkdocstrings.

    parameters: the names of the parameters of the function, each with its name and stars.
    """
    return "\n\n".join(_rewrite_paragraph(part, parameters) for part in text.split("\n\n"))


class Docstrings(Extension):
    """Rewrites each docstring after the package has been read."""

    def on_object(self, *, obj, **_):
        if obj.is_alias or not obj.docstring:
            return
        signature = getattr(obj, "parameters", None)
        if obj.is_class and "__init__" in obj.members:
            signature = obj.members["__init__"].parameters
        stars = {"variadic positional": "*", "variadic keyword": "**"}
        parameters = {one.name: stars.get(getattr(one.kind, "value", ""), "") + one.name
                      for one in signature or ()}
        obj.docstring.value = rewrite(obj.docstring.value, parameters)
