"""Data formats of users: token files, archives, any type that fits, data larger than memory.

The same samples in another format give bitwise identical results.

usage: check_tokens.py DATA WORK
"""

import resource
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Graph, check_refused, run_tool

STEPS = 5


def losses(graph, executable, data, *flags):
    """The log and the weights of a run, as bytes."""
    log, weights = graph.work / "run.jsonl", graph.work / "run.safetensors"
    run_tool("zero-run", executable, *data, "--quiet", f"--log={log}", f"--save={weights}", *flags)
    return log.read_bytes() + weights.read_bytes()


def check_tokens(checks, graph, executable, length):
    """A token file with any suffix or type, compared with the same windows as arrays."""
    work = graph.work
    tokens = np.random.default_rng(0).integers(0, 512, 31 * length + 9, dtype=np.uint16)
    count = (len(tokens) - 1) // length
    np.save(work / "ids.npy", tokens[:count * length].reshape(count, length).astype(np.int64))
    np.save(work / "next.npy", tokens[1:count * length + 1].reshape(count, length).astype(np.int32))
    expected = losses(graph, executable,
                      [f"--data=input_ids={work}/ids.npy,labels={work}/next.npy"], f"--steps={STEPS}")
    tokens.tofile(work / "train.bin")
    tokens.astype(np.uint32).tofile(work / "with,comma.u32")
    np.save(work / "flat.npy", tokens)
    np.savez(work / "flat.npz", tokens=tokens)
    wide = str(work / "with,comma.u32").replace(",", "\\,")
    for data in ([f"--data=tokens={work}/train.bin"],
                 [f"--data=input_ids={work}/train.bin,labels={work}/train.bin+1"],
                 [f"--data=input_ids={work}/train.bin", f"--data=labels={work}/train.bin:uint16+1"],
                 [f"--data=tokens={wide}:uint32"],
                 [f"--data=tokens={work}/flat.npy"],
                 [f"--data=labels={work}/flat.npz:tokens+1,input_ids={work}/flat.npz:tokens"]):
        checks.that(losses(graph, executable, data, f"--steps={STEPS}") == expected,
                    f"{data} differs")


def check_ids(checks, work):
    """16 bits do not hold 70,000 token ids: whatever wrote such a file has cut some off."""
    random = np.random.default_rng(1)
    table = numpy_helper.from_array(random.random((70000, 2), np.float32), "embed.weight")
    nodes = [helper.make_node("Gather", ["embed.weight", "ids"], ["e"]),
             helper.make_node("ReduceMean", ["e"], ["loss"], keepdims=0)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, [2, 4])],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], [table])
    model = work / "many.onnx"
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)]), model)
    for dtype in (np.uint16, np.int16):
        file = work / f"ids-{np.dtype(dtype).name}.bin"
        np.arange(8, dtype=dtype).tofile(file)
        check_refused(checks, f"{dtype} for 70,000 ids", ["'ids'", "70000 token ids", "uint32"],
                      "zero-run", model, f"--data=ids={file}:{np.dtype(dtype).name}", "--steps=1",
                      "--optimizer=sgd")
    np.arange(69992, 70000, dtype=np.uint32).tofile(work / "ids.bin")
    np.arange(8, dtype=np.uint8).tofile(work / "bytes.bin")
    for data in (f"ids={work}/ids.bin:uint32", f"ids={work}/bytes.bin:uint8"):
        run_tool("zero-run", model, f"--data={data}", "--steps=1", "--optimizer=sgd")


def check_archives(checks, graph, executable):
    """Members have the names of the inputs or input.NAME, compressed or not."""
    expected = losses(graph, executable, [graph.data_flag])
    archive = graph.work / "all.npz"
    for save in (np.savez, np.savez_compressed):
        for prefix in ("", "input."):
            save(archive, **{prefix + k: v for k, v in graph.inputs.items()}, other=np.zeros(3))
            named = ",".join(f"{k}={archive}" for k in graph.inputs)
            for data in (str(archive), named):
                checks.that(losses(graph, executable, [f"--data={data}"]) == expected,
                            f"{save.__name__}, members '{prefix}*', {data} differs")


def check_types(checks, graph, executable):
    """Narrower types are bitwise identical."""
    x = graph.inputs["x"].astype(np.float16)
    expected = None
    for x_type, label_type in ((np.float32, np.int64), (np.float16, np.int8),
                               (np.float16, np.uint16), (np.float32, np.uint8)):
        np.save(graph.work / "x.npy", x.astype(x_type))
        np.save(graph.work / "labels.npy", graph.inputs["labels"].astype(label_type))
        got = losses(graph, executable, [graph.data_flag])
        expected = expected or got
        checks.that(got == expected, f"{x_type.__name__} and {label_type.__name__} differ")


def check_larger_than_memory(checks, graph, executable):
    """64 GiB of shuffled samples use little memory."""
    rows = (64 << 30) // (4 * 784)
    header = np.lib.format.header_data_from_array_1_0(np.zeros((0, 784), np.float32))
    with open(graph.work / "x.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (rows, 784)})
        file.truncate(file.tell() + rows * 784 * 4)
    with open(graph.work / "labels.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (rows,), "descr": "|u1"})
        file.truncate(file.tell() + rows)
    log = graph.work / "large.jsonl"
    run_tool("zero-run", executable, graph.data_flag, "--shuffle=1", "--steps=20", "--quiet",
             f"--log={log}")
    checks.that(len(log.read_text().splitlines()) == 20, "64 GiB: too few steps")
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    checks.that(used < 1 << 20, f"64 GiB of data took {used} KiB of memory")
    (graph.work / "x.npy").unlink()


def check_rates(checks, gpt2, executable, work):
    """Reports tokens per second for a model with tokens, and samples per second for a model whose
    integer labels have the shape batch x position but index no embedding."""
    text = run_tool("zero-run", executable, gpt2.data_flag, "--steps=2")
    checks.that("tokens/s" in text and "samples/s" not in text, f"gpt2: {text}")
    nodes = [helper.make_node("MatMul", ["head.weight", "x"], ["scores"]),
             helper.make_node("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["loss"])]
    weight = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    graph = helper.make_graph(
        nodes, "pixels", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (4, 5, 6)),
                          helper.make_tensor_value_info("labels", TensorProto.INT64, (4, 6))],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
        [numpy_helper.from_array(weight, "head.weight")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]),
              f"{work}/pixels.onnx")
    np.savez(f"{work}/pixels.npz", x=np.ones((4, 5, 6), np.float32),
             labels=np.zeros((4, 6), np.int64))
    text = run_tool("zero-run", f"{work}/pixels.onnx", "--optimizer=sgd", "--steps=2",
                    f"--data={work}/pixels.npz")
    checks.that("samples/s" in text and "tokens/s" not in text, f"pixels: {text}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    executable = gpt2.compile(3, 2, "--optimizer=adamw")
    check_tokens(checks, gpt2, executable, gpt2.inputs["input_ids"].shape[1])
    check_ids(checks, gpt2.work)
    check_archives(checks, gpt2, executable)
    check_rates(checks, gpt2, executable, work)
    mlp = Graph(data, "mlp", f"{work}/mlp")
    executable = mlp.compile(0, 2, "--optimizer=sgd")
    check_types(checks, mlp, executable)
    check_larger_than_memory(checks, mlp, executable)
    checks.finish()


if __name__ == "__main__":
    main()
