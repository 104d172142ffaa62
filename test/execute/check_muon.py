"""Muon on hidden matrices and AdamW on the rest: the losses of torch.optim.Muon, the same bits at
every stage, tier and bucket, which parameter has which optimizer, and errors.

usage: check_muon.py DATA WORK
"""

import json
import re
import resource
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import (Checks, Graph, certificate, check_refused, read_safetensors, relative,
                       run_tool)

# Largest difference from the losses of torch.optim.Muon over 20 steps, by --ns-precision. torch
# rounds to bf16. With this learning rate, a value that is rounded the other way grows: a change of
# 3e-7 in a coefficient moves losses of bf16 by 0.9e-3 to 5.4e-3, and those of f32 by 5e-6.
LOSSES = {("muon_losses", "f32"): 5e-3, ("muon_rms_losses", "f32"): 3e-4,
          ("muon_losses", "bf16"): 1e-2, ("muon_rms_losses", "bf16"): 3e-4}
# After one update, when no value has been rounded otherwise for long.
FIRST_LOSSES = {"f32": 2e-4, "bf16": 7e-5}
# From the same formulas in fp64.
EXACT = 2e-5
MUON = ["--optimizer=muon", "--weight-decay=0.1", "--other-optimizer=adamw", "--other-lr=1e-3",
        "--other-weight-decay=0.01"]
# torch's run has the last layer of the mlp among the matrices.
ALL = {"mlp": ["--matrix-params=fc3.weight"]}
SCALES = {"muon_losses": ["--lr=0.02"],
          "muon_rms_losses": ["--lr=1e-3", "--muon-scale=match_rms_adamw"]}


def updated(text, optimizer):
    """The parameters that `optimizer` updates as zeroc -v lists them."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{optimizer} parameters ("))
    names = []
    for line in lines[first + 1:]:
        if not line.startswith("  "):
            break
        names.append(line.strip().split(": ")[0])
    return names


def check_curves(checks, data, work):
    for name in ("gpt2-tiny", "llama-tiny", "mlp"):
        graph, truth = Graph(data, name, work / name), np.load(data / "optim" / f"{name}.npz")
        for key, precision in LOSSES:
            executable = graph.compile(0, 1, *MUON, *ALL.get(name, []), *SCALES[key], "-v",
                                       f"--ns-precision={precision}")
            checks.that(sorted(updated(graph.report, "muon")) == sorted(truth["muon_names"]),
                        f"{name}: other matrices: {graph.report}")
            errors = np.abs(graph.run(executable, 21).losses - truth[key])
            label = f"{name}, {key}, {precision}"
            print(f"{label}: {errors.max():.1e} from torch's losses, {errors[1]:.1e} at first")
            checks.that(errors.max() <= LOSSES[key, precision], f"{label}: losses off by {errors}")
            checks.that(errors[1] <= FIRST_LOSSES[precision], f"{label}: first off by {errors[1]}")


def orthogonalised(matrix, steps=5):
    """What torch.optim.Muon makes of a direction, in fp64."""
    a, b, c = 3.4445, -4.775, 2.0315
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / max(np.linalg.norm(x), 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def rounded(values):
    """`values` in bf16, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def orthogonalised_rounded(matrix, steps=5):
    """The same where values are rounded to bf16 as in torch, and products sum in f32."""
    a, b, c = map(np.float32, (3.4445, -4.775, 2.0315))
    x = rounded(matrix.T if matrix.shape[0] > matrix.shape[1] else matrix)
    x = rounded(x / max(rounded(np.linalg.norm(x)), np.float32(1e-7)))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        x = rounded(a * x + rounded(b * gram + c * (gram @ gram)) @ x)
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def check_first_step(checks, data, work):
    """The first move of each matrix, also of tall ones, with each setting. In bf16 it is numpy's,
    unless a sum in another order is rounded otherwise, which later iterations enlarge. Without
    rounding it would be 3.5 to 12 % away, and 0.4 to 1 % after one iteration."""
    graph, bf16 = Graph(data, "gpt2-tiny", work), "--ns-precision=bf16"
    settings = (([], 0.95, True, 5, 1e-3),
                (["--no-nesterov", "--momentum=0.5"], 0.5, False, 5, 1e-3),
                (["--ns-steps=3", "--ns-coefficients=3.4445,-4.775,2.0315"], 0.95, True, 3, 1e-3),
                ([bf16], 0.95, True, 5, 2e-2), ([bf16, "--ns-steps=1"], 0.95, True, 1, 1e-3))
    for flags, momentum, nesterov, steps, most in settings:
        compute = orthogonalised_rounded if bf16 in flags else orthogonalised
        executable = graph.compile(3, 2, "--optimizer=muon", "--lr=0.02", *flags)
        still, moved = graph.run(executable, 1, "--lr=0"), graph.run(executable, 1)
        names = [str(n) for n in np.load(data / "optim" / "gpt2-tiny.npz")["muon_names"]]
        for name in names:
            gradient = moved.gradients[name].astype(np.float64)
            direction = (1 - momentum) * gradient
            if nesterov:
                direction = (1 - momentum) * gradient + momentum * direction
            rows, columns = gradient.shape
            step = -0.02 * np.sqrt(max(1, rows / columns)) * compute(direction, steps)
            start = still.weights[name].astype(np.float64)
            error = relative(moved.weights[name] - start, step)
            checks.that(error <= most, f"{flags}: {name} moved otherwise by {error:.1e}")


def check_orientation(checks, data, work):
    """Conv1D stores inputs x outputs: by its products a matrix has the other factor. The step of a
    Linear, which is stored as outputs x inputs, is the same."""
    for name, flips in (("gpt2-tiny", True), ("llama-tiny", False)):
        graph, moves = Graph(data, name, work / name), {}
        for orientation in ("stored", "product"):
            flags = ["--optimizer=muon", "--lr=0.02", f"--muon-orientation={orientation}", "-v"]
            executable = graph.compile(1, 2, *flags)
            sides = dict(re.findall(r"  (\S+): .*puts, scaled as (\d+x\d+)", graph.report))
            still, moved = graph.run(executable, 1, "--lr=0"), graph.run(executable, 1)
            names = updated(graph.report, "muon")
            checks.that(sorted(sides) == sorted(names), f"{name}, {orientation}: {sides}")
            moves[orientation] = {n: moved.weights[n] - still.weights[n] for n in names}
            for n in names:
                rows, columns = moved.weights[n].shape
                expected = (columns, rows) if flips and orientation == "product" else (rows, columns)
                checks.that(sides[n] == "%dx%d" % expected, f"{name}, {orientation}: {n}: {sides[n]}")
        for n, stored in moves["stored"].items():
            rows, columns = stored.shape
            ratio = np.sqrt(max(1, columns / rows) / max(1, rows / columns)) if flips else 1.0
            error = relative(moves["product"][n], ratio * stored)
            checks.that(error <= 1e-4, f"{name}: {n} is not {ratio} times the step: {error:.1e}")


def write_classifier(work, nodes, initializers, shape):
    """Writes a model of x of `shape` and four labels, and its data."""
    work.mkdir(parents=True, exist_ok=True)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
              helper.make_tensor_value_info("labels", TensorProto.INT64, [4])]
    loss = helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])
    nodes = [*nodes, helper.make_node("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["loss"])]
    graph = helper.make_graph(nodes, work.name, inputs, [loss],
                              [numpy_helper.from_array(v, k) for k, v in initializers.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]),
              work / "model.onnx")
    np.savez(work / "data.npz", labels=np.arange(4),
             x=np.random.default_rng(1).normal(size=shape).astype(np.float32))


def check_mixed_orientation(checks, work):
    """Matrices of one shape of which products read one the other way have other factors, so that no
    rank computes the step of one with the launches of the other."""
    random = np.random.default_rng(0)
    weights = {name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in
               (("up.weight", (64, 128)), ("down.weight", (64, 128)), ("head.weight", (64, 8)))}
    nodes = [helper.make_node("MatMul", ["x", "up.weight"], ["wide"]),
             helper.make_node("Relu", ["wide"], ["active"]),
             helper.make_node("Gemm", ["active", "down.weight"], ["y"], transB=1),
             helper.make_node("MatMul", ["y", "head.weight"], ["scores"])]
    write_classifier(work, nodes, weights, [4, 64])
    saved, stages = work / "saved.safetensors", []
    for stage in range(4):
        run_tool("zero-run", work / "model.onnx", "--optimizer=muon", "--lr=0.02", "--ranks=2",
                 "--muon-orientation=product", f"--zero-stage={stage}",
                 f"--data={work / 'data.npz'}", "--steps=2", f"--save={saved}")
        stages.append(read_safetensors(saved))
        checks.that(all(np.array_equal(stages[0][k], stages[-1][k]) for k in weights),
                    f"matrices of mixed orientation: stage {stage} has other bits")


def check_experts(checks, work):
    """Weights of batched experts are a matrix for each."""
    random = np.random.default_rng(0)
    weights = {"experts.w": random.normal(0, 0.1, (3, 16, 8)).astype(np.float32),
               "head.w": random.normal(0, 0.1, (8, 5)).astype(np.float32)}
    nodes = [helper.make_node("Expand", ["x", "shape"], ["copies"]),
             helper.make_node("MatMul", ["copies", "experts.w"], ["y"]),
             helper.make_node("ReduceMean", ["y", "axes"], ["mean"], keepdims=0),
             helper.make_node("MatMul", ["mean", "head.w"], ["scores"])]
    constants = {"shape": np.array([3, 4, 16]), "axes": np.array([0])}
    write_classifier(work, nodes, weights | constants, [4, 16])
    saved, gradients = work / "saved.safetensors", work / "gradients.safetensors"
    for precision, compute in (("f32", orthogonalised), ("bf16", orthogonalised_rounded)):
        run_tool("zero-run", work / "model.onnx", "--optimizer=muon", "--lr=0.02",
                 "--matrix-params=experts.w", f"--data={work / 'data.npz'}", "--steps=1",
                 f"--save={saved}", f"--dump-gradients={gradients}", f"--ns-precision={precision}")
        moves = read_safetensors(saved)["experts.w"] - weights["experts.w"]
        for move, gradient in zip(moves, read_safetensors(gradients)["experts.w"]):
            direction = gradient.astype(np.float64) * (0.05 + 0.95 * 0.05)
            error = relative(move, -0.02 * np.sqrt(2) * compute(direction))
            checks.that(error <= 1e-3, f"{precision}: an expert moved otherwise by {error:.1e}")


def check_convolution(checks, work):
    """The weights of a convolution are a matrix if they are named: of one row for each output."""
    random = np.random.default_rng(0)
    weights = {"conv.w": random.normal(0, 0.1, (24, 3, 2, 2)).astype(np.float32),
               "head.w": random.normal(0, 0.1, (24, 5)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "conv.w"], ["y"]),
             helper.make_node("ReduceMean", ["y", "axes"], ["mean"], keepdims=0),
             helper.make_node("MatMul", ["mean", "head.w"], ["scores"])]
    write_classifier(work, nodes, weights | {"axes": np.array([2, 3])}, [4, 3, 6, 6])
    model = work / "model.onnx"
    flags = ["--optimizer=muon", "--lr=0.02", "--matrix-params=conv.w"]
    text = run_tool("zeroc", model, "--plan-only", "-v", *flags)
    checks.that("conv.w: 24x3x2x2xf32, scaled as 24x12" in text, text)
    text = run_tool("zeroc", model, "--plan-only", "-v", *flags[:2], "--matrix-params=head.w")
    checks.that("conv.w: 24x3x2x2xf32, no matrix" in text, text)
    saved, gradients = work / "saved.safetensors", work / "gradients.safetensors"
    for ranks, stage in ((1, 0), (2, 1), (2, 3)):
        run_tool("zero-run", model, *flags, f"--ranks={ranks}", f"--zero-stage={stage}",
                 f"--data={work / 'data.npz'}", "--steps=1", f"--save={saved}",
                 f"--dump-gradients={gradients}")
        move = read_safetensors(saved)["conv.w"] - weights["conv.w"]
        gradient = read_safetensors(gradients)["conv.w"].reshape(24, 12).astype(np.float64)
        expected = -0.02 * np.sqrt(2) * orthogonalised(gradient * (0.05 + 0.95 * 0.05))
        error = relative(move.reshape(24, 12), expected)
        checks.that(error <= 1e-3, f"{ranks} ranks: a convolution moved otherwise by {error:.1e}")


def train_mlp(parameters, data, labels, steps, rate):
    """Losses of the mlp in fp64, Muon on its weights and AdamW on its biases."""
    p = {k: v.astype(np.float64) for k, v in parameters.items()}
    buffers, moments = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    squares, losses, rows = {k: np.zeros_like(v) for k, v in p.items()}, [], np.arange(len(labels))
    for t in range(1, steps + 1):
        inputs = [data.astype(np.float64)]
        for layer in ("fc1", "fc2", "fc3"):
            sums = inputs[-1] @ p[f"{layer}.weight"].T + p[f"{layer}.bias"]
            inputs.append(np.maximum(sums, 0) if layer != "fc3" else sums)
        scores = inputs.pop()
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        losses.append(-np.log(weights[rows, labels]).mean())
        weights[rows, labels] -= 1
        slope, gradients = weights / len(labels), {}
        for layer, x in zip(("fc3", "fc2", "fc1"), reversed(inputs)):
            gradients[f"{layer}.weight"], gradients[f"{layer}.bias"] = slope.T @ x, slope.sum(0)
            slope = (slope @ p[f"{layer}.weight"]) * (x > 0)
        for k, g in gradients.items():
            if g.ndim == 2:
                buffers[k] += 0.05 * (g - buffers[k])
                step = orthogonalised(g + 0.95 * (buffers[k] - g))
                factor = rate * np.sqrt(max(1, g.shape[0] / g.shape[1]))
                p[k] = p[k] * (1 - rate * 0.1) - factor * step
                continue
            moments[k] += 0.1 * (g - moments[k])
            squares[k] += 0.001 * (g * g - squares[k])
            step = moments[k] / (1 - 0.9**t) / (np.sqrt(squares[k] / (1 - 0.999**t)) + 1e-8)
            p[k] = p[k] * (1 - 1e-3 * 0.01) - 1e-3 * step
    return np.array(losses)


def check_exact(checks, data, work):
    """20 steps of the mlp against the formulas in fp64."""
    graph = Graph(data, "mlp", work)
    flags = [*MUON, *ALL["mlp"]]
    start = graph.run(graph.compile(0, 1, *flags, "--lr=0.02"), 1, "--lr=0").weights
    for stage, ranks in ((0, 1), (3, 2)):
        got = graph.run(graph.compile(stage, ranks, *flags, "--lr=0.02"), 21).losses
        expected = train_mlp(start, graph.inputs["x"], graph.inputs["labels"], 21, 0.02)
        error = np.abs(got - expected).max()
        print(f"mlp, stage {stage}, {ranks} ranks: {error:.1e} from the formulas in fp64")
        checks.that(error <= EXACT, f"mlp, stage {stage}: {error:.1e} from the formulas")


# Ranks, flags, stages. Those with the same numbers of ranks, and the same settings, have the same
# bits.
CASES = [
    (1, [], (0, 3)),
    (2, [], range(4)),
    (3, [], (0, 2, 3)),
    (4, [], range(4)),
    (2, ["--bucket-bytes=20000"], range(4)),  # slices cut matrices at stages 2 and 3
    (2, ["--offload-optimizer=host"], (1, 3)),
    (2, ["--offload-gradients=host"], (1, 3)),
    (2, ["--offload-optimizer=nvme", "--offload-params=host"], (3,)),
    (2, ["--micro-batches=2", "--clip-norm=0.5"], range(4)),
    (2, ["--micro-batches=2"], (0, 3)),
    (2, ["--micro-batches=2", "--offload-optimizer=host"], range(4)),
    (2, ["--precision=bf16"], (0, 3)),
    (2, ["--checkpoint=layer"], (3,)),
    (4, ["--shard-params=node", "--ranks-per-node=2"], (3,)),
]
NUMBERS = ("--micro", "--clip", "--prec")
# Of products in bf16.
ROUNDED = [(1, [], (0,)), (2, [], range(4)), (3, [], (0, 2)), (4, [], (0, 1, 3)),
           (2, ["--bucket-bytes=20000"], (2, 3)),
           (2, ["--offload-optimizer=nvme", "--offload-params=host"], (3,)),
           (2, ["--precision=bf16", "--micro-batches=2"], (0, 3))]


def check_stages(checks, data, work, settings=(*MUON, "--lr=0.02"), cases=CASES):
    graph, whole = Graph(data, "gpt2-tiny", work), {}
    for ranks, flags, stages in cases:
        disk = [f"--nvme-dir={work}"] if "nvme" in " ".join(flags) else []
        for stage in stages:
            label = f"{ranks} ranks, {flags}, stage {stage}"
            executable = graph.compile(stage, ranks, *settings, *flags)
            # Updates of offloaded states consume gradients while backward runs.
            result = graph.run(executable, 3, *disk,
                               has_gradients=not any("optimizer" in flag for flag in flags))
            key = (ranks, *(flag for flag in flags if flag.startswith(NUMBERS)))
            first = whole.setdefault(key, result)
            checks.that(result.same_bits(first), f"{label}: other bits")
            checks.that(result.losses[-1] < result.losses[0], f"{label}: {result.losses}")
    for ranks in [key[0] for key in whole if len(key) == 1 and key[0] > 1]:
        error = np.abs(whole[(ranks,)].losses - whole[(1,)].losses).max()
        checks.that(error <= 1e-3, f"{ranks} ranks: losses off by {error:.1e}")


# Of the momentum: the largest difference of 20 losses from those of f32.
STORED = {"bf16": 2e-2, "8bit": 2e-2, "4bit": 1e-1}
STORED_WAYS = [(1, 2, []), (2, 2, ["--bucket-bytes=20000"]), (3, 2, []),
               (3, 2, ["--offload-optimizer=host"]),
               (3, 2, ["--offload-optimizer=nvme", "--offload-params=host"]), (1, 4, []),
               (2, 3, []), (3, 4, ["--bucket-bytes=16KiB"])]


def check_stored(checks, data, work):
    """The momentum in 16, 8 and 4 bits: fewer bytes, losses near those of f32, and the same bits in
    every way of partitioning a step."""
    graph = Graph(data, "gpt2-tiny", work)
    flags = [*MUON, "--lr=0.02"]
    plain = graph.run(graph.compile(0, 1, *flags), 21).losses
    bytes_of_f32 = certificate(graph.report)["device"]["optimizer state"]
    for precision, most in STORED.items():
        own = [*flags, f"--state-precision=momentum_buffer={precision}"]
        error = np.abs(graph.run(graph.compile(0, 1, *own), 21).losses - plain).max()
        print(f"momentum in {precision}: {error:.1e} from the losses of f32")
        checks.that(0 < error <= most, f"{precision}: losses off by {error:.1e}")
        stored = certificate(graph.report)["device"]["optimizer state"]
        checks.that(stored < bytes_of_f32, f"{precision}: {stored} bytes of state")
        own[-1] = f"--state-precision={precision}"  # AdamW's, too
        first = {}
        for stage, ranks, more in STORED_WAYS:
            if ranks not in first:
                first[ranks] = graph.run(graph.compile(0, ranks, *own), 3, has_gradients=False)
            disk = [f"--nvme-dir={work}"] if "nvme" in " ".join(more) else []
            got = graph.run(graph.compile(stage, ranks, *own, *more), 3, *disk, has_gradients=False)
            checks.that(got.same_bits(first[ranks]),
                        f"{precision}, stage {stage}, {ranks} ranks, {more}: other bits")


def check_resumed(checks, data, work, flags=(*MUON, "--lr=0.02")):
    """A run that goes on with another partition ends as one that was never interrupted."""
    graph, state = Graph(data, "gpt2-tiny", work), work / "state"
    whole = graph.compile(0, 2, *flags)
    expected = graph.run(whole, 4).weights
    shutil.rmtree(state, ignore_errors=True)
    run_tool("zero-run", whole, graph.data_flag, "--steps=2", "--quiet", f"--save-state={state}")
    for stage, more in ((3, []), (1, ["--offload-optimizer=host", "--bucket-bytes=16KiB"])):
        resumed = graph.run(graph.compile(stage, 2, *flags, *more), 4, f"--resume={state}",
                            has_gradients=False).weights
        checks.that(all(np.array_equal(resumed[k], expected[k]) for k in expected),
                    f"resumed at stage {stage}, other weights")


def check_other_ranks(checks, data, work, flags, first, others):
    """States of owners are resumed on other numbers of ranks, whose owners are others. `first`: the
    ranks that save at stage 2; `others`: stages and ranks that resume."""
    graph, state = Graph(data, "gpt2-tiny", work), work / "state"
    saving = graph.compile(2, first, *flags)
    expected = graph.run(saving, 5).losses
    shutil.rmtree(state, ignore_errors=True)
    run_tool("zero-run", saving, graph.data_flag, "--steps=3", "--quiet", f"--save-state={state}")
    for stage, ranks in others:
        resumed = graph.run(graph.compile(stage, ranks, *flags), 5, f"--resume={state}",
                            has_gradients=False).losses
        error = np.abs(resumed - expected).max()
        checks.that(error <= 1e-5, f"resumed on {ranks} ranks: losses off by {error:.1e}")


def check_skipped(checks, data, work, settings=(*MUON, "--lr=0.02"), ranks=2):
    """Steps that overflow change no state."""
    graph = Graph(data, "llama-tiny", work)
    flags = [*settings, "--precision=fp16"]
    late = graph.run(graph.compile(3, ranks, *flags, "--initial-loss-scale=4194304"), 6)
    lines = [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()]
    done = [line["loss_scale"] for line in lines if not line["skipped"]]
    checks.that(1 < len(done) < len(lines), f"{lines}")
    early = graph.run(graph.compile(0, ranks, *flags, f"--initial-loss-scale={done[0]}"), len(done))
    checks.that(all(np.array_equal(early.weights[k], late.weights[k]) for k in late.weights),
                "a step that overflowed changed something")


def check_plan(checks, work):
    """The state of a matrix is one number for each element, sharded; a head and a table have two."""
    model = work / "gpt.onnx"
    work.mkdir(parents=True, exist_ok=True)
    run_tool("zero-translate", "--make-gpt=layers=4,width=256,heads=4,vocabulary=512,sequence=64,"
             "batch=1", "-o", model)
    states = {}
    for optimizer in ("muon", "adamw"):
        text = run_tool("zeroc", model, "--plan-only", "-v", "--init=normal:0.02", "--zero-stage=3",
                        "--ranks=4", f"--optimizer={optimizer}")
        states[optimizer] = certificate(text)["device"]["optimizer state"]
        if optimizer == "muon":
            checks.that(all(why in text for why in ("a table", "in no product", "no matrix")), text)
            matrices = updated(text, "muon")
            checks.that(len(matrices) == 16, f"matrices: {matrices}")
    saved = states["adamw"] - states["muon"]
    layers = 4 * 12 * 256 * 256
    checks.that(abs(saved - layers) <= 0.01 * layers, f"{states}")


def partitioned(graph, stage, ranks, *flags):
    """What zeroc prints of a plan, with the partitioned step."""
    return run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--no-cache",
                    "--dump-after=partition", f"--zero-stage={stage}", f"--ranks={ranks}", *flags)


def count_launches(text, kernels, ranks):
    """How many launches of `kernels`, a pattern, each rank executes. Those under a condition are of
    the rank that reads true from a constant."""
    owners = {}
    for constant, values, own, condition in re.findall(
            r"(%\S+) = arith\.constant dense<\[(.*?)\]> : tensor<\d+xi1>(?:.|\n)*?"
            r"(%\S+) = zero\.own_slice \1 .*\n.*?(%\S+) = tensor\.collapse_shape \3", text):
        owners[condition] = values.split(", ").index("true")
    counts = [0] * ranks
    for condition in re.findall(rf"zero\.launch @{kernels}\(.*?\) (?:if (%\S+))?", text):
        for rank in [owners[condition]] if condition else range(ranks):
            counts[rank] += 1
    return counts


def count_products(text, ranks):
    """Products of steps of matrices that each rank computes."""
    return count_launches(text, r"matrix\d+_\d+_product\S*", ranks)


def plan_products(graph, stage, ranks, *flags):
    """Of a plan: the products of each rank, the elements that one receives, and its device memory.
    """
    text = partitioned(graph, stage, ranks, *flags)
    received = re.search(r"each rank receives (\d+) elements", text)
    return (count_products(text, ranks), int(received[1]) if received else 0,
            certificate(text)["device"])


def check_owners(checks, data, work):
    """Each matrix has an owner, which alone computes its step. Where slices hold whole matrices the
    exchange is AdamW's."""
    graph = Graph(data, "gpt2-tiny", work)

    # Four shapes of 1, 3, 4 and 4 units, two of each: on three ranks 4 + 4 and twice 4 + 3 + 1. On
    # four ranks slices of 3 units have a matrix of 3 or of 1 each, which is 4 units of padding.
    per_matrix, all_matrices = 15, 8 * 15
    checks.that(plan_products(graph, 0, 2, *MUON)[0] == [all_matrices] * 2, "without owners")
    for stage in (1, 2, 3):
        for ranks, counts, most in ((2, [4, 4], 1.1), (3, [2, 3, 3], 1.1), (4, [2] * 4, 1.13)):
            products, received, memory = plan_products(graph, stage, ranks, *MUON)
            _, adamw, theirs = plan_products(graph, stage, ranks, "--optimizer=adamw")
            label = f"stage {stage}, {ranks} ranks"
            checks.that(sorted(products) == [per_matrix * count for count in counts],
                        f"{label}: products of ranks {products}")
            checks.that(received <= most * adamw, f"{label}: receives {received}, AdamW {adamw}")
            checks.that(memory["optimizer state"] < theirs["optimizer state"], f"{memory}, {theirs}")
    # Cut into slices, each step still is computed once: four of 4 units, two of 3 and two of 1.
    for stage, ranks, flags in ((3, 2, ["--bucket-bytes=20000"]), (1, 8, [])):
        products, _, _ = plan_products(graph, stage, ranks, *MUON, *flags)
        checks.that(sum(products) == all_matrices, f"{ranks} ranks, {flags}: {products}")
        checks.that(max(products) <= 1.5 * all_matrices / ranks, f"{ranks} ranks, {flags}: {products}")


def balance(text):
    """Tensors with owners, the operations of the rank with most over the mean, and the elements of
    buckets over those of these tensors, as the certificate states them."""
    found = re.search(r"(\d+) tensors have owners: the rank with most does (\S+) x the mean of "
                      r"operations and \S+ % of all; their buckets take (\S+) x", text)
    return int(found[1]), float(found[2]), float(found[3])


def check_balance(checks, work):
    """Operations are divided by the ranks within 15 %, in at most 10 % more elements. 175B on 1,024
    ranks: no rank computes more than the largest matrix."""
    work.mkdir(parents=True, exist_ok=True)
    model = work / "gpt.onnx"
    run_tool("zero-translate", "--make-gpt=layers=8,width=64,heads=4,vocabulary=128,sequence=16,"
             "batch=1", "-o", model)
    for ranks in (2, 3, 4, 5, 6, 8):
        for stage in (1, 3):
            matrices, most, stored = balance(run_tool(
                "zeroc", model, "--plan-only", "--no-cache", "--init=normal:0.02", *MUON,
                f"--zero-stage={stage}", f"--ranks={ranks}"))
            checks.that(matrices == 32 and most <= 1.15 and stored <= 1.1,
                        f"stage {stage}, {ranks} ranks: {matrices} matrices, {most} x the mean of "
                        f"operations, {stored} x the elements")
    run_tool("zero-translate", "--make-gpt=layers=96,width=12288,heads=96,vocabulary=50304,"
             "sequence=2048,batch=1", "-o", model)
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = run_tool("zeroc", model, "--plan-only", "--no-cache", "--init=normal:0.02", *MUON,
                    "--zero-stage=1", "--ranks=1024")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    matrices, most, _ = balance(text)
    # A step takes 4 m m n + 2 m m m operations: 18 of 14 + 6 + 18 + 18 units of a layer.
    largest = 18 / (96 * 56) * 1024
    print(f"175B on 1,024 ranks: {seconds:.1f} s, the rank with most does {most} x the mean")
    checks.that(matrices == 384 and most <= 1.01 * largest, f"175B: {matrices}, {most} x the mean")
    checks.that(seconds <= 3, f"175B: a plan takes {seconds:.1f} s")


def check_errors(checks, data):
    model = data / "mlp" / "model.onnx"
    for flags, words in (
            (["--muon-scale=both"], ["expected original or match_rms_adamw, got 'both'"]),
            (["--muon-orientation=rows"], ["expected stored or product, got 'rows'"]),
            (["--ns-precision=fp16"], ["expected f32 or bf16, got 'fp16'"]),
            (["--ns-steps=0"], ["expected a whole number >= 1, got 0"]),
            (["--ns-steps=50"], ["expected at most 20, got 50"]),
            (["--ns-coefficients=1,2"], ["expected three numbers, got 2"]),
            (["--other-optimizer=lamb"], ["updates each element by itself, got lamb"]),
            (["--other-optimizer=adamw:momentum=0.9"], ["has no effect with adamw"]),
            (["--matrix-params=fc1.bias"], ["expected matrices, got 'fc1.bias'"]),
            (["--other-params=fc9.*"], ["matches no trained parameter"]),
            (["--lr=0", "--other-lr=1e-3"], ["expected --lr above 0"]),
            (["--state-precision=exp_avg_max=8bit"],
             ["expected a state of muon or adamw, which has momentum_buffer, exp_avg, exp_avg_sq"])):
        check_refused(checks, " ".join(flags), words, "zeroc", model, "--plan-only",
                      "--optimizer=muon", *flags)
    check_refused(checks, "tiles", ["is tiled", "muon"], "zeroc", data / "gpt2-tiny" / "model.onnx",
                  "--plan-only", "--zero-stage=3", "--ranks=2", "--optimizer=muon",
                  "--tile-params-over=50KB")
    check_refused(checks, "without muon", ["which updates all parameters"], "zeroc", model,
                  "--plan-only", "--optimizer=adamw", "--other-lr=1e-3")


def check_config(checks, data, work):
    """DeepSpeed's configuration says what flags say."""
    graph = Graph(data, "mlp", work)
    config = work / "ds_config.json"
    config.write_text(json.dumps({"train_micro_batch_size_per_gpu": 32, "optimizer": {
        "type": "Muon", "params": {"muon_lr": 0.02, "adam_lr": 1e-3, "momentum": 0.9, "nesterov": False,
                                   "weight_decay": 0.1, "eps": 1e-8, "ns_method": "gram"}}}))
    graph.compile_to(work / "config.zexe", f"--config={config}")
    graph.compile_to(work / "flags.zexe", "--optimizer=muon", "--lr=0.02", "--momentum=0.9",
                     "--no-nesterov", "--weight-decay=0.1", "--other-lr=1e-3",
                     "--other-optimizer=adamw:betas=0.9,0.95:eps=1e-8", "--other-weight-decay=0.1")
    first, second = (graph.run(work / f"{name}.zexe", 3) for name in ("config", "flags"))
    checks.that(first.same_bits(second), "a configuration and its flags differ")


def check_many_owners(checks, work):
    """Launches of twelve owners: the values of a step are proved for each of them."""
    work.mkdir(parents=True, exist_ok=True)
    model, ranks = work / "config.json", 12
    model.write_text(json.dumps({
        "model_type": "gpt2", "vocab_size": 64, "n_embd": 64, "n_layer": 9, "n_head": 4,
        "n_positions": 16, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}))
    ids = work / "ids.npy"
    np.save(ids, np.random.default_rng(0).integers(0, 64, (ranks, 16)))
    text = run_tool("zero-run", model, "--shape=1x16", "--init=normal:0.02", *MUON,
                    f"--ranks={ranks}", "--zero-stage=1", "--steps=2", "--check-memory",
                    f"--data=input_ids={ids},labels={ids}")
    losses = [float(loss) for loss in re.findall(r"step \d+: loss ([\d.]+)", text)]
    checks.that(len(losses) == 2 and losses[1] < losses[0], f"{ranks} owners: {text}")


def main():
    data, work = map(Path, sys.argv[1:])
    checks = Checks()
    check_curves(checks, data, work)
    check_exact(checks, data, work / "exact")
    check_first_step(checks, data, work / "first")
    check_orientation(checks, data, work / "orientation")
    check_mixed_orientation(checks, work / "mixed")
    check_experts(checks, work / "experts")
    check_convolution(checks, work / "convolution")
    check_stages(checks, data, work / "stages")
    check_stages(checks, data, work / "rounded", (*MUON, "--lr=0.02", "--ns-precision=bf16"), ROUNDED)
    check_stored(checks, data, work / "stored")
    check_resumed(checks, data, work / "resumed")
    check_skipped(checks, data, work / "skipped")
    check_plan(checks, work / "plan")
    check_owners(checks, data, work / "owners")
    check_balance(checks, work / "balance")
    check_many_owners(checks, work / "many")
    check_config(checks, data, work / "config")
    check_errors(checks, data)
    checks.finish()


if __name__ == "__main__":
    main()
