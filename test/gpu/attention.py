"""The kernels of attention beside PyTorch's and cuDNN's, where these are: errors and speed."""

import re

import numpy as np

from models import graph_of
from report import Missing
from speed import run_torch
from zero_test import read_safetensors, read_trace, run_tool

NAMES = ("query", "key", "value", "w")


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


def columns_of_torch(found, direction, flops):
    """Times of PyTorch's attention and of cuDNN's, and errors of all relative to float32."""
    ours, other = found["ours"][direction], found["PyTorch"]["errors"][direction]
    assert ours < 4 * other + 1e-3, f"{direction}: an error of {ours}, PyTorch's is {other}"
    columns = {"error": f"{ours:.1e}"}
    for name in ("PyTorch", "cuDNN"):
        if reason := found[name].get("refused"):
            columns[f"ms of {name}"] = f"none: {reason}"
            continue
        seconds = found[name]["seconds"][direction]
        columns |= {f"ms of {name}": f"{1e3 * seconds:.3f}",
                    f"TFLOP/s of {name}": f"{flops / seconds / 1e12:.0f}",
                    f"error of {name}": f"{found[name]['errors'][direction]:.1e}"}
    return columns


def measure(context, name):
    """Rows of forward and backward."""
    work = context.work / name
    work.mkdir()
    shape, executable, weights = sizes_of(name), work / "model.zexe", work / "weights.safetensors"
    np.save(work / "one.npy", np.ones(1, np.float32))
    run_tool("zeroc", graph_of(context, name), "--init=normal:1", "--device=cuda", "--optimizer=sgd", "--lr=0",
             "--precision=bf16", "--ranks=1", "-o", executable)
    gradients, trace = work / "gradients.safetensors", work / "trace.json"
    run_tool("zero-run", executable, f"--data=one={work / 'one.npy'}", "--steps=3", "--quiet", f"--save={weights}",
             f"--dump-gradients={gradients}", f"--trace={trace}")
    values, found = read_safetensors(weights), read_safetensors(gradients)
    arrays = work / "arrays.npz"
    np.savez(arrays, **{n: values[f"attention.{n}"] for n in NAMES},
             **{f"grad.{n}": found[f"attention.{n}"] for n in NAMES})
    try:
        theirs = run_torch("torch_attention.py", str(arrays))
    except Missing:
        theirs = None
    batch, heads, length, width = shape
    forward = 2 * batch * heads * length ** 2 * width  # two products, of which causality hides half
    rows = []
    for direction, flops in (("forward", forward), ("backward", 2.5 * forward)):
        seconds = seconds_of(trace)[direction]
        rows.append({"table": "Attention in bf16, causal", "batch x heads x length x width": "x".join(map(str, shape)),
                     "direction": direction, "ms": f"{1e3 * seconds:.3f}",
                     "TFLOP/s": f"{flops / max(seconds, 1e-9) / 1e12:.0f}",
                     **(columns_of_torch(theirs, direction, flops) if theirs else {})})
    return rows


def all_checks(context):
    names = ["attention-32-64"] if context.quick else [
        f"attention-{width}-{length}" for length in (1024, 4096) for width in (64, 128)]
    return [(re.sub("attention-(.*)-(.*)", r"attention: width \1, length \2", name),
             lambda name=name: measure(context, name), 40, 8) for name in names]
