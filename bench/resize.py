"""Resize and GridSample compared with PyTorch, forward and backward, on one thread in one run.

usage: resize.py [--bin FOLDER]        (in an environment with torch and onnx)

Each case resizes a parameter, and a weighted sum of the result is the loss. For Zero, only the
kernels of the resizing count, as `zero-run --profile` measures them. For PyTorch, the operation and
its backward count, in CPU time. Both are the fastest of several rounds, and the sides alternate.
"""

import argparse
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

SHAPE = (8, 64, 32, 32)
HALF, CORNERS, PLAIN = ({"coordinate_transformation_mode": way}
                        for way in ("half_pixel", "align_corners", "asymmetric"))
# Name, scale, attributes of Resize, arguments of interpolate.
CASES = [
    ("nearest x2", 2, {"mode": "nearest", "nearest_mode": "floor", **PLAIN}, {"mode": "nearest"}),
    ("nearest x1.5", 1.5, {"mode": "nearest", "nearest_mode": "floor", **PLAIN}, {"mode": "nearest"}),
    ("bilinear x2", 2, {"mode": "linear", **HALF}, {"mode": "bilinear"}),
    ("bilinear x2, corners", 2, {"mode": "linear", **CORNERS},
     {"mode": "bilinear", "align_corners": True}),
    ("bilinear x0.5", 0.5, {"mode": "linear", **HALF}, {"mode": "bilinear"}),
    ("bilinear x0.5, antialias", 0.5, {"mode": "linear", "antialias": 1, "exclude_outside": 1, **HALF},
     {"mode": "bilinear", "antialias": True}),
    ("bicubic x2", 2, {"mode": "cubic", **HALF}, {"mode": "bicubic"}),
    ("grid_sample", None, {"mode": "linear"}, {})]


def write_model(path, scale, attrs):
    constants = {"p": np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)}
    if scale:
        constants["scales"] = np.array([1, 1, scale, scale], np.float32)
        result = [*SHAPE[:2], *(int(n * scale) for n in SHAPE[2:])]
        node = helper.make_node("Resize", ["p", "", "scales"], ["y"], "resized", **attrs)
    else:
        result = SHAPE
        constants["grid"] = (0.3 * np.random.default_rng(2).standard_normal(
            [SHAPE[0], *SHAPE[2:], 2])).astype(np.float32)
        node = helper.make_node("GridSample", ["p", "grid"], ["y"], "resized", **attrs)
    nodes = [node, helper.make_node("Mul", ["y", "w"], ["yw"]),
             helper.make_node("ReduceMean", ["yw"], ["loss"], keepdims=0)]
    graph = helper.make_graph(
        nodes, "resize", [helper.make_tensor_value_info("w", TensorProto.FLOAT, result)],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(v, k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]), path)
    return np.ones(result, np.float32)


def ours(tool, folder, scale, attrs):
    """Milliseconds of the kernels of the resizing in a step."""
    np.save(folder / "w.npy", write_model(folder / "m.onnx", scale, attrs))
    trainable = folder / "trainable.txt"
    trainable.write_text("p\n" if scale else "p\ngrid\n")
    text = subprocess.run(
        [tool, folder / "m.onnx", f"--data=w={folder / 'w.npy'}", "--steps=40", "--profile",
         "--optimizer=sgd", f"--trainable={trainable}"],
        check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(k\d+_\w+) +\d+ +([\d.]+) .* resized$", text, re.MULTILINE)
    assert found, text
    return sum(float(ms) for _, ms in found), [f"{name} {ms}" for name, ms in found]


def theirs(scale, arguments):
    x = torch.randn(SHAPE, requires_grad=True)
    grid = (0.3 * torch.randn(SHAPE[0], *SHAPE[2:], 2)).requires_grad_()
    best = float("inf")
    for _ in range(40):
        x.grad = grid.grad = None
        begin = time.process_time()
        y = (F.interpolate(x, scale_factor=scale, **arguments) if scale else
             F.grid_sample(x, grid, align_corners=False))
        middle = time.process_time()
        weight = torch.ones_like(y)
        resumed = time.process_time()
        y.backward(weight)
        best = min(best, middle - begin + time.process_time() - resumed)
    return 1e3 * best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path("build/bin"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'case':26}{'ms':>8}{'PyTorch':>9}{'ratio':>7}")
    for name, scale, attrs, arguments in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            rounds = [(ours(options.bin / "zero-run", Path(scratch), scale, attrs),
                       theirs(scale, arguments)) for _ in range(3)]
        (mine, kernels), other = min(r[0] for r in rounds), min(r[1] for r in rounds)
        print(f"{name:26}{mine:8.2f}{other:9.2f}{mine / other:7.2f}   {', '.join(kernels)}")


if __name__ == "__main__":
    main()
