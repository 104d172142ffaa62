"""Machine code of GPUs, as nvdisasm prints it.

usage: sass.py PTXAS NVDISASM ARCHITECTURES FILE.ptx...

As a program it assembles texts for GPUs (sm_80,sm_90) and checks all code: no thread has local memory,
which spills and arrays with a variable index use, or stores bytes in a loop.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from zero_test import Checks

FUNCTION = re.compile(r"^\.text\.(\S+):$", re.MULTILINE)
LABEL = re.compile(r"^(\.L\w+):")
BRANCH = re.compile(r"\bBRA\b.*?`\((\.L\w+)\)")
INSTRUCTION = re.compile(r"/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)")


def assemble(ptxas, source, architecture, target):
    """Assembles a text. Returns the report of ptxas."""
    done = subprocess.run([ptxas, "-v", f"-arch={architecture}", source, "-o", target],
                          capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def functions(nvdisasm, cubin):
    """A dictionary from the name of each function of `cubin` to its lines of assembly."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    pieces = FUNCTION.split(text)
    return {name: body.splitlines() for name, body in zip(pieces[1::2], pieces[2::2])}


def opcode(line):
    found = INSTRUCTION.search(line)
    return found[1] if found else ""


def inner_loops(lines):
    """Ranges of lines that end with a branch to their beginning, and have no other label."""
    last, place = None, 0
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            last, place = label[1], number
        branch = BRANCH.search(line)
        if branch and branch[1] == last:
            yield lines[place:number + 1]


def check_machine_code(checks, nvdisasm, cubin, label):
    """Returns the number of functions."""
    found = functions(nvdisasm, cubin)
    for name, lines in found.items():
        codes = [opcode(line) for line in lines]
        local = {code for code in codes if code.split(".")[0] in ("LDL", "STL")}
        checks.that(not local, f"{label}: {name} has local memory: {local}")
        checks.that(any(code == "EXIT" for code in codes), f"{label}: {name} was not understood")
        for loop in inner_loops(lines):
            stores = {code for code in map(opcode, loop)
                      if code.startswith(("ST.", "STG.")) and code.endswith((".U8", ".S8"))}
            checks.that(not stores, f"{label}: {name} stores bytes in a loop: {stores}")
    return len(found)


def main():
    ptxas, nvdisasm, architectures, *texts = sys.argv[1:]
    checks, count = Checks(), 0
    with tempfile.TemporaryDirectory() as folder:
        for text in texts:
            for architecture in architectures.split(","):
                label = f"{Path(text).stem} for {architecture}"
                cubin = Path(folder) / "code.cubin"
                done, report = assemble(ptxas, text, architecture, cubin)
                checks.that(done, f"{label}: {report}")
                checks.that(not re.search(r"\b[1-9]\d* bytes (stack|spill)", report), f"{label}: {report}")
                count += check_machine_code(checks, nvdisasm, cubin, label) if done else 0
    print(f"{count} functions")
    checks.finish()


if __name__ == "__main__":
    main()
