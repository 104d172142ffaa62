#!/usr/bin/env python3
"""Writes docs/reference/flags.md, all flags of all tools, from the help texts of the tools.

usage: list-flags.py [--check] [BIN_DIRECTORY]

Runs `--help-all` of each tool, or `--help` where a tool has no such flag. With --check
nothing is written; exits with 1 if the page is not up to date."""

import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from generated import write

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/flags.md"
HEAD = """# Flags

All flags of all tools. `scripts/list-flags.py` writes this page from the help texts of the tools;
`test/docs/flags.test` compares them. Terms are explained in the [glossary](glossary.md).

- A flag is written `--name=value`. `zeroc` and `zero-run` also accept `--name value`.
- The value in parentheses at the end of a description is the default.
- A flag that is given twice is an error in `zeroc`, `zero-run` and `zero-sim`. Flags that take a
  list of patterns or files (`--data`, `--eval-data`, `--save`, `--freeze`, `--freeze-all-but`,
  `--no-decay`, `--param-group`, `--report`) are exceptions: their values add up.
- Sizes in bytes are whole numbers, or numbers with a suffix in any case: `KB`, `MB`, `GB`, `TB`
  (powers of 1000), or `K`, `M`, `G`, `T` and `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024).
- `zero-run MODEL.onnx` and `zero-run MODEL.mlir` pass every flag that is not their own on to
  `zeroc`.
- Exit codes are listed in [process](process.md#exit-codes)."""
TOOLS = {
    "zeroc": "Compiles a model into an executable and prints the certificate.",
    "zero-run": "Runs an executable, or compiles a model and runs it. Calibrates a machine.",
    "zero-sim": "Simulates a step of an executable on the description of a machine.",
    "zero-translate": """Imports an ONNX model as MLIR. The table of operators has the columns domain,
name, first and last opset, gradient, unsigned and family.""",
    "zero-opt": """Runs passes and phases on a program. It is `mlir-opt` with Zero's dialects and
passes: all flags of `mlir-opt` work (`zero-opt --help-all` prints them), and only Zero's own passes
and pipelines are listed here. It also takes the flags of the phases of `zeroc` and of the front
ends. One phase flag, as in `zero-opt model.onnx --zero-stage=3 --ranks=4`, runs all phases but
`pack`.""",
}
# Flags that the help text of a tool does not list.
UNLISTED = {"zeroc": [("--help", "print the help text"), ("--version", "print the version")]}
FLAG = re.compile(r"( {,8})(--?\w[\w-]*(?:=\S+| [A-Z<]\S*)?)(?: +- +|(?:  +| (?!-))(?=\S))(.*)")
IN_PROSE = re.compile(r"(--[\w-]+) (\w.*)")

Flag = namedtuple("Flag", "indent name lines")


def help_text(tool):
    for flag in ("--help-all", "--help"):
        done = subprocess.run([tool, flag], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout
    sys.exit(f"{tool} --help failed: {done.stderr}")


def groups_of(text):
    """Returns [(title, [Flag])]. In a help text flags are indented, titles are not."""
    groups, lists, flag = [("", [])], [], None
    for line in text.splitlines():
        found, prose = FLAG.fullmatch(line), IN_PROSE.fullmatch(line)
        if found and len(found[1]) == 2:
            flag = Flag(len(found[1]), found[2], [found[3]])
            groups[-1][1].append(flag)
        elif prose:
            flag = Flag(0, prose[1], [prose[2]])
            lists.append(flag)
        elif not line.strip():
            flag = None
        elif flag and (line.startswith(" " * 10) or flag.indent == 0):
            flag.lines.append(line.strip())
        elif not line.startswith("     "):
            flag = None
            groups.append((line.strip().rstrip(":"), []))
    return [(title, flags) for title, flags in [*groups, ("Lists", lists)] if flags]


def description(lines):
    """The text of a table cell. Lines in columns remain separate lines."""
    parts, in_columns = [], False
    for line in lines:
        columns = re.split(r"  +", line)
        if len(columns) == 2:
            parts.append(f"`{columns[0]}`: {columns[1]}")
        elif in_columns or not parts:
            parts.append(line)
        else:
            parts[-1] += " " + line
        in_columns = len(columns) == 2
    text = "<br>".join(part.strip() for part in parts).rstrip(".")
    return re.sub(r"<(?!br>)|[\\|*]", r"\\\g<0>", text)


def row(flag):
    name = flag.name.replace("|", "\\|")
    return f"| `{name}` | {description(flag.lines)} |"


def table(flags):
    return ["| flag | meaning |", "|---|---|", *map(row, flags), ""]


def tool_section(name, text):
    lines = [f"## {name}", "", TOOLS[name], ""]
    groups = groups_of(text)
    listed = {flag.name.split("=")[0] for _, flags in groups for flag in flags}
    unlisted = [Flag(0, flag, [meaning]) for flag, meaning in UNLISTED.get(name, [])
                if flag not in listed]
    for title, flags in groups + ([("Help", unlisted)] if unlisted else []):
        heading = title if len(title) < 60 else ""
        lines += [f"### {name}: {heading[:1].lower()}{heading[1:] or 'flags'}", "", *table(flags)]
    return lines


def opt_section(text):
    """The section of zero-opt: only Zero's passes with their options, then its pipelines."""
    passes, pipelines, here = [], [], None
    for line in text.splitlines():
        found = FLAG.fullmatch(line)
        if not found:
            here = None if not line.startswith(" " * 9) else here
            continue
        flag = Flag(len(found[1]), found[2], [found[3]])
        if flag.name.startswith("--zero-phase-"):
            pipelines.append(flag)
            here = None
        elif flag.name.startswith("--zero-") and flag.indent == 6:
            here = []
            passes.append((flag, here))
        elif here is not None and flag.indent > 6:
            here.append(flag)
        else:
            here = None
    lines = ["## zero-opt", "", TOOLS["zero-opt"], "", "### zero-opt: passes", "",
             "Options of a pass are written in one string: `--zero-pass='option=value option=value'`.",
             "", "| pass | meaning |", "|---|---|"]
    for flag, options in passes:
        lines.append(row(flag))
        lines += [row(option).replace("| `--", "| &nbsp;&nbsp;`") for option in options]
    return [*lines, "", "### zero-opt: pipelines", "",
            "Each phase of `zeroc` is a pipeline. Its options are the phase flags of `zeroc`.", "",
            *table(pipelines)]


def page(folder):
    lines = [HEAD, ""]
    for name in TOOLS:
        text = help_text(folder / name)
        lines += opt_section(text) if name == "zero-opt" else tool_section(name, text)
    return "\n".join(lines).rstrip() + "\n"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = page(Path(arguments[0]) if arguments else ROOT / "build/bin")
    write(PAGE, text)


if __name__ == "__main__":
    main()
