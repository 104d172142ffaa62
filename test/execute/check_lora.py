"""Low-rank adapters beside frozen layers: results against NumPy in fp64, the memory of frozen
parameters, and that backward computes nothing that only frozen parameters need.

usage: check_lora.py WORK
"""

import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, Graph, Plan, relative, run_tool

BATCH, WIDTH, CLASSES, RANK, STEPS = 12, 96, 40, 4, 6
LR, BETA1, BETA2, EPS, DECAY = 1e-2, 0.9, 0.999, 1e-8, 0.01
FLAGS = ["--optimizer=adamw", f"--lr={LR}", f"--weight-decay={DECAY}"]
SHAPES = {"base.0.weight": (WIDTH, WIDTH), "base.0.bias": (WIDTH,),
          "adapter.0.down.weight": (WIDTH, RANK), "adapter.0.up.weight": (RANK, WIDTH),
          "base.1.weight": (WIDTH, CLASSES), "base.1.bias": (CLASSES,),
          "adapter.1.down.weight": (WIDTH, RANK), "adapter.1.up.weight": (RANK, CLASSES)}


def is_frozen(name):
    return name.startswith("base.")


def elements(names):
    return sum(int(np.prod(SHAPES[name])) for name in names)


def layer(index, source):
    """Computes source W + b + (source down) up."""
    base, adapter, h = f"base.{index}", f"adapter.{index}", f"h{index}"
    return [helper.make_node("Gemm", [source, f"{base}.weight", f"{base}.bias"], [f"{h}.base"]),
            helper.make_node("MatMul", [source, f"{adapter}.down.weight"], [f"{h}.down"]),
            helper.make_node("MatMul", [f"{h}.down", f"{adapter}.up.weight"], [f"{h}.up"]),
            helper.make_node("Add", [f"{h}.base", f"{h}.up"], [h])]


def make_model(values):
    nodes = [*layer(0, "x"), helper.make_node("Tanh", ["h0"], ["a"]), *layer(1, "a"),
             helper.make_node("SoftmaxCrossEntropyLoss", ["h1", "labels"], ["loss"])]
    graph = helper.make_graph(
        nodes, "lora", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", WIDTH)),
                        helper.make_tensor_value_info("labels", TensorProto.INT64, ("batch",))],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
        [numpy_helper.from_array(value, name) for name, value in values.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def step(w, x, labels):
    """Loss and gradients of the adapters."""
    down0, down1 = x @ w["adapter.0.down.weight"], None
    a = np.tanh(x @ w["base.0.weight"] + w["base.0.bias"] + down0 @ w["adapter.0.up.weight"])
    down1 = a @ w["adapter.1.down.weight"]
    logits = a @ w["base.1.weight"] + w["base.1.bias"] + down1 @ w["adapter.1.up.weight"]
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(p[rows, labels]).mean()
    p[rows, labels] -= 1
    d1 = p / len(labels)
    through = d1 @ w["adapter.1.up.weight"].T
    d0 = (d1 @ w["base.1.weight"].T + through @ w["adapter.1.down.weight"].T) * (1 - a * a)
    return loss, {"adapter.1.up.weight": down1.T @ d1, "adapter.1.down.weight": a.T @ through,
                  "adapter.0.up.weight": down0.T @ d0,
                  "adapter.0.down.weight": x.T @ (d0 @ w["adapter.0.up.weight"].T)}


def train(values, x, labels):
    w = {name: value.astype(np.float64) for name, value in values.items()}
    m = {name: 0.0 for name in w}
    v = {name: 0.0 for name in w}
    losses, first = [], None
    for t in range(1, STEPS + 1):
        loss, gradients = step(w, x, labels)
        losses.append(loss)
        first = first or gradients
        for name, g in gradients.items():
            m[name] = BETA1 * m[name] + (1 - BETA1) * g
            v[name] = BETA2 * v[name] + (1 - BETA2) * g * g
            rate = np.sqrt(v[name] / (1 - BETA2 ** t)) + EPS
            w[name] -= LR * (DECAY * w[name] + m[name] / (1 - BETA1 ** t) / rate)
    return np.array(losses), first, w


class LoraGraph(Graph):
    def __init__(self, work, model, inputs):
        self.name, self.folder, self.work, self.inputs = "lora", Path(work), Path(work), inputs
        self.work.mkdir(parents=True, exist_ok=True)
        onnx.save(model, self.folder / "model.onnx")
        self.write_inputs()


def check_numbers(checks, graph, values, flags):
    losses, gradients, weights = train(values, *graph.inputs.values())
    for ranks in (1, 2, 4):
        results = []
        for stage in range(4):
            shape = graph.shape_flag(ranks)
            result = graph.run(graph.compile(stage, ranks, *FLAGS, *flags, shape), STEPS)
            results.append(result)
            label = f"stage {stage} on {ranks}"
            checks.that(result.same_bits(results[0]), f"{label}: bits differ from stage 0's")
            checks.that(np.max(np.abs(result.losses / losses - 1)) <= 1e-5, f"{label}: losses")
            checks.that(result.gradients.keys() == gradients.keys(), f"{label}: gradients' names")
            for name, gradient in gradients.items():
                checks.that(relative(result.gradients[name], gradient) <= 1e-4,
                            f"{label}: gradient of {name}")
            for name, value in values.items():
                if is_frozen(name):
                    checks.that(result.weights[name].tobytes() == value.tobytes(),
                                f"{label}: {name} has changed")
                else:
                    checks.that(relative(result.weights[name], weights[name]) <= 1e-3,
                                f"{label}: {name} is off")


def check_memory(checks, graph, flags):
    """Frozen parameters take 4 bytes, sharded over the ranks at stage 3; the others take 16."""
    trained = elements(name for name in SHAPES if not is_frozen(name))
    everything = elements(SHAPES)
    for stage in range(4):
        for ranks in (1, 4):
            plan = Plan(graph, stage, ranks, *FLAGS, *flags, graph.shape_flag(ranks))
            share = {"parameters": 4 * everything / (ranks if stage == 3 else 1),
                     "gradients": 4 * trained / (ranks if stage >= 2 else 1),
                     "optimizer state": 8 * trained / (ranks if stage >= 1 else 1)}
            for role, expected in share.items():
                # Tensors and slices start at multiples of 64 elements.
                slack = 4 * 64 * (len(SHAPES) + ranks) * (2 if role == "optimizer state" else 1)
                got = plan.certificate[role]
                checks.that(expected <= got + 1 and got <= expected + slack,
                            f"stage {stage} on {ranks}: {role} take {got}, expected {expected}")


def check_backward(checks, graph, flags):
    """The number of products. Forward has three per layer. Backward has two for each adapter's
    weights, one through each adapter, and, for the gradient that reaches the first layer, one
    through the second layer's base and one through its adapter. There is none for a frozen weight
    and none for the data."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only",
                    "--dump-after=differentiate", *FLAGS, *flags, graph.shape_flag(1))
    products = len(re.findall(r'onnx\.node "(?:MatMul|Gemm|Contract)"', text))
    checks.that(products == 6 + 3 + 2 + 3, f"{products} products after differentiation")


def main():
    checks = Checks()
    rng = np.random.default_rng(7)
    values = {name: (rng.normal(size=shape) * 0.3).astype(np.float32)
              for name, shape in SHAPES.items()}
    inputs = {"x": rng.normal(size=(BATCH, WIDTH)).astype(np.float32),
              "labels": rng.integers(0, CLASSES, BATCH)}
    graph = LoraGraph(sys.argv[1], make_model(values), inputs)
    flags = ["--freeze=base.*"]
    check_numbers(checks, graph, values, flags)
    check_memory(checks, graph, flags)
    check_backward(checks, graph, flags)
    checks.finish()


if __name__ == "__main__":
    main()
