"""Executables for 64-bit ARM: the architecture and vectors of their code, the features that they
name, and the error of a machine of another architecture.

usage: check_target_arm.py DATA WORK
"""

import re
import sys

from executables import features_of, read_section
from zero_test import Checks, Graph, check_refused, run_tool

# The features of each target as executables have them.
TARGETS = {"aarch64": "aarch64 neon", "cortex-a72": "aarch64 neon",
           "cortex-a76": "aarch64 neon fullfp16 dotprod",
           "apple-m1": "aarch64 neon fullfp16 dotprod",
           "neoverse-n1": "aarch64 neon fullfp16 dotprod",
           "aarch64:i8mm,dotprod": "aarch64 neon dotprod i8mm",
           # Scalable vectors need instructions for f16.
           "aarch64:sve": "aarch64 neon fullfp16 sve"}
# Vectors of each target: registers that its code has, and some that it has not.
VECTORS = {"aarch64": (r"\bv\d+\.4s\b", r"\bz\d+\.s\b"), "aarch64:sve": (r"\bz\d+\.s\b", r"%ymm"),
           "x86-64-v3": (r"%ymm", r"%zmm"), "x86-64-v4": (r"%zmm", r"\bv\d+\.4s\b")}
# What a runtime on Linux has: functions of memory, and of doubles.
KNOWN = {"memcpy", "memmove", "memset", "exp", "log"}


class Code:
    """The code of an executable."""

    def __init__(self, graph, target):
        self.path = graph.compile(0, 1, "--optimizer=adamw", "--lr=1e-3", f"--target-cpu={target}")
        self.file = self.path.with_suffix(".so")
        self.file.write_bytes(read_section(self.path, 1))
        self.features = features_of(self.path)

    def of_tool(self, *command):
        return run_tool(*command, self.file)


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    for target, features in TARGETS.items():
        code = Code(graph, target)
        checks.that(code.features == features, f"{target}: needs '{code.features}'")
        header = code.of_tool("llvm-readelf", "--file-header")
        checks.that(re.search(r"Machine: +AArch64", header), f"{target}: {header}")
        undefined = set(code.of_tool("llvm-nm", "-D", "--undefined-only", "-j").split())
        checks.that(undefined <= KNOWN, f"{target} calls {undefined - KNOWN}")
    for target, (present, absent) in VECTORS.items():
        text = Code(graph, target).of_tool("llvm-objdump", "--disassemble")
        checks.that(re.search(present, text), f"{target} has no {present}")
        checks.that(not re.search(absent, text), f"{target} has {absent}")
    check_refused(checks, "another architecture",
                  ["for aarch64, and this machine is x86-64"],
                  "zero-run", Code(graph, "cortex-a72").path, graph.data_flag, "--steps=1")
    checks.finish()


if __name__ == "__main__":
    main()
