"""Writes models that must be errors into the given folder: bad_models.py FOLDER"""

import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from models import INT64, info, ints, linear, mean, model, weight

node = helper.make_node


def external(location, length=64, offset=0, dims=(4, 4)):
    """A weight whose data is declared to be in the file `location`."""
    tensor = TensorProto(name="fc.weight", data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return model([linear(), mean("y")], initializers=[tensor])


def data_models():
    return {
        "ok": external("weights.bin"),
        "nested": external("sub/weights.bin"),
        "missing": external("absent.bin"),
        "short": external("weights.bin", offset=16),
        "overflow": external("weights.bin", offset=2**64 - 32),
        "length": external("weights.bin", length=60),
        "outside": external("../weights.bin"),
        "hidden-outside": external("sub/../../weights.bin"),
        "absolute": external("/etc/hostname"),
        "symlink": external("link.bin"),
        "symlinked-folder": external("linked/weights.bin"),
        "folder": external("sub"),
    }


def graph_models():
    w = weight()
    short = weight()
    short.raw_data = short.raw_data[:60]
    huge = TensorProto(name="fc.weight", data_type=TensorProto.FLOAT, dims=[2**40, 2**40])
    return {
        "cycle": model(
            [node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"), mean("b")]
        ),
        "missing-input": model([node("Relu", ["nowhere"], ["y"], "act"), mean("y")]),
        "missing-output": model([linear()], initializers=[w]),
        "twice": model(
            [node("Relu", ["x"], ["y"], "one"), node("Neg", ["x"], ["y"], "two"), mean("y")]
        ),
        "shadow": model([node("Relu", ["y"], ["x"], "act"), mean("x")]),
        "shadow-constant": model(
            [node("Constant", [], ["x"], "number", value_float=1.0), mean("x")]
        ),
        "short-data": model([linear(), mean("y")], initializers=[short]),
        "huge": model([linear(), mean("y")], initializers=[huge]),
        "huge-result": model(
            [node("Expand", ["x", "shape"], ["y"], "grow"), mean("y")],
            [info("x", [1, 1])],
            initializers=[ints("shape", [2**40, 2**40])],
        ),
        "large": model(
            [node("Expand", ["x", "shape"], ["y"], "grow"), mean("y")],
            [info("x", [1, 1])],
            initializers=[ints("shape", [2**20, 2**20])],
        ),
        "negative": model(
            [node("ConstantOfShape", ["shape"], ["y"], "fill"), mean("y")],
            initializers=[ints("shape", [-2])],
        ),
        "reshape": model(
            [node("Reshape", ["x", "shape"], ["y"], "view"), mean("y")],
            initializers=[ints("shape", [3, 3])],
        ),
        "mismatch": model([linear(), mean("y")], [info("x", [2, 5])], initializers=[w]),
        "attribute": model([node("Relu", ["x"], ["y"], "act", slope=1.0), mean("y")]),
        "arity": model([node("Relu", ["x", "x"], ["y"], "act"), mean("y")]),
        "dynamic": model(
            [
                node("NonZero", ["x"], ["y"], "nz"),
                node("Cast", ["y"], ["z"], "cast", to=1),
                mean("z"),
            ]
        ),
        "strings": model(
            [linear(), mean("y")],
            [info("x", [2, 4]), info("s", [2], TensorProto.STRING)],
            initializers=[w],
        ),
        "step-name": model(
            [node("MatMul", ["x", "step"], ["y"], "fc"), mean("y")],
            initializers=[weight("step")],
        ),
        "domain": model([node("Relu", ["x"], ["y"], "act", domain="com.nobody"), mean("y")]),
        "old": model([linear(), mean("y")], initializers=[w], opset=6),
        "new": model([linear(), mean("y")], initializers=[w], opset=29),
    }


def rule_models():
    """Models that ONNX's inference accepts."""
    x, y, grid = info("x", [2, 4]), info("y", [2, 4]), info("i", [2, 3], INT64)

    def one(op, operands, inputs=(x,), tensors=(), opset=18, **attributes):
        nodes = [node(op, operands, ["r"], "it", **attributes), mean("r")]
        return model(nodes, inputs, initializers=tensors, opset=opset)

    def attention(*dims, **attributes):
        inputs = [info(name, shape) for name, shape in zip("qkv", dims)]
        return one("Attention", ["q", "k", "v"], inputs, opset=23, **attributes)

    return {
        "types": one("Mul", ["x", "i"], [x, info("i", [2, 4], INT64)]),
        "allowed": one("Erf", ["s"], [info("s", [2], TensorProto.BOOL)]),
        "bias": one("Gemm", ["x", "fc.weight", "fc.bias"], tensors=[weight(), weight("fc.bias", [3])]),
        "switch": one("Gemm", ["fc.weight", "fc.weight"], tensors=[weight()], transA=2),
        "axis": one("GatherElements", ["x", "i"], [x, grid], axis=5),
        "far": one("LayerNormalization", ["x", "s"], tensors=[weight("s", [4])], axis=2**63 - 1),
        "batch": one("GatherND", ["x", "i"], [x, grid], batch_dims=-5),
        "equation": one("Einsum", ["x"], equation="i%j->"),
        "kernel": one("Conv", ["x", "fc.weight"], [info("x", [1, 1, 8])],
                      [weight("fc.weight", [1, 1, 3])], kernel_shape=[2]),
        "indices": one("GatherElements", ["x", "i"], [x, info("i", [3, 4], INT64)], axis=1),
        "updates": one("ScatterElements", ["x", "i", "y"], [x, y, grid], axis=1),
        "depth": one("ScatterND", ["x", "i", "y"], [x, y, grid]),
        "scale": one("LayerNormalization", ["x", "s"], tensors=[weight("s", [3])]),
        "labels": one("SoftmaxCrossEntropyLoss", ["x", "i"], [x, grid]),
        "heads": attention([2, 3, 8], [2, 3, 8], [2, 3, 8], q_num_heads=3, kv_num_heads=2),
        "batches": attention([2, 2, 3, 4], [3, 2, 3, 4], [2, 2, 3, 4]),
    }


def loss_models():
    w = weight()
    two = [linear(), mean("y", "first", "a"), mean("y", "second", "b")]
    return {
        "no-loss": model([linear()], outputs=[info("y", [2, 4])], initializers=[w]),
        "int-loss": model(
            [node("Size", ["x"], ["n"], "size")], outputs=[info("n", [], INT64)]
        ),
        "two-losses": model(two, outputs=[info("a", []), info("b", [])], initializers=[w]),
        "logits": model(
            [linear(), mean("y")], outputs=[info("y", [2, 4]), info("loss", [])], initializers=[w]
        ),
    }


def operator_models():
    branch = helper.make_graph([node("Neg", ["x"], ["n"])], "b", [], [info("n", [2, 4])])
    return {
        "unknown": model(
            [
                node("Foo", ["x"], ["a"], "foo_1", domain="com.acme"),
                linear("a"),
                node("Foo", ["y"], ["b"], "foo_2", domain="com.acme"),
                node("Det", ["square"], ["d"], "det"),
                node("If", ["flag"], ["c"], "branch", then_branch=branch, else_branch=branch),
                node("Add", ["b", "c"], ["e"]),
                node("Add", ["e", "d"], ["f"]),
                mean("f"),
            ],
            [info("x", [2, 4]), info("square", [3, 3]), info("flag", [], TensorProto.BOOL)],
            initializers=[weight()],
            domains=["com.acme"],
        )
    }


def shape_models():
    symbolic = [info("a", ["batch", 4]), info("b", ["batch", "width"]), info("c", ["batch", None])]
    nodes = [linear("a"), node("Add", ["y", "b"], ["z"]), node("Add", ["z", "c"], ["w"]), mean("w")]
    return {"symbolic": model(nodes, symbolic, initializers=[weight()])}


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    for path in (folder, folder / "sub"):
        (path / "weights.bin").write_bytes(np.ones(16, np.float32).tobytes())
    for link, target in (("link.bin", "weights.bin"), ("linked", "sub")):
        if not (folder / link).is_symlink():
            os.symlink(target, folder / link)
    makers = (data_models, graph_models, rule_models, loss_models, operator_models, shape_models)
    for maker in makers:
        for name, proto in maker().items():
            (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())
    whole = graph_models()["mismatch"].SerializeToString()
    (folder / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "text.onnx").write_text("this is no model\n" * 20)


if __name__ == "__main__":
    main()
