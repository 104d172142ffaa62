"""Runs the Python and the commands of a guide to PyTorch.

usage: check_torch_guide.py PAGE WORK [HEADING]

Blocks fenced as ```python and ```console run in order, in WORK, up to the heading. Blocks of one
page share their names. A command that fails, or an error of Python, fails the test.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    page, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    text = page.read_text()
    if len(sys.argv) > 3:
        text = text[:text.index(f"\n## {sys.argv[3]}\n")]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    names, blocks = {}, list(BLOCK.finditer(text))
    for found in blocks:
        kind, block = found.groups()
        if kind == "console":
            subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True)
            continue
        # Errors then have the line of the page.
        exec(compile("\n" * text.count("\n", 0, found.start(2)) + block, page, "exec"), names)
    print(f"{len(blocks)} blocks")
    sys.exit(not blocks)


if __name__ == "__main__":
    main()
