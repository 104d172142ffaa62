"""Writes test/data/stablehlo/jax-derivatives: losses of JAX that Zero differentiates, one parameter
for each operation, and JAX's gradients in float64. Needs jax.

usage: jax_derivatives.py FOLDER
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SHAPE = (4, 6)
ROWS = np.array([0, 2, 2, 5])
SEGMENTS = np.array([0, 0, 1, 1, 1, 3])
COLUMNS = np.array([0, 0, 5, 1, 8, 1])  # One is outside: JAX leaves it out.


def windows(a, combine, start, **options):
    return lax.reduce_window(a, start, combine, (2, 3), (1, 2), "VALID", **options)


def image(a):
    return a.reshape(1, 1, *a.shape)


def bits(a):
    integer = {4: jnp.int32, 8: jnp.int64}[a.dtype.itemsize]
    return lax.bitcast_convert_type(lax.bitcast_convert_type(a, integer), a.dtype)


def penalty(function):
    """The squared gradient of a function, of which the loss needs the second derivative."""
    return lambda a: jax.grad(lambda b: function(b).sum())(a) ** 2


def zeros(a, *shape):
    return jnp.zeros(shape, a.dtype)


# What scatters, gathers and moves elements.
MOVES = {
    "segment_sum": lambda a: jax.ops.segment_sum(a.T, SEGMENTS, 4),
    "scatter_add": lambda a: zeros(a, 6, 6).at[ROWS].add(a),
    "scatter_add_columns": lambda a: zeros(a, 4, 8).at[:, COLUMNS].add(a),
    "scatter_add_pairs": lambda a: zeros(a, 6, 6).at[ROWS[:, None], np.arange(6)].add(a),
    "scatter_set": lambda a: jnp.ones_like(a, shape=(6, 6)).at[np.array([0, 3, 1, 5])].set(a),
    "take": lambda a: a[ROWS % 4, np.array([1, 1, 3, 0])],
    "pad_interior": lambda a: lax.pad(a, a.dtype.type(0.3), ((0, 0, 0), (1, 0, 1))),
    "pad_negative": lambda a: lax.pad(a, a.dtype.type(0.3), ((-1, 2, 1), (1, -2, 0))),
    "reverse_strided": lambda a: a[::-1, ::-2],
    "sort": lambda a: jnp.sort(a, 1) * np.arange(6),
    "top_k": lambda a: lax.top_k(a, 3)[0] * np.arange(3),
}
# Windows and scans, which take slices whose strides are larger than a dimension.
WINDOWS = {
    "conv_lhs_dilation": lambda a: lax.conv_general_dilated(
        image(a), image(a[:2, :3]), (2, 1), ((1, 0), (2, 1)), lhs_dilation=(1, 3),
        rhs_dilation=(2, 1)),
    "conv_transpose": lambda a: lax.conv_transpose(
        a.reshape(1, 4, 6, 1), a[:3, :2].reshape(3, 2, 1, 1), (2, 3), "SAME"),
    "window_sum": lambda a: windows(a, lax.add, 0.0, base_dilation=(1, 2)),
    "window_max": lambda a: windows(a, lax.max, -jnp.inf, base_dilation=(1, 2)),
    "cumprod": lambda a: jnp.cumprod(a, 1),
    "cummax": lambda a: lax.cummax(a, 1),
    "associative_scan": lambda a: lax.associative_scan(lambda x, y: x * jnp.cos(y) + y, a, axis=0),
}
# Functions that are several nodes, or have bounds.
FUNCTIONS = {
    "erf_inv": lambda a: lax.erf_inv(a / 4),
    "erfc": lambda a: lax.erfc(a),
    "log1p": lambda a: jnp.log1p(a * a) + jnp.log1p(0 * a),
    "expm1": lambda a: jnp.expm1(a),
    "atan2": lambda a: jnp.arctan2(a, a[::-1] + 2),
    "cbrt": lambda a: jnp.cbrt(a + 5),
    "log10": lambda a: jnp.log10(a * a + 1),
    "logaddexp": lambda a: jnp.logaddexp(a, a[::-1]) + jax.nn.softplus(jnp.round(a)),
    "relu": lambda a: jax.nn.relu(jnp.where(a > 0.5, 0, a) * 3),
    "relu6": lambda a: jax.nn.relu6(jnp.where(a > 0.5, a - lax.stop_gradient(a) + 6, 4 * a)),
    "softmax": lambda a: jax.nn.softmax(a, 1) * np.arange(6),
    "log_softmax": lambda a: jax.nn.log_softmax(a, 1) * np.arange(6),
    "logsumexp": lambda a: jax.nn.logsumexp(a, 1),
    "bits": lambda a: bits(a) * a,
    "bfloat16": lambda a: a.astype(jnp.bfloat16).astype(a.dtype) * a,
}
# What only says where a gradient flows.
CUTS = {
    "stop_gradient": lambda a: a * lax.stop_gradient(a * a),
    "stop_in_scan": lambda a: lax.scan(lambda h, r: (h * 0.5 + lax.stop_gradient(r) * r, h),
                                       zeros(a, 6), a)[1],
    "stop_mean": lambda a: (a - lax.stop_gradient(a.mean(1, keepdims=True))) ** 2,
}
# Losses with gradients in them.
PAD = ((0, 0, 1), (1, 0, 0))
PENALTIES = {
    "of_product": penalty(lambda b: jnp.tanh(b @ b.T)),
    "of_softmax": penalty(lambda b: jax.nn.softmax(b, 1) * np.arange(6)),
    "of_gather": penalty(lambda b: jnp.sin(b[ROWS % 4])),
    "of_scatter": penalty(lambda b: jnp.sin(jax.ops.segment_sum(b, ROWS, 6))),
    "of_slice": penalty(lambda b: jnp.sin(lax.pad(b[1:, ::2], b.dtype.type(0), PAD))),
}
PROGRAMS = {"moves": MOVES, "windows": WINDOWS, "functions": FUNCTIONS, "cuts": CUTS,
            "penalties": PENALTIES}


def loss_of(operations):
    """The sum over operations of a function of their results; `x` is data."""
    def loss(params, x):
        return sum(jnp.sum(jnp.sin(function(params[name] * x)))
                   for name, function in operations.items())
    return loss


def draw(operations):
    random = np.random.default_rng(0)
    x = (1 + random.random(SHAPE) / 2).astype(np.float32)
    return {name: random.normal(0, 1, SHAPE).astype(np.float32) for name in operations}, x


def gradients_of(operations):
    """Gradients in float64 of what `draw` gives."""
    jax.config.update("jax_enable_x64", True)
    try:
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), draw(operations))
        return jax.tree.map(np.asarray, jax.grad(loss_of(operations))(*wide))
    finally:
        jax.config.update("jax_enable_x64", False)


def export(program, folder):
    """Writes the loss of a program for Zero; returns its path."""
    import zero
    operations = PROGRAMS[program]
    return zero.from_jax(loss_of(operations), *draw(operations), path=folder / f"{program}.mlir",
                         params="params")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for program, operations in PROGRAMS.items():
        export(program, folder)
        params, arrays["x"] = draw(operations)
        arrays |= {f"weight.{name}": value for name, value in params.items()}
        arrays |= {f"gradient.{name}": value for name, value in gradients_of(operations).items()}
    np.savez_compressed(folder / "groundtruth.npz", **arrays)


if __name__ == "__main__":
    main()
