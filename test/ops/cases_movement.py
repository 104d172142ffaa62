"""Cases of data movement, products and attention."""

import numpy as np
from onnx import helper

from harness import Case

rng = np.random.default_rng(7)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def f64(*shape):
    return rng.standard_normal(shape)


def ints(*values, shape=None):
    return np.array(values, np.int64).reshape(shape if shape is not None else -1)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


I64_MAX, I64_MIN = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def views():
    x = f64(2, 3, 4)
    yield Case("Reshape", [x, ints(4, -1)], constants=(1,), grad=(0,))
    yield Case("Reshape", [x, ints(0, 2, 6)], constants=(1,), grad=(0,))
    yield Case("Reshape", [x, ints(2, -1)], {"allowzero": 1}, constants=(1,))
    yield Case("Reshape", [x, ints(24)], constants=(1,), grad=(0,))
    yield Case("Reshape", [f64(1, 1), np.zeros(0, np.int64)], constants=(1,), grad=(0,))
    yield Case("Reshape", [f64(), ints(1, 1, 1)], constants=(1,), grad=(0,))
    yield Case("Reshape", [f64(1), ints(1, 1)], constants=(1,))
    yield Case("Squeeze", [f64(1, 3, 1, 2)], grad=(0,))
    yield Case("Squeeze", [f64(1, 3, 1, 2), ints(-2)], constants=(1,), grad=(0,))
    yield Case("Unsqueeze", [f64(3, 2), ints(0, -1)], constants=(1,), grad=(0,))
    yield Case("Flatten", [x], {"axis": 2}, grad=(0,))
    yield Case("Flatten", [x], {"axis": 0}, grad=(0,))
    yield Case("Flatten", [x], {"axis": -1})
    yield Case("Identity", [x], grad=(0,))
    yield Case("Dropout", [x, scalar(0.5, np.float32), scalar(False, bool)], constants=(1, 2),
               grad=(0,))
    yield Case("Dropout", [x, scalar(0.0, np.float32), scalar(True, bool)], constants=(1, 2),
               outputs=2, by=lambda x, *_: [x, np.ones(x.shape, bool)])
    yield Case("Transpose", [x], {"perm": [2, 0, 1]}, grad=(0,))
    yield Case("Transpose", [x], grad=(0,))
    yield Case("Transpose", [f32(3, 2) > 0])


def joins():
    yield Case("Concat", [f64(2, 3), f64(2, 1), f64(2, 4)], {"axis": 1}, grad=(0, 1, 2))
    yield Case("Concat", [f64(2, 3), f64(1, 3)], {"axis": -2}, grad=(0,))
    yield Case("Concat", [ints(1), ints(2, 3)], {"axis": 0})
    # More operands than one kernel accepts.
    yield Case("Concat", [f64(2, 1 + i % 2) for i in range(70)], {"axis": 1}, grad=(0, 69))
    yield Case("Split", [f64(1100, 2)], {"axis": 0, "num_outputs": 1100}, outputs=1100)
    yield Case("Split", [f64(2, 40)], {"axis": 1, "num_outputs": 40}, outputs=40, grad=(0,))
    yield Case("Split", [f64(7, 2)], {"axis": 0, "num_outputs": 3}, outputs=3, grad=(0,))
    yield Case("Split", [f64(2, 6), ints(1, 2, 3)], {"axis": -1}, constants=(1,), outputs=3,
               grad=(0,))
    x = f64(5, 6)

    def cut(*ints_, x=x):
        return Case("Slice", [x, *map(lambda v: ints(*v), ints_)], constants=(1, 2, 3, 4),
                    grad=(0,))

    yield cut((1, 2), (4, 5))
    yield cut((1,), (I64_MAX,), (1,))
    yield cut((-3,), (-1,), (-1,))
    yield cut((-100,), (100,), (0,), (2,))
    yield cut((0, 1), (I64_MAX, I64_MAX), (0, 1), (2, 3))
    yield cut((-1,), (I64_MIN,), (1,), (-1,))
    yield cut((100, 4), (-100, 0), (0, 1), (-2, -3))
    yield cut((4,), (-6,), (0,), (-4,))
    yield Case("Slice", [ints(3, 4, 5), ints(I64_MIN), ints(-2)], constants=(1, 2))
    yield cut((3,), (4,), (0,), (I64_MAX,))


def pads():
    x = f64(3, 4)
    yield Case("Pad", [x, ints(1, 0, 0, 2)], constants=(1,), grad=(0,))
    yield Case("Pad", [x, ints(1, 0, 0, 2), scalar(1.5, np.float64)], constants=(1,), grad=(0,))
    yield Case("Pad", [x, ints(-1, 2, 1, -1)], constants=(1,), grad=(0,),
               by=lambda x, _: [np.pad(x[1:, :-1], ((0, 1), (2, 0)))])
    yield Case("Pad", [x, ints(2, 1), None, ints(-1)], constants=(1, 3), grad=(0,))
    yield Case("Pad", [ints(*range(8), shape=(2, 4)), ints(0, 0, 0, 1), scalar(-100)],
               {"mode": "constant"}, constants=(1, 2))
    yield Case("Pad", [x, ints(1, 3, 2, 2)], {"mode": "reflect"}, constants=(1,))
    yield Case("Pad", [x, ints(1, 3, 2, 2)], {"mode": "edge"}, constants=(1,))
    yield Case("Pad", [x, ints(1, 3, 2, 2)], {"mode": "wrap"}, constants=(1,), opset=19)
    yield Case("Expand", [f64(3, 1), ints(2, 1, 4)], constants=(1,), grad=(0,))
    yield Case("Expand", [f64(3, 4), ints(1)], constants=(1,), grad=(0,))
    yield Case("Expand", [f64(1), ints(1)], constants=(1,), grad=(0,))
    yield Case("Expand", [f64(), ints(2, 3)], constants=(1,), grad=(0,))
    yield Case("Tile", [f64(2, 3), ints(3, 2)], constants=(1,), grad=(0,))
    yield Case("Tile", [f64(2, 1), ints(1, 4)], constants=(1,), grad=(0,))
    yield Case("Trilu", [f64(2, 4, 5)], grad=(0,))
    yield Case("Trilu", [f64(4, 5), scalar(-1)], {"upper": 0}, constants=(1,), grad=(0,))
    yield Case("Trilu", [f32(4, 4) > 0, scalar(1)], constants=(1,))


def conversions():
    x = np.array([-2.7, -0.0, 0.0, 0.3, 1.9, 300.0], np.float32)
    yield Case("Cast", [x.astype(np.float64)], {"to": 11}, grad=(0,))
    for to in (7, 6, 9, 11, 10):
        yield Case("Cast", [x], {"to": to})
    yield Case("Cast", [np.array([np.nan, 0, np.inf], np.float32)], {"to": 9})
    yield Case("Cast", [ints(-3, 0, 5, 2**40)], {"to": 9})
    yield Case("Cast", [ints(-3, 0, 5, 2**33 + 1)], {"to": 6})
    yield Case("Cast", [ints(-3, 0, 5)], {"to": 1})
    yield Case("Cast", [np.array([True, False])], {"to": 1})
    yield Case("Cast", [np.array([True, False])], {"to": 7})
    yield Case("Cast", [np.array([-3, 7], np.int32)], {"to": 7})
    yield Case("Cast", [x.astype(np.float16)], {"to": 1})
    yield Case("CastLike", [x, ints(1)])
    yield Case("CastLike", [x.astype(np.float64), np.zeros(1)], grad=(0,))
    yield Case("Shape", [f32(2, 3, 4)])
    yield Case("Shape", [f32(2, 3, 4)], {"start": -2, "end": 100})
    yield Case("Size", [f32(2, 3, 4)])
    yield Case("ConstantOfShape", [ints(2, 3)], {"value": ints(7)}, constants=(0,))
    yield Case("ConstantOfShape", [ints(2, 3)], {"value": np.array([True])}, constants=(0,))
    yield Case("ConstantOfShape", [ints(4)], constants=(0,))
    yield Case("Range", [scalar(2), scalar(11), scalar(3)], constants=(0, 1, 2))
    yield Case("Range", [scalar(5), scalar(0), scalar(-2)], constants=(0, 1, 2))
    yield Case("Range", [scalar(0.5, np.float32), scalar(2.0, np.float32),
                         scalar(0.25, np.float32)], constants=(0, 1, 2))
    for exclusive in (0, 1):
        for reverse in (0, 1):
            yield Case("CumSum", [f64(3, 4), scalar(-1)],
                       {"exclusive": exclusive, "reverse": reverse}, constants=(1,), grad=(0,))
    yield Case("CumSum", [f64(3, 2, 2), scalar(0)], constants=(1,), grad=(0,))
    yield Case("CumSum", [ints(*range(6), shape=(2, 3)), scalar(1)], constants=(1,))
    yield Case("OneHot", [ints(1, -1, 3, 9), scalar(4), np.array([0.5, 2], np.float32)],
               constants=(1,), by=lambda *_: [np.array(
                   [[.5, 2, .5, .5], [.5, .5, .5, 2], [.5, .5, .5, 2], [.5] * 4], np.float32)])
    yield Case("OneHot", [ints(1, -1, 3, 9), scalar(4), np.array([0.5, 2], np.float32)],
               constants=(0, 1), grad=[2])
    yield Case("OneHot", [ints(1, 0, 2), scalar(3), ints(0, 1)], {"axis": 0}, constants=(1,))


def gathers():
    data = f64(4, 3, 2)
    for constant in ((), (1,)):
        yield Case("Gather", [data, ints(1, -1, 0, 1, 3, 1, shape=(2, 3))], constants=constant,
                   grad=(0,))
        yield Case("Gather", [data, ints(2, 0, -3)], {"axis": 1}, constants=constant, grad=(0,))
        yield Case("Gather", [data, scalar(1)], {"axis": -1}, constants=constant, grad=(0,))
        for axis in (0, 1):
            yield Case("GatherElements", [f64(3, 3), ints(0, -1, 1, 1, 2, 1, shape=(2, 3))],
                       {"axis": axis}, constants=constant, grad=(0,),
                       by=lambda x, i, axis=axis: [np.take_along_axis(x[:2 + (axis == 0)], i, axis)])
        yield Case("GatherND", [data, ints(0, 1, 3, 2, 0, 1, shape=(3, 2))], constants=constant,
                   grad=(0,))
        yield Case("GatherND", [data, ints(0, 1, 1, 3, -1, 1, shape=(2, 1, 3))], constants=constant,
                   grad=(0,))
        yield Case("GatherND", [f64(2, 3, 4), ints(0, 1, 1, 1, shape=(2, 2, 1))],
                   {"batch_dims": 1}, constants=constant, grad=(0,))
        yield Case("GatherND", [f64(2, 3, 4), ints(0, 1, 2, 0, 3, 1, shape=(2, 3, 1))],
                   {"batch_dims": 2}, constants=constant, grad=(0,))
        yield Case("ScatterElements", [f64(3, 4), ints(1, 0, 3, 2, shape=(2, 2)), f64(2, 2)],
                   {"axis": 1}, constants=constant, grad=(0, 2))
        yield Case("ScatterElements", [f64(3, 4), ints(1, 1, -1, 2, shape=(2, 2)), f64(2, 2)],
                   {"axis": 1, "reduction": "add"}, constants=constant, grad=(0, 2))
        yield Case("ScatterND", [data, ints(2, 0, shape=(2, 1)), f64(2, 3, 2)], constants=constant,
                   grad=(0, 2))
        yield Case("ScatterND", [data, ints(2, 0, 2, 0, shape=(2, 2)), f64(2, 2)],
                   {"reduction": "add"}, constants=constant, grad=(0, 2))
    yield Case("Gather", [np.array([True, False, True]), ints(2, 1)])
    yield Case("Gather", [ints(5, 6, 7), np.array([2, -3], np.int32)])
    outside = dict(fails="outside")
    yield Case("Gather", [f32(4, 2), ints(0, 4)], by=lambda *_: [f32(2, 2)], **outside)
    yield Case("Gather", [f32(4, 2), ints(-5, 0)], by=lambda *_: [f32(2, 2)], **outside)
    yield Case("GatherND", [f32(4, 2), ints(0, 2, shape=(1, 2))], by=lambda *_: [f32(1)], **outside)
    yield Case("GatherElements", [f32(4), ints(7)], by=lambda *_: [f32(1)], **outside)


def products():
    for a, b in [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
                 ((2, 1, 3, 4), (3, 4, 2)), ((1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)),
                 ((4,), (4,)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 3, 4), (4,)),
                 ((4,), (2, 4, 3)), ((2, 3, 1, 4), (1, 1, 4, 2)), ((2, 2, 3, 4), (2, 2, 4, 3)),
                 ((2, 1, 3, 4), (1, 3, 4, 2)), ((1, 1), (1, 1))]:
        yield Case("MatMul", [f64(*a), f64(*b)], grad=(0, 1), grad_tol=1e-6)
    yield Case("MatMul", [ints(*range(6), shape=(2, 3)), ints(*range(6), shape=(3, 2))])
    yield Case("MatMul", [f32(8, 33), f32(33, 9)])
    for trans in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        a = f64(4, 3) if trans[0] else f64(3, 4)
        b = f64(5, 4) if trans[1] else f64(4, 5)
        flags = {"transA": trans[0], "transB": trans[1]}
        yield Case("Gemm", [a, b, f64(5)], flags, grad=(0, 1, 2), grad_tol=1e-6)
        yield Case("Gemm", [a, b, f64(1, 5)], {"alpha": 0.5, "beta": 2.0, **flags},
                   grad=(0, 1, 2), grad_tol=1e-6)
    a, b = f64(3, 4), f64(4, 5)
    for c in [(), (1,), (3, 1), (3, 5), (1, 5)]:
        yield Case("Gemm", [a, b, f64(*c)], grad=(2,), grad_tol=1e-6)
    yield Case("Gemm", [a, b], grad=(0,), grad_tol=1e-6)
    yield Case("Gemm", [a, b, np.full(5, np.nan)], {"beta": 0.0}, grad=(0,), grad_tol=1e-6,
               by=lambda x, y, _: x @ y, note="C is not read")
    yield Case("Gemm", [a, b, None], {"alpha": 0.25}, grad=(0, 1), grad_tol=1e-6)
    for equation, a, b in [("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("i,j->ij", (3,), (4,)),
                           ("bhqd,bkhd->bhqk", (2, 2, 3, 4), (2, 5, 2, 4)),
                           ("ij,kj", (2, 3), (4, 3)), ("ij,ij->", (2, 3), (2, 3)),
                           # The batch is the innermost dimension of all sides, or of one, and of
                           # products of vectors.
                           ("bixy,ioxy->boxy", (2, 3, 2, 3), (3, 4, 2, 3)),
                           ("ibu,bio->obu", (3, 2, 1), (2, 3, 4)), ("bix,ix->bx", (2, 3, 5), (3, 5))]:
        yield Case("Einsum", [f64(*a), f64(*b)], {"equation": equation}, grad=(0, 1),
                   grad_tol=1e-6)


def causal_and_padded(q, k, v, shown):
    """Computes in numpy, because the reference takes the number of queries from the mask."""
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
    shown = shown & np.tri(*scores.shape[2:], dtype=bool)
    weights = np.exp(scores) * shown
    return weights / weights.sum(3, keepdims=True) @ v


def attention_forms():
    """Operands, attributes and options of Attention."""
    q, k, v = f64(2, 4, 3, 4), f64(2, 4, 5, 4), f64(2, 4, 5, 2)
    yield [q, k, v], {}, {}
    yield [q, k, v], {"scale": 0.7}, {}
    yield [q, k, v], {"is_causal": 1}, {}
    yield [q, k[:, :2], v[:, :2]], {}, {}
    yield [q, k, v, f64(3, 5)], {}, {"grad": (0, 1, 2, 3)}
    yield [q, k, v, f64(2, 1, 1, 5)], {}, {"grad": (0, 1, 2, 3)}
    mask = rng.random((2, 1, 3, 5)) > 0.4
    mask[0, 0, 1] = False
    yield [q, k, v, mask], {}, {}
    yield [q, k, v, mask], {"is_causal": 1}, {}
    shown = np.array([[1, 0, 1, 1, 1], [1, 1, 1, 0, 0]], bool).reshape(2, 1, 1, 5)
    yield [q, k, v, shown], {}, {}
    yield [q, k, v, shown], {"is_causal": 1}, {"by": causal_and_padded}
    yield [q, k, v, rng.random((1, 4, 3, 5)) > 0.4], {}, {"note": "a mask for each head"}
    yield [q, k, v, np.ones((3, 5), bool)], {}, {"constants": (3,)}
    yield [q, k, v, np.where(mask, 0, -np.inf)], {}, {}
    yield [q, k, v, f64(3, 5)], {"is_causal": 1}, {}
    yield [q, k, v, None, f64(2, 4, 3, 4), f64(2, 4, 3, 2)], {"is_causal": 1}, {"note": "a cache"}
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    yield [f64(2, 3, 8), f64(2, 5, 4), f64(2, 5, 6)], heads, {"note": "rows"}
    split = helper.make_node("Split", ["x0", "x1"], ["q", "k", "v"], axis=2)
    packed = {"before": (split,), "reads": ("q", "k", "v"), "constants": (1,), "grad": (0,)}
    yield ([f64(2, 3, 18), np.array([8, 4, 6])], {**heads, "is_causal": 1},
           {**packed, "note": "parts of a row"})
    yield [f64(2, 40, 24), np.array([8, 8, 8])], {"q_num_heads": 2, "kv_num_heads": 2}, {
        **packed, "note": "more rows than a tile has"}


def attention():
    for operands, attrs, options in attention_forms():
        options = {"opset": 23, "grad": (0, 1, 2), "grad_tol": 1e-6, **options}
        yield Case("Attention", operands, attrs, **options)
        # In float32 the library computes it.
        yield Case("Attention", operands, attrs, **{**options, "single": True, "grad_tol": 1e-5})


def cases():
    for group in (views, joins, pads, conversions, gathers, products, attention):
        yield from group()
