#!/usr/bin/env python3
"""Trains a whole step of JAX, that is loss, gradients and Adam by hand, with Zero, and compares its
losses and weights with those that JAX computes.

usage: train.py [--width=N] [--batch=N] [--steps=N] [--lr=X] [--ranks=N] [--out=FILE]

A network of three layers learns the sum of two digits of 0 to 9, each given as one of ten inputs.
Writes the weights to FILE, a .npz.

Needs JAX.
"""

import argparse
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import zero

DIGITS = 10


def initialize(key, width):
    """Weights (inputs, outputs) and biases of the layers by name."""
    sizes = [2 * DIGITS, width, width, 2 * DIGITS - 1]
    keys = jax.random.split(key, len(sizes) - 1)
    return {f"layer{number}": {"w": jax.random.normal(key, (rows, columns)) / rows ** 0.5,
                               "b": jnp.zeros(columns)}
            for number, (key, rows, columns) in enumerate(zip(keys, sizes, sizes[1:]))}


def loss_of(params, x, labels):
    *hidden, last = params.values()
    for layer in hidden:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    scores = jax.nn.log_softmax(x @ last["w"] + last["b"])
    return -jnp.take_along_axis(scores, labels[:, None], axis=-1).mean()


def make_step(rate):
    """A step of Adam. It donates its state, and so says what is carried from step to step."""
    @partial(jax.jit, donate_argnames=("params", "means", "squares", "count"))
    def train_step(params, means, squares, count, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, labels)
        count = count + 1
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, gradients)

        def update(w, m, v):
            m, v = m / (1 - 0.9 ** count), v / (1 - 0.999 ** count)
            return w - rate * m / (jnp.sqrt(v) + 1e-8)
        return jax.tree.map(update, params, means, squares), means, squares, count, loss
    return train_step


def make_batches(count, batch):
    """`x` (count * batch, 20) of float32, and `labels` (count * batch,), the sums."""
    digits = np.random.default_rng(0).integers(0, DIGITS, (count * batch, 2))
    x = np.eye(DIGITS, dtype=np.float32)[digits].reshape(len(digits), 2 * DIGITS)
    return {"x": x, "labels": digits.sum(axis=1).astype(np.int32)}


def train_in_jax(step, state, data, batch):
    """The losses of all batches, and the trained parameters by the names that Zero uses."""
    state = jax.tree.map(jnp.copy, state)  # the step donates it
    losses = []
    for begin in range(0, len(data["x"]), batch):
        *state, loss = step(*state, *(value[begin:begin + batch] for value in data.values()))
        losses.append(float(loss))
    leaves = jax.tree_util.tree_leaves_with_path(state[0])
    return losses, {".".join(["params", *(part.key for part in path)]): value
                    for path, value in leaves}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name, default in {"width": 64, "batch": 64, "steps": 300, "ranks": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--out", type=Path, default=Path("weights.npz"))
    return parser.parse_args()


def main():
    options = parse()
    step = make_step(options.lr)
    params = initialize(jax.random.key(0), options.width)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, zeros, jnp.int32(0))
    data = make_batches(options.steps, options.batch)
    # The program has the batch of one rank.
    rows = options.batch // options.ranks
    example = (*state, data["x"][:rows], data["labels"][:rows])
    program = zero.compile(step, example=example, stage=3, ranks=options.ranks)
    print(program)
    with program.session() as session:
        losses = session.train(data, steps=options.steps).losses
        weights = session.state_dict()
    expected, trained = train_in_jax(step, state, data, options.batch)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; JAX {expected[0]:.4f} -> {expected[-1]:.4f}")
    differences = np.abs(np.subtract(losses, expected))
    print(f"largest difference of a loss: {differences.max():.1e}")
    np.savez(options.out, **{name: weights[name] for name in trained})


if __name__ == "__main__":
    main()
