"""--weights starts from the tensors of a file. A run from the file of --save continues as if it had
not been interrupted. A tensor that does not fit is an error that names it.

usage: check_weights.py DATA WORK
"""

import json
import struct
import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

# Uses no moments: these are not weights, so --weights would not restore them.
FLAGS = ["--optimizer=sgd", "--lr=0.05"]


def write_safetensors(path, tensors):
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64"}
    header, body = {}, b""
    for name, array in tensors.items():
        raw = array.tobytes()
        header[name] = {"dtype": names[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def check_going_on(checks, graph, stage, ranks):
    label = f"stage {stage} on {ranks}"
    executable = graph.compile(stage, ranks, *FLAGS)
    whole = graph.run(executable, 6)
    graph.run(executable, 3)
    middle = graph.work / "middle.safetensors"
    (graph.work / "weights.safetensors").rename(middle)
    np.savez(graph.work / "middle.npz", **read_safetensors(middle))
    np.savez_compressed(graph.work / "packed.npz", **read_safetensors(middle))
    for file in ("middle.safetensors", "middle.npz", "packed.npz"):
        rest = graph.run(executable, 3, f"--weights={graph.work / file}")
        checks.that(np.array_equal(rest.losses, whole.losses[3:]), f"{label}, {file}: other losses")
        checks.that(all(np.array_equal(rest.weights[k], v) for k, v in whole.weights.items()),
                    f"{label}, {file}: other weights")


def check_conversion(checks, graph):
    """f16 weights are initialized with their fp32 values."""
    executable = graph.compile(0, 1, *FLAGS)
    tensors = read_safetensors(graph.work / "middle.safetensors")
    half = {name: array.astype(np.float16) for name, array in tensors.items()}
    for file, arrays in (("half", half), ("wide", {k: v.astype(np.float32)
                                                  for k, v in half.items()})):
        write_safetensors(graph.work / f"{file}.safetensors", arrays)
    half, wide = (graph.run(executable, 3, f"--weights={graph.work / file}.safetensors")
                  for file in ("half", "wide"))
    checks.that(half.same_bits(wide), "f16 weights: other bits than their fp32 values")


def check_partial(checks, graph):
    executable = graph.compile(3, 2, *FLAGS)
    tensors = read_safetensors(graph.work / "middle.safetensors")
    part = {"fc1.weight": tensors["fc1.weight"], "more": np.zeros(3, np.int64)}
    write_safetensors(graph.work / "part.safetensors", part)
    flags = [f"--weights={graph.work / 'part.safetensors'}", "--weights-partial"]
    text = run_tool("zero-run", executable, graph.data_flag, "--steps=0", *flags,
                    f"--save={graph.work / 'mixed.safetensors'}")
    checks.that("weights: 1 tensors" in text and "5 start with the model's values, 1 of the file" in text,
                f"partial: {text}")
    run_tool("zero-run", executable, graph.data_flag, "--steps=0", "--quiet",
             f"--save={graph.work / 'start.safetensors'}")
    mixed, start = (read_safetensors(graph.work / f"{name}.safetensors")
                    for name in ("mixed", "start"))
    for name, array in mixed.items():
        expected = part if name in part else start
        checks.that(np.array_equal(array, expected[name]), f"partial: {name}")


def check_unknown(checks, graph):
    """Buffers that the step does not read are left out, with a warning that names them."""
    executable = graph.compile(0, 1, *FLAGS)
    tensors = read_safetensors(graph.work / "middle.safetensors")
    path, out = graph.work / "more.safetensors", graph.work / "taken.safetensors"
    write_safetensors(path, {**tensors, "mask": np.zeros((2, 2), np.float32),
                             "inv_freq": np.zeros(2, np.float32)})
    flags = [executable, graph.data_flag, "--steps=0", f"--weights={path}", f"--save={out}"]
    warning = "weights: left out 2 that the model does not have: 'inv_freq', 'mask'"
    for more, expected in (([], True), (["--quiet"], True), (["--weights-partial"], False)):
        text = run_tool("zero-run", *flags, *more)
        checks.that((warning in text) == expected, f"unknown, {more}: {text}")
        for name, array in read_safetensors(out).items():
            checks.that(np.array_equal(array, tensors[name]), f"unknown, {more}: {name}")


def check_refusals(checks, graph):
    executable = graph.compile(1, 2, *FLAGS)
    tensors = read_safetensors(graph.work / "middle.safetensors")
    path, out = graph.work / "bad.safetensors", graph.work / "no.safetensors"

    def refused(label, words, arrays, *flags):
        if arrays is not None:
            write_safetensors(path, arrays)
        check_refused(checks, label, words, "zero-run", executable, graph.data_flag,
                      f"--weights={path}", f"--save={out}", *flags)

    less = {k: v for k, v in tensors.items() if not k.startswith("fc2")}
    refused("missing", ["2 missing: 'fc2.weight', 'fc2.bias'"], less)
    refused("missing and unknown", ["2 missing: 'fc2.weight', 'fc2.bias'; 1 that the model does "
                                    "not have: 'fc9'"], {**less, "fc9": np.zeros(2, np.float32)})
    turned = {**tensors, "fc1.weight": np.ascontiguousarray(tensors["fc1.weight"].T)}
    refused("shape", ["1 of another shape or type: 'fc1.weight' (expected [128, 784], got [784, "
                      "128])"], turned)
    refused("shape, partial", ["of another shape"], turned, "--weights-partial")
    refused("type", ["'fc3.bias' (expected float32, got int64)"],
            {**tensors, "fc3.bias": np.zeros(10, np.int64)})
    refused("nothing", ["none of its 1 tensors"], {"fc9": np.zeros(2, np.float32)},
            "--weights-partial")
    path.write_bytes(b"\x10")
    refused("no file of weights", ["no .safetensors file: it is too short"], None)
    check_refused(checks, "partial alone", ["--weights-partial has no effect without --weights"],
                  "zero-run", executable, graph.data_flag, "--weights-partial")
    write_safetensors(path, tensors)
    check_refused(checks, "over itself", ["it is an input of this run"], "zero-run", executable,
                  graph.data_flag, f"--weights={path}", f"--save={path}")
    checks.that(not out.exists(), "a refused run left a file")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    for stage, ranks in ((0, 1), (3, 3)):
        check_going_on(checks, graph, stage, ranks)
    check_conversion(checks, graph)
    check_partial(checks, graph)
    check_unknown(checks, graph)
    check_refusals(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
