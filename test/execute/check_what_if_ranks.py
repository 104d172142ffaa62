"""zero-sim --what-if=ranks=N against executables that are compiled for N ranks.

usage: check_what_if_ranks.py DATA WORK
"""

import json
import sys

from zero_test import Checks, Graph, check_refused, run_tool

# A slice has the size that the compiler gives it, so that the step is the same. Only what each rank
# has whole keeps the padding of the ranks it was compiled for.
SAME, PADDED = 1e-9, 0.01
SHORT = 0.03  # a step of 6 us, in which the place of each sum of a scalar counts
# Other slices are packed and scheduled anew: what overlaps changes a little.
ORDERED = 0.05
# A program of one rank has no gathers, whose values it does not copy either.
ALONE = 0.05

CASES = [
    ("gpt2-tiny", SAME, ["--zero-stage=1"]),
    ("gpt2-tiny", SAME, ["--zero-stage=2"]),
    ("gpt2-tiny", SAME, ["--zero-stage=3"]),
    ("gpt2-tiny", PADDED, ["--zero-stage=0"]),
    # Slices of other widths, which are accumulated; the others are norms of blocks of slices.
    ("gpt2-tiny", SAME, ["--zero-stage=2", "--precision=bf16", "--micro-batches=3"]),
    ("gpt2-tiny", SAME, ["--zero-stage=2", "--optimizer=sgd", "--micro-batches=2"]),
    ("gpt2-tiny", PADDED, ["--zero-stage=3", "--clip-norm=1", "--micro-batches=2"]),
    ("gpt2-tiny", PADDED, ["--zero-stage=1", "--optimizer=lamb", "--precision=bf16"]),
    ("gpt2-tiny", SAME, ["--zero-stage=3", "--tile-params-over=20000", "--persist-under=200"]),
    ("gpt2-tiny", ORDERED, ["--zero-stage=3", "--precision=bf16", "--offload-params=nvme",
                            "--offload-optimizer=nvme", "--offload-gradients=host",
                            "--offload-activations=host"]),
    ("llama-tiny", SAME, ["--zero-stage=3"]),
    ("gpt2-mini", SAME, ["--zero-stage=3", "--ranks-per-node=2"]),
]


def simulate(executable, *flags):
    return json.loads(run_tool("zero-sim", executable, "--json", *flags))


def check_case(checks, graph, within, flags):
    flags = flags if any("--optimizer" in flag for flag in flags) else [*flags, "--optimizer=adamw"]
    executables = {}
    for ranks in (4, 8, 16) + (() if "--ranks-per-node=2" in flags else (1,)):
        executables[ranks] = graph.work / f"r{ranks}.zexe"
        graph.compile_to(executables[ranks], f"--ranks={ranks}", *flags)
    for before, after in ((4, 8), (4, 16), (16, 4), (4, 1)):
        if after not in executables:
            continue
        compiled = simulate(executables[after])
        changed = simulate(executables[before], f"--what-if=ranks={after}")["what_if"][f"ranks={after}"]
        error = changed["seconds"] / compiled["seconds"] - 1
        label = f"{graph.name} {flags}: {before} to {after} ranks"
        print(f"{label}: {100 * error:+.3f} %")
        limit = max(within, ALONE) if after == 1 else max(within, PADDED) if after < before else within
        checks.that(abs(error) <= limit, f"{label}: {error} off, expected {limit} at most")
        checks.that(changed["tokens"] == compiled["explanation"]["tokens"] > 0,
                    f"{label}: tokens of another batch: {changed}")


def check_nodes(checks, graph):
    """16 ranks are on two nodes; all changes together are those of the ranks and of the network."""
    four, sixteen = graph.work / "four.zexe", graph.work / "sixteen.zexe"
    for path, ranks in ((four, 4), (sixteen, 16)):
        graph.compile_to(path, "--zero-stage=2", f"--ranks={ranks}", "--optimizer=adamw")
    found = simulate(four, "--machine=h100", "--what-if=ranks=4x,network=0.1x")["what_if"]
    truth = simulate(sixteen, "--machine=h100", "--what-if=network=0.1x")
    slow = truth["what_if"]["network=0.1x"]["seconds"]
    checks.that(found["ranks=4x"]["ranks"] == 16, f"{found}")
    checks.that(abs(found["ranks=4x"]["seconds"] / truth["seconds"] - 1) < SHORT, f"{found}, {truth['seconds']}")
    checks.that(abs(found["all of these"]["seconds"] / slow - 1) < SHORT, f"{found}, {slow}")
    checks.that(slow > 1.05 * truth["seconds"], f"nodes exchange for free: {slow}")
    text = run_tool("zero-sim", four, "--what-if=ranks=8")
    checks.that("each rank keeps its batch" in text and "no network" in text, text)
    text = run_tool("zero-sim", four, "--what-if=ranks=2")
    checks.that("each rank keeps its batch" in text and "no network" not in text, text)
    text = run_tool("zero-sim", four, "--what-if=ranks=4,peak=2x")
    checks.that("keeps its batch" not in text and "no network" not in text, text)


def check_errors(checks, graph):
    def refused(executable, value, *words):
        check_refused(checks, value, [f"'ranks={value}'", *words], "zero-sim", executable,
                      f"--what-if=ranks={value}")

    plain = graph.compile(3, 4)
    for value in ("0", "-1", "1.5", "0.3x", "4097", "1e30x", "8GB/s", ""):
        refused(plain, value, "expected 1 to 4096 ranks", "of the program's 4", f"got '{value}'")
    nodes = graph.compile(3, 4, "--ranks-per-node=2")
    refused(nodes, "5", "expected a multiple of the 2 ranks", "got 5")
    local = graph.compile(3, 4, "--ranks-per-node=2", "--shard-params=node")
    refused(local, "8", "ranks along one axis", "node=2, local=2")
    refused(graph.compile(3, 1), "8", "one rank exchanges nothing", "zeroc --ranks=2")
    mesh = graph.work / "mesh.zexe"
    graph.compile_to(mesh, "--mesh=data=2,tensor=2", "--zero-stage=1")
    refused(mesh, "8", "ranks along one axis", "data=2, tensor=2")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for name, within, flags in CASES:
        check_case(checks, Graph(data, name, work), within, flags)
    check_nodes(checks, Graph(data, "gpt2-tiny", work))
    check_errors(checks, Graph(data, "gpt2-tiny", work))
    checks.finish()


if __name__ == "__main__":
    main()
