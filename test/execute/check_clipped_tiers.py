"""Updates of offloaded state that wait for all gradients, because of --clip-norm or fp16: their
states are read while backward runs, and results are bitwise identical to those without offloading.

usage: check_clipped_tiers.py DATA WORK
"""

import itertools
import sys
from collections import defaultdict

from zero_test import Checks, Graph, read_trace, run_tool

SETTINGS = (["--clip-norm=0.5"], ["--precision=fp16"], ["--precision=fp16", "--clip-norm=0.5"])
OFFLOAD = ["--offload-optimizer=nvme", "--offload-gradients=host"]
LANES = ("nvme read", "nvme write", "host compute")


class Trace:
    """One step of rank 0: (lane, name, start, end) of each command, in seconds, and when the last
    kernel of the model ends."""

    def __init__(self, path):
        self.rows = [(lane, e["name"], e["ts"] * 1e-6, (e["ts"] + e["dur"]) * 1e-6)
                     for rank, lane, e in read_trace(path) if rank == 0 and lane != "step"]
        self.backward_end = max(end for lane, name, _, end in self.rows
                                if lane == "compute" and name.startswith("node_"))

    def first_read(self):
        return min(start for lane, _, start, _ in self.rows if lane == "nvme read")

    def epilogue(self):
        """Seconds from the end of backward to the end of the step."""
        return max(end for _, _, _, end in self.rows) - self.backward_end

    def busy_in_epilogue(self):
        """Seconds of the lane of the disk or the host that is busiest after backward."""
        return max(sum(end - max(start, self.backward_end) for lane, _, start, end in self.rows
                       if lane == wanted and end > self.backward_end) for wanted in LANES)

    def longest_bucket(self):
        """Seconds that the lanes take for the bucket that takes the longest."""
        seconds = defaultdict(float)
        for lane, name, start, end in self.rows:
            if lane in LANES:
                seconds[name.split(".")[0]] += end - start
        return max(seconds.values())


def check_bits(checks, graph):
    for flags, micro_batches in itertools.product(SETTINGS, (1, 2)):
        label = f"{flags}, {micro_batches} micro-batches"
        flags = [*flags, "--optimizer=adamw", f"--micro-batches={micro_batches}",
                 "--bucket-bytes=20KB"]
        expected = graph.run(graph.compile(2, 2, *flags), 4)
        executable, path = graph.compile(2, 2, *flags, *OFFLOAD), graph.work / "ran.json"
        got = graph.run(executable, 4, f"--nvme-dir={graph.work}", f"--trace={path}")
        checks.that(got.same_bits(expected), f"{label}: other bits")
        trace = Trace(path)
        checks.that(trace.first_read() < trace.backward_end,
                    f"{label}: first read at {trace.first_read()}, backward to {trace.backward_end}")


def check_epilogue(checks, graph):
    """On a disk that takes about as long as backward."""
    for micro_batches in (1, 4):
        executable = graph.compile(1, 2, "--optimizer=adamw", "--clip-norm=1", *OFFLOAD,
                                   f"--micro-batches={micro_batches}", "--bucket-bytes=1MB",
                                   "--disk-read=2GB", "--disk-write=2GB")
        path = graph.work / "simulated.json"
        run_tool("zero-sim", executable, f"--trace={path}")
        trace = Trace(path)
        bound = trace.busy_in_epilogue() + trace.longest_bucket()
        print(f"{micro_batches} micro-batches: epilogue {1e3 * trace.epilogue():.1f} ms, "
              f"at most {1e3 * bound:.1f} ms")
        checks.that(trace.first_read() < trace.backward_end, f"{micro_batches}: reads come late")
        checks.that(trace.epilogue() <= bound, f"{micro_batches}: {trace.epilogue()} > {bound}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    check_bits(checks, Graph(data, "gpt2-tiny", work))
    check_epilogue(checks, Graph(data, "gpt2-mini", work))
    checks.finish()


if __name__ == "__main__":
    main()
