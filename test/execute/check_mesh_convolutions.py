"""Trains convolutions and Einsums on meshes with tensor-parallel ranks, against one rank.

usage: check_mesh_convolutions.py WORK

The planner has to shard a pair of convolutions and a pair of Einsums; losses and gradients are
those of one rank, and stages change no bit. With tiles the same weights are divided in time.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Result, read_safetensors, relative, run_tool

BATCH, STEPS = 8, 4
FLAGS = ["--optimizer=adamw", "--lr=0.01"]
SHARDED = ["conv1.weight", "conv1.bias", "conv2.weight", "up.weight", "down.weight"]


def model():
    rng = np.random.default_rng(7)
    weights = {"conv1.weight": (8, 3, 3, 3), "conv1.bias": (8,), "conv2.weight": (6, 8, 3, 3),
               "conv2.bias": (6,), "up.weight": (6, 12), "down.weight": (12, 6),
               "fc.weight": (6, 5), "fc.bias": (5,)}
    tensors = [numpy_helper.from_array((rng.standard_normal(shape) * 0.3).astype(np.float32), name)
               for name, shape in weights.items()]
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "conv1.weight", "conv1.bias"], ["a"], "conv1", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"], "relu1"),
        node("Conv", ["b", "conv2.weight", "conv2.bias"], ["c"], "conv2", strides=[2, 2]),
        node("GlobalAveragePool", ["c"], ["d"], "mean"),
        node("Flatten", ["d"], ["e"], "flat"),
        node("Einsum", ["e", "up.weight"], ["f"], "up", equation="bi,io->bo"),
        node("Tanh", ["f"], ["g"], "tanh"),
        node("Einsum", ["g", "down.weight"], ["h"], "down", equation="bi,io->bo"),
        node("Gemm", ["h", "fc.weight", "fc.bias"], ["j"], "fc"),
        node("SoftmaxCrossEntropyLoss", ["j", "labels"], ["loss"], "loss"),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 9, 9]),
                       helper.make_tensor_value_info("labels", TensorProto.INT64, ["batch"])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class Job:
    def __init__(self, work):
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        onnx.save(model(), work / "model.onnx")
        rng = np.random.default_rng(3)
        np.save(work / "x.npy", rng.standard_normal((BATCH, 3, 9, 9)).astype(np.float32))
        np.save(work / "labels.npy", rng.integers(0, 5, BATCH))

    def train(self, mesh, *flags):
        data, tensor = mesh
        path, weights, gradients = (self.work / name for name in ("m.zexe", "w", "g"))
        text = run_tool("zeroc", self.work / "model.onnx", "-o", path, *FLAGS, *flags,
                        f"--shape=x={BATCH // data}x3x9x9,labels={BATCH // data}", "-v",
                        f"--mesh=data={data},tensor={tensor}")
        log = self.work / "log.jsonl"
        run_tool("zero-run", path, f"--data=x={self.work}/x.npy,labels={self.work}/labels.npy",
                 f"--steps={STEPS}", "--quiet", f"--log={log}", f"--save={weights}",
                 "--check-memory", f"--dump-gradients={gradients}")
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return Result(np.array(losses), read_safetensors(weights), read_safetensors(gradients),
                      None), text


def check_numbers(checks, label, result, alone):
    checks.that(relative(result.losses, alone.losses) <= 1e-5, f"{label}: losses")
    for name, expected in alone.gradients.items():
        error = relative(result.gradients[name], expected)
        checks.that(error <= 1e-5, f"{label}: gradient of {name} is off by {error:.1e}")


def main():
    job, checks = Job(Path(sys.argv[1])), Checks()
    alone, _ = job.train((1, 1), "--zero-stage=0")
    tiled, text = job.train((2, 1), "--zero-stage=3", "--tile-params-over=500")
    checks.that("conv2.weight' of 1.69 KiB in 6 tiles" in text, f"tiles: {text}")
    check_numbers(checks, "tiles", tiled, alone)
    for mesh in ((1, 2), (2, 2)):
        first = None
        for stage in (0, 3):
            result, text = job.train(mesh, f"--zero-stage={stage}")
            label = f"mesh {mesh}, stage {stage}"
            for name in SHARDED:
                checks.that(f"'{name}'" in text, f"{label}: {name} is whole: {text}")
            check_numbers(checks, label, result, alone)
            first = first or result
            checks.that(result.same_bits(first), f"{label}: bits differ from stage 0")
    checks.finish()


if __name__ == "__main__":
    main()
