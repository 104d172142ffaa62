"""Convolutions, pooling and batch normalization."""
import numpy as np

from harness import Case

RNG = np.random.default_rng(11)


def f(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def distinct(*shape):
    """Elements that differ by more than the step of the central differences."""
    return RNG.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32) / 8


def grouped_transpose(x, w):
    """ConvTranspose in 2 groups, strides 2 and 1, dilations 1 and 2: onnx.reference supports only
    groups of one channel."""
    per_group = x.shape[1] // 2
    y = np.zeros((x.shape[0], 2 * w.shape[1], 2 * x.shape[2], x.shape[3] + 2))
    for c, i, j in np.ndindex(x.shape[1:]):
        for o, k, l in np.ndindex(w.shape[1:]):
            y[:, c // per_group * w.shape[1] + o, 2 * i + k, j + 2 * l] += x[:, c, i, j] * w[c, o, k, l]
    return y


def convolutions():
    cases = []
    for x, w, attrs in (
            ((2, 3, 6), (4, 3, 3), {}),
            ((1, 2, 7), (2, 2, 3), {"strides": [2], "pads": [2, 1]}),
            ((2, 2, 5, 4), (3, 2, 3, 2), {"pads": [1, 0, 1, 1]}),
            ((1, 2, 7, 6), (2, 2, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ((1, 2, 8, 8), (2, 2, 3, 2), {"dilations": [2, 3], "strides": [1, 2]}),
            ((2, 4, 4, 4), (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
            ((1, 4, 5, 5), (4, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
            ((2, 3, 4, 4), (5, 3, 1, 1), {}),
            ((1, 1, 1, 1), (1, 1, 1, 1), {}),
            ((0, 2, 4, 4), (3, 2, 2, 2), {}),
            ((1, 2, 4, 3, 4), (2, 2, 2, 2, 3), {"pads": [1, 0, 1, 0, 1, 1]}),
            ((1, 1, 6, 5), (1, 1, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            ((1, 1, 6, 5), (1, 1, 3, 2), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
            ((1, 1, 6, 5), (1, 1, 3, 3), {"auto_pad": "VALID", "kernel_shape": [3, 3]})):
        grad = [0, 1] if x[0] else None
        cases.append(Case("Conv", [f(*x), f(*w)], attrs, grad=grad))
        cases.append(Case("Conv", [f(*x), f(*w), f(w[0])], attrs, grad=grad and [0, 1, 2]))
    for x, w, attrs in (
            ((2, 3, 4), (3, 2, 3), {}),
            ((1, 2, 3, 4), (2, 3, 3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
            ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": [3, 2], "output_padding": [1, 1]}),
            ((1, 1, 3, 3), (1, 2, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            ((1, 1, 3, 3), (1, 2, 3, 3), {"strides": [3, 2], "output_shape": [10, 8]})):
        cases.append(Case("ConvTranspose", [f(*x), f(*w)], attrs, grad=[0, 1]))
    cases.append(Case("ConvTranspose", [f(1, 4, 3, 4), f(4, 2, 2, 2)],
                      {"group": 2, "strides": [2, 1], "dilations": [1, 2]}, grad=[0, 1],
                      by=grouped_transpose))
    cases.append(Case("ConvTranspose", [f(1, 2, 3, 3), f(2, 3, 3, 3), f(3)], {"pads": [1, 1, 1, 1]},
                      grad=[0, 1, 2]))
    return cases


def pools():
    cases = []
    for shape, attrs in (
            ((2, 2, 7), {"kernel_shape": [3]}),
            ((1, 2, 6, 5), {"kernel_shape": [2, 3], "strides": [2, 1]}),
            ((2, 1, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ((1, 1, 7, 6), {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1}),
            ((1, 1, 5, 6), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            ((1, 1, 5, 6), {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"}),
            ((1, 2, 4, 4, 3), {"kernel_shape": [2, 2, 2]}),
            ((1, 1, 1, 1), {"kernel_shape": [1, 1]})):
        cases.append(Case("MaxPool", [distinct(*shape)], attrs, grad=[0]))
        for padding in (0, 1):
            cases.append(Case("AveragePool", [f(*shape)], {**attrs, "count_include_pad": padding},
                              opset=19, grad=[0]))
    dilated = {"kernel_shape": [2, 2], "dilations": [2, 3]}
    cases.append(Case("MaxPool", [distinct(1, 1, 6, 7)], dilated, grad=[0]))
    cases.append(Case("AveragePool", [f(1, 1, 6, 7)], dilated, opset=19, grad=[0]))
    cases.append(Case("MaxPool", [distinct(2, 2, 6, 6)], {"kernel_shape": [2, 2], "strides": [2, 2]},
                      outputs=2, grad=[0], note="indices"))
    cases.append(Case("MaxPool", [-distinct(1, 2, 5, 5)],
                      {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, grad=[0], note="negative"))
    for shape in ((2, 3, 4, 5), (1, 2, 7), (2, 1, 2, 3, 2)):
        # onnx.reference supports only images of two dimensions.
        axes = tuple(range(2, len(shape)))
        cases.append(Case("GlobalMaxPool", [distinct(*shape)], grad=[0],
                          by=lambda x, axes=axes: x.max(axes, keepdims=True)))
        cases.append(Case("GlobalAveragePool", [f(*shape)], grad=[0],
                          by=lambda x, axes=axes: x.mean(axes, keepdims=True)))
        for p in (1, 2, 3):
            cases.append(Case("GlobalLpPool", [distinct(*shape)], {"p": p}, grad=[0],
                              by=lambda x, axes=axes, p=p: (np.abs(x) ** p).sum(
                                  axes, keepdims=True) ** (1 / p)))
    return cases


def local_response(x, size, alpha, beta, bias):
    below = (size - 1) // 2
    sums = [np.square(x[:, max(c - below, 0):c + size - below]).sum(1) for c in range(x.shape[1])]
    return x / (bias + alpha / size * np.stack(sums, 1)) ** beta


def norms_of_windows():
    cases = []
    for p in (1, 2, 3):
        for shape, attrs in (
                ((2, 2, 7), {"kernel_shape": [3]}),
                ((1, 2, 6, 5), {"kernel_shape": [2, 3], "strides": [2, 1]}),
                ((2, 1, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
                ((1, 1, 7, 6), {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1}),
                ((1, 1, 5, 6), {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})):
            cases.append(Case("LpPool", [distinct(*shape)], {**attrs, "p": p}, opset=18, grad=[0]))
    for shape in ((2, 5, 3), (1, 4, 2, 3), (2, 3)):
        for size in (1, 2, 3):
            # onnx.reference supports only images of two dimensions.
            cases.append(Case("LRN", [f(*shape)],
                              {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}, grad=[0],
                              by=lambda x, size=size: local_response(x, size, 0.3, 0.6, 1.5)))
    return cases


def batch_norms():
    cases = []
    for shape in ((4, 3), (2, 3, 5), (3, 2, 2, 3), (1, 2, 4, 1), (2, 1, 3, 3)):
        channels = shape[1]
        ins = [f(*shape) * 2 + 1, f(channels), f(channels), f(channels), f(channels) ** 2 + 0.5]
        cases.append(Case("BatchNormalization", ins, {"epsilon": 1e-3}, opset=15,
                          grad=[0, 1, 2, 3, 4], grad_tol=2e-5))
        for attrs in ({}, {"epsilon": 0.1, "momentum": 0.7}):
            cases.append(Case("BatchNormalization", ins, {"training_mode": 1, **attrs}, opset=15,
                              outputs=3, grad=[0, 1, 2, 3, 4], grad_tol=2e-5))
    return cases


def cases():
    return convolutions() + pools() + norms_of_windows() + batch_norms()
