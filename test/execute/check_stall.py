"""A rank that stops ends the run after the timeout, with an error that names the rank.

usage: check_stall.py DATA WORK
"""

import sys

from zero_test import Checks, Graph, check_refused, run_tool

TIMEOUT = 2  # seconds; long enough for the other ranks on a busy machine


def collectives(graph, stage, ranks):
    """The names of a step's collectives in their order."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=schedule",
                    f"--zero-stage={stage}", f"--ranks={ranks}", "--optimizer=sgd")
    return [line.split('zero.name = "')[1].split('"')[0] for line in text.splitlines()
            if "= zero.all_" in line or "= zero.reduce_scatter" in line]


def check_stall(checks, graph, stage, ranks, stalls):
    executable = graph.compile(stage, ranks, "--optimizer=sgd")
    names = collectives(graph, stage, ranks)
    log = graph.work / "stalled.jsonl"
    for rank, index in stalls:
        index %= len(names)
        label = f"stage {stage}: rank {rank} of {ranks} stalls at {index}"
        check_refused(checks, label, [f"rank {rank} did not arrive", f"collective {index} ",
                                      f"'{names[index]}'", "step 0", f"within {TIMEOUT} s"],
                      "zero-run", executable, graph.data_flag, f"--timeout={TIMEOUT}", "--quiet",
                      f"--stall={rank}:{index}", "--steps=3", f"--log={log}")
        checks.that(not log.exists(), f"{label}: a log was written")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    check_stall(checks, graph, 0, 2, [(0, 0), (1, -1)])
    check_stall(checks, graph, 1, 3, [(2, -1), (0, 2)])
    check_stall(checks, graph, 2, 4, [(3, 1)])
    check_stall(checks, graph, 3, 4, [(0, 0), (1, 2), (2, 4), (3, -1)])
    checks.finish()


if __name__ == "__main__":
    main()
