"""Values that `--frozen-precision=nf4`, `int8` or `fp8` stores as codes in blocks.

docs/guides/precision.md describes these; `runtime/format/codes.cpp` and `lib/Stored/CodeTable.cpp`
are what a run computes with, and this module follows them to the last bit.
"""

import numpy as np

PRECISIONS = ("nf4", "int8", "fp8")
BLOCK, BLOCK_OF_SCALES, LEAST_ELEMENTS = 64, 256, 4096
# QLoRA (arXiv 2305.14314), appendix E.
_NORMAL_FLOATS = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0)


def _floats8():
    """Magnitudes of E4M3 over the largest one, 448."""
    codes = np.arange(127)  # code 127 is NaN
    exponents, mantissas = codes >> 3, codes & 7
    return np.where(exponents == 0, np.ldexp(mantissas / 8, -6),
                    np.ldexp(1 + mantissas / 8, exponents - 7)) / 448


def _dynamic():
    """Magnitudes of the dynamic map of 8 bits (arXiv 2110.02861, section 1.3)."""
    decades = [np.linspace(0.1, 1, 2 ** k + 1) * 10.0 ** (k - 6) for k in range(7)]
    middles = [(ends[:-1] + ends[1:]) / 2 for ends in decades]
    return np.concatenate([[0], *middles, [1]])


def _table(precision):
    """The numbers of a map, ascending, as float32."""
    if precision == "nf4":
        return np.float32(_NORMAL_FLOATS)
    positive = {"int8": np.arange(128) / 127, "fp8": _floats8(), "dynamic": _dynamic()}[precision]
    negative = -positive[:0:-1]
    if precision == "dynamic":
        negative = negative[1:]  # there is no -1
    return np.concatenate([negative, positive]).astype(np.float32)


def _decoded(values, scales, precision):
    """What `values`, whole blocks with `scales` each, are after they were encoded and decoded."""
    numbers = _table(precision)
    middles = (numbers[1:] + numbers[:-1]) / np.float32(2)
    places = np.searchsorted(middles, values * (np.float32(1) / scales))
    return numbers[places]


def _largest(values, size):
    """The largest magnitude of each block of `size` values, the last of which may be shorter."""
    starts = np.arange(0, values.size, size)
    return np.maximum(np.maximum.reduceat(np.abs(values), starts), np.float32(1e-12))


def is_coded(shape):
    """Whether a frozen matrix of this shape may be stored as codes."""
    elements = int(np.prod(shape))
    return len(shape) >= 2 and elements >= LEAST_ELEMENTS and elements % BLOCK == 0


def decode(values, precision, count):
    """The first `count` elements of `values`, float32, as a run stores and decodes them."""
    values = values.reshape(-1)
    scales = _largest(values, BLOCK)
    mean = np.float32(np.cumsum(scales, dtype=np.float64)[-1] / scales.size)
    centred = scales - mean
    second = np.repeat(_largest(centred, BLOCK_OF_SCALES), BLOCK_OF_SCALES)[:centred.size]
    stored = _decoded(centred, second, "dynamic") * second + mean
    count = min(count, values.size) // BLOCK * BLOCK
    own, rough = (np.repeat(s[:count // BLOCK], BLOCK) for s in (scales, stored))
    return _decoded(values[:count], own, precision) * rough
