"""Losses that are not linear in the parts of a batch: ranks and micro-batches train on the loss of
one large batch, which numpy computes in fp64, or say that they do not.

usage: check_whole_batch.py DATA WORK
"""

import re
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, load, numpy_helper, save

from zero_test import Checks, Graph, relative, run_tool

PARTS, ROWS, WIDTH, CLASSES = 4, 3, 5, 4
IGNORED = -100
SGD = ["--optimizer=sgd", "--lr=0.1"]
CUTS = [(4, 1, []), (1, 4, []), (2, 2, ["--zero-stage=1"]), (2, 2, ["--zero-stage=2"]),
        (2, 2, ["--zero-stage=3"]), (2, 2, ["--zero-stage=3", "--micro-batch-order=vertical"]),
        (1, 4, ["--micro-batch-order=vertical"])]


class Builder:
    """A graph: nodes are named by their results, `call` returns the name of its only one."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def call(self, op, *inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.value(i) for i in inputs], [name], name=name,
                                           **attributes))
        return name

    def value(self, value):
        """The name of a value, or of a new constant."""
        if isinstance(value, str):
            return value
        name = f"const{len(self.constants)}"
        array = np.asarray(value)
        self.constants[name] = array.astype(np.float32) if array.dtype == np.float64 else array
        return name

    def sum(self, value):
        return self.call("ReduceSum", value, keepdims=0)

    def mean(self, value):
        return self.call("ReduceMean", value, keepdims=0)

    def save(self, path, inputs, parameters, loss):
        graph = helper.make_graph(
            [*self.nodes, helper.make_node("Identity", [loss], ["loss"])], "losses",
            [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                           [len(array) // PARTS, *array.shape[1:]])
             for name, array in inputs.items()],
            [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
            [numpy_helper.from_array(array, name)
             for name, array in {**self.constants, **parameters}.items()])
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


# Each case has the loss twice: as nodes, of the scores `z` by name, and in numpy.


def log_softmax(z):
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def nll(z, y):
    return np.where(y == IGNORED, 0, -log_softmax(z)[np.arange(len(y)), np.maximum(y, 0)])


def cross_entropy(z, y):
    return nll(z, y).sum() / (y != IGNORED).sum()


def masked_terms(b, z, y):
    """The negative log-likelihoods of rows, 0 where ignored, and the number of the others."""
    ignored = b.call("Equal", y, np.int64(IGNORED))
    label = b.call("Unsqueeze", b.call("Where", ignored, np.int64(0), y), np.array([1]))
    terms = b.call("Neg", b.call("GatherElements", b.call("LogSoftmax", z, axis=-1), label, axis=1))
    terms = b.call("Squeeze", terms, np.array([1]))
    return (b.call("Where", ignored, 0.0, terms),
            b.call("Cast", b.call("Not", ignored), to=TensorProto.FLOAT))


def label_smoother(b, z):
    """Hugging Face's: both means divide by a count of the graph."""
    terms, valid = masked_terms(b, z, "y")
    padding = b.sum(b.call("Cast", b.call("Equal", "y", np.int64(IGNORED)), to=TensorProto.INT64))
    count = b.call("Cast", b.call("Sub", np.int64(ROWS), padding), to=TensorProto.FLOAT)
    spread = b.call("ReduceSum", b.call("Neg", b.call("LogSoftmax", z, axis=-1)), np.array([1]),
                    keepdims=0)
    spread = b.sum(b.call("Where", b.call("Cast", valid, to=TensorProto.BOOL), spread, 0.0))
    return b.call("Add", b.call("Mul", b.call("Div", b.sum(terms), count), 0.9),
                  b.call("Mul", b.call("Div", spread, b.call("Mul", count, float(CLASSES))), 0.1))


def label_smoother_of(z, d):
    valid = d["y"] != IGNORED
    spread = np.where(valid, -log_softmax(z).sum(1), 0).sum() / (valid.sum() * CLASSES)
    return 0.9 * cross_entropy(z, d["y"]) + 0.1 * spread


def at_least_one(b, z):
    """max(n, 1), where some parts have no label: the count as an integer."""
    terms, valid = masked_terms(b, z, "y")
    count = b.sum(b.call("Cast", valid, to=TensorProto.INT64))
    count = b.call("Cast", b.call("Max", count, np.int64(1)), to=TensorProto.FLOAT)
    return b.call("Div", b.sum(terms), count)


def with_epsilon(b, z):
    terms, valid = masked_terms(b, z, "y")
    return b.call("Div", b.sum(terms), b.call("Add", b.sum(valid), 0.5))


def weighted(b, z):
    """Weights of the rows, divided by their sum before they are used."""
    terms, _ = masked_terms(b, z, "full")
    return b.sum(b.call("Mul", terms, b.call("Div", "m", b.sum("m"))))


def two_masks(b, z):
    one, first = masked_terms(b, z, "y")
    two, second = masked_terms(b, z, "other")
    return b.call("Add", b.call("Div", b.sum(one), b.sum(first)),
                  b.call("Div", b.sum(two), b.call("Clip", b.sum(second), 1.0)))


def loss_node(b, z, labels="y"):
    return b.call("SoftmaxCrossEntropyLoss", z, labels, ignore_index=IGNORED)


def focal(b, z):
    loss = loss_node(b, z)
    missed = b.call("Sub", 1.0, b.call("Exp", b.call("Neg", loss)))
    return b.call("Mul", b.call("Mul", missed, missed), loss)


def focal_of(z, d):
    loss = cross_entropy(z, d["y"])
    return (1 - np.exp(-loss)) ** 2 * loss


def balance(b, z):
    """The loss that balances experts: the share of rows of each, times its mean probability."""
    chosen = b.call("Cast", b.call("OneHot", b.call("ArgMax", z, axis=1, keepdims=0),
                                   np.int64(CLASSES), np.array([0.0, 1.0])), to=TensorProto.FLOAT)
    shares = [b.call("ReduceMean", value, np.array([0]), keepdims=0)
              for value in (chosen, b.call("Softmax", z, axis=1))]
    return b.sum(b.call("Mul", *shares))


def balance_of(z, _):
    chosen = np.eye(CLASSES)[z.argmax(1)]
    return (chosen.mean(0) * np.exp(log_softmax(z)).mean(0)).sum()


def covariance(b, z):
    """The products of columns, a matrix of means, squared (as of redundancy in embeddings)."""
    product = b.call("MatMul", b.call("Transpose", z, perm=[1, 0]), z)
    product = b.call("Div", product, float(ROWS))
    return b.sum(b.call("Mul", product, product))


def overlap(b, z):
    """1 - (2 i + 1) / (s + 1), of sums through which gradients flow."""
    chance = b.call("Sigmoid", z)
    both = b.sum(b.call("Mul", chance, b.call("Unsqueeze", "m", np.array([1]))))
    either = b.call("Add", b.call("Add", b.sum(chance), b.sum("m")), 1.0)
    return b.call("Sub", 1.0, b.call("Div", b.call("Add", b.call("Mul", both, 2.0), 1.0), either))


def overlap_of(z, d):
    chance, m = 1 / (1 + np.exp(-z)), d["m"].astype(np.float64)
    return 1 - (2 * (chance * m[:, None]).sum() + 1) / (chance.sum() + m.sum() + 1)


def mean_square(b, z):
    return b.mean(b.call("Mul", z, z))


CASES = {
    "plain": (mean_square, lambda z, d: (z * z).mean()),
    "static_mean": (lambda b, z: b.call("Div", b.sum(b.call("Mul", z, z)), float(2 * ROWS)),
                    lambda z, d: (z * z).sum() / (2 * ROWS * PARTS)),
    "cross_entropy": (loss_node, lambda z, d: cross_entropy(z, d["y"])),
    "label_smoother": (label_smoother, label_smoother_of),
    "at_least_one": (at_least_one, lambda z, d: cross_entropy(z, d["y"])),
    "epsilon": (with_epsilon,
                lambda z, d: nll(z, d["y"]).sum() / ((d["y"] != IGNORED).sum() + 0.5)),
    "weighted": (weighted, lambda z, d: (nll(z, d["full"]) * d["m"]).sum() / d["m"].sum()),
    "two_masks": (two_masks, lambda z, d: cross_entropy(z, d["y"]) + cross_entropy(z, d["other"])),
    "perplexity": (lambda b, z: b.call("Exp", loss_node(b, z)),
                   lambda z, d: np.exp(cross_entropy(z, d["y"]))),
    "logarithm": (lambda b, z: b.call("Log", loss_node(b, z)),
                  lambda z, d: np.log(cross_entropy(z, d["y"]))),
    "root": (lambda b, z: b.call("Sqrt", mean_square(b, z)), lambda z, d: np.sqrt((z * z).mean())),
    "norm": (lambda b, z: b.call("Sqrt", b.sum(b.call("Mul", z, z))),
             lambda z, d: np.sqrt((z * z).sum())),
    "product": (lambda b, z: b.call("Mul", loss_node(b, z), loss_node(b, z, "other")),
                lambda z, d: cross_entropy(z, d["y"]) * cross_entropy(z, d["other"])),
    "focal": (focal, focal_of),
    "balance": (balance, balance_of),
    "covariance": (covariance, lambda z, d: ((z.T @ z / len(z)) ** 2).sum()),
    "overlap": (overlap, overlap_of),
    "sum": (lambda b, z: b.call("Mul", b.sum(b.call("Mul", z, z)), 0.3),
            lambda z, d: 0.3 * (z * z).sum()),
}


def spread(b, z):
    """The variance over the batch: each row uses its mean."""
    centered = b.call("Sub", z, b.call("ReduceMean", z, np.array([0])))
    return b.mean(b.call("Mul", centered, centered))


# What each part computes of its own rows, and whether that is said.
OWN_CASES = {
    "spread": (spread, lambda z: z.var(0).mean(), True),
    "most": (lambda b, z: b.call("ReduceMax", z, keepdims=0), lambda z: z.max(), True),
    "scores": (lambda b, z: b.mean(b.call("Exp", b.call("MatMul", z, b.call(
        "Transpose", z, perm=[1, 0])))), lambda z: np.exp(z @ z.T).mean(), True),
    "root": (lambda b, z: b.call("Sqrt", mean_square(b, z)), lambda z: np.sqrt((z * z).mean()),
             False),
}


def samples():
    random = np.random.default_rng(3)
    rows = PARTS * ROWS
    y = random.integers(0, CLASSES, rows)
    full, other = y.copy(), random.integers(0, CLASSES, rows)
    y[[0, 1, 2, 5, 7]] = IGNORED  # the first part has no label
    other[[3, 9, 10]] = IGNORED
    return {"x": random.standard_normal((rows, WIDTH)).astype(np.float32), "y": y, "full": full,
            "other": other, "m": random.random(rows).astype(np.float32)}


def parameters(cases):
    random = np.random.default_rng(4)
    return {f"w.{name}": (0.4 * random.standard_normal((WIDTH, CLASSES))).astype(np.float32)
            for name in cases}


def gradient_of(loss, weight, data):
    """By central differences in fp64."""
    weight, gradient = weight.astype(np.float64), np.zeros(weight.shape)
    for place in np.ndindex(weight.shape):
        ends = []
        for shift in (1e-5, -1e-5):
            moved = weight.copy()
            moved[place] += shift
            ends.append(loss(data["x"].astype(np.float64) @ moved, data))
        gradient[place] = (ends[0] - ends[1]) / 2e-5
    return gradient


class Losses(Graph):
    """All cases in one graph: each has its own parameter, the loss is their sum."""

    def __init__(self, work, data, weights, cases):
        self.folder = self.work = Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.inputs = data
        self.write_inputs()
        b = Builder()
        total = None
        for name, (build, *_) in cases.items():
            loss = build(b, b.call("MatMul", "x", f"w.{name}"))
            total = b.call("Add", total, loss) if total else loss
        b.save(self.folder / "model.onnx", data, weights, total)

    def evaluate(self, executable):
        held = self.data_flag.removeprefix("--data=")
        text = run_tool("zero-run", executable, "--steps=0", f"--eval-data={held}")
        return float(text.split("loss ")[1].split(",")[0].split()[0])


def check_cases(checks, work):
    data, weights = samples(), parameters(CASES)
    graph = Losses(work, data, weights, CASES)
    x = data["x"].astype(np.float64)
    expected = sum(loss(x @ weights[f"w.{name}"].astype(np.float64), data)
                   for name, (_, loss) in CASES.items())
    gradients = {name: gradient_of(loss, weights[f"w.{name}"], data)
                 for name, (_, loss) in CASES.items()}
    for ranks, micro_batches, flags in CUTS:
        label = f"{ranks} ranks, {micro_batches} micro-batches {' '.join(flags)}"
        path = graph.work / "m.zexe"
        report = graph.compile_to(path, *SGD, f"--ranks={ranks}", *flags,
                                  f"--micro-batches={micro_batches}")
        # The constants of this model may be parameters: that warning is not of the loss.
        checks.that(not re.search("warning: (?!the exporter does not record)", report),
                    f"{label}: {report}")
        checks.that("over all ranks and micro-batches" in report, f"{label}: no remark: {report}")
        result = graph.run(path, 1)
        checks.that(abs(result.losses[0] / expected - 1) < 1e-6,
                    f"{label}: loss {result.losses[0]}, expected {expected}")
        held = graph.evaluate(path)
        checks.that(abs(held / expected - 1) < 1e-5,
                    f"{label}: evaluates to {held}, expected {expected}")
        for name, gradient in gradients.items():
            error = relative(result.gradients[f"w.{name}"], gradient)
            checks.that(error < 3e-6, f"{label}: gradient of {name} off by {error:.1e}")


def check_own(checks, work):
    """What cannot be computed of the whole batch is a warning, and with --loss-mean=local all is
    what each part computes, without one."""
    x = samples()["x"]
    for name, (build, loss, is_said) in OWN_CASES.items():
        weights = parameters([name])
        graph = Losses(f"{work}/{name}", {"x": x}, weights, {name: (build,)})
        z = x.astype(np.float64) @ weights[f"w.{name}"].astype(np.float64)
        expected = np.mean([loss(part) for part in np.split(z, PARTS)])
        for flags in ([], ["--loss-mean=local"]):
            path = graph.work / "m.zexe"
            report = graph.compile_to(path, *SGD, "--ranks=2", "--micro-batches=2", *flags)
            says = "warning" in report and "combines" in report and "--loss-mean=local" in report
            checks.that(says == (is_said and not flags), f"{name} {flags}: {report}")
            if is_said or flags:
                got = graph.run(path, 1).losses[0]
                checks.that(abs(got / expected - 1) < 1e-6,
                            f"{name} {flags}: loss {got}, expected {expected}")


def check_narrow(checks, work):
    """Means of values that are stored in 16 bits are of fp32."""
    cases = {name: CASES[name] for name in ("perplexity", "root", "at_least_one")}
    data, weights = samples(), parameters(cases)
    graph = Losses(work, data, weights, cases)
    x = data["x"].astype(np.float64)
    expected = sum(loss(x @ weights[f"w.{name}"].astype(np.float64), data)
                   for name, (_, loss) in cases.items())
    for precision in ("bf16", "fp16"):
        path = graph.work / "m.zexe"
        graph.compile_to(path, *SGD, "--ranks=2", "--micro-batches=2", "--zero-stage=2",
                         f"--precision={precision}")
        got = graph.run(path, 1, has_gradients=False).losses[0]
        checks.that(abs(got / expected - 1) < 1e-2, f"{precision}: {got}, expected {expected}")


def check_perplexity(checks, data, work):
    """The exponential of a transformer's loss: forward runs twice under the features that move
    parameters and activations, and equals one large batch."""
    graph = Graph(data, "gpt2-tiny-dyn", work)
    model = load(graph.folder / "model.onnx")
    last = next(node for node in model.graph.node if "loss" in node.output)
    last.output[list(last.output).index("loss")] = "mean"
    model.graph.node.append(helper.make_node("Exp", ["mean"], ["loss"], name="perplexity"))
    save(model, graph.work / "model.onnx")
    graph.folder = graph.work
    sgd = ["--optimizer=sgd", "--lr=0.01"]
    whole = graph.run(graph.compile(0, 1, graph.shape_flag(1), *sgd), 3)
    for flags in (["--ranks=2", "--checkpoint=layer"], ["--ranks=2", "--tile-params-over=20000"],
                  ["--ranks=2", "--offload-params=host", "--offload-optimizer=host",
                   "--micro-batch-order=vertical"], ["--mesh=data=2,tensor=2"]):
        path = graph.work / "m.zexe"
        graph.compile_to(path, *sgd, "--micro-batches=2", graph.shape_flag(4), *flags,
                         *(["--zero-stage=3"] if "--ranks=2" in flags else []))
        result = graph.run(path, 3, has_gradients=False)
        error = np.max(np.abs(result.losses / whole.losses - 1))
        checks.that(error < 1e-5, f"perplexity {flags}: losses off by {error:.1e}")
        error = max(relative(result.weights[name], weight)
                    for name, weight in whole.weights.items())
        checks.that(error < 1e-4, f"perplexity {flags}: weights off by {error:.1e}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    check_cases(checks, f"{work}/cases")
    check_own(checks, f"{work}/own")
    check_narrow(checks, f"{work}/narrow")
    check_perplexity(checks, data, f"{work}/gpt2")
    checks.finish()


if __name__ == "__main__":
    main()
