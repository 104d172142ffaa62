"""Parameters in tiles: one tile is gathered at a time, the results equal those of the full
parameter, and the user sees one tensor.

usage: check_tiled_parameters.py DATA WORK
"""

import re
import shutil
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

from checkpoints import newest, read_tensors, same_tensors
from zero_test import Checks, Graph, check_refused, has_avx512, relative, run_tool

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--betas=0.9,0.999", "--eps=1e-8", "--weight-decay=0.01"]
STEPS = 3
ROWS = 16


def save_graph(folder, nodes, weights, inputs):
    """A graph of `nodes` whose loss is the mean square of the last value, and a batch of `inputs`
    for each step. Weights are random and have the given shapes."""
    random = np.random.default_rng(5)
    initializers = [numpy_helper.from_array(
        random.standard_normal(shape).astype(np.float32) / 8, name)
        for name, shape in weights.items()]
    last = nodes[-1].output[0]
    nodes = [*nodes, helper.make_node("Mul", [last, last], ["square"], name="square"),
             helper.make_node("ReduceMean", ["square"], ["loss"], name="mean", keepdims=0)]
    infos = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(value.dtype), [ROWS, *value.shape[1:]])
        for name, value in inputs.items()]
    loss = helper.make_tensor_value_info("loss", onnx.TensorProto.FLOAT, [])
    model = helper.make_model(helper.make_graph(nodes, "main", infos, [loss], initializers),
                              opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "groundtruth.npz",
             **{f"input.{name}": value for name, value in inputs.items()})


def random_ids(rows):
    """Row numbers, including negative ones, the first row and the last row."""
    ids = np.random.default_rng(6).integers(-rows, rows, ROWS * STEPS)
    ids[:3] = (0, -1, rows - 1)
    return ids


def make_table_graph(folder):
    """A table, a product that is split along its columns, and one split along its rows."""
    nodes = [helper.make_node("Gather", ["emb.weight", "ids"], ["x"], name="emb", axis=0),
             helper.make_node("MatMul", ["x", "fc.weight"], ["y"], name="fc"),
             helper.make_node("Gemm", ["y", "out.weight"], ["z"], name="out", transB=1)]
    weights = {"emb.weight": (800, 24), "fc.weight": (24, 640), "out.weight": (320, 640)}
    save_graph(folder, nodes, weights, {"ids": random_ids(800)})


def make_ends_graph(folder):
    """A table and two products of an input. Their inputs have no gradient, so tiles split no sum,
    neither forward nor backward."""
    nodes = [helper.make_node("Gather", ["emb.weight", "ids"], ["e"], name="emb", axis=0),
             helper.make_node("Gemm", ["x", "fc.weight", "fc.bias"], ["y"], name="fc"),
             helper.make_node("Gemm", ["x", "out.weight"], ["z"], name="out", transB=1),
             helper.make_node("Add", ["e", "y"], ["ey"], name="add"),
             helper.make_node("Tanh", ["ey"], ["t"], name="tanh"),
             helper.make_node("Add", ["t", "z"], ["tz"], name="sum")]
    weights = {"emb.weight": (99, 640), "fc.weight": (48, 640), "fc.bias": (640,),
               "out.weight": (640, 48)}
    x = np.random.default_rng(7).standard_normal((ROWS * STEPS, 48)).astype(np.float32)
    save_graph(folder, nodes, weights, {"ids": random_ids(99), "x": x})


def plan_of(graph, stage, ranks, limit, *flags):
    """Bytes of the largest gather of a tile, the volume of the plan, and the number of tiles of
    each tiled parameter."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=partition",
                    f"--zero-stage={stage}", f"--ranks={ranks}", f"--tile-params-over={limit}",
                    *flags)
    homes = dict(re.findall(r'zero\.parameter +@"?([\w.]+\.part\d+)"? .*home = @(bucket\d+)', text))
    sizes = [4 * int(size) for bucket, size in re.findall(
        r'zero\.all_gather .*zero\.name = "(bucket\d+)".*-> tensor<(\d+)xf32>', text)
        if bucket in homes.values()]
    tiles = {name: int(count) for name, count in
             re.findall(r"parameter '([\w.]+)' of .* in (\d+) tiles of ", text)}
    return max(sizes, default=0), tiles


def distance(a, b):
    return relative(*(np.concatenate([t[name].astype(np.float64).ravel() for name in sorted(b)])
                      for t in (a, b)))


def check_stages(checks, graph, limit, ranks, same_bits=(), exact=False, truth=None, flags=(),
                 tolerance=1e-5):
    """All stages with tiles are bitwise identical. With `exact` they are bitwise identical to runs
    without tiles, otherwise nearly equal; of the gradients of the first step, those named
    `same_bits` are bitwise identical."""
    whole = graph.run(graph.compile(0, ranks, *ADAMW, *flags), STEPS)
    first = None
    for stage in range(4):
        label = f"{graph.name} stage {stage} on {ranks}, tiles over {limit}"
        executable = graph.compile(stage, ranks, f"--tile-params-over={limit}", *ADAMW, *flags)
        checks.that(" tiles of " in graph.report, f"{label}: none")
        tiled = graph.run(executable, STEPS, "--check-memory")
        first = first or tiled
        checks.that(tiled.same_bits(first), f"{label}: bits differ from those of stage 0")
        checks.that(tiled.weights.keys() == whole.weights.keys() and
                    tiled.gradients.keys() == whole.gradients.keys(), f"{label}: other tensors")
        planned = tiled.report["planned_elements_per_step"]
        received = [stats["received_elements"] for stats in tiled.report["per_rank"]]
        checks.that(all(each == STEPS * planned for each in received),
                    f"{label}: {received} received in {STEPS} steps, {planned} planned for each")
    label = f"{graph.name} on {ranks}, tiles over {limit} {' '.join(flags)}"
    # Without AVX-512, oneDNN sums a product of fewer columns in another order.
    exact = exact and has_avx512()
    checks.that(not exact or first.same_bits(whole), f"{label}: other bits than whole")
    off = distance(first.gradients, whole.gradients)
    checks.that(off < tolerance, f"{label}: gradients differ by {off}")
    checks.that(np.allclose(first.losses, whole.losses, rtol=tolerance),
                f"{label}: losses {first.losses}, whole {whole.losses}")
    for name in same_bits:
        got, expected = ((r.losses[0], r.gradients.get(name)) for r in (first, whole))
        same = got[0] == expected[0] and np.array_equal(got[1], expected[1])
        checks.that(same or not has_avx512(),
                    f"{label}: the loss or the gradient of {name} has other bits")
    if truth is not None:
        error = np.max(np.abs(first.losses - truth[:STEPS]) / np.abs(truth[:STEPS]))
        checks.that(error <= 1e-5, f"{label}: losses off by {error:.2e}")


def check_gathers(checks, graph, limit, ranks, expected):
    """At stage 3 at most one tile of a tiled parameter is gathered at a time."""
    largest, tiles = plan_of(graph, 3, ranks, limit)
    checks.that(tiles == expected, f"{graph.name}: tiles {tiles}, expected {expected}")
    checks.that(0 < largest <= limit + 64 * ranks * 4, f"{graph.name}: {largest} are gathered")


def check_checkpoint(checks, graph, limit, precision):
    """State that was saved with tiles loads without them, and vice versa, bitwise identical."""
    kinds = {"tiled": (3, 2, [f"--tile-params-over={limit}"]), "whole": (1, 4, []),
             "otherwise": (2, 1, [f"--tile-params-over={2 * limit}"])}
    flags = [*ADAMW, f"--precision={precision}"]

    def state(kind):
        return graph.work / f"state-{kind}"

    def run(kind, *more):
        stage, ranks, own = kinds[kind]
        executable = graph.compile(stage, ranks, *own, *flags)
        shutil.rmtree(state(kind), ignore_errors=True)
        weights = graph.work / "resumed.safetensors"
        run_tool("zero-run", executable, graph.data_flag, f"--save-state={state(kind)}",
                 f"--steps={STEPS}", f"--save={weights}", "--quiet", *more)
        return weights.read_bytes(), read_tensors(newest(state(kind)))

    last, saved = "tiled", run("tiled")
    for kind in ("whole", "tiled", "otherwise", "tiled", "otherwise", "whole"):
        source = graph.work / "state-source"
        shutil.rmtree(source, ignore_errors=True)
        shutil.move(state(last), source)
        label = f"{graph.name} in {precision}: saved {last}, loaded {kind}"
        weights, tensors = run(kind, f"--resume={source}", "--restart-data")
        checks.that(weights == saved[0], f"{label}: other weights")
        checks.that(same_tensors(tensors, saved[1]), f"{label}: other state")
        last = kind


def check_weights(checks, graph, limit):
    """--weights fills the tiles; a glob matches the full parameter."""
    first = graph.run(graph.compile(0, 1, *ADAMW), STEPS)
    weights = graph.work / "start.safetensors"
    shutil.copy(graph.work / "weights.safetensors", weights)
    name = "model.transformer.h.0.mlp.c_fc.weight"
    flags = [*ADAMW, f"--param-group={name}:weight-decay=0.5", "--no-decay=*lm_head*"]
    results = [graph.run(graph.compile(stage, ranks, *flags, *own), 1, f"--weights={weights}")
               for stage, ranks, own in ((0, 2, []), (3, 2, [f"--tile-params-over={limit}"]))]
    off = distance(results[1].weights, results[0].weights)
    checks.that(off < 1e-6, f"{graph.name}: from given weights, weights differ by {off}")
    checks.that(distance(results[0].weights, first.weights) > 1e-5, "nothing was trained")
    frozen = graph.run(graph.compile(3, 2, *ADAMW, f"--freeze={name}",
                                     f"--tile-params-over={limit}"), 1, f"--weights={weights}")
    checks.that(np.array_equal(frozen.weights[name], first.weights[name]) and
                name not in frozen.gradients, f"{name} is not frozen")


def check_refusals(checks, graph):
    model = graph.folder / "model.onnx"
    check_refused(checks, "lamb", ["is tiled", "lamb", "model.lm_head.weight"], "zeroc",
                  model, "--plan-only", "--optimizer=lamb", "--tile-params-over=100KB")
    check_refused(checks, "a row", ["--tile-params-over=100", "one of its"], "zeroc", model,
                  "--plan-only", "--tile-params-over=100")
    check_refused(checks, "a bias", ["c_attn.bias", "cannot be tiled: it is read by"], "zeroc", model,
                  "--plan-only", "--tile-params-over=700")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp, gpt2 = Graph(data, "mlp", f"{work}/mlp"), Graph(data, "gpt2-tiny", f"{work}/gpt2")
    made = mlp.work.parent / "data"
    make_table_graph(made / "table")
    make_ends_graph(made / "ends")
    table, ends = (Graph(made, name, f"{work}/{name}") for name in ("table", "ends"))
    for ranks in (1, 2, 4):
        check_stages(checks, mlp, 65536, ranks, exact=True, truth=mlp.truth["adamw_losses"])
        check_stages(checks, gpt2, 32768, ranks, truth=gpt2.truth["adamw_losses"])
        check_stages(checks, ends, 65536, ranks, exact=True)
        check_stages(checks, ends, 10000, ranks, exact=True)
    check_stages(checks, table, 16384, 1, ["out.weight"])
    check_stages(checks, gpt2, 32768, 2, flags=["--micro-batches=2", "--clip-norm=0.5"])
    check_stages(checks, gpt2, 16384, 2, flags=["--precision=bf16", "--clip-norm=0.5"],
                 tolerance=2e-2)
    check_stages(checks, mlp, 32768, 2, exact=True, flags=["--precision=bf16"])
    check_gathers(checks, mlp, 65536, 2, {"fc1.weight": 7})
    check_gathers(checks, table, 16384, 4,
                  {"emb.weight": 5, "fc.weight": 4, "out.weight": 54})
    check_checkpoint(checks, gpt2, 32768, "fp32")
    check_checkpoint(checks, gpt2, 16384, "bf16")
    check_weights(checks, gpt2, 32768)
    check_refusals(checks, gpt2)
    checks.finish()


if __name__ == "__main__":
    main()
