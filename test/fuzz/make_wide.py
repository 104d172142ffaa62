"""Writes long or wide models, which show nonlinear passes: make_wide.py FOLDER COUNT"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node


def tensor(name, shape=(4,)):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def chain(count, op, operand=None):
    """A chain of `count` nodes after y; the i-th has operand(i)."""
    for i in range(count):
        more = [operand(i)] if operand else []
        yield node(op, [f"v{i}" if i else "y", *more], [f"v{i + 1}"])
    yield node("Identity", [f"v{count}"], ["r"])


def dense(count):
    """Sums of all previous values, with `count` operands in total."""
    values = ["y"]
    while count > 0:
        values.append(f"d{len(values)}")
        count -= len(values) - 1
        yield node("Sum", values[:-1], [values[-1]])
    yield node("Identity", [values[-1]], ["r"])


def names(prefix, count):
    return [f"{prefix}{i}" for i in range(count)]


def models(count):
    """Name, the nodes from y = x * module.w to r, additional initializers and inputs."""
    parts, weights, tables = names("p", count), names("module.w.", count), names("val_", count)
    yield "chain", chain(count, "Tanh"), [], []
    yield "concat", [node("Concat", ["y"] * count, ["r"], axis=0)], [], []
    yield "sum", [node("Sum", ["y"] * count, ["r"])], [], []
    yield "fan", [*(node("Exp", ["y"], [p]) for p in parts), node("Sum", parts, ["r"])], [], []
    yield "split", [
        node("Concat", ["y"] * (count // 2), ["c"], axis=0),
        node("Split", ["c"], parts, axis=0, num_outputs=count),
        node("Sum", parts, ["r"]),
    ], [], []
    yield "parameters", chain(count, "Add", weights.__getitem__), weights, []
    yield "constants", chain(count, "Add", tables.__getitem__), tables, []
    yield "reuse", chain(count, "Mul", lambda _: "module.w"), [], []
    yield "products", chain(count, "MatMul", lambda _: "module.m"), [], []
    yield "dense", dense(count), [], []
    yield "inputs", [node("Sum", ["y", *parts], ["r"])], [], parts


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, nodes, initializers, inputs in models(count):
        graph = helper.make_graph(
            [
                node("Mul", ["x", "module.w"], ["y"]),
                *nodes,
                node("ReduceMean", ["r"], ["loss"], keepdims=0),
            ],
            name,
            [info("x", [2, 4]), *(info(i, [4]) for i in inputs)],
            [info("loss", [])],
            [tensor("module.w"), tensor("module.m", (4, 4)),
             *(tensor(i) for i in initializers)],
        )
        opsets = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        # Flags 0: only a plan.
        (folder / f"{name}.0.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
