"""Checkpoints that go from x86-64 to 64-bit ARM and back, and damaged files there.

usage: check_checkpoint.py DATA WORK ZERO_RUN...

ZERO_RUN: the command that runs the emulated runtime.
"""

import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

ADAMW = ["--optimizer=adamw", "--lr=1e-2", "--weight-decay=0.01"]


class Machine:
    """One of the two machines, with its executable of a model."""

    def __init__(self, graph, name, command, stage, *flags):
        self.name, self.graph, self.command = name, graph, command
        self.executable = graph.work / f"{name}.zexe"
        graph.compile_to(self.executable, f"--zero-stage={stage}", "--ranks=2", *ADAMW, *flags)

    def train(self, steps, *flags):
        """Trains until `steps` steps of the checkpoint are done; returns the weights."""
        weights = self.graph.work / f"{self.name}-{steps}.safetensors"
        run_tool(*self.command, self.executable, self.graph.data_flag, f"--steps={steps}",
                 "--quiet", f"--save={weights}", *flags)
        return read_safetensors(weights)


def same(first, second):
    return first.keys() == second.keys() and all(
        first[key].tobytes() == second[key].tobytes() for key in first)


def check_exchange(checks, graph, here, there):
    """The second machine continues what the first began, and the first what the second did."""
    state = graph.work / "state"
    whole = here.train(6)
    begun = here.train(2, f"--save-state={state}")
    # Without a step to do, the state is only read and written.
    checks.that(same(there.train(2, f"--resume={state}"), begun), f"{there.name} reads other bits")
    continued = there.train(4, f"--resume={state}", f"--save-state={state}")
    checks.that(not same(continued, begun), f"{there.name} does not train")
    checks.that(same(here.train(4, f"--resume={state}"), continued),
                f"{here.name} reads other bits")
    ended = here.train(6, f"--resume={state}")
    for key, expected in whole.items():
        checks.that(np.allclose(ended[key], expected, rtol=1e-4, atol=1e-5),
                    f"{key}: {np.abs(ended[key] - expected).max()}")
    return state


def damaged(path, at):
    """A copy of the file with other bits in the byte at the fraction `at`."""
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= 0x55
    copy = path.with_name(f"damaged-{path.name}")
    copy.write_bytes(content)
    return copy


def check_damage(checks, graph, there, here, state):
    run = [*there.command]
    flags = [graph.data_flag, "--steps=5"]
    check_refused(checks, "a damaged executable", ["checksum"],
                  *run, damaged(there.executable, 0.5), *flags)
    check_refused(checks, "code of another architecture",
                  ["for x86-64, and this machine is aarch64"], *run, here.executable, *flags)
    for part in sorted(state.rglob("*")):
        if part.is_file() and part.stat().st_size > 4096:
            part.write_bytes(damaged(part, 0.5).read_bytes())
    check_refused(checks, "a damaged checkpoint", ["checkpoint"],
                  *run, there.executable, *flags, f"--resume={state}")


def main():
    data, work, *command = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    here = Machine(graph, "x86-64", ["zero-run"], 3)
    there = Machine(graph, "aarch64", command, 3, "--target-cpu=aarch64")
    state = check_exchange(checks, graph, here, there)
    check_damage(checks, graph, there, here, state)
    checks.finish()


if __name__ == "__main__":
    main()
