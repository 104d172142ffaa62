"""The kernels of attention beside PyTorch's: errors and speed."""

import re

import numpy as np

from models import INIT, graph_of
from speed import run_torch
from zero_test import read_safetensors, read_trace, run_tool

NAMES = ("query", "key", "value")


def sizes_of(name):
    """Batch, heads, length and width of a graph of make_graphs.py."""
    width, length = map(int, name.split("-")[1:])
    return (2, 2, length, width) if length < 1024 else (16384 // length, 1024 // width, length, width)


def seconds_of(trace):
    """Of the launches of attention, forward and backward, in one step."""
    found = {"forward": 0.0, "backward": 0.0}
    for _, track, event in read_trace(trace):
        kernel = event["args"].get("kernel", "")
        if "attention" in kernel and not track.startswith("planned"):
            found["backward" if kernel.endswith("grad") else "forward"] += event["dur"] / 1e6
    return found


def measure(context, name):
    """Rows of forward and backward: the time of ours and of PyTorch's, and errors relative to float32."""
    work = context.work / name
    work.mkdir()
    shape, executable, weights = sizes_of(name), work / "model.zexe", work / "weights.safetensors"
    np.save(work / "w.npy", np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    run_tool("zeroc", graph_of(context, name), INIT.replace("0.02", "1"), "--device=cuda", "--optimizer=sgd", "--lr=0",
             "--precision=bf16", "--ranks=1", "-o", executable)
    gradients, trace = work / "gradients.safetensors", work / "trace.json"
    run_tool("zero-run", executable, f"--data=w={work / 'w.npy'}", "--steps=3", "--quiet", f"--save={weights}",
             f"--dump-gradients={gradients}", f"--trace={trace}")
    values, found = read_safetensors(weights), read_safetensors(gradients)
    arrays = work / "arrays.npz"
    np.savez(arrays, w=np.load(work / "w.npy"), **{n: values[f"attention.{n}"] for n in NAMES},
             **{f"grad.{n}": found[f"attention.{n}"] for n in NAMES})
    theirs = run_torch("torch_attention.py", str(arrays))
    batch, heads, length, width = shape
    forward = 2 * batch * heads * length ** 2 * width  # two products, of which causality hides half
    rows = []
    for direction, flops in (("forward", forward), ("backward", 2.5 * forward)):
        seconds = seconds_of(trace)[direction]
        rows.append({"table": "Attention in bf16, causal", "batch x heads x length x width": "x".join(map(str, shape)),
                     "direction": direction, "ms": f"{1e3 * seconds:.3f}",
                     "TFLOP/s": f"{flops / max(seconds, 1e-9) / 1e12:.0f}",
                     "ms of PyTorch": f"{1e3 * theirs['seconds'][direction]:.3f}",
                     "TFLOP/s of PyTorch": f"{flops / theirs['seconds'][direction] / 1e12:.0f}",
                     "error": f"{theirs['ours']:.1e}" if direction == "backward" else "",
                     "error of PyTorch": f"{theirs['theirs']:.1e}" if direction == "backward" else ""})
    assert theirs["ours"] < 4 * theirs["theirs"] + 1e-3, f"errors of gradients: {theirs}"
    return rows


def all_checks(context):
    names = ["attention-32-64"] if context.quick else [
        f"attention-{width}-{length}" for length in (1024, 4096) for width in (64, 128)]
    return [(re.sub("attention-(.*)-(.*)", r"attention: width \1, length \2", name),
             lambda name=name: measure(context, name), 40, 8) for name in names]
