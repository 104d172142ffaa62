#!/usr/bin/env python3
"""Writes a GPT-2 training graph of any size in the form of PyTorch's exporter.

The graph has the same nodes as test/data/gpt2-mini: forward pass, shifted labels, mean
cross-entropy. Weights are random and are stored as external data beside the graph. With --sparse
only masks are written to that file. The file then has its full length but takes no space, so that a
model larger than this machine can be planned.

usage: make_gpt2.py OUTPUT.onnx --layers 6 --width 512 --vocabulary 8192
                    --sequence 256 --batch 4
"""

import argparse
import math
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

EPSILON = 9.999999747378752e-06
IGNORED = -100
ALIGNMENT = 64


class ExternalData:
    """The file of initial values. It is written in order and never entirely in memory."""

    def __init__(self, path, sparse, seed):
        self.path, self.sparse = path, sparse
        self.random = np.random.default_rng(seed)
        self.file = open(path, "wb")
        self.end = 0

    def tensor(self, name, shape, dtype, make):
        """An initializer whose values, computed by `make`, are stored in this file."""
        data_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        tensor = TensorProto(name=name, dims=shape, data_type=data_type,
                             data_location=TensorProto.EXTERNAL)
        offset = -(-self.end // ALIGNMENT) * ALIGNMENT
        length = math.prod(shape) * np.dtype(dtype).itemsize
        for key, value in (("location", self.path.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        # The contents of a mask determine what the graph computes.
        if not self.sparse or np.dtype(dtype) == bool:
            self.file.seek(offset)
            self.file.write(np.ascontiguousarray(make(), dtype).tobytes())
        self.end = offset + length
        return tensor

    def close(self):
        self.file.truncate(self.end)
        self.file.close()


class Graph:
    """Nodes and initializers under construction; methods return value names."""

    def __init__(self, data):
        self.data = data
        self.nodes, self.initializers = [], []
        self.constants = {}
        self.used = {}

    def node(self, op, inputs, name, outputs=1, **attributes):
        """Adds a node. `name` has the exporter's form: a second one gets '_1'."""
        count = self.used.get(name, 0)
        self.used[name] = count + 1
        base = f"{name}_{count}" if count else name
        names = [base] if outputs == 1 else [f"{base}_split_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"node_{base}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.int64):
        """A small initializer inside the graph. Equal ones are shared."""
        array = np.array(value, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = f"val_{len(self.constants)}"
            self.initializers.append(numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def parameter(self, name, *shape):
        """Random values: matrices and biases around 0, a norm's weight around 1."""
        def make():
            scale = 0.02 if len(shape) > 1 else 0.1
            values = self.data.random.standard_normal(shape, np.float32) * np.float32(scale)
            return values + 1 if ".ln_" in name and name.endswith("weight") else values
        self.initializers.append(self.data.tensor(name, shape, np.float32, make))
        return name

    def external(self, name, array):
        self.initializers.append(self.data.tensor(name, array.shape, array.dtype, lambda: array))
        return name

    def reshape(self, value, shape, name="view"):
        return self.node("Reshape", [value, self.constant(shape)], name, allowzero=1)

    def scalar(self, value):
        return self.constant(np.float32(value), np.float32)

    def normalize(self, value, module, width):
        weight = self.parameter(f"{module}.weight", width)
        bias = self.parameter(f"{module}.bias", width)
        return self.node("LayerNormalization", [value, weight, bias], "layer_norm",
                         axis=-1, epsilon=EPSILON, stash_type=1)

    def project(self, value, module, rows, columns):
        weight = self.parameter(f"{module}.weight", rows, columns)
        bias = self.parameter(f"{module}.bias", columns)
        return self.node("Gemm", [value, weight, bias], "addmm",
                         alpha=1.0, beta=1.0, transA=0, transB=0)


def add_mask(graph, size):
    """The causal mask, 0 or the lowest float, as a value [batch, 1, S, S]."""
    shape = (size.batch, 1, size.sequence, size.sequence)
    causal = np.broadcast_to(np.tri(size.sequence, dtype=bool), shape)
    same = graph.external("eq", np.ones(shape, bool))
    ones = graph.constant(True, bool)
    kept = graph.node("And", [ones, same], "bitwise_and")
    kept = graph.node("And", [kept, graph.external("le", causal)], "bitwise_and")
    lowest = graph.scalar(np.finfo(np.float32).min)
    return graph.node("Where", [kept, graph.scalar(0), lowest], "mask")


def add_attention(graph, value, module, mask, size):
    batch, sequence, width = size.batch, size.sequence, size.width
    head = width // size.heads
    packed = graph.project(graph.reshape(value, [-1, width]), f"{module}.c_attn", width, 3 * width)
    packed = graph.reshape(packed, [batch, sequence, 3 * width])
    parts = graph.node("Split", [packed], "split", outputs=3, axis=2, num_outputs=3)
    query, key, values = (
        graph.node("Transpose", [graph.reshape(part, [batch, sequence, -1, head])], "transpose",
                   perm=[0, 2, 1, 3]) for part in parts)
    key = graph.node("Transpose", [graph.reshape(key, [-1, sequence, head])], "key", perm=[0, 2, 1])
    key = graph.reshape(key, [batch, size.heads, head, sequence])
    scale = graph.scalar(head ** -0.25)
    query = graph.node("Mul", [query, scale], "scaled")
    key = graph.node("Mul", [key, scale], "scaled")
    scores = graph.node("Add", [graph.node("MatMul", [query, key], "scores"), mask], "masked")
    weights = graph.node("Softmax", [scores], "softmax", axis=-1)
    bad = graph.node("IsNaN", [weights], "isnan")
    weights = graph.node("Where", [bad, graph.scalar(0), weights], "where")
    mixed = graph.node("MatMul", [weights, values], "scaled_dot_product_attention")
    mixed = graph.node("Transpose", [mixed], "transpose", perm=[0, 2, 1, 3])
    mixed = graph.reshape(mixed, [batch * sequence, width])
    mixed = graph.project(mixed, f"{module}.c_proj", width, width)
    return graph.reshape(mixed, [batch, sequence, width])


def add_gelu(graph, value):
    """The tanh form, in primitives."""
    half = graph.node("Mul", [value, graph.scalar(0.5)], "mul")
    cube = graph.node("Pow", [value, graph.scalar(3)], "pow")
    inner = graph.node("Mul", [cube, graph.scalar(0.044715)], "mul")
    inner = graph.node("Add", [value, inner], "add")
    inner = graph.node("Mul", [inner, graph.scalar(math.sqrt(2 / math.pi))], "mul")
    inner = graph.node("Add", [graph.node("Tanh", [inner], "tanh"), graph.scalar(1)], "add")
    return graph.node("Mul", [half, inner], "mul")


def add_mlp(graph, value, module, size):
    width = size.width
    value = graph.project(graph.reshape(value, [-1, width]), f"{module}.c_fc", width, 4 * width)
    value = graph.reshape(value, [size.batch, size.sequence, 4 * width])
    value = graph.reshape(add_gelu(graph, value), [-1, 4 * width])
    value = graph.project(value, f"{module}.c_proj", 4 * width, width)
    return graph.reshape(value, [size.batch, size.sequence, width])


def add_loss(graph, hidden, embedding, size):
    """Logits by the tied embedding. The label of a token is the next token."""
    head = graph.node("Transpose", [embedding], "head", perm=[1, 0])
    logits = graph.node("MatMul", [hidden, head], "linear")
    padded = graph.node("Pad", ["labels", graph.constant([0, 0, 0, 1]), graph.constant(IGNORED)],
                        "pad", mode="constant")
    one, end = graph.constant([1]), graph.constant([np.iinfo(np.int64).max])
    shifted = graph.node("Slice", [padded, one, end, one, one], "slice")
    logits = graph.reshape(logits, [-1, size.vocabulary])
    return graph.node("SoftmaxCrossEntropyLoss", [logits, graph.reshape(shifted, [-1])], "loss",
                      ignore_index=IGNORED, reduction="mean")


def build(graph, size):
    tokens = graph.reshape("input_ids", [-1, size.sequence])
    embedding = graph.parameter("model.lm_head.weight", size.vocabulary, size.width)
    positions = graph.external("unsqueeze", np.arange(size.sequence, dtype=np.int64)[None])
    table = graph.parameter("model.transformer.wpe.weight", size.sequence, size.width)
    value = graph.node("Add", [graph.node("Gather", [embedding, tokens], "embedding", axis=0),
                               graph.node("Gather", [table, positions], "embedding", axis=0)], "add")
    mask = add_mask(graph, size)
    for layer in range(size.layers):
        module = f"model.transformer.h.{layer}"
        normal = graph.normalize(value, f"{module}.ln_1", size.width)
        mixed = add_attention(graph, normal, f"{module}.attn", mask, size)
        value = graph.node("Add", [mixed, value], "add")
        normal = graph.normalize(value, f"{module}.ln_2", size.width)
        value = graph.node("Add", [value, add_mlp(graph, normal, f"{module}.mlp", size)], "add")
    hidden = graph.normalize(value, "model.transformer.ln_f", size.width)
    return add_loss(graph, graph.reshape(hidden, [-1, size.sequence, size.width]), embedding, size)


def write(path, size):
    """Writes OUTPUT.onnx and OUTPUT.onnx.data."""
    data = ExternalData(path.with_name(path.name + ".data"), size.sparse, size.seed)
    graph = Graph(data)
    loss = build(graph, size)
    data.close()
    shape = [size.batch, size.sequence]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape)
              for name in ("input_ids", "labels")]
    outputs = [helper.make_tensor_value_info(loss, TensorProto.FLOAT, [])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "main_graph", inputs, outputs, graph.initializers),
        opset_imports=[helper.make_opsetid("", 18)], ir_version=10, producer_name="make_gpt2")
    save(model, str(path))
    checker.check_model(str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path)
    for name, default in (("layers", 6), ("width", 512), ("heads", 0), ("vocabulary", 8192),
                          ("sequence", 256), ("batch", 4), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--sparse", action="store_true", help="weights of zeros that take no space")
    size = parser.parse_args()
    size.heads = size.heads or max(size.width // 64, 1)
    if size.width % size.heads:
        parser.error(f"expected a width divisible by the heads, got {size.width} and {size.heads}")
    size.output.parent.mkdir(parents=True, exist_ok=True)
    write(size.output, size)


if __name__ == "__main__":
    main()
