"""Graphs of scaled_dot_product_attention as PyTorch exports them, with a row without a key.

usage: check_hidden_rows.py FOLDER
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, relative, run_tool

CALL = ("%sdpa : [num_users=1] = call_function[target=torch.ops.aten."
        "scaled_dot_product_attention.default](args = (%x, %x, %x, %m), kwargs = {})")
OTHER = ("%where : [num_users=1] = call_function[target=torch.ops.aten.where.self]"
         "(args = (%m, %zero, %least), kwargs = {})")
LEAST = np.finfo(np.float32).min


def exported(path, x, hidden, weight, mask_call):
    """The attention of x w to itself; the nodes have the calls that they were exported from."""
    def node(kind, inputs, output, call=CALL, **attributes):
        made = helper.make_node(kind, inputs, [output], output, **attributes)
        entry = made.metadata_props.add()
        entry.key, entry.value = "pkg.torch.onnx.fx_node", call
        return made

    nodes = [helper.make_node("MatMul", ["x", "net.w"], ["h"], "h"),
             node("Transpose", ["h"], "t", perm=[0, 2, 1]), node("MatMul", ["h", "t"], "s"),
             node("Where", ["m", "zero", "least"], "bias", mask_call),
             node("Add", ["s", "bias"], "sum"), node("Softmax", ["sum"], "p", axis=-1),
             node("IsNaN", ["p"], "test"), node("Where", ["test", "zero", "p"], "guarded"),
             node("MatMul", ["guarded", "h"], "o"), helper.make_node("Mul", ["o", "o"], ["sq"], "sq"),
             helper.make_node("ReduceSum", ["sq"], ["loss"], "loss", keepdims=0)]
    tensors = [numpy_helper.from_array(weight, "net.w"),
               numpy_helper.from_array(np.array(0, np.float32), "zero"),
               numpy_helper.from_array(np.array(LEAST), "least")]
    graph = helper.make_graph(
        nodes, "attention", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
                             helper.make_tensor_value_info("m", TensorProto.BOOL, hidden.shape)],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                ir_version=10), path)


def attention_loss(x, shown, weight, gives_zeros):
    """In float64."""
    h = np.float64(x) @ weight
    scores = np.where(shown, h @ h.transpose(0, 2, 1), -np.inf)
    scores[~shown.any(-1)] = 0
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    if gives_zeros:
        p[~shown.any(-1)] = 0
    return ((p @ h) ** 2).sum()


def slopes(function, weight, step=1e-5):
    found = np.zeros_like(weight)
    for place in np.ndindex(weight.shape):
        move = np.zeros_like(weight)
        move[place] = step
        found[place] = (function(weight + move) - function(weight - move)) / (2 * step)
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 4, 3)).astype(np.float32)
    weight = (0.5 * rng.standard_normal((3, 3))).astype(np.float32)
    shown = rng.random((2, 4, 4)) < 0.6
    shown[0, 1] = False
    np.savez(folder / "data.npz", x=x, m=shown)
    for call in (CALL, OTHER):
        exported(folder / "model.onnx", x, shown, weight, call)
        output = run_tool("zero-run", folder / "model.onnx", "--optimizer=sgd", "--steps=1",
                          f"--data={folder / 'data.npz'}", f"--log={folder / 'log'}",
                          f"--dump-gradients={folder / 'g.safetensors'}")
        checks.that(("hide all keys of a row" in output) == (call == CALL), output)

        def expected(w, call=call):
            return attention_loss(x, shown, w, call == CALL)
        loss = json.loads((folder / "log").read_text())["loss"]
        checks.that(abs(loss - expected(weight)) < 1e-5 * expected(weight),
                    f"loss {loss}, not {expected(weight)}")
        if call != CALL:
            continue  # The gradient through sums that round to the mask is that of no function.
        got = read_safetensors(folder / "g.safetensors")["net.w"]
        gradient = slopes(expected, np.float64(weight))
        checks.that(relative(got, gradient) < 1e-5, f"{got}, not {gradient}")
    checks.finish()


if __name__ == "__main__":
    main()
