"""Graphs of logaddexp and logaddexp2 as PyTorch exports them, trained against float64.

usage: check_log_add_exp.py FOLDER
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, relative, run_tool


def node(kind, inputs, output, call, **attributes):
    made = helper.make_node(kind, inputs, [output], output, **attributes)
    if call:
        entry = made.metadata_props.add()
        entry.key = "pkg.torch.onnx.fx_node"
        entry.value = (f"%{call} : [num_users=1] = call_function[target=torch.ops.aten.{call}"
                       f".default](args = (%a, %b), kwargs = {{}})")
    return made


def exported(call, opset, path, a, b, weight):
    """a w and b w, which broadcast; the weight is trained."""
    nodes = [node("Mul", ["a", "net.w"], "aw", ""), node("Mul", ["b", "net.w"], "bw", "")]
    if call == "logaddexp":
        nodes += [node("Exp", ["aw"], "ea", call), node("Exp", ["bw"], "eb", call)]
    else:
        nodes += [node("Pow", ["base", "aw"], "ea", call), node("Pow", ["base", "bw"], "eb", call)]
    nodes += [node("Add", ["ea", "eb"], "sum", call), node("Log", ["sum"], "log", call)]
    last = "log"
    if call == "logaddexp2":
        nodes += [node("Log", ["base"], "scale", call), node("Div", ["log", "scale"], "out", call)]
        last = "out"
    nodes.append(node("ReduceMean", [last], "loss", "", keepdims=0))
    tensors = [numpy_helper.from_array(weight, "net.w"),
               numpy_helper.from_array(np.array(2, np.float32), "base")]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
             for name, value in (("a", a), ("b", b))]
    graph = helper.make_graph(nodes, "sums", infos, [
        helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                ir_version=10), path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    a = np.array([[-200], [200], [0.5], [3]], np.float32)
    b = np.array([[-201, 200.5, 0.5], [0, 199, 201], [0.5, -0.25, 200], [1, 2, 3]], np.float32)
    weight = np.array([1.0, 0.5, 1.25], np.float32)
    np.savez(folder / "data.npz", a=a, b=b)
    for call, scale in (("logaddexp", 1.0), ("logaddexp2", np.log(2))):
        for opset in (13, 18):
            exported(call, opset, folder / "model.onnx", a, b, weight)
            output = run_tool("zero-run", folder / "model.onnx", "--optimizer=sgd", "--steps=1",
                              f"--data={folder / 'data.npz'}", f"--log={folder / 'log'}",
                              f"--dump-gradients={folder / 'g.safetensors'}")
            checks.that(f"{call} written as ReduceLogSumExp (1)" in output, output)
            x, y = scale * np.float64(a) * weight, scale * np.float64(b) * weight
            out = np.logaddexp(x, y)
            expected = (out / scale).mean()
            gradient = (np.exp(x - out) * a + np.exp(y - out) * b).sum(0) / out.size
            loss = json.loads((folder / "log").read_text())["loss"]
            checks.that(loss is not None and abs(loss - expected) < 1e-6 * abs(expected),
                        f"{call}, opset {opset}: {loss}, not {expected}")
            got = read_safetensors(folder / "g.safetensors")["net.w"]
            checks.that(relative(got, gradient) < 2e-5, f"{call}, opset {opset}: {got}, {gradient}")
    checks.finish()


if __name__ == "__main__":
    main()
