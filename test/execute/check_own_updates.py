"""Whole steps with updates of many forms: ranks that share a batch compute what one process does with
all of it.

usage: check_own_updates.py WORK [all]

all: each number of ranks and of micro-batches at all stages.

The model is two layers with a tied scale. Each case is built for the batch of a rank, which zero-run
trains, and for the whole batch, which onnx.reference runs as the oracle.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, Failed, read_safetensors, run_tool

ROWS, STEPS = 8, 4  # of the whole batch
SHAPES = {"w1": (5, 6), "b1": (6,), "w2": (6, 3)}
# Ranks and micro-batches, and the stages at which they train.
ALL_RUNS = {runs: (0, 1, 2, 3) for runs in ((1, 1), (2, 1), (4, 1), (2, 2))}
RUNS = ALL_RUNS | {(1, 1): (0,), (4, 1): (0, 3)}


class Step:
    """Nodes of a training step; state is what `carry` names."""

    def __init__(self, rows):
        self.rows, self.nodes, self.constants = rows, [], []
        self.inputs, self.outputs, self.carried = [], [], []
        self.count = 0

    def node(self, op, *inputs, **attrs):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attrs))
        return name

    def constant(self, value, dtype=np.float32):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, value, shape, kind=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def carry(self, name, value, shape, kind=TensorProto.FLOAT):
        self.output(name + ".new", value, shape, kind)
        self.carried.append(name)

    def total(self, value, axes, keepdims=0):
        return self.node("ReduceSum", value, self.constant(axes, np.int64), keepdims=keepdims)

    def model(self):
        graph = helper.make_graph(self.nodes, "step", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def gradients(step):
    """The loss, half the mean square of an error, and its gradients by hand."""
    x, y = step.input("x", (step.rows, 5)), step.input("y", (step.rows, 3))
    for name, shape in SHAPES.items():
        step.input(name, shape)
    hidden = step.node("Tanh", step.node("Add", step.node("MatMul", x, "w1"), "b1"))
    error = step.node("Sub", step.node("MatMul", hidden, "w2"), y)
    half = step.constant(0.5 / step.rows)
    loss = step.node("Mul", half, step.total(step.node("Mul", error, error), [0, 1]))
    step.output("loss", loss, ())
    de = step.node("Mul", error, step.constant(1 / step.rows))
    dh = step.node("MatMul", de, step.node("Transpose", "w2", perm=[1, 0]))
    one = step.constant(1.0)
    dz = step.node("Mul", dh, step.node("Sub", one, step.node("Mul", hidden, hidden)))
    grads = {
        "w1": step.node("MatMul", step.node("Transpose", x, perm=[1, 0]), dz),
        "b1": step.total(dz, [0]),
        "w2": step.node("MatMul", step.node("Transpose", hidden, perm=[1, 0]), de),
    }
    return grads, hidden


def descend(step, name, gradient, rate):
    step.carry(name, step.node("Sub", name, step.node("Mul", gradient, rate)), SHAPES[name])


def plain(step):
    grads, _ = gradients(step)
    for name, g in grads.items():
        descend(step, name, g, step.constant(0.1))


def sign(step):
    grads, _ = gradients(step)
    for name, g in grads.items():
        descend(step, name, step.node("Sign", g), step.constant(0.01))


def rate_input(step):
    """The learning rate is an input, and decays with a counter of integers."""
    grads, _ = gradients(step)
    rate = step.input("lr", ())
    count = step.input("count", (1,), TensorProto.INT64)
    after = step.node("Add", count, step.constant([1], np.int64))
    step.carry("count", after, (1,), TensorProto.INT64)
    scale = step.node("Reciprocal", step.node("Cast", after, to=TensorProto.FLOAT))
    for name, g in grads.items():
        descend(step, name, g, step.node("Mul", rate, scale))


def momentum_and_average(step):
    """Decay that is added to the gradient, momentum, and an average of the weights."""
    grads, _ = gradients(step)
    for name, g in grads.items():
        shape = SHAPES[name]
        speed, average = step.input(name + ".speed", shape), step.input(name + ".average", shape)
        g = step.node("Add", g, step.node("Mul", name, step.constant(0.01)))
        now = step.node("Add", step.node("Mul", speed, step.constant(0.9)), g)
        after = step.node("Sub", name, step.node("Mul", now, step.constant(0.1)))
        step.carry(name, after, shape)
        step.carry(name + ".speed", now, shape)
        kept = step.node("Mul", average, step.constant(0.75))
        step.carry(name + ".average",
                   step.node("Add", kept, step.node("Mul", after, step.constant(0.25))), shape)


def clipped(step, norms):
    """Clipping to a global norm as torch.nn.utils.clip_grad_norm_ does it."""
    grads, _ = gradients(step)
    if norms == "stacked":
        each = [step.node("Reshape", step.node("ReduceL2", g, keepdims=0),
                          step.constant([1], np.int64)) for g in grads.values()]
        norm = step.node("ReduceL2", step.node("Concat", *each, axis=0), keepdims=0)
    else:
        squares = [step.node("ReduceSum", step.node("Mul", g, g), keepdims=0)
                   for g in grads.values()]
        norm = step.node("Sqrt", step.node("Add", step.node("Add", *squares[:2]), squares[2]))
    factor = step.node("Div", step.constant(0.02), step.node("Add", norm, step.constant(1e-6)))
    factor = step.node("Min", factor, step.constant(1.0))
    for name, g in grads.items():
        descend(step, name, step.node("Mul", g, factor), step.constant(0.5))


def lars(step):
    """A rate for each tensor, from the norms of the weight and of the gradient; every second step
    updates, from the sum of two gradients that the graph accumulates itself."""
    grads, _ = gradients(step)
    c = step.constant
    count = step.input("count", (), TensorProto.INT64)
    after = step.node("Add", count, step.constant(1, np.int64))
    step.carry("count", after, (), TensorProto.INT64)
    rest = step.node("Mod", after, step.constant(2, np.int64))
    isDue = step.node("Equal", rest, step.constant(0, np.int64))
    for name, g in grads.items():
        weight, norm = (step.node("ReduceL2", x, keepdims=0) for x in (name, g))
        ratio = step.node("Div", step.node("Mul", weight, c(0.05)),
                          step.node("Add", norm, step.node("Mul", weight, c(0.01))))
        total = step.node("Add", step.input(name + ".sum", SHAPES[name]), g)
        left = step.node("Where", isDue, step.node("Mul", total, c(0.0)), total)
        step.carry(name + ".sum", left, SHAPES[name])
        moved = step.node("Sub", name, step.node("Mul", total, ratio))
        step.carry(name, step.node("Where", isDue, moved, name), SHAPES[name])


def norms_as_state(step):
    """A loss scale that falls and a count that rises where the norm is large, which leaves the step
    out; otherwise the gradients are clipped to the mean of earlier norms."""
    grads, _ = gradients(step)
    c = step.constant
    scale, mean = step.input("scale", ()), step.input("norms", (1,))
    count = step.input("count", (), TensorProto.INT64)
    squares = [step.node("ReduceSumSquare", g, keepdims=0) for g in grads.values()]
    norm = step.node("Sqrt", step.node("Sum", *squares))
    isLarge = step.node("Greater", norm, c(6.5))
    step.carry("scale", step.node("Where", isLarge, step.node("Mul", scale, c(0.5)),
                                  step.node("Add", scale, c(1.0))), ())
    step.carry("count", step.node("Add", count, step.node("Cast", isLarge, to=TensorProto.INT64)),
               (), TensorProto.INT64)
    after = step.node("Add", step.node("Mul", mean, c([0.9])), step.node("Mul", norm, c([0.1])))
    step.carry("norms", after, (1,))
    factor = step.node("Min", c(1.0), step.node("Div", step.node("Add", mean, c(0.1)), norm))
    for name, g in grads.items():
        way = step.node("Mul", step.node("Mul", g, factor), c(0.5))
        step.carry(name, step.node("Where", isLarge, name, step.node("Sub", name, way)),
                   SHAPES[name])


def moments(step, name, g):
    """New moments of Adam, which the step carries."""
    shape = SHAPES[name]
    m, v = step.input(name + ".m", shape), step.input(name + ".v", shape)
    m = step.node("Add", step.node("Mul", m, step.constant(0.9)),
                  step.node("Mul", g, step.constant(0.1)))
    v = step.node("Add", step.node("Mul", v, step.constant(0.99)),
                  step.node("Mul", step.node("Mul", g, g), step.constant(0.01)))
    step.carry(name + ".m", m, shape)
    step.carry(name + ".v", v, shape)
    return m, v


def lamb(step):
    """LAMB: Adam's step with decay, scaled by the ratio of two norms where both are positive."""
    grads, _ = gradients(step)
    for name, g in grads.items():
        m, v = moments(step, name, g)
        way = step.node("Div", m, step.node("Add", step.node("Sqrt", v), step.constant(1e-3)))
        way = step.node("Add", way, step.node("Mul", name, step.constant(0.1)))
        weight = step.node("ReduceL2", name, keepdims=0)
        length = step.node("ReduceL2", way, keepdims=0)
        both = step.node("And", step.node("Greater", weight, step.constant(0.0)),
                         step.node("Greater", length, step.constant(0.0)))
        ratio = step.node("Where", both, step.node("Div", weight, length), step.constant(1.0))
        descend(step, name, step.node("Mul", way, ratio), step.constant(0.02))


def bounded_lamb(step):
    """The same with bounds on the ratio, a rate that is an input, and norms as sums of squares."""
    grads, _ = gradients(step)
    rate = step.input("lr", (1,))
    for name, g in grads.items():
        m, v = moments(step, name, g)
        way = step.node("Div", m, step.node("Sqrt", step.node("Add", v, step.constant(1e-3))))
        norms = [step.node("Sqrt", step.node("ReduceSum", step.node("Mul", x, x), keepdims=0))
                 for x in (name, way)]
        ratio = step.node("Div", norms[0], step.node("Add", norms[1], step.constant(1e-6)))
        ratio = step.node("Max", step.node("Min", ratio, step.constant(2.0)), step.constant(0.1))
        descend(step, name, way, step.node("Mul", ratio, rate))


def rmsprop(step):
    """Centered, with momentum and decay."""
    grads, _ = gradients(step)
    c = step.constant
    for name, g in grads.items():
        square, mean, speed = (step.input(f"{name}.{k}", SHAPES[name]) for k in ("v", "mean", "m"))
        g = step.node("Add", g, step.node("Mul", name, c(0.01)))
        square = step.node("Add", step.node("Mul", square, c(0.9)),
                           step.node("Mul", c(0.1), step.node("Pow", g, c(2.0))))
        mean = step.node("Add", mean, step.node("Mul", step.node("Sub", g, mean), c(0.1)))
        spread = step.node("Sub", square, step.node("Mul", mean, mean))
        way = step.node("Div", g, step.node("Add", step.node("Sqrt", spread), c(1e-2)))
        speed = step.node("Add", step.node("Mul", speed, c(0.9)), way)
        for kind, value in (("v", square), ("mean", mean), ("m", speed)):
            step.carry(f"{name}.{kind}", value, SHAPES[name])
        descend(step, name, speed, c(0.01))


def adagrad_each_clipped(step):
    """Each gradient is clipped to a norm of its own; the rate decays with a counter of floats."""
    grads, _ = gradients(step)
    c = step.constant
    count = step.input("count", (1,))
    step.carry("count", step.node("Add", count, c([1.0])), (1,))
    rate = step.node("Div", c(0.05), step.node("Add", c(1.0), step.node("Mul", count, c(0.1))))
    for name, g in grads.items():
        norm = step.node("Add", step.node("ReduceL2", g, keepdims=0), c(1e-6))
        g = step.node("Mul", g, step.node("Min", c(1.0), step.node("Div", c(0.05), norm)))
        squares = step.node("Add", step.input(name + ".sum", SHAPES[name]), step.node("Mul", g, g))
        step.carry(name + ".sum", squares, SHAPES[name])
        way = step.node("Div", g, step.node("Add", step.node("Sqrt", squares), c(1e-3)))
        descend(step, name, way, rate)


def lion(step):
    """Lion that leaves out steps whose norm is not finite, with warm-up and cosine from a counter."""
    grads, _ = gradients(step)
    c = step.constant
    count = step.input("count", (), TensorProto.INT64)
    step.carry("count", step.node("Add", count, step.constant(1, np.int64)), (), TensorProto.INT64)
    x = step.node("Cast", count, to=TensorProto.FLOAT)
    rate = step.node("Where", step.node("Less", count, step.constant(2, np.int64)),
                     step.node("Mul", x, c(0.01)),
                     step.node("Mul", c(0.01), step.node("Cos", step.node("Mul", x, c(0.3)))))
    squares = [step.node("ReduceSumSquare", g, keepdims=0) for g in grads.values()]
    norm = step.node("Sqrt", step.node("Sum", *squares))
    isBad = step.node("Or", step.node("IsNaN", norm), step.node("IsInf", norm))
    for name, g in grads.items():
        m = step.input(name + ".m", SHAPES[name])
        way = step.node("Sign", step.node("Add", step.node("Mul", m, c(0.9)),
                                          step.node("Mul", g, c(0.1))))
        after = step.node("Sub", step.node("Mul", name, c(0.999)), step.node("Mul", way, rate))
        step.carry(name, step.node("Where", isBad, name, after), SHAPES[name])
        step.carry(name + ".m", step.node("Add", step.node("Mul", m, c(0.99)),
                                          step.node("Mul", g, c(0.01))), SHAPES[name])


def other_state(step):
    """State of integers, of flags, a frozen parameter that is returned, slow weights, and masks."""
    grads, _ = gradients(step)
    key = step.input("key", (2,), TensorProto.INT64)
    after = step.node("Add", key, step.constant([1, 3], np.int64))
    step.carry("key", after, (2,), TensorProto.INT64)
    begun = step.input("begun", (), TensorProto.BOOL)
    step.carry("begun", step.node("Or", begun, step.constant(True, bool)), (), TensorProto.BOOL)
    rate = step.node("Where", begun, step.constant(0.1), step.constant(0.05))
    step.carry("b1", "b1", SHAPES["b1"])
    for name in ("w1", "w2"):
        slow = step.input(name + ".slow", SHAPES[name])
        mask = step.constant(np.arange(np.prod(SHAPES[name])).reshape(SHAPES[name]) % 3)
        way = step.node("Mul", step.node("Mul", grads[name], mask), rate)
        fast = step.node("Sub", name, way)
        mixed = step.node("Add", slow, step.node("Mul", step.node("Sub", fast, slow),
                                                 step.constant(0.5)))
        step.carry(name, step.node("Where", begun, mixed, fast), SHAPES[name])
        step.carry(name + ".slow", mixed, SHAPES[name])


def running_mean(step):
    """A buffer that the step updates from the batch and the loss does not read."""
    grads, hidden = gradients(step)
    step.input("mean", (6,))
    batch = step.node("ReduceMean", hidden, step.constant([0], np.int64), keepdims=0)
    kept = step.node("Mul", "mean", step.constant(0.9))
    step.carry("mean", step.node("Add", kept, step.node("Mul", batch, step.constant(0.1))), (6,))
    for name, g in grads.items():
        descend(step, name, g, step.constant(0.1))


CASES = {
    "plain": plain,
    "sign": sign,
    "learning rate": rate_input,
    "momentum and average": momentum_and_average,
    "clipped, stacked norms": lambda step: clipped(step, "stacked"),
    "clipped, squares": lambda step: clipped(step, "squares"),
    "RMSprop": rmsprop,
    "Adagrad, each clipped": adagrad_each_clipped,
    "Lion": lion,
    "other state": other_state,
    "LARS": lars,
    "norms as state": norms_as_state,
    "LAMB": lamb,
    "bounded LAMB": bounded_lamb,
    "running mean": running_mean,
}


def build(case, rows):
    step = Step(rows)
    case(step)
    return step, step.model()


class Case:
    def __init__(self, name, case, work):
        self.name, self.case, self.work = name, case, Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(3)
        self.data = {"x": rng.normal(size=(STEPS * ROWS, 5)).astype(np.float32),
                     "y": rng.normal(size=(STEPS * ROWS, 3)).astype(np.float32)}
        self.start = {n: rng.normal(size=s).astype(np.float32) for n, s in SHAPES.items()}
        for key, value in self.data.items():
            np.save(self.work / f"{key}.npy", value)
        np.savez(self.work / "start.npz", **self.start)

    def expected(self):
        """Losses and state of the reference with the whole batch."""
        step, model = build(self.case, ROWS)
        run = ReferenceEvaluator(model)
        state = {i.name: np.zeros([d.dim_value for d in i.type.tensor_type.shape.dim],
                                  helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type))
                 for i in step.inputs if i.name in step.carried} | self.start
        losses = []
        for at in range(0, STEPS * ROWS, ROWS):
            feeds = {k: v[at:at + ROWS] for k, v in self.data.items()} | state
            for rate in (i for i in step.inputs if i.name == "lr"):
                feeds["lr"] = np.full(len(rate.type.tensor_type.shape.dim) * [1], 0.2, np.float32)
            results = dict(zip((o.name for o in step.outputs), run.run(None, feeds)))
            losses.append(results["loss"])
            state = {name: results[name + ".new"] for name in step.carried}
        return np.array(losses), state

    def train(self, ranks, *flags, micro_batches=1):
        step, model = build(self.case, ROWS // ranks // micro_batches)
        path, log = self.work / "step.onnx", self.work / "log.jsonl"
        onnx.save(model, path)
        extra = [n for n in step.carried if n not in SHAPES]
        zeros = ["--zeros=" + ",".join(extra)] if extra else []
        rate = ["--lr=0.2"] if any(i.name == "lr" for i in step.inputs) else []
        saved = self.work / "saved.safetensors"
        executable = self.work / "step.zexe"
        run_tool("zeroc", path, "--carry=*=*.new", *zeros, f"--ranks={ranks}",
                 f"--micro-batches={micro_batches}", *flags, "-o", executable)
        run_tool("zero-run", executable, f"--data=x={self.work}/x.npy,y={self.work}/y.npy",
                 f"--weights={self.work}/start.npz", f"--steps={STEPS}", f"--log={log}", *rate,
                 f"--save={saved}", "--quiet")
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return np.array(losses), read_safetensors(saved)


def check_case(checks, case, runs):
    losses, state = case.expected()
    for (ranks, micro_batches), stages in runs.items():
        first = None
        for stage in stages:
            label = f"{case.name}, stage {stage} on {ranks}, {micro_batches} micro-batches"
            # Stages 2 and 3 always reduce each micro-batch.
            each = ["--grad-reduce=each"] if micro_batches > 1 and stage < 2 else []
            got, saved = case.train(ranks, f"--zero-stage={stage}", *each,
                                    micro_batches=micro_batches)
            checks.that(np.allclose(got, losses, rtol=1e-5), f"{label}: {got}, not {losses}")
            # Masks of updates are saved, too.
            checks.that(saved.keys() >= state.keys(), f"{label}: saved {list(saved)}")
            for name in state:
                # As in other frameworks, each micro-batch updates running statistics.
                if micro_batches > 1 and name == "mean":
                    continue
                checks.that(np.allclose(saved[name], state[name], rtol=1e-4, atol=1e-6),
                            f"{label}: {name} is {saved[name]}, not {state[name]}")
            first = first or (got.tobytes(), {k: v.tobytes() for k, v in saved.items()})
            checks.that(first == (got.tobytes(), {k: v.tobytes() for k, v in saved.items()}),
                        f"{label}: other bits than at stage {stages[0]}")


def check_clip_flag(checks, case):
    """A second limit beside the graph's own is refused."""
    try:
        case.train(1, "--clip-norm=1")
        checks.that(False, f"{case.name}: --clip-norm is not refused")
    except Failed as error:
        checks.that("computes norms of its gradients itself" in str(error), str(error))


def main():
    work, *everything = sys.argv[1:]
    checks = Checks()
    for name, case in CASES.items():
        try:
            one = Case(name, case, f"{work}/{name.split(',')[0].replace(' ', '-')}")
            check_case(checks, one, ALL_RUNS if everything else RUNS)
            if name.startswith("clipped"):
                check_clip_flag(checks, one)
        except Failed as error:
            checks.that(False, f"{name}: {error}")
    checks.finish()


if __name__ == "__main__":
    main()
