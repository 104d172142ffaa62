#!/usr/bin/env python3
"""Checks scripts/site/dialect.py: what CommonMark reads, Python-Markdown reads after it."""

import sys
from pathlib import Path

import markdown

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/site"))

import dialect  # noqa: E402

EXTENSIONS = ["tables", "sane_lists", "pymdownx.highlight", "pymdownx.superfences"]
# Texts that Python-Markdown alone reads otherwise.
CASES = {
    "code in a list": "1. One\n\n   ```sh\n   a\n   ```\n2. Two\n",
    "a list in a list": "1. One\n   - inner\n   - inner\n2. Two\n",
    "a second paragraph": "- One\n\n  more of it\n- Two\n",
    "a list after a line": "Text:\n- One\n- Two\n",
    "a table after a line": "Text:\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "words after a fence": "```sh fails\na\n```\n",
    "a bar in code": "| a |\n|---|\n| `b \\| <c>` |\n",
}


def main():
    problems = []
    for name, text in CASES.items():
        before, after = (
            dialect.difference(text, markdown.markdown(version, extensions=EXTENSIONS))
            for version in (text, dialect.for_python_markdown(text)))
        if not before:
            problems.append(f"{name}: is read as CommonMark as it is, so it tests nothing")
        if after:
            problems.append(f"{name}: {after}")
    print("\n".join(problems) or f"{len(CASES)} cases")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
