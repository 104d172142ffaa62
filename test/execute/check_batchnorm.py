"""Batch normalization on several ranks, where each rank has a part of a batch.

usage: check_batchnorm.py WORK

With --sync-batchnorm, every split of a batch trains like the full batch. Without it, each rank
normalizes its own part, and the running statistics are the mean over ranks. The model also has a
bias, groups, asymmetric padding, average pooling and a transposed convolution.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Graph, relative

BATCH, STEPS, MOMENTUM = 8, 3, 0.8
FLAGS = ["--optimizer=sgd", "--lr=0.1", "--momentum=0.9"]


def model():
    rng = np.random.default_rng(5)
    weights = {"stem.weight": (6, 2, 3, 2), "stem.bias": (6,), "up.weight": (6, 2, 3, 3),
               "fc.weight": (5, 4), "fc.bias": (5,)}
    weights = {k: rng.standard_normal(v) * 0.5 for k, v in weights.items()}
    for norm, channels in (("norm0", 4), ("norm1", 6)):
        weights[f"{norm}.weight"] = rng.uniform(0.5, 1.5, channels)
        weights[f"{norm}.bias"] = rng.standard_normal(channels)
        weights[f"{norm}.running_mean"] = rng.standard_normal(channels)
        weights[f"{norm}.running_var"] = rng.uniform(0.5, 1.5, channels)

    def norm(x, name, y):
        tensors = [f"{name}.{k}" for k in ("weight", "bias", "running_mean", "running_var")]
        return helper.make_node("BatchNormalization", [x, *tensors], [y, f"{y}.mean", f"{y}.var"],
                                name, training_mode=1, momentum=MOMENTUM)

    nodes = [
        norm("x", "norm0", "a"),
        helper.make_node("Conv", ["a", "stem.weight", "stem.bias"], ["b"], "stem", group=2,
                         strides=[2, 1], pads=[1, 0, 1, 1]),
        norm("b", "norm1", "c"),
        helper.make_node("Relu", ["c"], ["d"], "relu"),
        helper.make_node("AveragePool", ["d"], ["e"], "pool", kernel_shape=[2, 2], strides=[1, 2]),
        helper.make_node("ConvTranspose", ["e", "up.weight"], ["f"], "up", group=2, strides=[2, 2]),
        helper.make_node("MaxPool", ["f"], ["g"], "max", kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["g"], ["h"], "mean"),
        helper.make_node("Flatten", ["h"], ["i"], "flat"),
        helper.make_node("Gemm", ["i", "fc.weight", "fc.bias"], ["j"], "fc", transB=1),
        helper.make_node("SoftmaxCrossEntropyLoss", ["j", "labels"], ["loss"], "loss"),
    ]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, 8, 7]),
         helper.make_tensor_value_info("labels", TensorProto.INT64, ["batch"])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), weights


def prepare(work):
    folder = Path(work) / "net"
    folder.mkdir(parents=True, exist_ok=True)
    net, weights = model()
    onnx.save(net, folder / "model.onnx")
    rng = np.random.default_rng(6)
    x = rng.standard_normal((BATCH, 4, 8, 7)) * 2 + rng.standard_normal((1, 4, 1, 1))
    np.savez(folder / "groundtruth.npz", **{
        "input.x": x.astype(np.float32), "input.labels": rng.integers(0, 5, BATCH)})
    return Graph(work, "net", work), weights


def run(graph, stage, ranks, steps, *flags):
    return graph.run(graph.compile(stage, ranks, graph.shape_flag(ranks), *FLAGS, *flags), steps)


def expected_statistics(graph, weights, ranks):
    """The first node's running mean and variance after one step that normalizes each rank
    separately."""
    parts = np.split(graph.inputs["x"].astype(np.float64), ranks)
    count = parts[0].size / 4
    mean = np.mean([p.mean((0, 2, 3)) for p in parts], 0)
    var = np.mean([p.var((0, 2, 3)) for p in parts], 0) * count / (count - 1)
    return [MOMENTUM * weights[f"norm0.running_{name}"] + (1 - MOMENTUM) * value
            for name, value in (("mean", mean), ("var", var))]


def main():
    graph, weights = prepare(sys.argv[1])
    checks = Checks()
    whole = run(graph, 0, 1, STEPS)
    checks.that(sum("running" in name for name in whole.weights) == 4, "running statistics saved")
    checks.that(not any("running" in name for name in whole.gradients), "they have no gradient")
    for ranks in (1, 2, 4):
        local = run(graph, 0, ranks, 1)
        for name, value in zip(("mean", "var"), expected_statistics(graph, weights, ranks)):
            error = relative(local.weights[f"norm0.running_{name}"], value)
            checks.that(error <= 1e-6, f"running {name} of {ranks} ranks is off by {error:.1e}")
        first = None
        for stage in range(4):
            synced = run(graph, stage, ranks, STEPS, "--sync-batchnorm")
            first = first or synced
            label = f"synced, stage {stage} on {ranks}"
            checks.that(synced.same_bits(first), f"{label}: bits differ from stage 0's")
        for name, value in whole.gradients.items():
            error = relative(first.gradients[name], value)
            zero = name == "stem.bias"  # the mean cancels it, so only rounding noise remains
            checks.that(zero or error <= 1e-4, f"synced on {ranks}: gradient {name}: {error:.1e}")
        error = relative(first.losses, whole.losses)
        checks.that(error <= 1e-5, f"synced on {ranks}: losses off by {error:.1e}")
        for name, value in whole.weights.items():
            error = relative(first.weights[name], value)
            checks.that(error <= 1e-4, f"synced on {ranks}: {name} off by {error:.1e}")
    checks.that(not np.allclose(run(graph, 0, 4, STEPS).losses, whole.losses, rtol=1e-3),
                "normalizing each part of the batch is something else")
    checks.finish()


if __name__ == "__main__":
    main()
