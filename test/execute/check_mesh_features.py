"""What else works on a mesh of data-parallel and tensor-parallel ranks.

usage: check_mesh_features.py DATA WORK GRAPH

Optimizers, precisions, clipping, micro-batches, sequence parallelism and dropout give the losses of
one rank; volumes along `tensor` are those of closed forms, what communicators counted, and what
profiles and simulations say; tokens that are gathered again change no bit; checkpoints load on other
meshes; processes give the bits of threads.
"""

import argparse
import json
import re
import shutil

import numpy as np

from check_groundtruth import ADAMW
from check_stages_matrix import MatrixGraph
from zero_test import Checks, Graph, check_received, relative, run_tool

STEPS, LIMIT = 4, 1e-5
# Flags, the limit of losses, and flags of the mesh alone.
FEATURES = [(["--clip-norm=0.5"], LIMIT, []), (["--optimizer=lamb", "--lr=1e-3"], LIMIT, []),
            (["--optimizer=sgd", "--lr=0.05"], LIMIT, []),
            (["--precision=bf16", "--clip-norm=1"], 1e-3, []), (["--precision=fp16"], 1e-3, []),
            (["--micro-batches=2", "--zero-stage=2"], LIMIT, []),
            (["--micro-batches=2", "--micro-batch-order=vertical", "--zero-stage=3"], LIMIT, []),
            (["--attention=products"], LIMIT, []),
            (["--zero-stage=1"], LIMIT, ["--sequence-parallel"]),
            (["--zero-stage=3", "--checkpoint=layer"], LIMIT, ["--sequence-parallel"])]


def flags_of(feature):
    return feature if any("optimizer" in flag for flag in feature) else [*ADAMW, *feature]


def run(graph, mesh, *flags):
    path = graph.work / "features.zexe"
    graph.report = graph.compile_to(path, f"--mesh=data={mesh[0]},tensor={mesh[1]}", *flags)
    return graph.run(path, STEPS, "--check-memory")


def check_features(checks, graph):
    for feature, limit, own in FEATURES:
        expected = run(graph, (1, 1), *flags_of(feature)).losses
        for mesh in ((2, 2), (1, 4)):
            losses = run(graph, mesh, *flags_of(feature), *own).losses
            error = np.max(np.abs(losses - expected) / np.abs(expected))
            checks.that(error <= limit, f"{mesh} {feature} {own}: losses off by {error:.2e}")


def check_products(checks, graph):
    """Attention as products is sharded as attention in one kernel is."""
    kept = []
    for kind in ("fused", "products"):
        run(graph, (1, 2), *ADAMW, f"--attention={kind}")
        kept.append([line for line in graph.report.splitlines()
                     if "over 2 ranks" in line or "stays whole" in line])
    checks.that(kept[0] == kept[1] and kept[0], f"{kept[1]}, expected {kept[0]}")


def check_dropout(checks, data, work):
    """Masks do not depend on the mesh: another mask would change the loss by far more."""
    graph = MatrixGraph(data, work, {"model": "gpt2-tiny", "dropout": True})
    graph.make_samples(1, 1)
    expected = run(graph, (1, 1), *ADAMW).losses
    for flags in ([], ["--sequence-parallel"]):
        losses = run(graph, (1, 2), *ADAMW, *flags).losses
        error = np.max(np.abs(losses - expected) / np.abs(expected))
        checks.that(error <= LIMIT, f"dropout {flags}: losses off by {error:.2e}")


def volume(text):
    """Elements along tensor by part, from the certificate."""
    line = re.search(r"^along tensor, each rank receives (\d+) .*?: (.*)$", text, re.MULTILINE)
    parts = {name: int(count) for name, count in re.findall(r"([a-z ]+?) (\d+)", line.group(2))}
    return int(line.group(1)), parts


def check_volumes(checks, graph, layers, sum_of_table):
    """A sum that all get is twice its elements. `sum_of_table`: the table of embeddings is sharded."""
    batch, sequence = graph.inputs["input_ids"].shape
    rows, width = batch * sequence, 64
    bsh = rows * width
    ends = 2 * bsh * sum_of_table
    loss = 2 * 3 * rows  # on 2 ranks: three numbers for each row of scores
    forward = 4 * layers * bsh + ends + loss
    # With sequence parallelism, what all ranks hold has gradients of a part of the tokens each: two
    # norms and two biases of a block, the last norm, and the table of positions.
    own = 2 * (layers * 6 * width + 2 * width + sequence * width)
    for flags, expected in (
            ([], {"forward": forward, "backward": 4 * layers * bsh + ends}),
            (["--checkpoint=layer"], {"recomputed layers": 2 * layers * bsh}),
            (["--checkpoint=layer", "--partition-activations"],
             {"saved activations": (layers + 1) * bsh}),
            (["--sequence-parallel"],
             {"forward": forward, "backward": 4 * layers * bsh + ends + own,
              "gathered again": (2 * layers + 1) * bsh}),
            (["--sequence-parallel", "--recompute=none"], {"gathered again": (2 * layers + 1) * bsh}),
            (["--sequence-parallel", "--checkpoint=layer"],
             {"forward": forward, "recomputed layers": 3 * layers * bsh, "gathered again": 0})):
        result = run(graph, (2, 2), *ADAMW, "--zero-stage=2", *flags)
        received, parts = volume(graph.report)
        for part, elements in expected.items():
            got = next((count for name, count in parts.items() if name.strip(", ") == part), 0)
            checks.that(got == elements, f"{flags}: {part} {got} elements, expected {elements}")
        total = sum(parts.values())
        checks.that(received == total // 2, f"{flags}: a rank receives {received} of {total}")
        planned = result.report["planned_elements_along"]
        checks.that(planned["tensor"] == received, f"{flags}: the executable says {planned}")
        check_received(checks, flags, result.report, STEPS)


def check_repeated_gathers(checks, graph):
    """What is gathered again has the bits of what was saved, in each precision."""
    for precision in ("fp32", "bf16"):
        flags = [*ADAMW, "--sequence-parallel", f"--precision={precision}"]
        first = run(graph, (1, 2), *flags, "--checkpoint=layer")
        for own in ([], ["--recompute=none"], ["--zero-stage=0", "--partition-activations"]):
            checks.that(run(graph, (1, 2), *flags, *own).same_bits(first),
                        f"{precision} {own}: other bits than with recomputed layers")


def check_profile(checks, graph):
    """A profile and a simulation tell the collectives of each axis apart, with their bytes."""
    path = graph.work / "profile.zexe"
    graph.compile_to(path, "--mesh=data=2,tensor=2", *ADAMW, "--zero-stage=3", "--sequence-parallel")
    report = graph.run(path, 5, "--profile", has_gradients=False).report
    simulated = json.loads(run_tool("zero-sim", path, "--json"))
    checks.that(simulated["mesh"] == report["mesh"] == {"data": 2, "tensor": 2}, "mesh")
    rows = {}
    for name, profile in (("run", report["profile"]), ("simulated", simulated["profile"])):
        rows[name] = {(row["kind"], row["axis"]): (row["launches"], row["bytes"])
                      for row in profile["kinds"] if "axis" in row}
        received = profile["received_bytes_along"]
        for axis, elements in report["planned_elements_along"].items():
            together = sum(size for (_, along), (_, size) in rows[name].items() if along == axis)
            checks.that(received[axis] == together, f"{name}, {axis}: {received}, {rows[name]}")
            # 4 bytes each, and scalars of the program: at most a value for each of some collectives
            checks.that(0 <= received[axis] - 4 * elements < 1024, f"{name}, {axis}: {received}")
    checks.that(rows["run"] == rows["simulated"], f"{rows}")
    checks.that({axis for _, axis in rows["run"]} == {"data", "tensor"}, f"{rows['run']}")
    text = run_tool("zero-sim", path)
    checks.that("on 2 x 2 ranks (data x tensor)" in text and "all-gather, tensor" in text and
                re.search(r"^received in a step: .* MB along data, .* MB along tensor$", text,
                          re.MULTILINE), text)


def check_checkpoints(checks, graph):
    """A run that goes on with another mesh ends as the one that it goes on from."""
    state = graph.work / "state"
    shutil.rmtree(state, ignore_errors=True)
    start = graph.work / "start.zexe"
    graph.compile_to(start, "--mesh=data=2,tensor=2", *ADAMW, "--zero-stage=3")
    run_tool("zero-run", start, graph.data_flag, "--steps=2", f"--save-state={state}")
    expected = graph.run(start, STEPS)
    for mesh in ((1, 1), (4, 1), (1, 4), (1, 2)):
        path = graph.work / "resumed.zexe"
        graph.compile_to(path, f"--mesh=data={mesh[0]},tensor={mesh[1]}", *ADAMW,
                         "--zero-stage=1")
        resumed = graph.run(path, STEPS, f"--resume={state}", has_gradients=False)
        error = np.max(np.abs(resumed.losses[-2:] - expected.losses[2:]) / expected.losses[2:])
        checks.that(error <= LIMIT, f"resumed on {mesh}: losses off by {error:.2e}")
        for name, value in expected.weights.items():
            if not name.endswith(".bias"):  # those of keys have no gradient but rounding
                error = relative(resumed.weights[name], value)
                checks.that(error <= 1e-4, f"resumed on {mesh}: {name} off by {error:.2e}")
    again = graph.run(start, STEPS, "--processes=4", has_gradients=False)
    checks.that(again.same_bits(expected), "four processes: bits differ from threads")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("graph")
    args = parser.parse_args()
    graph = Graph(args.data, args.graph, args.work)
    checks = Checks()
    check_features(checks, graph)
    check_products(checks, graph)
    if args.graph == "gpt2-tiny":
        check_dropout(checks, args.data, f"{args.work}.dropout")
        check_volumes(checks, graph, layers=2, sum_of_table=True)
        check_repeated_gathers(checks, graph)
        check_profile(checks, graph)
    check_checkpoints(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
