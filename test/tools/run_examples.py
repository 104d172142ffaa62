"""Runs the examples of a page: all blocks that are fenced as ```sh, in one directory.

usage: run_examples.py PAGE WORK [--most-lines=N] [--most-words=N]

The directory has a link to test/, so paths of the repository work. A block ends at its first
command that fails. The options limit the lines and words of the page.
"""

import argparse
import os
import re
import subprocess
from pathlib import Path

from zero_test import Checks

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--most-lines", type=int)
    parser.add_argument("--most-words", type=int)
    return parser.parse_args()


def main():
    arguments = read_arguments()
    checks = Checks()
    text = arguments.page.read_text()
    for name, count, most in (("lines", len(text.splitlines()), arguments.most_lines),
                              ("words", len(text.split()), arguments.most_words)):
        checks.that(not most or count <= most, f"{arguments.page} has {count} {name}, not {most}")
    arguments.work.mkdir(parents=True)
    os.symlink(ROOT / "test", arguments.work / "test")
    blocks = BLOCK.findall(text)
    for number, block in enumerate(blocks, 1):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=arguments.work,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout)
        checks.that(done.returncode == 0, f"example {number} ends with {done.returncode}:\n{block}")
    print(f"{len(blocks)} examples ran")
    checks.finish()


if __name__ == "__main__":
    main()
