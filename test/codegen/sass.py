"""Machine code of GPUs, as nvdisasm prints it.

usage: sass.py PTXAS NVDISASM ARCHITECTURES FILE.ptx...

As a program it assembles texts for GPUs (sm_80,sm_90) and checks all code: no thread has local memory,
which spills and arrays with a variable index use, or stores bytes in a loop; constants are part of
instructions; loops that multiply matrices have few other instructions; each driver of CUDA 11 reads the
text; and shared memory takes copies of 16 bytes.
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


class Block:
    """Instructions of which all run if the first does, and the numbers of the blocks that may follow."""

    def __init__(self):
        self.codes, self.next = [], []


def blocks(lines):
    """The blocks of a function, in order."""
    made, labels, targets = [Block()], {}, {}
    for line in lines:
        if label := LABEL.match(line):
            if made[-1].codes:
                made.append(Block())
            labels[label[1]] = len(made) - 1
        elif code := opcode(line):
            made[-1].codes.append(code)
            if code.split(".")[0] in ("BRA", "EXIT", "RET"):
                if branch := BRANCH.search(line):
                    targets[len(made) - 1] = branch[1]
                falls = bool(re.search(r"\*/\s+@", line)) or code.startswith("BRA.")
                made[-1].next = [len(made)] if falls else [None]
                made.append(Block())
    for number, block in enumerate(made):
        block.next = [each for each in block.next or [number + 1] if each is not None and each < len(made)]
        if number in targets:
            block.next.append(labels[targets[number]])
    return made


def count(codes, name):
    return sum(code.startswith(name) for code in codes)


class Iteration:
    """One iteration of the loop that multiplies matrices: the path with the fewest instructions among
    those that pass all blocks with products of matrices, with copies to shared memory, and with
    exponentials of a whole tile."""

    def __init__(self, blocks, path):
        codes = [code for number in path for code in blocks[number].codes]
        self.instructions, self.products = len(codes), count(codes, "HMMA")
        self.exponentials = count(codes, "MUFU.EX2")


def iteration(lines):
    """None without such a loop."""
    made = blocks(lines)
    wanted = [count(block.codes, ("HMMA", "LDGSTS")) > 0 or count(block.codes, "MUFU.EX2") >= 8
              for block in made]
    loops = [(number, first) for number, block in enumerate(made) for first in block.next
             if first <= number and any(count(each.codes, "HMMA") for each in made[first:number + 1])]
    if not loops:
        return None
    last, first = min(loops, key=lambda loop: loop[0] - loop[1])
    # Of each block: wanted blocks on the way, as a negative number, instructions, the way.
    best = {first: (-int(wanted[first]), len(made[first].codes), [first])}
    for number in range(first, last):
        for each in made[number].next:
            if number in best and number < each <= last:
                passed, length, path = best[number]
                found = (passed - wanted[each], length + len(made[each].codes), [*path, each])
                best[each] = min(best.get(each, found), found)
    return Iteration(made, best[last][2])


def check_machine_code(checks, found, label):
    """Returns the number of functions."""
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


#: The version of PTX that drivers of CUDA 11.0 read, the first ones for sm_80.
VERSION = (7, 0)
#: Instructions of a loop for each product of matrices of 16 x 8 x 16.
MOST_INSTRUCTIONS = 20


def check_text(checks, label, text):
    version = tuple(map(int, re.search(r"^\.version (\d+)\.(\d+)", text, re.M).groups()))
    checks.that(version <= VERSION, f"{label}: PTX {version} is newer than {VERSION}")
    tables = re.findall(r"^\.(?:visible )?\.?(?:global|const)\b.*", text, re.M)
    checks.that(not tables, f"{label}: constants are loaded from memory: {tables}")
    for alignment, name in re.findall(r"^\.extern \.shared \.align (\d+) \.b8 (\w+)", text, re.M):
        checks.that(int(alignment) % 16 == 0, f"{label}: {name} has an alignment of {alignment}")


def check_products(checks, found, label):
    """Loops with products of matrices do little else, and compute exponentials in line."""
    for name, lines in found.items():
        if loop := iteration(lines):
            print(f"{label}: {name}: {loop.instructions} instructions, {loop.products} products, "
                  f"{loop.exponentials} exponentials")
            checks.that(loop.instructions <= MOST_INSTRUCTIONS * loop.products,
                        f"{label}: {name} has {loop.instructions} instructions")
            checks.that(loop.exponentials >= 16, f"{label}: {name} branches around exponentials")


def main():
    ptxas, nvdisasm, architectures, *texts = sys.argv[1:]
    checks, total = Checks(), 0
    with tempfile.TemporaryDirectory() as folder:
        for text in texts:
            check_text(checks, Path(text).stem, Path(text).read_text())
            for architecture in architectures.split(","):
                label = f"{Path(text).stem} for {architecture}"
                cubin = Path(folder) / "code.cubin"
                done, report = assemble(ptxas, text, architecture, cubin)
                checks.that(done, f"{label}: {report}")
                checks.that(not re.search(r"\b[1-9]\d* bytes (stack|spill)", report), f"{label}: {report}")
                if done:
                    found = functions(nvdisasm, cubin)
                    total += check_machine_code(checks, found, label)
                    check_products(checks, found, label)
    print(f"{total} functions")
    checks.finish()


if __name__ == "__main__":
    main()
