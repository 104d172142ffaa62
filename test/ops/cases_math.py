"""Cases of the math operators: elementwise, reductions, normalizations, losses."""
import math

import numpy as np

from harness import Case

rng = np.random.default_rng(3)


def f(*shape, low=None, high=None):
    """Random floats: normal, or uniform in [low, high)."""
    if low is None:
        return rng.standard_normal(shape).astype(np.float32)
    return rng.uniform(low, high, shape).astype(np.float32)


def i(*shape, low=-9, high=10, dtype=np.int64):
    return rng.integers(low, high, shape).astype(dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def erf(x):
    """onnx.reference's Erf computes in float32, which is too coarse for differences."""
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


PAIRS = [((4, 5), (4, 5)), ((4, 5), (5,)), ((4, 1), (1, 5)), ((2, 3, 4), (3, 1)), ((), (2, 3)),
         ((1,), (3,)), ((2, 1, 3), (4, 1)), ((1, 1), (1,))]


def binary():
    cases = []
    for a, b in PAIRS:
        for op in ("Add", "Sub", "Mul"):
            cases.append(Case(op, [f(*a), f(*b)], grad=[0, 1]))
        cases.append(Case("Div", [f(*a), f(*b, low=0.5, high=2)], grad=[0, 1]))
        cases.append(Case("Pow", [f(*a, low=0.5, high=2), f(*b)], grad=[0, 1]))
        for op in ("Max", "Min"):
            cases.append(Case(op, [f(*a), f(*b)], grad=[0, 1]))
        for op in ("Add", "Sub", "Mul", "Max", "Min"):
            cases.append(Case(op, [i(*a), i(*b)]))
        divisor = i(*b)
        divisor[divisor == 0] = 3
        # onnx.reference floors integer quotients below zero; ONNX truncates.
        cases.append(Case("Div", [np.abs(i(*a)), np.abs(divisor)]))
        cases.append(Case("Mod", [i(*a), divisor]))
        cases.append(Case("Mod", [i(*a, dtype=np.int32), divisor.astype(np.int32)],
                          {"fmod": 1}))
    for count in (1, 3):
        inputs = [f(2, 3), f(3), f(2, 1)][:count]
        for op in ("Max", "Min", "Sum", "Mean"):
            cases.append(Case(op, inputs, grad=range(count)))
    cases.append(Case("Max", [np.array([1, np.nan, np.inf], np.float32), f(3)]))
    cases.append(Case("Mul", [f(3, 4), scalar(2.5)], constants=[1], grad=[0]))
    for exponent in (2, 3, 0.5, 1.5, -0.5, -1, -2, 1, 0, 5, 2.25):
        cases.append(Case("Pow", [f(3, 4, low=0.5, high=2), scalar(exponent)], constants=[1],
                          grad=[0], note=f"x^{exponent}"))
    cases.append(Case("Pow", [f(3, 4), scalar(3)], constants=[1], grad=[0], note="x^3"))
    cases.append(Case("Pow", [f(3, 4), scalar(2, np.int64)], constants=[1], grad=[0]))
    cases.append(Case("Pow", [i(3, 4), scalar(3, np.int64)], constants=[1]))
    cases.append(Case("Pow", [np.array([-1.5, -0.5, -2, -3, 0, 0, -2], np.float32),
                              np.array([0, 1, 2, 3, 0, 2, -3], np.float32)], note="signs"))
    cases.append(Case("Pow", [f(3, low=-2, high=-1), scalar(0.3)], note="not a number"))
    zeros, powers = np.array([-0.0, 0.0], np.float32), np.array([-3, -2, -1, -0.5, 0.5, 1, 2, 3])
    cases.append(Case("Pow", [np.repeat(zeros, 8), np.tile(powers, 2).astype(np.float32)],
                      note="signs of zero"))
    cases.append(Case("Pow", [zeros, scalar(-1)], constants=[1], note="signs of zero"))
    return cases


def unary():
    cases = []
    ranges = {"Log": (0.1, 9), "Sqrt": (0.1, 9), "Reciprocal": (0.3, 3), "Exp": (-8, 8),
              "Sin": (-20, 20), "Cos": (-20, 20), "HardSigmoid": (-2.4, 2.4)}
    smooth = ("Relu", "Tanh", "Sigmoid", "Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "Erf",
              "Sin", "Cos", "Softplus", "LeakyRelu", "Elu", "HardSigmoid", "Identity")
    for op in smooth:
        for shape in ((7,), (2, 3, 4), (), (1, 1)):
            x = f(*shape, low=ranges.get(op, (-4, 4))[0], high=ranges.get(op, (-4, 4))[1])
            cases.append(Case(op, [x], grad=[0], by=erf if op == "Erf" else None))
    for op in ("Sin", "Cos"):
        cases.append(Case(op, [f(200, low=-1e5, high=1e5)], note="many turns"))
        cases.append(Case(op, [np.array([np.nan, np.inf, -np.inf, 0], np.float32)]))
        # Every power of two, and floats near multiples of a quarter turn.
        huge = rng.uniform(1, 2, 520) * rng.choice([-1, 1], 520) * 2.0 ** (np.arange(520) % 128)
        near = [1e9, 1e15, 1e18, 3.4e38, 2**27, 2**61, 2**95, 16367173 * 2.0**72, 13176795 * 2.0**-24]
        cases.append(Case(op, [np.array([*huge, *near], np.float32)], note="all magnitudes"))
    for op in ("LeakyRelu", "Elu", "HardSigmoid"):
        cases.append(Case(op, [f(9)], {"alpha": 0.3}, grad=[0]))
    edges = np.array([-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 1e9, -np.inf, np.nan], np.float32)
    for op in ("Floor", "Ceil", "Sign", "Round"):
        cases.append(Case(op, [edges]))
        cases.append(Case(op, [f(3, 4, low=-9, high=9)]))
    denormal = np.array([1e-40, -1e-40, 0, np.nan], np.float32)
    cases.append(Case("Sign", [denormal], by=lambda x: np.where(np.isnan(x), x, 0),
                      note="denormals are zero"))
    for op in ("Neg", "Abs", "Sign", "Relu"):
        cases.append(Case(op, [i(3, 4)]))
    tails = np.array([-100, -30, -10, 10, 30, 80], np.float32)
    for op in ("Sigmoid", "Tanh", "Softplus", "Erf"):
        cases.append(Case(op, [tails], note="tails"))
    for form in ("none", "tanh"):
        for shape in ((50,), (2, 3, 4)):
            cases.append(Case("Gelu", [f(*shape, low=-5, high=5)], {"approximate": form}, opset=20,
                              grad=[0], by=gelu if form == "none" else None))
    return cases


def logic():
    cases = []
    for a, b in PAIRS:
        for op in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"):
            cases.append(Case(op, [i(*a, low=0, high=3), i(*b, low=0, high=3)]))
            cases.append(Case(op, [i(*a, low=0, high=3).astype(np.float32),
                                   i(*b, low=0, high=3).astype(np.float32)]))
        for op in ("And", "Or", "Xor"):
            cases.append(Case(op, [i(*a, low=0, high=2) > 0, i(*b, low=0, high=2) > 0]))
        cases.append(Case("Where", [i(*a, low=0, high=2) > 0, f(*b), f(*a)], grad=[1, 2]))
        cases.append(Case("Where", [i(*a, low=0, high=2) > 0, f(*b), scalar(0)], constants=[2],
                          grad=[1]))
    edges = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    cases += [Case("Not", [i(3, 4, low=0, high=2) > 0]), Case("IsNaN", [edges], opset=20),
              Case("IsInf", [edges], opset=20),
              Case("IsInf", [edges], {"detect_negative": 0}, opset=20),
              Case("IsInf", [edges], {"detect_positive": 0}, opset=20)]
    return cases


def reductions():
    cases = []
    smooth = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare")
    for op in smooth + ("ReduceProd",):
        opset = 13 if op == "ReduceSum" else 18
        for shape, axes in (((4, 5), [1]), ((4, 5), [0]), ((2, 3, 4), [-1, 0]), ((2, 3, 4), [1]),
                            ((2, 1, 4), [1]), ((70, 3), [0]), ((3, 70), [-1]), ((5,), [0])):
            for keepdims in (0, 1):
                cases.append(Case(op, [f(*shape), np.array(axes, np.int64)],
                                  {"keepdims": keepdims}, opset=opset, constants=[1],
                                  grad=[0] if op in smooth else None, note=f"axes={axes}"))
        cases.append(Case(op, [f(2, 3)], {"keepdims": 0}, opset=18,
                          grad=[0] if op in smooth else None))
        cases.append(Case(op, [f(2, 3), np.array([], np.int64)], {"noop_with_empty_axes": 1},
                          opset=18, constants=[1],
                          grad=[0] if op in smooth else None) if op != "ReduceProd" else
                     Case(op, [f(2, 3)], opset=18))
        if op != "ReduceSum":
            cases.append(Case(op, [f(2, 3, 4)], {"axes": [1, -1]}, opset=13,
                              grad=[0] if op in smooth else None))
    # Sums across many rows, which blocks of a GPU divide: the last of the chunks is not full.
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp"):
        for shape, axes in (((1030, 40), [0]), ((2, 3, 260, 5), [0, 2]), ((512, 3), [0])):
            cases.append(Case(op, [f(*shape), np.array(axes, np.int64)], {"keepdims": 0},
                              opset=13 if op == "ReduceSum" else 18, constants=[1], tol=1e-5,
                              note=f"axes={axes}"))
    for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"):
        cases.append(Case(op, [i(3, 4), np.array([1], np.int64)], constants=[1], opset=18))
    return cases


def rows():
    cases = []
    for op in ("Softmax", "LogSoftmax"):
        for shape, axis in (((4, 5), -1), ((4, 5), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((7,), 0),
                            ((3, 1), -1), ((2, 2, 2, 33), 3)):
            cases.append(Case(op, [f(*shape) * 3], {"axis": axis}, grad=[0]))
        cases.append(Case(op, [f(3, 5) * 100], note="large"))
        cases.append(Case(op, [f(520, 40)], {"axis": 0}, tol=1e-5))  # sums depend on the maximum
    for shape, axis in (((4, 8), -1), ((2, 3, 8), -1), ((2, 3, 8), 1), ((2, 3, 4, 5), -2),
                        ((6, 1), -1)):
        tail = shape[axis:]
        for eps in (1e-5, 0.1):
            attrs = {"axis": axis, "epsilon": eps}
            ins = [f(*shape), f(*tail), f(*tail)]
            cases.append(Case("LayerNormalization", ins, attrs, grad=[0, 1, 2]))
            cases.append(Case("LayerNormalization", ins[:2], attrs, grad=[0, 1]))
            cases.append(Case("RMSNormalization", ins[:2], attrs, opset=23, grad=[0, 1]))
    cases.append(Case("LayerNormalization", [f(2, 3, 4), f(4), f(1)], grad=[0, 1, 2]))
    cases.append(Case("LayerNormalization", [f(2, 3, 4), f(4), f(4)], outputs=3))
    cases.append(Case("LayerNormalization", [f(2, 3, 4) + 1000, f(4), f(4)], tol=3e-3,
                      note="large mean"))
    return cases


def losses():
    cases = []
    for scores, labels in (((6, 5), (6,)), ((2, 5, 3), (2, 3)), ((1, 4), (1,)),
                           ((2, 3, 2, 2), (2, 2, 2))):
        classes = scores[1]
        target = i(*labels, low=0, high=classes)
        ignored = target.copy()
        ignored.flat[0] = -100
        inside = target.copy()
        inside.flat[0] = 1
        for reduction in ("mean", "sum", "none"):
            for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
                attrs = {"reduction": reduction}
                cases.append(Case(op, [f(*scores), target], attrs, opset=13, grad=[0]))
                cases.append(Case(op, [f(*scores), target.astype(np.int32), f(
                    classes, low=0.2, high=2)], attrs, opset=13, grad=[0], constants=[2],
                    note="weights"))
                if target.size > 1:
                    cases.append(Case(op, [f(*scores), ignored], {**attrs, "ignore_index": -100},
                                      opset=13, grad=[0]))
                    cases.append(Case(op, [f(*scores), inside, f(classes, low=0.2, high=2)],
                                      {**attrs, "ignore_index": int(target.flat[-1])}, opset=13,
                                      grad=[0], constants=[2], note="weights"))
        cases.append(Case("SoftmaxCrossEntropyLoss", [f(*scores), target], {"reduction": "mean"},
                          opset=13, outputs=2, grad=[0], note="log_prob"))
    cases.append(Case("SoftmaxCrossEntropyLoss", [f(3, 5) * 100, i(3, low=0, high=5)], opset=13,
                      grad=[0], note="large"))
    return cases


def cases():
    return (binary() + unary() + logic() + reductions() + rows()
            + losses())
