#!/usr/bin/env python3
"""Rewrites the CHECK lines of lit tests from the output of the tools.

usage: update-checks.py [--build BUILD] FILE.mlir...

Runs each RUN line 'zero-opt ... | FileCheck %s [--check-prefix=P]' of the file. For each function
that has CHECK lines of that prefix, replaces them all by one block of lines that matches the entire
function: CHECK-LABEL, CHECK-SAME for its type, CHECK-NEXT for each line of its body, with variables
for SSA values. Comments, code and CHECK lines outside functions are unchanged. Read the difference
before you commit it: the lines show what the tool does, not what it should do.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

FUNCTION = re.compile(r"^(\s*)func\.func (?:private )?@([\w.$-]+|\"[^\"]*\")")
VALUE = re.compile(r"%([A-Za-z0-9_$.-]+)")
PREFIX = re.compile(r"--?check-prefix(?:es)?=(\S+)")
SECTION = re.compile(r"^// -----", re.M)


class Unsupported(Exception):
    """A test that this script cannot update, and the reason."""


def run_lines(text):
    """The commands of a test."""
    joined = re.sub(r"\\\n\s*// RUN:", "", text)
    return re.findall(r"^\s*// RUN: (.*)$", joined, re.M)


def checked_runs(text):
    """(command, prefix) of each RUN line whose output is checked."""
    runs = []
    for line in run_lines(text):
        command, pipe, check = line.rpartition("|")
        if not pipe or "FileCheck %s" not in check or not command.strip().startswith("zero-opt"):
            continue
        prefix = PREFIX.search(check)
        prefix = prefix[1] if prefix else "CHECK"
        if "," in prefix:
            raise Unsupported(f"'{prefix}': expected one prefix for each RUN line; "
                              "give each case a file of its own")
        runs.append((command, prefix))
    if not runs:
        raise Unsupported("expected a line 'RUN: zero-opt ... | FileCheck %s', found none")
    return runs


def functions(lines):
    """(name, first line, line after the last) of each function."""
    found, i = [], 0
    while i < len(lines):
        match, begin = FUNCTION.match(lines[i]), i
        i += 1
        if not match:
            continue
        # A type may continue in the next lines.
        while i < len(lines) and ("".join(lines[begin:i]).count("(") >
                                  "".join(lines[begin:i]).count(")") or
                                  re.match(r"\s+(->|attributes)", lines[i])):
            i += 1
        if re.search(r"\{\s*$", lines[i - 1]):
            while i < len(lines) and lines[i] != match[1] + "}":
                i += 1
            i += 1
        found.append((match[2], begin, i))
    return found


def escaped(text):
    """Escapes text for FileCheck."""
    return re.sub(r"\{\{|\[\[", lambda m: "{{" + "".join(f"[{c}]" if c == "{" else "\\" + c
                                                         for c in m[0]) + "}}", text)


def with_variables(line, known):
    """A line with variables for values. The first use of a value defines its variable."""
    def variable(match):
        name = re.sub(r"\W", "_", match[1]).upper()
        name = f"V{name}" if name[0].isdigit() else name
        if name in known:
            return f"%[[{name}]]"
        known.add(name)
        return f"%[[{name}:.*]]"
    return VALUE.sub(variable, escaped(line.strip()))


def block(lines, prefix, indent):
    """The CHECK lines of a function that was printed as `lines`."""
    head = re.match(r"\s*(func\.func (?:private )?@(?:[\w.$-]+|\"[^\"]*\"))(.*)$", lines[0])
    known = set()
    made = [f"{prefix}-LABEL: {head[1]}", f"{prefix}-SAME: {with_variables(head[2], known)}"]
    made += [f"{prefix}-NEXT: {with_variables(line, known)}" for line in lines[1:] if line.strip()]
    return [f"{indent}// {line}" for line in made]


def printed(section):
    lines = section.split("\n")
    return {name: lines[begin:end] for name, begin, end in functions(lines)}


def updated(section, output, prefix):
    """A section of a test with the CHECK lines of `prefix` for the printed functions."""
    check = re.compile(rf"\s*// {prefix}(-[A-Z]+(-\d+)?)?:")
    lines, results = section.split("\n"), printed(output)
    for name, begin, end in reversed(functions(lines)):
        while begin > 0 and re.match(r"\s*//(?! (-----|RUN:))", lines[begin - 1]):
            begin -= 1
        # Lines after a function belong to it, up to the label of the next one.
        i = end
        while i < len(lines) and re.match(r"\s*//(?! (-----|RUN:))", lines[i]):
            if re.match(rf"\s*// {prefix}-LABEL:", lines[i]):
                break
            i += 1
            if check.match(lines[i - 1]):
                end = i
        places = [i for i in range(begin, end) if check.match(lines[i])]
        if not places:
            continue
        if name not in results:
            raise Unsupported(f"@{name} has {prefix} lines, but it is not printed")
        indent = re.match(r"\s*", lines[places[0]])[0]
        kept = [line for line in lines[begin:end] if not check.match(line)]
        lines[begin:end] = (kept[:places[0] - begin] + block(results[name], prefix, indent) +
                            kept[places[0] - begin:])
    return "\n".join(lines)


def update(path, environment):
    text, done = path.read_text(encoding="utf-8"), {}
    for command, prefix in checked_runs(text):
        command = command.replace("%s", str(path))
        result = subprocess.run(command, shell=True, env=environment, text=True,
                                capture_output=True, check=False)
        if result.returncode:
            raise Unsupported(f"failed: {command}\n{result.stderr}")
        if done.setdefault(prefix, result.stdout) != result.stdout:
            raise Unsupported(f"'{prefix}': two RUN lines of this prefix print different programs")
    for prefix, output in done.items():
        sections, outputs = SECTION.split(text), SECTION.split(output)
        if len(sections) != len(outputs):
            raise Unsupported(f"{len(sections)} sections, but {len(outputs)} are printed")
        text = "// -----".join(updated(s, o, prefix) for s, o in zip(sections, outputs))
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build", help="the folder with bin/zero-opt")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.mlir")
    arguments = parser.parse_args()
    binaries = os.path.join(os.path.abspath(arguments.build), "bin")
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    failed = False
    for path in arguments.files:
        try:
            update(path, environment)
        except (OSError, Unsupported) as error:
            print(f"error: {path}: {error}", file=sys.stderr)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
