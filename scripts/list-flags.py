#!/usr/bin/env python3
"""Writes docs/reference/flags.md, all flags of all tools, and the flags of zeroc for zero-run.

usage: list-flags.py [--check] [BIN_DIRECTORY]

Runs `--list-flags` of each tool, and `--help-all` of zero-opt, whose passes MLIR lists; reads the
flags of `python -m zero tokenize`, `finetune`, `check-model` and `check-schedule`. With --check
nothing is written; exits with 1 if a file is not up to date."""

import argparse
import json
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from textwrap import fill

from generated import write

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from zero.finetuning import command as finetuning  # noqa: E402
from zero.model_check import command as model_check  # noqa: E402
from zero.schedule_check import command as schedule_check  # noqa: E402
from zero.text import command as tokenizing  # noqa: E402

PAGE = ROOT / "docs/reference/flags.md"
COMPILER_FLAGS = ROOT / "tools/zero-run/compiler_flags.inc"
HEAD = """# Flags

All flags of all tools. `scripts/list-flags.py` writes this page from `--list-flags` of the tools;
`test/docs/flags.test` compares them. Terms are explained in the [glossary](glossary.md).

- A flag is written `--name=value`. All tools but `zero-opt` also accept `--name value`.
- The value in parentheses at the end of a description is the default.
- A flag that is given twice is an error in all tools but `zero-opt`. The values of these flags add
  up instead:
{repeated}
- Sizes in bytes are whole numbers, or numbers with a suffix in any case: `KB`, `MB`, `GB`, `TB`
  (powers of 1000), or `K`, `M`, `G`, `T` and `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024).
- `zero-run MODEL.onnx` and `zero-run MODEL.mlir` take every flag of `zeroc`, too, and pass it on.
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
FINETUNE = """Fine-tunes a folder of Hugging Face ([fine-tuning](../guides/finetune.md)). It also takes
the other flags of `zeroc` that concern the step."""
CHECK_MODEL = """Compares a program with its ONNX model
([checker](../design/checker.md#from-the-model-to-the-reference)). It also takes flags of `zeroc`, for
the program that it compiles."""
CHECK_SCHEDULE = """Checks graphs of DeepSpeed's DeepCompile
([schedules](schedule.md#schedules-of-other-systems))."""
FLAG = re.compile(r"( {,8})(--?\w[\w-]*(?:=\S+| [A-Z<]\S*)?)(?: +- +|(?:  +| (?!-))(?=\S))(.*)")

Flag = namedtuple("Flag", "indent name lines")


def output_of(tool, flag):
    done = subprocess.run([tool, flag], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else sys.exit(f"{tool} {flag} failed: {done.stderr}")


def flags_of(tool):
    return json.loads(output_of(tool, "--list-flags"))


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


def tool_section(name, flags):
    lines, title = [f"## {name}", "", TOOLS[name], ""], None
    listed = [flag for flag in flags if flag["meaning"]]
    for title in dict.fromkeys(flag["of"] for flag in listed):
        rows = [Flag(0, flag["usage"], flag["meaning"].splitlines()) for flag in listed
                if flag["of"] == title]
        lines += [f"### {name}: {title[:1].lower()}{title[1:]}", "", *table(rows)]
    return lines


def opt_section(text):
    """The section of zero-opt: only Zero's passes, then its pipelines."""
    passes, pipelines = [], []
    for found in filter(None, map(FLAG.fullmatch, text.splitlines())):
        flag = Flag(len(found[1]), found[2], [found[3]])
        if flag.name.startswith("--zero-phase-"):
            pipelines.append(flag)
        elif flag.name.startswith("--zero-") and flag.indent == 6:
            passes.append(flag)
    return ["## zero-opt", "", TOOLS["zero-opt"], "", "### zero-opt: passes", "",
            "Options of a pass are written in one string: `--zero-pass='option=value option=value'`.",
            "[Passes](passes/README.md) lists them.", "", *table(passes), "### zero-opt: pipelines", "",
            "Each phase of `zeroc` is a pipeline. Its options are the phase flags of `zeroc`.", "",
            *table(pipelines)]


def python_section(command, meaning, parser):
    """The section of a command of the Python package."""
    flags = []
    for action in parser._actions:
        if action.option_strings and action.dest != "help" and action.help != argparse.SUPPRESS:
            value = action.metavar or f"<{'|'.join(action.choices or ())}>"
            name = action.option_strings[-1] + (f"={value}" if action.nargs != 0 else "")
            flags.append(Flag(0, name, [action.help.replace("%%", "%")]))
    return [f"## python -m zero {command}", "", meaning, "", *table(flags)]


def page(folder):
    flags = {name: flags_of(folder / name) for name in TOOLS if name != "zero-opt"}
    repeated = sorted({f"`--{flag['flag']}`" for some in flags.values() for flag in some
                       if flag["repeats"] and flag["meaning"]})
    repeated = fill(", ".join(repeated) + ".", 100, initial_indent="  ", subsequent_indent="  ",
                    break_on_hyphens=False)
    lines = [HEAD.format(repeated=repeated), ""]
    for name, some in flags.items():
        lines += tool_section(name, some)
    lines += python_section("tokenize", "Writes the tokens of a corpus ([text](../guides/text.md)).",
                            tokenizing.make_parser())
    lines += python_section("finetune", FINETUNE, finetuning.make_parser())
    lines += python_section("check-model", CHECK_MODEL, model_check.make_parser())
    lines += python_section("check-schedule", CHECK_SCHEDULE, schedule_check.make_parser())
    lines += opt_section(output_of(folder / "zero-opt", "--help-all"))
    return "\n".join(lines).rstrip() + "\n"


def compiler_flags(folder):
    """The flags of zeroc, as zero-run has them: it passes those that it is given on."""
    names = ["=".join(filter(None, (flag["flag"], flag["value"])))
             for flag in flags_of(folder / "zeroc") if flag["of"] != "lists"]
    text = ", ".join(f'"{name}"' for name in sorted(names))
    return ("// scripts/list-flags.py writes this file from `zeroc --list-flags`.\n"
            + fill(text, 100, break_long_words=False, break_on_hyphens=False) + ",\n")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    folder = Path(arguments[0]) if arguments else ROOT / "build/bin"
    write(COMPILER_FLAGS, compiler_flags(folder))
    write(PAGE, page(folder))


if __name__ == "__main__":
    main()
