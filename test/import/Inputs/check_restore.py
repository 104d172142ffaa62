"""Which parameters the metadata of PyTorch's exporter allows to restore. Each case is one small
graph with the metadata of its exporter.

usage: check_restore.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Failed, run_tool

SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
FOLDED = "pkg.onnxscript.optimizer.folded_from"
CALL = "pkg.torch.onnx.fx_node"
RULE = "pkg.onnxscript.rewriter.rule_name"
CLASSES = "pkg.torch.onnx.class_hierarchy"
WIDTH = 3


def annotate(message, key, value):
    message.metadata_props.append(onnx.StringStringEntryProto(key=key, value=value))


class Model:
    """A graph that is built node by node, from the matrix x to the mean of the last result."""

    def __init__(self, **initializers):
        rng = np.random.default_rng(0)
        self.tensors = [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
                        for name, shape in initializers.items()]
        self.parameters = []
        self.nodes, self.values = [], []

    def node(self, op, inputs, call=None, *args, kwargs="", metadata=(), **attributes):
        """A node of the call `call` with `args`. Arguments that begin with p_ become parameters."""
        name = f"n{len(self.nodes)}"
        node = helper.make_node(op, inputs, [name], name, **attributes)
        if call:
            annotate(node, CALL, f"%{name} : [num_users=1] = call_function[target=torch.ops.{call}]"
                                 f"(args = ({', '.join(args)}), kwargs = {{{kwargs}}})")
        for key, value in metadata:
            annotate(node, key, value)
        self.parameters += [a[3:] for a in args if a.startswith("%p_")]
        self.nodes.append(node)
        return self

    def folded(self, name, *sources):
        value = helper.make_tensor_value_info(name, TensorProto.FLOAT, (WIDTH, WIDTH))
        annotate(value, FOLDED, str(list(sources)))
        self.values.append(value)
        return self

    def save(self, path):
        last = self.nodes[-1].output[0]
        nodes = self.nodes + [helper.make_node("ReduceMean", [last], ["loss"], keepdims=0)]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (WIDTH, WIDTH))],
            [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())], self.tensors,
            value_info=self.values)
        lines = [f"p_{n}: PARAMETER target='{n}'" for n in dict.fromkeys(self.parameters)]
        annotate(graph, SIGNATURE, "\n".join([*lines, "x: USER_INPUT"]))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


LINEAR, MUL, ADD, ADDMM = ("aten.linear.default", "aten.mul.Tensor", "aten.add.Tensor",
                           "aten.addmm.default")
DROPPED = (RULE, "RemoveOptionalBiasFromGemm")
KNOWN = (CLASSES, "['__main__.M', 'torch.nn.modules.linear.Linear', 'aten.linear.default']")
ODD = (CLASSES, "['__main__.M', '__main__.Odd', 'aten.linear.default']")


def merged():
    """Parameter g is read unchanged. h, which was equal to it, reads g, too."""
    return (Model(g=(WIDTH,)).node("Mul", ["x", "g"], MUL, "%x", "%p_g")
            .node("Mul", ["n0", "g"], MUL, "%n0", "%p_h"))


def transposed():
    return (Model(val_1=(WIDTH, WIDTH)).folded("val_1", "w")
            .node("MatMul", ["x", "val_1"], LINEAR, "%x", "%p_w"))


def without_bias(classes):
    return (Model(w=(WIDTH, WIDTH))
            .node("Gemm", ["x", "w"], LINEAR, "%x", "%p_w", "%p_b", metadata=[DROPPED, classes],
                  transB=1))


def other_operand():
    """g is read at a place where the call has another value, which may have been equal."""
    return (Model(g=(WIDTH,)).node("Mul", ["x", "g"], MUL, "%x", "%p_g")
            .node("Mul", ["n0", "g"], MUL, "%n0", "%exp"))


RESTORED = {  # label: (model, how many, parameters)
    "merged": (merged(), 1, ("g: 3xf32", "h: 3xf32")),
    "transposed": (transposed(), 1, ("w: 3x3xf32",)),
    "a dropped bias": (without_bias(KNOWN), 1, ("w: 3x3xf32", "b: 3xf32")),
    "one copy": (Model(w=(WIDTH, WIDTH), val_1=(WIDTH, WIDTH)).folded("val_1", "w")
                 .node("MatMul", ["x", "w"], "aten.mm.default", "%x", "%p_w")
                 .node("MatMul", ["n0", "val_1"], LINEAR, "%n0", "%p_w"), 1, ("w: 3x3xf32",)),
    "its own transpose": (Model(w=(WIDTH, WIDTH))
                          .node("MatMul", ["x", "w"], "aten.mm.default", "%x", "%p_w")
                          .node("MatMul", ["n0", "w"], LINEAR, "%n0", "%p_w"), 1, ("w: 3x3xf32",)),
    "a vector": (Model(val_1=(WIDTH, 1)).folded("val_1", "g", "val_0")
                 .node("Mul", ["x", "val_1"], "aten.group_norm.default", "%x", "1", "%p_g"), 1,
                 ("g: 3xf32",)),
    "a constant": (Model(g=(WIDTH,)).node("Mul", ["x", "g"], MUL, "%x", "%p_g")
                   .node("LayerNormalization", ["n0", "g"], "aten.layer_norm.default", "%n0",
                         "[3]"), 0, ("g: 3xf32",)),
    "no optimizer": (other_operand(), 0, ("g: 3xf32",)),
}
LOST = {  # label: (model, words)
    "another operand": (other_operand().folded("other", "y"),
                        "parameter 'g' was merged with an equal tensor, read by Mul node 'n1'"),
    "two sources": (Model(val_1=(WIDTH, WIDTH)).folded("val_1", "w", "scale")
                    .node("MatMul", ["x", "val_1"], LINEAR, "%x", "%p_w"),
                    "parameter 'w' was folded into 'val_1' of 3x3, read by MatMul node 'n0'"),
    "scaled": (Model(val_1=(WIDTH,)).folded("val_1", "g", "val_0")
               .node("Add", ["x", "val_1"], ADD, "%x", "%p_g", kwargs="alpha: 2"),
               "parameter 'g' was folded into 'val_1'"),
    "computed": (Model(val_1=(WIDTH, 1)).folded("val_1", "g", "h")
                 .node("Mul", ["x", "val_1"], "aten.group_norm.default", "%x", "1", "%p_g")
                 .node("Mul", ["n0", "n0"], "aten.foo.default", "%n0", "%p_h"),
                 "parameter 'g' was folded into 'val_1'"),
    "an odd bias": (without_bias(ODD), "parameter 'b' is gone, read by Gemm node 'n0'"),
    "a bias without a rule": (Model(w=(WIDTH, WIDTH)).node(
        "Gemm", ["x", "w"], LINEAR, "%x", "%p_w", "%p_b", metadata=[KNOWN], transB=1),
        "parameter 'b' is gone, read by Gemm node 'n0'"),
    "held and folded": (Model(g=(WIDTH,), exp=(WIDTH,)).folded("exp", "g")
                        .node("Mul", ["x", "g"], MUL, "%x", "%p_g")
                        .node("Mul", ["n0", "exp"], MUL, "%n0", "%exp"),
                        "parameter 'g' was folded into 'exp' of 3x3, read by Mul node 'n1'"),
    "equal calls": (Model(g=(WIDTH,)).folded("other", "y")
                    .node("Mul", ["x", "g"], MUL, "%x", "%p_g")
                    .node("Add", ["n0", "n0"], ADD, "%n0", "%mul_7"),
                    "parameter 'h' is missing: 'mul_7', an operand of Add node 'n1'"),
}
LOST["equal calls"][0].parameters.append("h")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    path = work / "model.onnx"
    for label, (model, count, parameters) in RESTORED.items():
        model.save(path)
        text = run_tool("zeroc", path, "--plan-only")
        checks.that(("restored" in text) == (count > 0) and
                    (count == 0 or f"{count} parameters restored" in text), f"{label}: {text}")
        checks.that(f"trained parameters ({len(parameters)}):" in text, f"{label}: {text}")
        for line in parameters:
            checks.that(f"  {line}\n" in text, f"{label}: '{line}' is not in {text}")
    for label, (model, words) in LOST.items():
        model.save(path)
        try:
            run_tool("zeroc", path, "--plan-only")
            checks.that(False, f"{label}: it compiles")
        except Failed as failure:
            checks.that(words in str(failure), f"{label}: '{words}' is not in {failure}")
    checks.finish()


if __name__ == "__main__":
    main()
