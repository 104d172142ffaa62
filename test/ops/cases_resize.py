"""Resize, Upsample, GridSample and DFT."""
import itertools

import numpy as np

from harness import Case

RNG = np.random.default_rng(17)


def f(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def resize(x, scales=None, sizes=None, roi=None, opset=19, grad=True, **attrs):
    """A Resize of `x` by scales or to sizes."""
    inputs = [x, roi, scales, sizes]
    kinds = [np.float32, np.float32, np.float32, np.int64]
    inputs = [None if v is None else np.asarray(v, kind) for v, kind in zip(inputs, kinds)]
    while inputs[-1] is None:
        inputs.pop()
    # Weights and positions are float64, computed from float32 inputs.
    return Case("Resize", inputs, attrs, opset, constants=(1, 2, 3), settings=(1, 2),
                grad=[0] if grad else None, tol=3e-6)


def modes_of_coordinates():
    cases = []
    ways = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
    for way, mode in itertools.product(ways, ("nearest", "linear", "cubic")):
        for scales in ([1, 1, 2, 2], [1, 1, 0.6, 1.7], [1, 1, 3, 0.5], [1, 1, 0.25, 0.2]):
            cases.append(resize(f(1, 2, 4, 5), scales, mode=mode,
                                coordinate_transformation_mode=way))
        cases.append(resize(f(2, 1, 3, 6), sizes=[2, 1, 7, 4], mode=mode,
                            coordinate_transformation_mode=way))
    return cases


def resizes():
    cases = modes_of_coordinates()
    for rule in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        for way in ("half_pixel", "asymmetric", "align_corners"):
            cases.append(resize(f(1, 1, 4, 6), sizes=[1, 1, 7, 4], mode="nearest",
                                coordinate_transformation_mode=way, nearest_mode=rule))
    # Integer factors along the last dimension: the weights of one period.
    for mode, scale in itertools.product(("linear", "cubic"), (2, 3, 4, 0.5, 1.5)):
        for way in ("half_pixel", "align_corners", "asymmetric"):
            cases.append(resize(f(2, 36), [1, scale], mode=mode, coordinate_transformation_mode=way))
    cases += [
        resize(f(1, 1, 20), sizes=[1, 1, 7], mode="linear", antialias=1),
        resize(f(1, 1, 20), sizes=[1, 1, 7], mode="cubic", antialias=1),
        resize(f(1, 1, 40, 3), sizes=[1, 1, 4, 6], mode="linear", antialias=1, exclude_outside=1),
        resize(f(1, 1, 24, 3), [1, 1, 0.25, 2], mode="cubic", antialias=1, exclude_outside=1),
        resize(f(1, 2, 5, 5), [1, 1, 1.4, 0.8], mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5),
        resize(f(2, 3, 6, 4), sizes=[3, 8], axes=[2, 3], mode="linear"),
        resize(f(2, 3, 6, 4), sizes=[8, 3], axes=[3, 2], mode="cubic"),
        resize(f(2, 6, 4, 3), [0.5, 2], axes=[1, 2], mode="linear"),
        resize(f(1, 1, 4, 6), sizes=[1, 1, 7, 8], mode="linear",
               keep_aspect_ratio_policy="not_larger"),
        resize(f(1, 1, 4, 6), sizes=[7, 8], axes=[2, 3], mode="nearest",
               keep_aspect_ratio_policy="not_smaller"),
        resize(f(2, 3, 4, 5, 3), [1, 1, 2, 1.5, 2], mode="linear"),
        resize(f(2, 3, 2, 3, 3), [1, 1, 2, 3, 2], mode="nearest",
               coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        resize(f(1, 1, 3, 3), [1, 1, 1, 1], mode="linear"),
        resize(f(1, 1, 1, 1), [1, 1, 3, 2], mode="linear"),
        resize(f(1, 1, 1, 1), [1, 1, 4, 2], mode="cubic", coordinate_transformation_mode="align_corners"),
        resize(f(1, 2, 4, 5), [1, 1, 2, 2], roi=[], opset=11, mode="linear"),
        resize(f(1, 2, 4, 5), [1, 1, 2, 0.6], opset=13, mode="cubic")]
    for mode, roi in itertools.product(("nearest", "linear", "cubic"),
                                       ([0, 0, 0.4, 0.6, 1, 1, 0.6, 0.8],
                                        [0, 0, -0.2, 0.3, 1, 1, 1.2, 1.1])):
        cases.append(resize(f(1, 1, 4, 5), sizes=[1, 1, 6, 5], roi=roi, mode=mode,
                            coordinate_transformation_mode="tf_crop_and_resize",
                            extrapolation_value=2.5))
    numbers = np.arange(24).reshape(1, 2, 3, 4).astype(np.int32)
    cases.append(resize(numbers, [1, 1, 2, 1.5], grad=False, mode="nearest"))
    # Opset 10 has no roi and only one coordinate mode.
    cases.append(Case("Resize", [f(1, 2, 4, 5), np.array([1, 1, 2, 2], np.float32)],
                      {"mode": "linear"}, 10, constants=(1,), settings=(1,), grad=[0],
                      by=lambda x, scales: doubled_linear(x)))
    return cases + refusals()


def doubled_linear(x):
    """Doubles the last two dimensions, mode linear, asymmetric."""
    for axis in (2, 3):
        after = np.concatenate([np.take(x, range(1, x.shape[axis]), axis),
                                np.take(x, [-1], axis)], axis)
        x = np.stack([x, (x + after) / 2], axis + 1).reshape(
            [n * 2 if d == axis else n for d, n in enumerate(x.shape)])
    return x


def refusals():
    sizes = np.array([1, 1, 4, 4])
    return [Case("Resize", [f(1, 1, 2, 2), None, None, sizes], {"mode": "linear", "antialias": 1,
                 "coordinate_transformation_mode": "sideways"}, 19, constants=(3,),
                 fails="expected coordinate_transformation_mode 'half_pixel'"),
            Case("Resize", [np.ones((1, 1, 2, 2), np.int32), None, None, sizes], {"mode": "linear"},
                 19, constants=(3,), fails="expected floating-point numbers in mode 'linear'"),
            Case("GridSample", [f(1, 1, 2, 2), f(1, 3, 3, 2)], {"padding_mode": "wrap"}, 20,
                 fails="expected padding_mode 'zeros', 'border' or 'reflection', got 'wrap'"),
            Case("DFT", [f(1, 4, 1), np.array(70000)], {}, 20, constants=(1,),
                 fails="expected a dft_length of 1 to 65536, got 70000"),
            Case("DFT", [f(1, 4, 1), np.array(10007)], {}, 20, constants=(1,),
                 fails="expected a dft_length of at most 8192, or one with divisors, got 10007")]


def upsamples():
    return [Case("Upsample", [f(1, 2, 3, 4), np.array([1, 1, 2, 3], np.float32)],
                 {"mode": "nearest"}, 9, constants=(1,), settings=(1,), grad=[0]),
            Case("Upsample", [f(1, 2, 3, 4)], {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 2.0]}, 7,
                 by=lambda x: x.repeat(2, 2).repeat(2, 3)),
            Case("Upsample", [f(1, 2, 3, 4), np.array([1, 1, 2, 2], np.float32)],
                 {"mode": "linear"}, 9, constants=(1,), settings=(1,), grad=[0],
                 by=lambda x, scales: doubled_linear(x))]


def keys(x):
    """Keys' kernel, a = -0.75."""
    x = np.abs(x)
    near = (1.25 * x - 2.25) * x * x + 1
    far = ((-0.75 * x + 3.75) * x - 6) * x + 3
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def reflected(x, low, high):
    if low == high:
        return np.full_like(x, low)
    times, rest = np.divmod(np.abs(x - low), high - low)
    return np.where(times % 2 == 0, low + rest, high - rest)


def line_taps(place, extent, mode, padding, align):
    """In one dimension: indices and weights of the pixels that each point reads. onnx.reference
    rounds points to float32, which hides their gradients."""
    low, high = (0, extent - 1) if align else (-0.5, extent - 0.5)
    x = (place + 1) * (extent - 1) / 2 if align else ((place + 1) * extent - 1) / 2
    x = np.rint(x) if mode == "nearest" else x
    if padding == "border":
        x = np.where((x < low) | (x > high), np.clip(x, 0, extent - 1), x)
    elif padding == "reflection":
        x = np.where((x < low) | (x > high), reflected(x, low, high), x)
    left = np.floor(x).astype(int)
    taps = []
    for shift in {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[mode]:
        index, distance = left + shift, x - left - shift
        weight = {"nearest": np.ones_like(x), "linear": 1 - np.abs(distance), "cubic": keys(distance)}[mode]
        if padding == "zeros":
            weight = np.where((index >= 0) & (index < extent), weight, 0)
        elif padding == "reflection":
            index = np.rint(reflected(index.astype(float), low, high)).astype(int)
        taps.append((np.clip(index, 0, extent - 1), weight))
    return taps


def sampled(mode, padding, align):
    def sample(x, grid):
        extents = x.shape[2:]
        lines = [line_taps(grid[..., len(extents) - 1 - d], n, mode, padding, align)
                 for d, n in enumerate(extents)]
        y = np.zeros(x.shape[:2] + grid.shape[1:-1])
        image = np.arange(x.shape[0]).reshape((-1,) + (1,) * len(extents))
        for taps in itertools.product(*lines):
            weight = np.prod([w for _, w in taps], axis=0)
            pixels = np.moveaxis(x, 1, -1)[(image, *(i for i, _ in taps))]
            y += np.moveaxis(pixels * weight[..., None], -1, 1)
        return y
    return sample


def grid_samples():
    cases = []
    names = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}
    for mode, padding, align in itertools.product(names, ("zeros", "border", "reflection"), (0, 1)):
        attrs = {"padding_mode": padding, "align_corners": align}
        by = sampled(mode, padding, align)
        grad = [0] if mode == "nearest" else [0, 1]
        x, grid = f(2, 3, 4, 5), 1.2 * f(2, 3, 6, 2)
        cases.append(Case("GridSample", [x, grid], {"mode": mode, **attrs}, 20, grad=grad, by=by,
                          tol=5e-6))
        cases.append(Case("GridSample", [f(1, 2, 1, 3), grid[:1]], {"mode": names[mode], **attrs}, 16,
                          grad=grad, by=by, tol=5e-6, note="a row"))
        cases.append(Case("GridSample", [f(1, 2, 3, 2, 4), 1.3 * f(1, 2, 2, 3, 3)],
                          {"mode": mode, **attrs}, 20, grad=grad, by=by, tol=5e-6))
    cases.append(Case("GridSample", [f(1, 2, 6), f(1, 5, 1)], {"mode": "linear"}, 20, grad=[0, 1],
                      by=sampled("linear", "zeros", 0)))
    far = np.array([1e30, -1e30, np.inf, np.nan]).reshape(1, 2, 1, 2)
    cases.append(Case("GridSample", [f(1, 2, 3, 3), far], {"mode": "linear"}, 20,
                      by=lambda x, grid: np.zeros((1, 2, 2, 1)), note="far away"))
    return cases


def transforms():
    cases = []

    def transform(x, length=None, axis=None, opset=20, **attrs):
        inputs = [x, None if length is None else np.array(length)]
        if opset < 20:
            attrs["axis"] = axis
        elif axis is not None:
            inputs.append(np.array(axis))
        while inputs[-1] is None:
            inputs.pop()
        cases.append(Case("DFT", inputs, attrs, opset, constants=(1, 2), grad=[0], tol=3e-6))

    for opset, axis in ((17, 1), (20, 1), (20, -2), (20, 2)):
        for parts, inverse in itertools.product((1, 2), (0, 1)):
            if parts == 2 or not inverse:
                transform(f(2, 6, 5, parts), axis=axis, opset=opset, inverse=inverse)
    for length in (4, 9, 12):
        transform(f(2, 7, 1), length, onesided=1)
        transform(f(2, 7, 2), length)
        transform(f(2, 7, 2), length, inverse=1)
        transform(f(2, 5, 2), length, inverse=1, onesided=1)
    transform(f(2, 8, 3, 1), axis=1, onesided=1)
    transform(f(2, 5, 3, 2), axis=1, inverse=1, onesided=1)
    transform(f(1, 1, 1))
    # In stages: 256 = 16 16, 260 = 13 20, 271 is prime, 4104 = 54 76.
    for length in (256, 260, 271):
        transform(f(1, 40, 2), length)
        transform(f(2, 30, 1), length, onesided=1)
        transform(f(1, 41, 2), length, inverse=1)
        transform(f(1, length // 2 + 3, 2), length, inverse=1, onesided=1)
    transform(f(1, 9, 1), 4104, onesided=1)
    return cases


def cases():
    return resizes() + upsamples() + grid_samples() + transforms()
