"""The compile time of long and wide graphs is proportional to their nodes: four times the nodes
take at most a fixed multiple of the time on any machine, in less than 500 MiB.

usage: check_wide.py WORK
"""

import re
import subprocess
import sys
from pathlib import Path

from zero_test import Checks, run_tool

MAKE = Path(__file__).parent / "make_wide.py"
FEW, MANY = 1000, 4000
TIMES, SECONDS = 8, 0.3  # linear gives 4, quadratic gives 16; differences below SECONDS are noise


def cpu_seconds(checks, model):
    """The CPU seconds of the compiler for `model`, in a separate process."""
    text = run_tool("fuzz-compiler", "--replay", "--cpu-seconds=3000", "--mebibytes=500", model,
                    timeout=3600)
    checks.that("1 cases: " in text and " 0 failed" in text, f"{model}: {text}")
    return float(re.search(r"slowest ([\d.]+) s", text).group(1))


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    for count in (FEW, MANY):
        subprocess.run([sys.executable, MAKE, work / str(count), str(count)], check=True)
    for few in sorted((work / str(FEW)).iterdir()):
        seconds = [cpu_seconds(checks, few), cpu_seconds(checks, work / str(MANY) / few.name)]
        print(f"{few.name}: {seconds[0]:.2f} s, with {MANY // FEW} times the nodes {seconds[1]:.2f}")
        checks.that(seconds[1] <= TIMES * seconds[0] + SECONDS,
                    f"{few.name}: {seconds[1]} s for {MANY} nodes, {seconds[0]} s for {FEW}")
    checks.finish()


if __name__ == "__main__":
    main()
