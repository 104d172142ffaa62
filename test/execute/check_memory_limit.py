"""A run in a control group that is smaller than its arenas, and in one that is large enough.

usage: check_memory_limit.py DATA WORK
"""

import re
import subprocess
import sys
from pathlib import Path

from control_groups import Group
from zero_test import Checks, Graph

MIB = 1 << 20


def run(graph, executable, limit, *words):
    with Group(limit) as group:
        done = subprocess.run([*words, "zero-run", executable, graph.data_flag, "--steps=2"],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=group.enter, timeout=300)
        return done.returncode, done.stdout, done.stderr


def main():
    checks = Checks()
    graph = Graph(Path(sys.argv[1]), "gpt2-mini", Path(sys.argv[2]))
    executable = graph.compile(1, 2)
    arena = int(re.search(r"^  arena +(\d+)", graph.report, re.MULTILINE)[1])
    code, output, errors = run(graph, executable, 2 * arena - MIB)
    checks.that(code == 1 and "step 0" not in output, f"too small: status {code}: {output}{errors}")
    checks.that(re.search(r"the 2 ranks of this process need .* and its control group '.*' allows .*, "
                          "of which .* are in use: raise the limit", errors), f"too small: {errors}")
    code, output, errors = run(graph, executable, 2 * arena + 128 * MIB)
    checks.that(code == 0, f"large enough: status {code}: {errors}")
    checks.finish()


if __name__ == "__main__":
    main()
