"""Cases of related operators: other forms, other reductions."""

import numpy as np
from onnx import helper

from harness import Case

rng = np.random.default_rng(11)


def f(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape)


def ints(*values):
    return np.array(values, np.int64)


def clips():
    low, high = np.array(-0.5), np.array(0.7)
    yield Case("Clip", [f(4, 5), low, high], constants=[1, 2], grad=[0])
    yield Case("Clip", [f(4, 5), low, high], grad=[0, 1, 2])
    yield Case("Clip", [f(4, 5), high, low], grad=[0, 1, 2], note="bounds crossed")
    yield Case("Clip", [f(3, 2), None, high], grad=[0, 2])
    yield Case("Clip", [f(3, 2), low], grad=[0, 1])
    yield Case("Clip", [f(3)], grad=[0])
    yield Case("Mod", [f(3, 4, low=1, high=9), f(4, low=1.1, high=1.9)], {"fmod": 1}, grad=[0, 1])
    yield Case("Mod", [f(3, 4), f(4, low=0.7, high=0.9)], {"fmod": 1}, grad=[0, 1])


def selections():
    for axis, largest, shape in ((-1, 1, (3, 7)), (0, 1, (6, 2)), (1, 0, (2, 5, 3))):
        yield Case("TopK", [f(*shape), ints(3)], {"axis": axis, "largest": largest}, outputs=2,
                   constants=[1], grad=[0])
    yield Case("TopK", [np.array([2., 1., 2., 0., 2.]), ints(4)], outputs=2, constants=[1],
               note="ties")
    yield Case("TopK", [f(2, 3), ints(0)], outputs=2, constants=[1], opset=18, grad=[0])
    for op in ("ArgMax", "ArgMin"):
        for keepdims in (0, 1):
            yield Case(op, [f(3, 4, 2)], {"axis": -2, "keepdims": keepdims})
        yield Case(op, [np.array([[1., 3., 3.], [2., 2., 0.]])],
                   {"axis": 1, "select_last_index": 1})
    yield Case("Hardmax", [f(3, 5)])
    yield Case("Hardmax", [f(3, 5)], {"axis": 0})


def running():
    data = f(2, 4, 3)
    data[0, 1, 2] = data[1, 3, 0] = data[1, 2, 0] = 0
    for exclusive in (0, 1):
        for reverse in (0, 1):
            attrs = {"exclusive": exclusive, "reverse": reverse}
            yield Case("CumProd", [data, np.array(1)], attrs, opset=26, constants=[1], grad=[0],
                       by=lambda x, _, e=exclusive, r=reverse: running_product(x, 1, e, r))
    yield Case("CumProd", [f(4), np.array(-1)], opset=26, constants=[1], grad=[0],
               by=lambda x, _: np.cumprod(x))
    zeros = f(3, 4)
    zeros[0, 1] = zeros[2, 0] = zeros[2, 3] = 0
    for axes in ((1,), (0,), (0, 1), (-1,)):
        yield Case("ReduceProd", [zeros, ints(*axes)], {"keepdims": 0}, constants=[1], grad=[0])
    yield Case("ReduceProd", [f(2, 3, 4), ints(0, 2)], constants=[1], grad=[0])


def running_product(x, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    if exclusive:
        first = np.ones_like(np.take(x, [0], axis))
        x = np.concatenate([first, np.delete(x, -1, axis)], axis)
    x = np.cumprod(x, axis)
    return np.flip(x, axis) if reverse else x


def reductions():
    for op in ("ReduceL1", "ReduceLogSum", "ReduceLogSumExp"):
        low = 0.1 if op == "ReduceLogSum" else -2
        for shape, axes in (((4, 5), (1,)), ((2, 3, 4), (-1, 0)), ((70, 3), (0,)), ((2, 1, 4), (1,))):
            for keepdims in (0, 1):
                yield Case(op, [f(*shape, low=low), ints(*axes)], {"keepdims": keepdims},
                           constants=[1], grad=[0])
    yield Case("ReduceLogSumExp", [f(3, 4) * 500], {"keepdims": 0}, note="large")


def pads():
    for mode, opset in (("reflect", 18), ("edge", 18), ("wrap", 19)):
        yield Case("Pad", [f(3, 4), ints(1, 3, 2, 2)], {"mode": mode}, opset=opset, constants=[1],
                   grad=[0])
        yield Case("Pad", [f(3, 4, 2), ints(2, 0), None, ints(-2)], {"mode": mode}, opset=opset,
                   constants=[1, 3], grad=[0])
    yield Case("Pad", [f(3, 4), ints(1, 0, 0, 2), np.array(0.5)], constants=[1], grad=[0, 2])


def einsums():
    for equation, *shapes in (
            ("ij->", (2, 3)), ("ij->ji", (2, 3)), ("ijk->ik", (2, 3, 4)), ("ii->i", (3, 3)),
            ("ii", (3, 3)), ("...ii->...i", (2, 3, 3)), ("bii,i->b", (2, 3, 3), (3,)),
            ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 2)), ("...ij,jk", (2, 3, 4), (4, 2)),
            ("...,...->...", (2, 3), (1, 3)), ("i...,j->...ij", (2, 3), (4,)),
            ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), ("i,i,i->i", (3,), (3,), (3,)),
            ("a,b,c,d->abcd", (2,), (1,), (3,), (2,)), ("...a,...a->...", (2, 1, 3), (2, 4, 3)),
            ("i,->i", (3,), ()),
            # An index of one element in an operand is broadcast, whichever operand that is.
            ("bij,bjk->bik", (1, 2, 3), (4, 3, 2)), ("bij,bjk->bik", (4, 2, 3), (1, 3, 2)),
            ("ij,ij->ij", (2, 1), (2, 3)), ("ij,ij->i", (2, 1), (2, 3)),
            ("ij,jk->ik", (2, 1), (3, 4)), ("ij,ji->i", (1, 3), (1, 3)),
            ("...ij,...jk->...ik", (1, 2, 3), (4, 3, 2)),
            ("bij,bjk,bkl->bil", (1, 2, 3), (4, 3, 2), (1, 2, 2)), ("ij,ij", (1, 3), (2, 3))):
        yield Case("Einsum", [f(*shape) for shape in shapes], {"equation": equation},
                   grad=range(len(shapes)), note=equation)
    yield Case("Einsum", [f(1, 3), f(3)], {"equation": "ii,i->i"},
               fails="index 'i' has extents 1 and 3 in one operand")


def functions():
    ranges = {"Tan": (-1, 1), "Asin": (-0.9, 0.9), "Acos": (-0.9, 0.9), "Acosh": (1.2, 5),
              "Atanh": (-0.9, 0.9)}
    for op in ("Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"):
        low, high = ranges.get(op, (-3, 3))
        # MLIR's polynomial of Atan is the least accurate one.
        yield Case(op, [f(40, low=low, high=high)], grad=[0], opset=22,
                   tol=3e-6 if op == "Atan" else 1e-6)
    for op, opset in (("HardSwish", 14), ("Mish", 22), ("Celu", 28), ("Selu", 6), ("Softsign", 1),
                      ("ThresholdedRelu", 10)):
        yield Case(op, [f(30, low=-4, high=4)], grad=[0], opset=max(opset, 15))
    for op, opset in (("Shrink", 9), ("Swish", 24)):
        yield Case(op, [f(30, low=-4, high=4)], grad=[0], opset=max(opset, 22))
    yield Case("PRelu", [f(3, 4), f(4)], grad=[0, 1], opset=16)


def images():
    yield Case("SpaceToDepth", [f(2, 3, 4, 6)], {"blocksize": 2}, grad=[0])
    for mode in ("DCR", "CRD"):
        yield Case("DepthToSpace", [f(2, 8, 2, 3)], {"blocksize": 2, "mode": mode}, grad=[0])
    for k in (0, 1, -2):
        yield Case("EyeLike", [f(3, 4)], {"k": k}, opset=22)
    yield Case("InstanceNormalization", [f(2, 3, 4, 2), f(3), f(3)], grad=[0, 1, 2])
    for p in (1, 2):
        # onnx.reference ignores the magnitude for p = 1.
        yield Case("LpNormalization", [f(3, 4)], {"axis": 0, "p": p}, grad=[0], opset=22,
                   by=lambda x, p=p: x / np.linalg.norm(x, p, 0))
    # The function's body computes in float32, which is too coarse for central differences.
    yield Case("GroupNormalization", [f(2, 4, 3), f(4), f(4)], {"num_groups": 2}, opset=21,
               grad=[0, 1, 2], grad_tol=1e-5, by=group_norm)
    yield Case("MeanVarianceNormalization", [f(2, 3, 2, 2)], by=lambda x: (
        x - x.mean((0, 2, 3), keepdims=True)) / (x.std((0, 2, 3), keepdims=True) + 1e-9))


def group_norm(x, scale, bias):
    groups = x.reshape(2, 2, 6)
    mean, deviation = groups.mean(2, keepdims=True), np.sqrt(groups.var(2, keepdims=True) + 1e-5)
    normal = ((groups - mean) / deviation).reshape(x.shape)
    return normal * scale[:, None] + bias[:, None]


def statistics():
    for outputs in (2, 3):
        yield Case("LayerNormalization", [f(2, 3, 4), f(4), f(4)], outputs=outputs,
                   grad=[0, 1, 2], grad_tol=1e-5)
    yield Case("LayerNormalization", [f(2, 3, 4), f(3, 4)], {"axis": 1}, outputs=3, grad=[0, 1],
               grad_tol=1e-5, note="statistics are float32")


def scatters():
    """Includes several updates of one element and, for products, zeros. Ties of max and min have no
    central difference: see check_scatter_ties.py."""
    index = np.array([[1, 0], [3, 1]])
    repeated = np.array([[1, 1, 3], [1, 1, 1], [0, 2, 2]])
    rows = ints(2, 0, 1)[:, None]
    for reduction in ("none", "add", "mul", "max", "min"):
        attrs = {"axis": 1, "reduction": reduction}
        yield Case("ScatterElements", [f(3, 4), index, f(2, 2)], attrs, grad=[0, 2])
        yield Case("ScatterND", [f(4, 3), rows, f(3, 3)], {"reduction": reduction}, grad=[0, 2])
        if reduction == "none":
            continue
        yield Case("ScatterElements", [f(3, 4), repeated, f(3, 3)], attrs, grad=[0, 2])
        yield Case("ScatterElements", [f(4, 3), repeated, f(3, 3)], attrs | {"axis": 0}, grad=[2])
        yield Case("ScatterND", [f(4, 3), ints(2, 0, 2)[:, None], f(3, 3)],
                   {"reduction": reduction}, grad=[0, 2])
    product = {"axis": 1, "reduction": "mul"}
    for zeros in ([0], [0, 1], [0, 1, 3, 8], range(9)):
        updates = f(3, 3)
        updates.flat[list(zeros)] = 0
        yield Case("ScatterElements", [f(3, 4), repeated, updates], product, grad=[0, 2],
                   note=f"zeros {list(zeros)}")
        data = f(3, 4)
        data[0, 1] = data[2, 2] = 0
        yield Case("ScatterElements", [data, repeated, updates], product, grad=[0, 2],
                   note=f"zeros in both {list(zeros)}")


def bits():
    a, b = rng.integers(0, 200, (2, 3, 4))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Case(op, [a, b[0]])
    yield Case("BitwiseNot", [a])
    for direction in ("LEFT", "RIGHT"):
        yield Case("BitShift", [a.astype(np.uint32), (b % 9).astype(np.uint32)],
                   {"direction": direction})
    for to, x in ((np.float64, rng.standard_normal(20).view(np.int64)),
                  (np.uint8, np.arange(-9, 9, dtype=np.int8))):
        yield Case("BitCast", [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))}, opset=26,
                   by=lambda x, to=to: x.view(to))
    yield Case("Pow", [rng.integers(-5, 6, 20), rng.integers(0, 12, 20)],
               by=lambda x, y: np.power(x, y))


def cases():
    for group in (clips, selections, running, reductions, pads, einsums, functions, images,
                  statistics, scatters, bits):
        yield from group()
