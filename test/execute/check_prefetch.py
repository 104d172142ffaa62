"""--prefetch-bytes: collectives run beside kernels, the peak grows by the given bytes at most, and
results stay bitwise identical.

usage: check_prefetch.py DATA WORK
"""

import json
import sys
from pathlib import Path

import make_deep
from zero_test import Checks, Graph, run_tool

H100 = Path(__file__).parents[2] / "lib/Machine/presets/h100.json"


class Balanced:
    """A model of equal layers, on a machine that overlaps lanes and whose collectives take as long
    as its kernels."""

    def __init__(self, work):
        self.work = Path(work)
        self.machine = self.work / "balanced.json"
        make_deep.write(self.work / "model.onnx", layers=48, width=256, rows=1024, plain=True)

    def simulate(self, ranks, prefetch, slowdown):
        """A step on a machine whose collectives are `slowdown` times as slow as an H100's."""
        fields = json.loads(H100.read_text())
        for kind in ("gather", "reduce"):
            fields[kind]["bandwidth"] /= slowdown
        self.machine.write_text(json.dumps(fields))
        executable = self.work / "balanced.zexe"
        run_tool("zeroc", self.work / "model.onnx", "--zero-stage=3", f"--ranks={ranks}",
                 "--bucket-bytes=200KB", f"--prefetch-bytes={prefetch}",
                 f"--machine={self.machine}", "-o", executable)
        return json.loads(run_tool("zero-sim", executable, f"--machine={self.machine}", "--json"))

    def find_slowdown(self, ranks):
        """The slowdown at which collectives take as long as kernels."""
        low, high = 1.0, 1000.0
        for _ in range(12):
            middle = (low * high) ** 0.5
            lanes = self.simulate(ranks, 0, middle)["lanes"]
            if lanes["collective"] < lanes["compute"]:
                low = middle
            else:
                high = middle
        return low


def ratio(step):
    """Seconds of a step over those of its longest lane."""
    return step["seconds"] / max(step["lanes"].values())


def check_balanced(checks, work):
    balanced = Balanced(work)
    for ranks in (2, 8):
        slowdown = balanced.find_slowdown(ranks)
        without = balanced.simulate(ranks, 0, slowdown)
        checks.that(ratio(without) > 1.9, f"{ranks} ranks, no prefetch: {ratio(without):.3f}")
        for prefetch in (300_000, 1_000_000):
            step = balanced.simulate(ranks, prefetch, slowdown)
            print(f"{ranks} ranks: {ratio(without):.3f} times the longest lane, "
                  f"{ratio(step):.3f} with {prefetch} bytes")
            checks.that(ratio(step) <= 1.05, f"{ranks} ranks, {prefetch}: {ratio(step):.3f}")
            checks.that(step["peak_bytes"] <= without["peak_bytes"] + prefetch,
                        f"{ranks} ranks, {prefetch}: peak {step['peak_bytes']}")


def check_bits(checks, graph):
    """Stages and micro-batches train as without the flag, and the peak keeps its bound."""
    for stage, micro_batches in ((3, 1), (3, 2), (2, 2), (1, 1)):
        flags = ["--optimizer=adamw", "--bucket-bytes=20KB", f"--micro-batches={micro_batches}"]
        plain = graph.run(graph.compile(stage, 2, *flags), 4)
        for prefetch in (10_000, 1_000_000):
            label = f"stage {stage}, {micro_batches} micro-batches, {prefetch} bytes"
            early = graph.run(graph.compile(stage, 2, *flags, f"--prefetch-bytes={prefetch}"), 4)
            peaks = [run.report["memory"]["device"]["peak"] for run in (plain, early)]
            checks.that(early.same_bits(plain), f"{label}: other bits")
            # The bound is on live bytes. Packing leaves gaps where it cannot be minimal.
            checks.that(peaks[1] <= 1.02 * (peaks[0] + prefetch), f"{label}: peaks {peaks}")


def check_default_of_gpus(checks, graph):
    """Lanes of GPUs overlap: a bucket is prefetched unless the flag says otherwise."""
    seconds = []
    for flags in (["--prefetch-bytes=0"], []):
        executable = graph.compile(3, 2, "--device=cuda", "--bucket-bytes=20KB", *flags)
        seconds.append(json.loads(run_tool("zero-sim", executable, "--json"))["seconds"])
    checks.that(seconds[1] < seconds[0], f"{seconds}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    check_balanced(checks, work)
    graph = Graph(data, "gpt2-tiny", work)
    check_bits(checks, graph)
    check_default_of_gpus(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
