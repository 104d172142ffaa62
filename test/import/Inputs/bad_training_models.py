"""Writes models with invalid nodes of ONNX Runtime's training graphs: bad_training_models.py FOLDER"""

import pathlib
import sys

from onnx import TensorProto, helper

from models import INT64, info, ints, mean, model

BOOL = TensorProto.BOOL
X, DY = info("x", [2, 4]), info("dy", [2, 4])


def one(op, operands, inputs=(DY, X), tensors=(), domain="com.microsoft", declared=None, **attrs):
    """A model of one node, `it`; `declared` is what the model states of its result."""
    results = [f"r{i}" for i in range(attrs.pop("results", 1))]
    node = helper.make_node(op, operands, results, "it", domain=domain, **attrs)
    made = model([node, mean("r0")], inputs, initializers=tensors, domains=["com.microsoft"])
    if declared:
        made.graph.value_info.append(info("r0", declared))
    return made


def operands_and_attributes():
    indices, flags = info("i", [3], INT64), info("m", [2, 3], BOOL)
    return {
        "missing": one("ReluGrad", ["dy"]),
        "many": one("ReluGrad", ["dy", "x", "x"]),
        "absent": one("TanhGrad", ["dy", ""]),
        "attribute": one("ReluGrad", ["dy", "x"], alpha=1.0),
        "attribute-type": one("SoftmaxGrad_13", ["dy", "x"], axis="last"),
        "type": one("GeluGrad", ["dy", "i"], [DY, info("i", [2, 4], INT64)]),
        "labels-type": one("SoftmaxCrossEntropyLossGrad", ["l", "x", "dy"], [info("l", []), X, DY]),
        "axis": one("SoftmaxGrad_13", ["dy", "x"], axis=2),
        "switch": one("FusedMatMul", ["dy", "x"], transB=2),
        "mask": one("DropoutGrad", ["dy", "m"], [DY, flags]),
        "scale": one("Scale", ["x", "i"], [X, indices]),
        "unknown": one("ReduceSumTraining", ["x"], [X]),
    }


def shapes():
    three, four = info("three", [3]), info("four", [4])
    norm = [DY, X, four, info("mean", [2, 1]), info("inverse", [2, 3])]
    image, kernel = info("image", [1, 2, 5, 5]), info("kernel", [3, 2, 3, 3])
    shape, rows = ints("shape", [5, 4]), info("rows", [3], INT64)
    pool = {"kernel_shape": [2, 2], "domain": ""}
    pooled = [info("dy", [1, 2, 4, 4]), info("i", [1, 2, 4, 4], INT64)]
    return {
        "shape": one("ReluGrad", ["dy", "x"], [DY, info("x", [2, 3])]),
        "product": one("FusedMatMul", ["dy", "x"]),
        "bias": one("BiasGelu", ["x", "three"], [X, three]),
        "divisor": one("DivGrad", ["dy", "x", "three"], [DY, X, three], results=2),
        "statistics": one("LayerNormalizationGrad", [v.name for v in norm], norm, results=3),
        "channels": one("BatchNormalizationGrad", ["dy", "x", "three", "four", "four"],
                        [DY, X, three, four], results=3),
        "labels": one("SoftmaxCrossEntropyLossGrad", ["l", "x", "i"],
                      [info("l", []), X, info("i", [3], INT64)]),
        "convolution": one("ConvGrad", ["dy", "image", "kernel"],
                           [info("dy", [1, 3, 4, 3]), image, kernel], results=2),
        "gather": one("GatherGrad", ["shape", "rows", "dy"], [rows, DY], [shape]),
        "gather-rank": one("GatherElementsGrad", ["dy", "shape", "rows"], [DY, rows], [shape]),
        "slice": one("SliceGrad", ["dy", "shape", "starts", "ends"], [DY],
                     [shape, ints("starts", [0]), ints("ends", [3])]),
        "open-shape": one("GatherGrad", ["s", "rows", "dy"], [info("s", [2], INT64), rows, DY]),
        "lengths": one("SplitTraining", ["x", "shape"], [X], [shape], axis=1, results=3),
        "lengths-sum": one("SplitTraining", ["x", "shape"], [X], [shape], axis=1, results=2),
        "undeclared": one("MaxPoolGrad", ["dy", "i"], pooled, **pool),
        "declared": one("MaxPoolGrad", ["dy", "i"], pooled, declared=[1, 2, 4, 5], **pool),
        "declared-rank": one("AveragePoolGrad", ["dy"], pooled[:1], declared=[1, 2, 5], **pool),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for maker in (operands_and_attributes, shapes):
        for name, proto in maker().items():
            (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())


if __name__ == "__main__":
    main()
