"""Long and wide graphs compile in proportion to their nodes: four times the nodes take no more
than so many times as long, on any machine, in less than 500 MiB.

usage: check_wide.py WORK
"""

import re
import subprocess
import sys
from pathlib import Path

from zero_test import Checks, run_tool

MAKE = Path(__file__).parent / "make_wide.py"
FEW, MANY = 1000, 4000
TIMES, SECONDS = 8, 0.3  # linear is 4, quadratic 16; what no clock tells apart


def cpu_seconds(checks, model):
    """What the compiler takes of a core for `model`, in a process of its own."""
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
