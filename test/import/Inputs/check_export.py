"""Models with the metadata of PyTorch's exporter. A tensor that the metadata calls a parameter is
trained, whatever its name or size. Lost parameters are distinguished from tied and unused ones.

usage: check_export.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Failed, run_tool

SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
FOLDED = "pkg.onnxscript.optimizer.folded_from"
OPERATION = "pkg.torch.onnx.fx_node"
RULE = "pkg.onnxscript.rewriter.rule_name"
SCOPES = "pkg.torch.onnx.name_scopes"
KINDS = {"pos": "PARAMETER", "scale": "PARAMETER", "fc.weight": "PARAMETER",
         "tied.weight": "PARAMETER", "unused.weight": "PARAMETER", "mean": "BUFFER",
         "half.mean": "BUFFER", "lifted_tensor_0": "CONSTANT_TENSOR"}


def annotate(message, key, value):
    message.metadata_props.append(onnx.StringStringEntryProto(key=key, value=value))


def model():
    """loss = mean(((x - mean - half.mean) W + pos) * scale @ lifted)."""
    values = {"pos": (3, 3), "scale": (), "fc.weight": (3, 3), "mean": (3, 3), "half.mean": (3, 3),
              "lifted_tensor_0": (3, 2)}
    rng = np.random.default_rng(0)
    tensors = [numpy_helper.from_array(np.array(rng.normal(size=shape), np.float32), name)
               for name, shape in values.items()]
    nodes = [helper.make_node("Sub", ["x", "mean"], ["c"], "center"),
             helper.make_node("Add", ["c", "half.mean"], ["d"], "shift"),
             helper.make_node("MatMul", ["d", "fc.weight"], ["h"], "fc"),
             helper.make_node("Add", ["h", "pos"], ["p"], "place"),
             helper.make_node("Mul", ["p", "scale"], ["s"], "times"),
             helper.make_node("MatMul", ["s", "lifted_tensor_0"], ["l"], "fixed"),
             helper.make_node("ReduceMean", ["l"], ["loss"], "mean", keepdims=0)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, 3))],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())], tensors)
    lines = [f"p_{name.replace('.', '_')}: {kind} target='{name}'" for name, kind in KINDS.items()]
    annotate(graph, SIGNATURE, "\n# inputs\n" + "\n".join(lines) + "\nx: USER_INPUT\n")
    annotate(graph.node[2], OPERATION, "%fc : = linear(args = (%d, %p_fc_weight), kwargs = {})")
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def compile_model(proto, path):
    onnx.save(proto, path)
    return run_tool("zeroc", path, "--plan-only")


def check_kinds(checks, work):
    text = compile_model(model(), work / "kinds.onnx")
    trained, left = text.split("float constants that are not trained")
    for line in ("trained parameters (3):", "  pos: 3x3xf32", "  scale: xf32", "fc.weight: 3x3xf32"):
        checks.that(line in trained, f"kinds: '{line}' is not in {trained}")
    for line in ("mean: 3x3xf32, a buffer of the module", "half.mean: 3x3xf32, a buffer",
                 "lifted_tensor_0: 3x2xf32, it is no parameter of the module"):
        checks.that(line in left, f"kinds: '{line}' is not in {left}")


def check_lost(checks, work, label, edit, *words):
    proto = model()
    edit(proto.graph)
    try:
        compile_model(proto, work / f"{label}.onnx")
        checks.that(False, f"{label}: it compiles")
    except Failed as failure:
        for word in ("the exporter seems to have lost parameters (findings: 1)", *words):
            checks.that(word in str(failure), f"{label}: '{word}' is not in {failure}")


def rename(graph, old, new):
    for tensor in graph.initializer:
        tensor.name = new if tensor.name == old else tensor.name
    for node in graph.node:
        node.input[:] = [new if name == old else name for name in node.input]


def fold(graph):
    rename(graph, "fc.weight", "val_1")
    graph.value_info.append(helper.make_tensor_value_info("val_1", TensorProto.FLOAT, (3, 3)))
    annotate(graph.value_info[0], FOLDED, "['fc.weight', 'val_0']")


def merge(graph):
    """fc's weight was equal to another tensor, which the graph reads instead."""
    graph.node[2].input[1] = "mean"
    del graph.initializer[2]


def optimized(operand):
    """The operand of `place` that its call names is gone, and the node reads `h` of the call fc."""
    proto = model()
    proto.graph.node[2].metadata_props[0].value = (
        "%fc : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%d, "
        "%p_fc_weight), kwargs = {})")
    annotate(proto.graph.node[3], OPERATION, f"%p : = add(args = (%{operand}, %p_pos), kwargs = {{}})")
    annotate(proto.graph.node[3], RULE, "some rule")
    return proto


def check_missing_calls(checks, work):
    """Unused parameters may have been merged with others if a call of the same kind stands in the
    place of a missing one. A call that was folded, or that changes nothing, is no such trace."""
    for operand in ("copy", "mul_4", "add_3"):
        text = compile_model(optimized(operand), work / "removed.onnx")
        checks.that("trained parameters (3):" in text, f"removed: {text}")
    try:
        compile_model(optimized("fc_1"), work / "equal.onnx")
        checks.that(False, "equal: it compiles")
    except Failed as failure:
        for name in ("tied.weight", "unused.weight"):
            words = (f"parameter '{name}' is missing: 'fc_1', an operand of Add node 'place' in the "
                     "module, is gone; equal calls may have been merged")
            checks.that(words in str(failure), f"equal: '{words}' is not in {failure}")


def check_tied(checks, work):
    """A module whose tensor replaces a constant of another module: both are one tensor."""
    proto = model()
    annotate(proto.graph.node[2], SCOPES, "['', 'tied', 'fc']")
    onnx.save(proto, work / "tied.onnx")
    text = run_tool("zeroc", work / "tied.onnx", "--plan-only", "--freeze=tied.*")
    checks.that("  fc.weight: 3x3xf32, frozen\n" in text, f"tied: {text}")
    for name, path in (("unused", "tied"), ("tied", "kinds")):
        try:
            run_tool("zeroc", work / f"{path}.onnx", "--plan-only", f"--freeze={name}.*")
            checks.that(False, f"tied: {name} is a tensor of {path}")
        except Failed as failure:
            words = f"it matches '{name}.weight', which the graph does not contain"
            checks.that(words in str(failure), f"tied: '{words}' is not in {failure}")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_kinds(checks, work)
    check_tied(checks, work)
    check_missing_calls(checks, work)
    check_lost(checks, work, "folded", fold,
               "parameter 'fc.weight' was folded into 'val_1' of 3x3, read by MatMul node 'fc'")
    check_lost(checks, work, "merged", merge,
               "parameter 'fc.weight' is gone, read by MatMul node 'fc'")
    checks.finish()


if __name__ == "__main__":
    main()
