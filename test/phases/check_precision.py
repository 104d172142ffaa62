"""Lowers graphs that are stored in 16 bits to kernels and checks these.

usage: check_precision.py DATA WORK GRAPH...

Compared with the same graph in f32: the number of library calls is the same, only kernels with
windows over an image need scratch, and all values except losses, sums, statistics and values
derived from integers have two bytes instead of four.
"""

import re
import sys
from pathlib import Path

from zero_test import Checks, has_avx512, run_tool

PHASES = ("differentiate", "kernels")
# Their scratch is a padded image or its gradient, as in f32.
WINDOWS = {"maxpool", "maxpoolgrad", "averagepool", "averagepoolgrad"}


def kernels_of(folder, work, precision):
    """The line of each kernel, and the text of the step before them."""
    start, target = work / "onnx.mlir", work / f"{precision}.mlir"
    run_tool("zero-translate", "--import-onnx", folder / "model.onnx", "-o", start)
    flags = [f"--zero-phase-{phase}" for phase in PHASES]
    run_tool("zero-opt", start, "--zero-phase-import", f"--zero-phase-recognise=data-root={folder}",
             f"--zero-phase-precision=precision={precision}", *flags, "-o", target)
    text = target.read_text()
    return re.findall(r"^ *func\.func private .*$", text, re.MULTILINE), text


def stored_bytes(text, element):
    """Bytes of the launches' results of this element type."""
    total = 0
    for results in re.findall(r"zero\.launch .* -> (.*)$", text, re.MULTILINE):
        for shape in re.findall(rf"tensor<((?:\d+x)*){element}>", results):
            size = 2 if element.endswith("16") else 4
            for extent in shape.split("x")[:-1]:
                size *= int(extent)
            total += size
    return total


def check_graph(checks, folder, work):
    wide, wide_text = kernels_of(folder, work, "fp32")
    before = stored_bytes(wide_text, "f32")
    for precision, element in (("bf16", "bf16"), ("fp16", "f16")):
        label = f"{folder.name} in {precision}"
        kernels, text = kernels_of(folder, work, precision)
        calls, expected = (sum("zero.library" in line for line in lines) for lines in (kernels, wide))
        checks.that(calls == expected, f"{label}: {calls} library calls, expected {expected}")
        for line in kernels:
            operator = re.search(r"@k\d+_(\w+)", line)[1]
            scratch = "zero.workspace" in line and "zero.library" not in line
            # Without AVX-512, convolutions are native loops, also over windows.
            known = operator in WINDOWS or (operator.startswith("conv") and not has_avx512())
            checks.that(not scratch or known, f"{label}: scratch in {operator}")
        narrow, kept = stored_bytes(text, element), stored_bytes(text, "f32")
        checks.that(narrow > 0 and 2 * narrow + kept <= 1.01 * before,
                    f"{label}: {narrow} bytes in 16 bits and {kept} in f32, of {before}")
        checks.that(kept <= 0.15 * before, f"{label}: {kept} of {before} bytes stay f32")


def main():
    data, work, *graphs = sys.argv[1:]
    checks = Checks()
    for graph in graphs:
        folder = Path(work) / graph
        folder.mkdir(parents=True, exist_ok=True)
        check_graph(checks, Path(data) / graph, folder)
    checks.finish()


if __name__ == "__main__":
    main()
