"""A model of attention layers, and MuonClip's scaling of its queries and keys, in NumPy.

Kimi K2, arXiv 2507.20534, section 2.1: for a head whose largest score S of the batch is above a
limit T, with g = T / S, its rows of queries and keys are multiplied by the root of g. Heads that
share keys have the least g of them, m: keys are multiplied by the root of m, and queries of a head
by g over the root of m, so that its scores are multiplied by g."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, GROUPS, WIDTH, INPUTS, CLASSES, BATCH, ROWS = 4, 2, 8, 16, 8, 4, 6
QUERIES, KEYS = HEADS * WIDTH, GROUPS * WIDTH


def make_weights():
    """Two layers: one with matrices of its own, of which keys are stored as outputs x inputs, and
    one whose queries, keys and values are outputs of one matrix."""
    random = np.random.default_rng(0)
    shapes = {"a.q.weight": (INPUTS, QUERIES), "a.k.weight": (KEYS, INPUTS),
              "a.v.weight": (INPUTS, KEYS), "a.q.bias": (QUERIES,), "a.o.weight": (QUERIES, INPUTS),
              "b.qkv.weight": (INPUTS, QUERIES + 2 * KEYS), "b.o.weight": (QUERIES, INPUTS),
              "head.weight": (INPUTS, CLASSES)}
    weights = {name: random.normal(0, 0.4, shape) for name, shape in shapes.items()}
    weights["a.q.weight"][:, :WIDTH] *= 4  # heads of very different scores
    weights["b.qkv.weight"][:, WIDTH:2 * WIDTH] *= 4
    return {name: value.astype(np.float32) for name, value in weights.items()}


def make_inputs():
    random = np.random.default_rng(1)
    return {"x": random.normal(0, 1, (BATCH, ROWS, INPUTS)).astype(np.float32),
            "labels": random.integers(0, CLASSES, (BATCH * ROWS,))}


def make_model(path, norm=False):
    """With `norm`, queries of the first layer are normalized."""
    node, weights = helper.make_node, make_weights()

    def attention(x, name, parts):
        return [node("Attention", parts, [f"{name}.mixed"], f"{name}.attention", is_causal=1,
                     q_num_heads=HEADS, kv_num_heads=GROUPS),
                node("MatMul", [f"{name}.mixed", f"{name}.o.weight"], [f"{name}.out"]),
                node("Add", [x, f"{name}.out"], [f"{name}.y"])]

    nodes = [node("MatMul", ["x", "a.q.weight"], ["a.product"]),
             node("Add", ["a.product", "a.q.bias"], ["a.sum" if norm else "a.q"]),
             *([node("LayerNormalization", ["a.sum", "a.norm.weight"], ["a.q"], "a.norm")] if norm else []),
             node("Transpose", ["a.k.weight"], ["a.turned"], perm=[1, 0]),
             node("MatMul", ["x", "a.turned"], ["a.k"]),
             node("MatMul", ["x", "a.v.weight"], ["a.v"]),
             *attention("x", "a", ["a.q", "a.k", "a.v"]),
             node("MatMul", ["a.y", "b.qkv.weight"], ["b.qkv"]),
             node("Split", ["b.qkv", "sizes"], ["b.q", "b.k", "b.v"], axis=-1),
             *attention("a.y", "b", ["b.q", "b.k", "b.v"]),
             node("MatMul", ["b.y", "head.weight"], ["scores"]),
             node("Reshape", ["scores", "flat"], ["rows"]),
             node("SoftmaxCrossEntropyLoss", ["rows", "labels"], ["loss"])]
    stored = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    stored += [numpy_helper.from_array(np.array(value), name) for name, value in
               (("sizes", [QUERIES, KEYS, KEYS]), ("flat", [-1, CLASSES]))]
    if norm:
        stored.append(numpy_helper.from_array(np.ones(QUERIES, np.float32), "a.norm.weight"))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "attention", [info("x", TensorProto.FLOAT, [BATCH, ROWS, INPUTS]),
                             info("labels", TensorProto.INT64, [BATCH * ROWS])],
        [info("loss", TensorProto.FLOAT, [])], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11),
              path)


def by_heads(rows, heads):
    return rows.reshape(BATCH, ROWS, heads, WIDTH).transpose(0, 2, 1, 3)


def attend(queries, keys, values):
    """The mixed rows and the largest score of each head."""
    queries = by_heads(queries, HEADS)
    keys, values = (by_heads(x, GROUPS).repeat(HEADS // GROUPS, axis=1) for x in (keys, values))
    scores = queries @ keys.swapaxes(2, 3) / np.sqrt(WIDTH)
    scores = np.where(np.tril(np.ones((ROWS, ROWS), bool)), scores, -np.inf)
    largest = scores.max(axis=(0, 2, 3))
    powers = np.exp(scores - scores.max(axis=3, keepdims=True))
    mixed = powers / powers.sum(axis=3, keepdims=True) @ values
    return mixed.transpose(0, 2, 1, 3).reshape(BATCH, ROWS, QUERIES), largest


def largest_scores(weights, x):
    """Of each head of both layers."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    x = x.astype(np.float64)
    mixed, first = attend(x @ w["a.q.weight"] + w["a.q.bias"], x @ w["a.k.weight"].T,
                          x @ w["a.v.weight"])
    x = x + mixed @ w["a.o.weight"]
    parts = np.split(x @ w["b.qkv.weight"], [QUERIES, QUERIES + KEYS], axis=2)
    return first, attend(*parts)[1]


def factors(scores, limit):
    """Of each output of queries and of keys."""
    gamma = np.where(scores > limit, limit / scores, 1)
    root = np.sqrt(gamma.reshape(GROUPS, -1).min(axis=1))
    queries = gamma / root.repeat(HEADS // GROUPS)
    return queries.repeat(WIDTH), root.repeat(WIDTH)


def scaled(weights, before, x, limit):
    """`weights` after a step from `before`, scaled where scores of `before` are above the limit."""
    result = dict(weights)
    (a_queries, a_keys), (b_queries, b_keys) = (factors(scores, limit)
                                                for scores in largest_scores(before, x))
    result["a.q.weight"] = weights["a.q.weight"] * a_queries
    result["a.k.weight"] = weights["a.k.weight"] * a_keys[:, None]
    result["b.qkv.weight"] = weights["b.qkv.weight"] * np.concatenate(
        [b_queries, b_keys, np.ones(KEYS)])
    return result
