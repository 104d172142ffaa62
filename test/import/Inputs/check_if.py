"""If nodes whose condition is decided by shapes and constants: compares with ONNX's reference, and
checks the gradient of the selected branch.

usage: check_if.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from models import info, ints
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, read_safetensors, run_tool

OPSETS = (11, 13, 18, 24)
node = helper.make_node


def graph(nodes, outputs, tensors=()):
    return helper.make_graph(list(nodes), "branch", [], [info(o, None) for o in outputs],
                             list(tensors))


def constant(name, value):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value)))


def squeeze(opset, x, result):
    """As PyTorch exports x.squeeze(1) of an unknown shape."""
    def axes(name):
        if opset < 13:
            return node("Squeeze", [x], [name], axes=[1])
        return node("Squeeze", [x, "one"], [name])

    return [node("Shape", [x], [f"{result}.shape"]),
            node("Gather", [f"{result}.shape", "one"], [f"{result}.dim"], axis=0),
            node("Equal", [f"{result}.dim", "one"], [f"{result}.is"]),
            node("If", [f"{result}.is"], [result], f"node_{result}",
                 then_branch=graph([axes("squeezed")], ["squeezed"]),
                 else_branch=graph([node("Identity", [x], ["squeezed"])], ["squeezed"]))]


def clashing():
    """Inner values with the names of outer ones and of the result, the same in both branches."""
    def branch(factor):
        return graph([constant("c", np.float32(factor)), node("Mul", ["a", "c"], ["b"]),
                      node("Add", ["b", "c"], ["clash"])], ["clash"])

    return [node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["b"]), node("Exp", ["x"], ["c"]),
            node("If", ["yes"], ["clash"], "if_clash", then_branch=branch(2), else_branch=branch(3)),
            node("If", ["no"], ["clash2"], "if_clash", then_branch=branch(2), else_branch=branch(3))]


def nested(then):
    """Three levels. The innermost one reads values of all levels."""
    inner = graph([node("Add", ["x", "v"], ["w"]), node("Mul", ["w", "u"], ["t"])], ["t"])
    other = graph([node("Sub", ["x", "v"], ["w"])], ["w"])
    middle = graph([node("Exp", ["u"], ["v"]),
                    node("If", ["yes" if then else "no"], ["r"], then_branch=inner,
                         else_branch=other)], ["r"])
    outer = graph([node("Tanh", ["x"], ["u"]),
                   node("If", ["no"], ["q"], then_branch=graph([node("Neg", ["u"], ["q"])], ["q"]),
                        else_branch=middle), node("Abs", ["q"], ["p"])], ["p", "u"])
    name = f"nested{int(then)}"
    return [node("If", ["yes"], [name, f"{name}.u"], then_branch=outer,
                 else_branch=graph([node("Neg", ["x"], ["p"]), node("Neg", ["p"], ["u"])],
                                   ["p", "u"]))]


def handed_through():
    """Results that no node of the branch computes: a Constant, an initializer, one result twice,
    and an unnamed result."""
    branch = graph([constant("k", np.array([1, 2, 3])), node("Neg", ["x"], ["n"])],
                   ["k", "i", "n", "n", "k"], [ints("i", [7, 8])])
    return [node("If", ["yes"], ["k1", "i1", "n1", "n2"], then_branch=branch, else_branch=branch),
            node("If", ["yes"], ["", "", "n3"], then_branch=branch, else_branch=branch)]


def unused_branch():
    """The branch that is not selected is not checked."""
    bad = graph([node("Foo", ["x"], ["y"], domain="com.acme")], ["y"])
    return [node("If", ["no"], ["kept"], then_branch=bad,
                 else_branch=graph([node("Neg", ["x"], ["y"])], ["y"]))]


def chained(opset):
    """The condition of the second is a shape that the first computes."""
    return [*squeeze(opset, "ones", "first"), *squeeze(opset, "first", "second")]


RESULTS = ["b", "c", "kept_dim", "squeezed_dim", "clash", "clash2", "nested0", "nested0.u", "nested1",
           "nested1.u", "k1", "i1", "n1", "n2", "n3", "second"]


def fix_outputs(nodes):
    """A node's branches have as many outputs as the node."""
    for one in nodes:
        for attribute in one.attribute:
            if attribute.HasField("g"):
                del attribute.g.output[len(one.output):]
                fix_outputs(attribute.g.node)


def build(opset, unused=True):
    nodes = [*squeeze(opset, "x", "kept_dim"), *squeeze(opset, "ones", "squeezed_dim"), *clashing(),
             *nested(False), *nested(True), *handed_through(), *chained(opset)]
    results = list(RESULTS)
    if unused:
        nodes += unused_branch()
        results.append("kept")
    fix_outputs(nodes)
    tensors = [ints("one", [1]), numpy_helper.from_array(np.array(True), "yes"),
               numpy_helper.from_array(np.array([False]), "no")]
    whole = helper.make_graph(nodes, "g", [info("x", [4, 6, 5]), info("ones", [4, 1, 1])],
                              [onnx.ValueInfoProto(name=r) for r in results], tensors)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(whole, opset_imports=imports, ir_version=9)


def reverse_branches(nodes):
    for one in nodes:
        for attribute in one.attribute:
            if attribute.HasField("g"):
                inner = list(attribute.g.node)
                reverse_branches(inner)
                del attribute.g.node[:]
                attribute.g.node.extend(reversed(inner))


def check_numbers(checks, folder, opset, data):
    model = build(opset)
    expected = dict(zip(RESULTS, ReferenceEvaluator(build(opset, unused=False)).run(None, data)))
    expected["kept"] = -data["x"]
    for order in ("sorted", "reversed"):
        if order == "reversed":
            reverse_branches(model.graph.node)
        onnx.save(model, folder / "model.onnx")
        run_tool("zero-run", folder / "model.onnx", "--forward-only",
                 f"--data={folder / 'inputs.npz'}",
                 f"--save-outputs={folder / 'outputs.safetensors'}")
        outputs = read_safetensors(folder / "outputs.safetensors")
        for name, value in expected.items():
            got = outputs[name]
            checks.that(got.shape == value.shape and np.allclose(got, value, rtol=1e-6, atol=1e-6),
                        f"opset {opset}, {order}, {name}: {got.shape}, not {value.shape}")


def check_gradient(checks, folder, data):
    """The gradient of the selected branch, for a parameter that only the branch reads."""
    taken = graph([node("Mul", ["x", "fc.weight"], ["y"]), node("Mul", ["y", "y"], ["z"])], ["z"])
    other = graph([node("Mul", ["x", "other.weight"], ["y"])], ["y"])
    nodes = [node("If", ["yes"], ["r"], then_branch=taken, else_branch=other),
             node("ReduceMean", ["r"], ["loss"], keepdims=0)]
    x = data["x"]
    tensors = [numpy_helper.from_array(np.full(x.shape, 2, np.float32), name)
               for name in ("fc.weight", "other.weight")]
    tensors.append(numpy_helper.from_array(np.array(True), "yes"))
    whole = helper.make_graph(nodes, "g", [info("x", x.shape)], [info("loss", [])], tensors)
    onnx.save(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
              folder / "trained.onnx")
    np.save(folder / "x.npy", x)
    said = run_tool("zero-run", folder / "trained.onnx", f"--data=x={folder / 'x.npy'}",
                    "--steps=1", f"--dump-gradients={folder / 'gradients.safetensors'}")
    got = read_safetensors(folder / "gradients.safetensors")
    checks.that(list(got) == ["fc.weight"], f"trained {list(got)}, not the first alone: {said}")
    expected = 2 * x * x * 2 / x.size
    checks.that(np.allclose(got["fc.weight"], expected, rtol=1e-5), "the gradient is another")


def check_function(checks, folder, data):
    """An If inside a function of the model."""
    body = [node("Shape", ["a"], ["s"]), node("Size", ["s"], ["rank"]), constant("three", np.array(3)),
            node("Equal", ["rank", "three"], ["is"]),
            node("If", ["is"], ["b"], then_branch=graph([node("Neg", ["a"], ["b1"])], ["b1"]),
                 else_branch=graph([node("Abs", ["a"], ["b1"])], ["b1"]))]
    opsets = [helper.make_opsetid("", 18)]
    function = helper.make_function("acme", "F", ["a"], ["b"], body, opsets)
    nodes = [node("F", ["x"], ["y"], domain="acme"), node("F", ["y"], ["z"], domain="acme"),
             node("ReduceSum", ["z"], ["n"], keepdims=0), node("F", ["n"], ["w"], domain="acme")]
    whole = helper.make_graph(nodes, "g", [info("x", [4, 6, 5])],
                              [onnx.ValueInfoProto(name=r) for r in "yzw"])
    onnx.save(helper.make_model(whole, opset_imports=[*opsets, helper.make_opsetid("acme", 1)],
                                functions=[function], ir_version=9), folder / "function.onnx")
    np.save(folder / "x.npy", data["x"])
    run_tool("zero-run", folder / "function.onnx", "--forward-only",
             f"--data=x={folder / 'x.npy'}", f"--save-outputs={folder / 'outputs.safetensors'}")
    got = read_safetensors(folder / "outputs.safetensors")
    x = data["x"]
    for name, value in (("y", -x), ("z", x), ("w", abs(x.sum()))):
        checks.that(np.allclose(got[name], value, rtol=1e-4), f"function: {name} is wrong")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    random = np.random.default_rng(0)
    data = {"x": random.standard_normal((4, 6, 5), np.float32),
            "ones": random.standard_normal((4, 1, 1), np.float32)}
    np.savez(folder / "inputs.npz", **data)
    for opset in OPSETS:
        check_numbers(checks, folder, opset, data)
    check_gradient(checks, folder, data)
    check_function(checks, folder, data)
    checks.finish()


if __name__ == "__main__":
    main()
