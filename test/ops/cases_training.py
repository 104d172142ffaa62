"""Cases of the operators of ONNX Runtime's training graphs.

The reference of a gradient operator is the gradient of the operator that it differentiates, by
central differences of its definition in numpy.
"""

import math

import numpy as np

from harness import Case

rng = np.random.default_rng(17)
MICROSOFT = "com.microsoft"
STEP = 1e-5
erf = np.vectorize(math.erf, otypes=[float])


def f(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape)


def ints(*values):
    return np.array(values, np.int64)


def one(value, dtype=np.float32):
    return np.array(value, dtype)


def slopes(function, dy, point):
    """The gradients of (function(*point) * dy).sum() to the arrays of `point`."""
    point, results = [np.array(x) for x in point], []
    for x in point:
        grad = np.zeros(x.shape)
        for index in np.ndindex(x.shape) if x.dtype.kind == "f" else ():
            centre = x[index]
            x[index] = centre + STEP
            above = (function(*point) * dy).sum()
            x[index] = centre - STEP
            grad[index] = (above - (function(*point) * dy).sum()) / (2 * STEP)
            x[index] = centre
        results.append(grad)
    return results


def gradient(op, function, point, operands, of=(0,), domain=MICROSOFT, **more):
    """A case of a gradient operator. `operands` makes its operands from dy and the result of
    `function`; its results are the gradients to the arrays of `point` at the positions `of`, of
    which None is left out."""
    y = np.asarray(function(*point))
    dy = f(*y.shape)
    wanted = slopes(function, dy, point)
    results = [np.zeros(0) if i is None else wanted[i] for i in of]
    more.setdefault("absent", tuple(i for i, p in enumerate(of) if p is None))
    return Case(op, operands(dy, y), outputs=len(of), domain=domain, by=lambda *_: results, **more)


# ---- elementwise ----

def gelu(x):
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


def fast_gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def quick_gelu(alpha):
    return lambda x: x / (1 + np.exp(-alpha * x))


def activations():
    x, bias = f(3, 4, 5), f(5)
    ms = {"domain": MICROSOFT}
    yield Case("Gelu", [x], by=gelu, grad=[0], **ms)
    yield Case("FastGelu", [x], by=fast_gelu, grad=[0], **ms)
    yield Case("FastGelu", [x, bias], by=lambda x, b: fast_gelu(x + b), grad=[0, 1], **ms)
    yield Case("BiasGelu", [x, bias], by=lambda x, b: gelu(x + b), grad=[0, 1], **ms)
    yield Case("QuickGelu", [x], by=quick_gelu(float(np.float32(1.702))), grad=[0], **ms)
    yield Case("QuickGelu", [x], {"alpha": 1.0}, by=quick_gelu(1.0), grad=[0], **ms)

    def of_x(op, function, **more):
        return gradient(op, function, [x], lambda dy, _: [dy, x], **more)

    def of_y(op, function, **more):
        return gradient(op, function, [x], lambda dy, y: [dy, y], **more)

    relu = lambda x: np.maximum(x, 0)
    yield of_x("ReluGrad", relu)
    yield of_y("ReluGrad", relu, note="of y")
    yield of_y("SigmoidGrad", lambda x: 1 / (1 + np.exp(-x)))
    yield of_y("TanhGrad", np.tanh)
    yield of_y("LeakyReluGrad", lambda x: np.where(x > 0, x, 0.25 * x), attrs={"alpha": 0.25})
    yield of_y("LeakyReluGrad", lambda x: np.where(x > 0, x, float(np.float32(0.01)) * x))
    yield of_x("GeluGrad", gelu)
    yield of_x("FastGeluGrad", fast_gelu)
    yield of_x("QuickGeluGrad", quick_gelu(float(np.float32(1.702))))
    yield of_x("QuickGeluGrad", quick_gelu(1.0), attrs={"alpha": 1.0})
    for op, function in (("BiasGeluGrad_dX", gelu), ("BiasFastGeluGrad_dX", fast_gelu)):
        yield gradient(op, lambda x, b, g=function: g(x + b), [x, bias],
                       lambda dy, _: [dy, x, bias])


def softmax(x, axis):
    power = np.exp(x - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


def flattened(function, axis):
    """`function` over all dimensions from `axis` on."""
    def run(x):
        rows = x.reshape(int(np.prod(x.shape[:axis])), -1)
        return function(rows, -1).reshape(x.shape)
    return run


def softmaxes():
    log_softmax = lambda x, axis: np.log(softmax(x, axis))
    for op, function in (("SoftmaxGrad", softmax), ("LogSoftmaxGrad", log_softmax)):
        for axis in (-1, 0, 1):
            yield gradient(op + "_13", lambda x, a=axis, g=function: g(x, a), [f(2, 3, 4)],
                           lambda dy, y: [dy, y], attrs={"axis": axis})
        for axis, attrs in ((1, {}), (2, {"axis": 2}), (0, {"axis": 0})):
            yield gradient(op, flattened(function, axis), [f(2, 3, 4)], lambda dy, y: [dy, y],
                           attrs=attrs)


def arithmetic():
    for a, b in (((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 4), (3, 1)), ((), (2, 3))):
        point = [f(*a), f(*b, low=1.0)]
        for of in ((0, 1), (0, None), (None, 1)):
            yield gradient("DivGrad", np.divide, point, lambda dy, _: [dy, *point], of=of)
    x = f(3, 4)
    for scale in (one(2.5), one([3], np.int64), one(-4, np.int64)):
        for down in (0, 1):
            by = lambda x, s, d=down: x / s if d else x * s
            for constants in ((), (1,)):
                yield Case("Scale", [x, scale], {"scale_down": down}, domain=MICROSOFT, by=by,
                           constants=constants, grad=[0])
    yield Case("Scale", [x, one(2.0)], domain=MICROSOFT, by=np.multiply, grad=[0, 1])
    mask = rng.random((3, 4)) < 0.5
    for ratio, factor in (([one(0.4), one(True, bool)], 1 / 0.6), ([one(0.4)], None), ([], None),
                          ([one(0.4), one(False, bool)], None), ([one(0.0), one(True, bool)], None),
                          ([None, one(True, bool)], 2)):
        yield Case("DropoutGrad", [x, mask, *ratio], constants=(2, 3), domain=MICROSOFT,
                   by=lambda dy, m, *_, k=factor: dy if k is None else np.where(m, dy * k, 0))


# ---- products and images ----

def fused(a, b, attrs):
    """The operands as FusedMatMul permutes them, and their product."""
    for side, letter in enumerate("AB"):
        x = (a, b)[side]
        if attrs.get("transBatch" + letter) and x.ndim > 2:
            x = np.moveaxis(x, 0, -2)
        if attrs.get("trans" + letter) and x.ndim > 1:
            x = np.swapaxes(x, -1, -2)
        a, b = (x, b) if side == 0 else (a, x)
    return attrs.get("alpha", 1.0) * (a @ b)


def products():
    def case(a, b, **attrs):
        return Case("FusedMatMul", [f(*a), f(*b)], attrs, domain=MICROSOFT, grad=[0, 1],
                    by=lambda a, b: fused(a, b, attrs))

    yield case((3, 4), (4, 5))
    yield case((4, 3), (5, 4), transA=1, transB=1, alpha=0.5)
    yield case((2, 3, 4), (5, 4), transB=1)
    yield case((2, 6, 4, 3), (6, 4, 5), transA=1)
    yield case((4,), (2, 4, 3))
    yield case((3, 2, 6, 4), (2, 6, 4, 5), transBatchA=1)
    yield case((4, 2, 6, 3), (5, 2, 6, 4), transBatchA=1, transA=1, transBatchB=1, transB=1)
    yield case((3, 4), (5, 4), transBatchA=1, transBatchB=1, transB=1)


def convolve(strides, pads, dilations, group):
    def run(x, w, *bias):
        x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:2], pads[2:])])
        size = [(x.shape[i + 2] - dilations[i] * (w.shape[i + 2] - 1) - 1) // strides[i] + 1
                for i in range(2)]
        y = np.zeros((x.shape[0], w.shape[0], *size))
        inner, outer = w.shape[1], w.shape[0] // group
        for g in range(group):
            ours, theirs = slice(g * outer, (g + 1) * outer), slice(g * inner, (g + 1) * inner)
            for k in np.ndindex(*w.shape[2:]):
                window = tuple(slice(k[i] * dilations[i],
                                     k[i] * dilations[i] + strides[i] * (size[i] - 1) + 1,
                                     strides[i]) for i in range(2))
                seen = x[(slice(None), theirs, *window)]
                y[:, ours] += np.einsum("nchw,oc->nohw", seen, w[(ours, slice(None), *k)])
        return y + (bias[0].reshape(1, -1, 1, 1) if bias else 0)
    return run


def transposed(forward, shape):
    """The transposed convolution: the gradient of `forward`, which is linear, to an input of
    `shape`."""
    def run(x, w, *bias):
        y = np.zeros(shape)
        for index in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[index] = 1
            y[index] = (forward(unit, w) * x).sum()
        return y + (bias[0].reshape(1, -1, 1, 1) if bias else 0)
    return run


def convolutions():
    for strides, pads, dilations, group in (
            ([1, 1], [0, 0, 0, 0], [1, 1], 1), ([2, 1], [1, 0, 1, 1], [1, 2], 2)):
        attrs = {"strides": strides, "pads": pads, "dilations": dilations, "group": group,
                 "kernel_shape": [3, 2]}
        forward = convolve(strides, pads, dilations, group)
        point = [f(2, 4, 5, 6), f(6, 4 // group, 3, 2), f(6)]
        for of in ((0, 1, 2), (0, 1), (None, 1), (None, 1, 2)):
            yield gradient("ConvGrad", forward, point, lambda dy, _: [dy, *point[:2]], of=of,
                           attrs=attrs, tol=2e-6)
    forward = convolve([2, 2], [1, 1, 1, 1], [1, 1], 2)
    shape = (1, 4, 4, 4)
    point = [f(1, 2, 2, 2), f(2, 2, 3, 3), f(4)]
    for of in ((0, 1, 2), (0, 1)):
        yield gradient("ConvTransposeGrad", transposed(forward, shape), point,
                       lambda dy, _: [dy, *point[:2]], of=of,
                       attrs={"strides": [2, 2], "pads": [1, 1, 1, 1], "group": 2,
                              "output_padding": [1, 1]})


def pool(reduce, pads, include):
    """Windows of 3 x 2 with strides of 2 x 1."""
    def run(x):
        filler = np.nan if not include else 0
        padded = np.pad(x, [(0, 0), (0, 0), *zip(pads[:2], pads[2:])], constant_values=filler)
        rows, columns = (padded.shape[2] - 3) // 2 + 1, padded.shape[3] - 2 + 1
        return np.stack([np.stack([reduce(padded[:, :, 2 * i:2 * i + 3, j:j + 2], axis=(2, 3))
                                   for j in range(columns)], -1) for i in range(rows)], -2)
    return run


def pools():
    x = rng.permutation(2 * 2 * 5 * 4).reshape(2, 2, 5, 4) / 10.0
    attrs = {"kernel_shape": [3, 2], "strides": [2, 1]}
    for pads in ([0, 0, 0, 0], [1, 0, 1, 1]):
        forward = pool(np.nanmax, pads, False)
        y = forward(x)
        indices = np.array([np.flatnonzero(x.ravel() == v)[0] for v in y.ravel()])
        for domain in ("", MICROSOFT):
            yield gradient("MaxPoolGrad", forward, [x],
                           lambda dy, y: [dy, indices.reshape(y.shape)], domain=domain,
                           attrs={**attrs, "pads": pads}, declared={0: x.shape})
            for include in (0, 1):
                mean = pool(np.nanmean, pads, include)
                yield gradient("AveragePoolGrad", mean, [x], lambda dy, _: [dy], domain=domain,
                               attrs={**attrs, "pads": pads, "count_include_pad": include},
                               declared={0: x.shape})


# ---- normalizations and losses ----

def layer_norm(axis, epsilon):
    def run(x, scale, bias=0):
        axes = tuple(range(axis % x.ndim, x.ndim))
        centred = x - x.mean(axes, keepdims=True)
        return centred * inverse_of(centred, axes, epsilon) * scale + bias
    return run


def inverse_of(centred, axes, epsilon):
    return 1 / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)


def rms_norm(axis, epsilon):
    def run(x, scale):
        axes = tuple(range(axis % x.ndim, x.ndim))
        return x * inverse_of(x, axes, epsilon) * scale
    return run


def normalizations():
    for axis in (-1, 1):
        x = f(2, 3, 4) + 1
        axes = tuple(range(axis % 3, 3))
        scale, bias = f(*x.shape[axes[0]:]), f(*x.shape[axes[0]:])
        mean = x.mean(axes, keepdims=True)
        inverse = inverse_of(x - mean, axes, 1e-3)
        for of in ((0, 1, 2), (0, 1), (0,)):
            # An epsilon that is not that of the statistics must have no effect.
            yield gradient("LayerNormalizationGrad", layer_norm(axis, 1e-3), [x, scale, bias],
                           lambda dy, _: [dy, x, scale, mean, inverse], of=of,
                           attrs={"axis": axis}, tol=2e-6)
        inverse = inverse_of(x, axes, 1e-3)
        for of in ((0, 1), (0,)):
            yield gradient("SimplifiedLayerNormalizationGrad", rms_norm(axis, 1e-3), [x, scale],
                           lambda dy, _: [dy, x, scale, inverse], of=of, attrs={"axis": axis},
                           tol=2e-6)
        attrs = {"axis": axis, "epsilon": 1e-3}
        run = lambda x, s, a=axis, i=axes: [rms_norm(a, 1e-3)(x, s), inverse_of(x, i, 1e-3)]
        yield Case("SimplifiedLayerNormalization", [x, scale], attrs, outputs=2, by=run,
                   grad=[0, 1], grad_tol=1e-5)
        yield Case("SimplifiedLayerNormalization", [x, scale], attrs, by=lambda *a, r=run: r(*a)[0],
                   grad=[0, 1], grad_tol=1e-5)


def batch_norm(x, scale, bias):
    axes = (0, *range(2, x.ndim))
    column = (-1, *[1] * (x.ndim - 2))
    centred = x - x.mean(axes, keepdims=True)
    return centred * inverse_of(centred, axes, 1e-3) * scale.reshape(column) + bias.reshape(column)


def batch_norms():
    for shape in ((4, 3), (3, 2, 2, 3)):
        axes, channels = (0, *range(2, len(shape))), shape[1]
        point = [f(*shape) * 2 + 1, f(channels), f(channels)]
        mean = point[0].mean(axes)
        inverse = inverse_of(point[0] - point[0].mean(axes, keepdims=True), axes, 1e-3).ravel()
        for of in ((0, 1, 2), (0,)):
            yield gradient("BatchNormalizationGrad", batch_norm, point,
                           lambda dy, _: [dy, *point[:2], mean, inverse], of=of,
                           attrs={"epsilon": 1e-3}, tol=5e-6)

        def internal(x, scale, bias, mean, variance, axes=axes):
            batch = x.mean(axes), x.var(axes)
            return [batch_norm(x, scale, bias), 0.7 * mean + 0.3 * batch[0],
                    0.7 * variance + 0.3 * batch[1], batch[0], 1 / np.sqrt(batch[1] + 1e-3)]

        state = [f(channels), f(channels)**2]
        attrs = {"epsilon": 1e-3, "momentum": 0.7, "training_mode": 1}
        yield Case("BatchNormInternal", [*point, *state], attrs, outputs=5, domain=MICROSOFT,
                   by=internal, grad=[0, 1, 2], grad_tol=2e-5)
        yield Case("BatchNormInternal", [*point, *state], attrs, outputs=5, absent=(1, 2),
                   domain=MICROSOFT, by=internal)


def cross_entropy(labels, weights, reduction, ignored):
    """Of logarithms of probabilities."""
    def run(log_prob):
        at = np.where(labels == ignored, 0, labels)
        own = np.take_along_axis(log_prob, np.expand_dims(at, 1), 1).squeeze(1)
        each = np.where(labels == ignored, 0, weights[at])
        if reduction == "none":
            return -each * own
        total = -(each * own).sum()
        return total / each.sum() if reduction == "mean" else total
    return run


def losses():
    for shape in ((5, 4), (2, 4, 3)):
        x = f(*shape)
        labels = rng.integers(0, 4, (shape[0], *shape[2:]))
        labels.flat[1] = 3
        log_prob = np.log(softmax(x, 1))
        for reduction in ("none", "sum", "mean"):
            for weights in (None, f(4, low=0.5)):
                for ignored in (None, 3):
                    yield from loss(x, labels, log_prob, reduction, weights, ignored)
    x = f(2, 3)
    yield Case("SoftmaxCrossEntropyLossGrad", [one(1.0), x, ints(0, 1)], {"reduction": "max"},
               domain=MICROSOFT, constants=(), fails="expected reduction = 'none', 'sum' or 'mean'")


def loss(x, labels, log_prob, reduction, weights, ignored):
    value = cross_entropy(labels, np.ones(4) if weights is None else weights, reduction, ignored)
    forward = lambda x: value(np.log(softmax(x, 1)))
    attrs = {"reduction": reduction}
    by_attribute = {**attrs, "ignore_index": ignored} if ignored is not None else attrs
    operand = None if ignored is None else one(ignored, np.int64)
    more = [] if weights is None and ignored is None else [weights]
    yield gradient("SoftmaxCrossEntropyLossGrad", forward, [x],
                   lambda dy, _: [dy, log_prob, labels, *([weights] * (weights is not None))],
                   attrs=by_attribute)
    inputs = [labels, *more, *([operand] * (operand is not None))]
    yield gradient("SoftmaxCrossEntropyLossInternalGrad", forward, [x],
                   lambda dy, _: [dy, log_prob, *inputs], attrs=attrs, constants=(4,))
    yield Case("SoftmaxCrossEntropyLossInternal", [x, *inputs], attrs, constants=(3,), outputs=2,
               domain=MICROSOFT, grad=[0], by=lambda x, *_: [forward(x), np.log(softmax(x, 1))])


def added_loss():
    """The last operand is added to the gradient."""
    x, labels, bias = f(3, 4), ints(0, 2, 1), f(3, 4)
    log_prob = np.log(softmax(x, 1))
    forward = lambda x: cross_entropy(labels, np.ones(4), "sum", None)(np.log(softmax(x, 1)))
    expected = slopes(forward, np.array(0.5), [x])[0] + bias
    yield Case("SoftmaxCrossEntropyLossInternalGrad",
               [one(0.5), log_prob, labels, None, None, bias], {"reduction": "sum"},
               domain=MICROSOFT, by=lambda *_: expected)


# ---- movement ----

def movement():
    data = f(4, 3, 5)
    shape = ints(*data.shape)
    for axis in (0, 1, -1):
        indices = rng.integers(-3, 3, (2, 4))
        yield gradient("GatherGrad", lambda x, a=axis, i=indices: np.take(x, i, a), [data],
                       lambda dy, _, i=indices: [shape, i, dy], attrs={"axis": axis}, constants=(0,))
        where = rng.integers(-3, 3, (2, 3, 4))
        # The dimensions of indices other than the axis are parts of those of the data.
        part = tuple(slice(None) if d == axis % 3 else slice(n) for d, n in enumerate(where.shape))
        forward = lambda x, a=axis, i=where, p=part: np.take_along_axis(x[p], i % x.shape[a], a)
        yield gradient("GatherElementsGrad", forward, [data],
                       lambda dy, _, i=where: [dy, shape, i], attrs={"axis": axis}, constants=(1,))
    tuples = np.array([[0, 2], [3, 1], [0, 2], [-1, -1]])
    yield gradient("GatherNDGrad", lambda x: x[tuples[:, 0], tuples[:, 1]], [data],
                   lambda dy, _: [shape, tuples, dy], constants=(0,))
    rows = np.array([[1], [0], [2], [1]])
    yield gradient("GatherNDGrad", lambda x: x[np.arange(4), rows[:, 0]], [data],
                   lambda dy, _: [shape, rows, dy], attrs={"batch_dims": 1}, constants=(0,))
    for key, operands in (
            (np.s_[1:3], [ints(1), ints(3)]),
            (np.s_[:, ::2, 1:], [ints(0, 1), ints(9, 5), ints(1, -1), ints(2, 1)]),
            (np.s_[3:0:-2], [ints(-1), ints(0), ints(0), ints(-2)])):
        yield gradient("SliceGrad", lambda x, k=key: x[k], [data],
                       lambda dy, _, o=operands: [dy, shape, *o], constants=(1, 2, 3, 4, 5))
    for a, b, axes in (((2, 3, 1), (3, 4), ([2], [0])), ((2, 3), (2, 3), ([], [])),
                       ((), (5, 1, 2), ([0, 1, 2], [])), ((1, 4), (3, 1), ([0], [1]))):
        yield Case("BroadcastGradientArgs", [ints(*a), ints(*b)], outputs=2, constants=(0, 1),
                   domain=MICROSOFT, by=lambda *_, axes=axes: [ints(*side) for side in axes])
    yield Case("Trilu", [f(2, 3, 4)], {"upper": 0}, domain=MICROSOFT, by=np.tril, grad=[0])
    yield Case("Trilu", [f(3, 4), one(1, np.int64)], domain=MICROSOFT, constants=(1,), grad=[0],
               by=lambda x, k: np.triu(x, int(k)))
    parts = [f(2, 3), f(2, 1), f(2, 4)]
    for axis in (1, -1):
        join = lambda *p: [np.concatenate(p, 1), np.array([3, 1, 4])]
        yield Case("ConcatTraining", parts, {"axis": axis}, outputs=2, domain=MICROSOFT, by=join,
                   grad=[0, 1, 2])
        yield Case("ConcatTraining", parts, {"axis": axis}, domain=MICROSOFT,
                   by=lambda *p: np.concatenate(p, 1))
        yield Case("SplitTraining", [f(2, 8), ints(3, 1, 4)], {"axis": axis}, outputs=3,
                   constants=(1,), domain=MICROSOFT, grad=[0],
                   by=lambda x, _: np.split(x, [3, 4], 1))


def cases():
    groups = (activations, softmaxes, arithmetic, products, convolutions, pools, normalizations,
              batch_norms, losses, added_loss, movement)
    return [case for group in groups for case in group()]
