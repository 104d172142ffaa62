"""Runs the commands of pages and compares what they print with what the pages show.

usage: run_guide.py WORK PAGE...

Blocks fenced as ```sh run in order in a directory below WORK for each page. The directory has a
link to test/, so that paths of the repository work as in its root. A block ends at its first
command that fails, and the test fails. A block fenced as ```sh fails shows an error: its last
command must end with exit code 1.

Blocks fenced as ```python run are one script, which runs where the first of them is. Pages with
them need the extension of the Python package, and are left out without it.

The lines of a block fenced as ```text that follows must be in the output in this order. Other lines
may be between them, and `...` in a line denotes any text.

Other blocks do not run: ```console and ```python cannot run here (an export by PyTorch, a GPU,
hours of training, files of the reader), and a block without a language is not a command.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from zero_test import Checks

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|sh fails|python run|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
END_OF_BLOCK = "--- end of a block"
# Their commands take minutes and other tests run them: `make wheel-test`.
WITHOUT_COMMANDS = ("install.md",)


def run(block, work):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=work, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print(f"$ {block}{done.stdout}", flush=True)
    return done.returncode, done.stdout


def run_python(blocks, work):
    """Runs blocks as one script; returns its exit code, and what each block prints."""
    script = "\n".join(f"{block}print({END_OF_BLOCK!r}, flush=True)" for block in blocks)
    done = subprocess.run([sys.executable, "-c", script], cwd=work, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout.split(END_OF_BLOCK)


def missing_line(shown, printed):
    """The first line of `shown` that `printed` does not contain after the lines before it."""
    lines = iter(printed.splitlines())
    for line in filter(None, map(str.strip, shown.splitlines())):
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        if not any(pattern.fullmatch(candidate.strip()) for candidate in lines):
            return line
    return None


def check_page(checks, page, work):
    work.mkdir(parents=True)
    os.symlink(ROOT / "test", work / "test")
    text = page.read_text()
    script = [block for kind, block in BLOCK.findall(text) if kind == "python run"]
    if script and not importlib.util.find_spec("zero._native"):
        return
    outputs = []  # of the blocks of Python that are to come
    printed = None
    for found in BLOCK.finditer(text):
        kind, block = found.groups()
        place = f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}"
        if kind == "text":
            line = missing_line(block, printed or "")
            checks.that(line is None, f"{place}: the commands do not print '{line}'")
            continue
        if kind == "python run":
            if not outputs:
                code, outputs = run_python(script, work)
                checks.that(code == 0, f"{place}: the script ends with {code}")
                if code != 0:
                    return
            printed, *outputs = outputs
            continue
        code, printed = run(block, work)
        expected = 1 if kind == "sh fails" else 0
        checks.that(code == expected, f"{place}: expected exit code {expected}, got {code}")
        if code != expected:
            return
    checks.that(printed is not None or page.name in WITHOUT_COMMANDS,
                f"{page.name} has no commands")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    checks = Checks()
    for page in arguments.pages:
        check_page(checks, page, arguments.work / page.stem)
    checks.finish()


if __name__ == "__main__":
    main()
