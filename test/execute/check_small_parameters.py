"""Parameters of one element and of none, against gradients by differences in float64.

usage: check_small_parameters.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, read_safetensors, relative, run_tool

STEPS, LR = 3, 0.05
WORK = Path(sys.argv[1])


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), [output], output, **attributes)


def save(path, nodes, inputs, parameters, typed=()):
    """typed: names of initializers that are stored as numbers instead of bytes."""
    tensors = [helper.make_tensor(name, TensorProto.FLOAT, value.shape, value.reshape(-1).tolist())
               if name in typed else numpy_helper.from_array(value, name)
               for name, value in parameters.items()]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
             for name, value in inputs.items()]
    loss = helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])
    graph = helper.make_graph(nodes, "small", infos, [loss], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
              path)


def train(loss, parameters):
    """SGD with gradients by differences: losses, parameters, gradients of the first step."""
    values = {name: value.astype(np.float64) for name, value in parameters.items()}
    losses, first = [], None
    for _ in range(STEPS):
        losses.append(loss(values))
        gradients = {name: np.zeros(value.shape) for name, value in values.items()}
        for name, value in values.items():
            for place in np.ndindex(value.shape):
                sides = [loss({**values, name: value + sign * 1e-6 * unit(value.shape, place)})
                         for sign in (1, -1)]
                gradients[name][place] = (sides[0] - sides[1]) / 2e-6
        first = first or gradients
        values = {name: value - LR * gradients[name] for name, value in values.items()}
    return losses, values, first


def unit(shape, place):
    array = np.zeros(shape)
    array[place] = 1
    return array


def run(path, data, ranks, *flags):
    """Losses, saved weights and gradients. Each rank reads the same batch."""
    np.savez(WORK / "data.npz", **{name: np.concatenate([value] * ranks)
                                   for name, value in data.items()})
    output = run_tool("zero-run", path, "--optimizer=sgd", f"--lr={LR}", f"--steps={STEPS}",
                      f"--data={WORK / 'data.npz'}", f"--ranks={ranks}", f"--log={WORK / 'log'}",
                      f"--save={WORK / 'w.safetensors'}",
                      f"--dump-gradients={WORK / 'g.safetensors'}", *flags)
    losses = [json.loads(line)["loss"] for line in (WORK / "log").read_text().splitlines()]
    return losses, read_safetensors(WORK / "w.safetensors"), \
        read_safetensors(WORK / "g.safetensors"), output


def compare(checks, label, got, expected, trained, parameters):
    losses, weights, gradients, _ = got
    checks.that(relative(losses, expected[0]) < 1e-5, f"{label}: {losses}, not {expected[0]}")
    for name in trained:
        checks.that(name in weights and weights[name].shape == parameters[name].shape
                    and relative(weights[name], expected[1][name]) < 1e-5,
                    f"{label}: {name} is {weights.get(name)}, not {expected[1][name]}")
        checks.that(not parameters[name].size or name in gradients
                    and np.linalg.norm(gradients[name] - expected[2][name])
                    < 1e-4 * max(np.linalg.norm(expected[2][name]), 1e-3),
                    f"{label}: the gradient of {name} is {gradients.get(name)}, not "
                    f"{expected[2][name]}")


def check_scalars(checks):
    """A temperature, and a gate that begins at zero."""
    generator = np.random.default_rng(0)
    data = {"x": generator.standard_normal((4, 3), np.float32),
            "t": generator.standard_normal((4, 5), np.float32)}
    nodes = [node("MatMul", "x fc.weight", "z"), node("Exp", "net.logit_scale", "e"),
             node("Mul", "z e", "scaled"), node("Tanh", "z", "branch"),
             node("Mul", "branch gate.alpha", "gated"), node("Add", "scaled gated", "o"),
             node("Sub", "o t", "d"), node("Mul", "d half", "h"), node("Pow", "h two", "s"),
             node("ReduceMean", "s", "loss", keepdims=0)]
    for shape in ((), (1,), (1, 1)):
        parameters = {"fc.weight": generator.standard_normal((3, 5), np.float32),
                      "net.logit_scale": np.full(shape, 0.5, np.float32),
                      "gate.alpha": np.zeros(shape, np.float32)}

        def loss(values):
            z = data["x"] @ values["fc.weight"]
            o = z * np.exp(values["net.logit_scale"].sum()) + \
                np.tanh(z) * values["gate.alpha"].sum()
            return ((0.5 * (o - data["t"]))**2).mean()

        expected = train(loss, parameters)
        numbers = {"half": np.float32(0.5), "two": np.float32(2)}
        tensors = {**parameters, **{name: np.array(value) for name, value in numbers.items()}}
        for typed in ((), ("gate.alpha", "half")):
            path = WORK / f"scalars{len(shape)}.onnx"
            save(path, nodes, data, tensors, typed)
            for flags in (["--zero-stage=0"], ["--zero-stage=3"]):
                label = f"{shape} {typed} {flags}"
                got = run(path, data, 2, *flags)
                compare(checks, label, got, expected, parameters, parameters)
                checks.that("'half'; if one is a parameter" in got[3] and "'two'" not in got[3],
                            f"{label}: warnings in {got[3]}")
        check_listed(checks, nodes, data, tensors, expected)


def check_listed(checks, nodes, data, tensors, expected):
    """A name that is none of a module's is trained if the list has it."""
    renamed = [helper.make_node(n.op_type, [name.removeprefix("net.") for name in n.input],
                                n.output, n.name) for n in nodes[:-1]] + nodes[-1:]
    tensors = {name.removeprefix("net."): value for name, value in tensors.items()}
    save(WORK / "listed.onnx", renamed, data, tensors, ("logit_scale",))
    (WORK / "list.txt").write_text("fc.weight\nlogit_scale\ngate.alpha\n")
    got = run(WORK / "listed.onnx", data, 2, "--zero-stage=3", f"--trainable={WORK / 'list.txt'}")
    expected = [{name.removeprefix("net."): value for name, value in part.items()}
                if isinstance(part, dict) else part for part in expected]
    compare(checks, "listed", got, expected, ("fc.weight", "logit_scale", "gate.alpha"), tensors)
    checks.that("warning: the exporter" not in got[3], f"listed: {got[3]}")
    output = run(WORK / "listed.onnx", data, 2)[3]
    checks.that("so they are not trained: 'logit_scale', 'half'" in output
                or "so they are not trained: 'half', 'logit_scale'" in output, f"{output}")


def check_empty(checks):
    """Parameters without elements, between and behind others: a product over none is zero."""
    generator = np.random.default_rng(1)
    data = {"x": generator.standard_normal((4, 4), np.float32)}
    parameters = {"before.weight": generator.standard_normal((4, 8), np.float32),
                  "zero.weight": np.zeros((8, 0), np.float32),
                  "inner.weight": np.zeros((0, 3), np.float32),
                  "after.weight": generator.standard_normal((8, 3), np.float32),
                  "last.bias": np.zeros((0,), np.float32)}
    nodes = [node("MatMul", "x before.weight", "u"), node("Tanh", "u", "v"),
             node("MatMul", "v zero.weight", "none"), node("Add", "none last.bias", "biased"),
             node("Relu", "biased", "active"), node("MatMul", "active inner.weight", "zeros"),
             node("MatMul", "v after.weight", "w"), node("Add", "w zeros", "sum"),
             node("Concat", "sum active", "both", axis=1), node("Mul", "both both", "square"),
             node("ReduceMean", "square", "l0", keepdims=0),
             node("ReduceSum", "last.bias", "l1", keepdims=0), node("Add", "l0 l1", "loss")]
    save(WORK / "empty.onnx", nodes, data, parameters)

    def loss(values):
        return ((np.tanh(data["x"] @ values["before.weight"]) @ values["after.weight"])**2).mean()

    expected = train(loss, parameters)
    for stage in range(4):
        got = run(WORK / "empty.onnx", data, 2, f"--zero-stage={stage}", "--clip-norm=1e9")
        compare(checks, f"empty, stage {stage}", got, expected, parameters, parameters)


def main():
    checks = Checks()
    check_scalars(checks)
    check_empty(checks)
    checks.finish()


if __name__ == "__main__":
    main()
