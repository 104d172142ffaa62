"""Writes test/data/jax-attention: one step of SGD on attention in each form that JAX programs have,
with the parameters before and after it. Needs jax.

usage: attention_jax.py FOLDER
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import zero

BATCH, ROWS, HEADS, WIDTH, ALL = 2, 8, 4, 4, 16
CAUSAL = jnp.tril(jnp.ones((ROWS, ROWS), bool))


def split(values):
    return values.reshape(*values.shape[:-1], values.shape[-1] // WIDTH, WIDTH)


def heads(params, x):
    return [split(x @ params[name]) for name in "qkv"]


def api(params, x):
    return jax.nn.dot_product_attention(*heads(params, x), is_causal=True)


def unmasked(params, x):
    return jax.nn.dot_product_attention(*heads(params, x))


def einsum(params, x):
    """As flax.nnx writes it."""
    query, key, value = heads(params, x)
    scores = jnp.einsum("...qhd,...khd->...hqk", query / jnp.sqrt(WIDTH), key)
    weights = jax.nn.softmax(jnp.where(CAUSAL, scores, jnp.finfo(scores.dtype).min))
    return jnp.einsum("...hqk,...khd->...qhd", weights, value)


def mapped(params, x):
    def one(x):
        query, key, value = heads(params, x)
        scores = jnp.einsum("qhd,khd->hqk", query, key) * WIDTH**-0.5
        return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.where(CAUSAL, scores, -1e30)), value)
    return jax.vmap(one)(x)


def repeated(params, x):
    """Each head of keys and values serves several heads of queries; the mask is added."""
    query, key, value = heads(params, x)
    key, value = (jnp.repeat(y, HEADS // y.shape[2], axis=2) for y in (key, value))
    query, key, value = (y.transpose(0, 2, 1, 3) for y in (query, key, value))
    scores = query @ key.swapaxes(-1, -2) / jnp.sqrt(WIDTH) + jnp.where(CAUSAL, 0.0, -1e9)
    return (jax.nn.softmax(scores) @ value).transpose(0, 2, 1, 3)


def written_out(params, x):
    """The softmax as a quotient, which JAX differentiates itself."""
    query, key, value = heads(params, x)
    scores = jnp.where(CAUSAL, jnp.einsum("bqhd,bkhd->bhqk", query, key) * WIDTH**-0.5, -1e9)
    exponentials = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value)


def recomputed(params, x):
    return jax.checkpoint(einsum)(params, x)


def grouped_api(params, x):
    """Not recognized: the scores have a fifth dimension."""
    return api(params, x)


FEWER_KEYS = ("repeated", "grouped_api")
FORMS = (api, unmasked, einsum, mapped, repeated, written_out, recomputed, grouped_api)


def draw(random, name):
    keys = HEADS // 2 if name in FEWER_KEYS else HEADS
    shapes = {"k": (ALL, keys * WIDTH), "o": (HEADS * WIDTH, ALL), "q": (ALL, HEADS * WIDTH),
              "v": (ALL, keys * WIDTH)}
    return {part: random.normal(0, 0.4, shape).astype(np.float32) for part, shape in shapes.items()}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (BATCH, ROWS, ALL)).astype(np.float32)
    np.savez(folder / "batch.npz", x=x)
    for form in FORMS:
        def loss_of(params, x):
            mixed = form(params, x).reshape(*x.shape[:-1], -1)
            return jnp.mean((mixed @ params["o"] - x) ** 2)

        def step(params, x):
            loss, gradient = jax.value_and_grad(loss_of)(params, x)
            return loss, jax.tree.map(lambda value, slope: value - slope, params, gradient)

        name = form.__name__
        params = draw(random, name)
        program = jax.jit(step, donate_argnums=0)
        zero.from_jax(program, params, x, path=folder / f"{name}.mlir")
        np.savez(folder / f"{name}-before.npz", **{f"params.{k}": v for k, v in params.items()})
        _, trained = program(params, x)
        np.savez(folder / f"{name}-after.npz", **{f"params.{k}": v for k, v in trained.items()})
    (folder / "VERSION").write_text(f"jax {jax.__version__}\n")


if __name__ == "__main__":
    main()
