"""Writes test/data/jax-tensor-parallel: losses that JAX shards over a mesh of 2 x 2 devices, as
Megatron-LM does, with JAX's gradients and the losses of ten updates. Needs jax, and python/ on the
path.

usage: tensor_parallel_jax.py FOLDER
"""

import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import zero

STEPS, RATE, DECAY = 11, 1e-3, 0.01
BATCH, ROWS, HEADS, WIDTH, WORDS = 4, 8, 4, 16, 128
MESH = Mesh(np.array(jax.devices()).reshape(2, 2), ("batch", "model"))


def place(*axes):
    return NamedSharding(MESH, P(*axes))


def cross_entropy(scores, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[..., None], -1).mean()


def mlp(params, x, labels):
    hidden = jax.nn.relu(x @ params["fc1"]["w"] + params["fc1"]["b"])
    return cross_entropy(hidden @ params["fc2"]["w"] + params["fc2"]["b"], labels)


# The second dimension of fc2.w is sharded over the batch's ranks, as FSDP does.
MLP = {"fc1": {"w": ((64, 32), P(None, "model")), "b": ((32,), P("model"))},
       "fc2": {"w": ((32, 16), P("model", "batch")), "b": ((16,), P())}}


def normalize(params, x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * params["w"] + params["b"]


def attend(params, x):
    """With three projections, or with a joint one."""
    project = lambda name: x @ params[name]["w"] + params[name]["b"]
    parts = jnp.split(project("qkv"), 3, -1) if "qkv" in params else map(project, "qkv")
    heads = [part.reshape(*x.shape[:2], HEADS, WIDTH // HEADS) for part in parts]
    mixed = jax.nn.dot_product_attention(*heads, is_causal=True)
    return mixed.reshape(x.shape) @ params["o"]["w"] + params["o"]["b"]


def gpt(params, tokens, labels):
    x = params["wte"][tokens] + params["wpe"]
    for layer in params["layers"]:
        x = x + attend(layer["attention"], normalize(layer["norm1"], x))
        hidden = normalize(layer["norm2"], x) @ layer["up"]["w"] + layer["up"]["b"]
        where = place("batch", None, "model")
        hidden = jax.lax.with_sharding_constraint(jax.nn.gelu(hidden), where)
        x = x + hidden @ layer["down"]["w"] + layer["down"]["b"]
    return cross_entropy(normalize(params["norm"], x) @ params["head"], labels)


def linear(rows, columns, *axes):
    bias = P(axes[1]) if axes[1] else P()
    return {"w": ((rows, columns), P(*axes)), "b": ((columns,), bias)}


NORM = {"w": ((WIDTH,), P()), "b": ((WIDTH,), P())}


def layer(projections):
    return {"attention": {**projections, "o": linear(WIDTH, WIDTH, "model", None)},
            "norm1": NORM, "norm2": NORM, "up": linear(WIDTH, 4 * WIDTH, None, "model"),
            "down": linear(4 * WIDTH, WIDTH, "model", None)}


LAYERS = [layer({name: linear(WIDTH, WIDTH, None, "model") for name in "qkv"}),
          layer({"qkv": linear(WIDTH, 3 * WIDTH, None, "model")})]
GPT = {"wte": ((WORDS, WIDTH), P("model", None)), "wpe": ((ROWS, WIDTH), P()),
       "layers": LAYERS, "norm": NORM, "head": ((WIDTH, WORDS), P(None, "model"))}


def is_leaf(node):
    return isinstance(node, tuple)


def draw(tree, random):
    return jax.tree.map(lambda leaf: random.normal(0, 0.2, leaf[0]).astype(np.float32), tree,
                        is_leaf=is_leaf)


def train(loss_of, params, batch):
    """The gradients at step 0, and the loss before each step, with AdamW."""
    @jax.jit
    def step(params, mean, square, count):
        loss, gradients = jax.value_and_grad(loss_of)(params, *batch)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradients)

        def update(w, m, v):
            m, v = m / (1 - 0.9 ** count), v / (1 - 0.999 ** count)
            return w - RATE * (m / (jnp.sqrt(v) + 1e-8) + DECAY * w)
        return jax.tree.map(update, params, mean, square), mean, square, loss, gradients

    mean = square = jax.tree.map(jnp.zeros_like, params)
    losses, first = [], None
    for count in range(1, STEPS + 1):
        params, mean, square, loss, gradients = step(params, mean, square, jnp.float32(count))
        losses.append(float(loss))
        first = first or gradients
    return losses, first


def named(tree, prefix):
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    text = lambda key: str(getattr(key, "key", getattr(key, "idx", None)))
    return {".".join([prefix, *map(text, path)]): np.asarray(leaf) for path, leaf in paths}


def write(folder, loss_of, tree, batch, names):
    random = np.random.default_rng(0)
    params = draw(tree, random)
    shardings = jax.tree.map(lambda leaf: NamedSharding(MESH, leaf[1]), tree, is_leaf=is_leaf)
    placed = jax.jit(loss_of, in_shardings=(shardings, place("batch"), place("batch")))
    name = loss_of.__name__
    program = zero.from_jax(placed, params, *batch, path=folder / f"{name}.mlir", params="params")
    zero.save_weights({"params": params}, folder / f"{name}-params.npz", program)
    np.savez(folder / f"{name}-batch.npz", **dict(zip(names, batch)))
    losses, gradients = train(loss_of, params, batch)
    print(name, losses)
    np.savez_compressed(folder / f"{name}-truth.npz", losses=losses, **named(gradients, "params"))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    x = random.normal(0, 1, (8, 64)).astype(np.float32)
    labels = random.integers(0, 16, 8).astype(np.int32)
    write(folder, mlp, MLP, (x, labels), ("x", "labels"))
    tokens, targets = (random.integers(0, WORDS, (BATCH, ROWS)).astype(np.int32) for _ in "ab")
    write(folder, gpt, GPT, (tokens, targets), ("tokens", "labels"))
    (folder / "VERSION").write_text(f"jax {jax.__version__}\n")


if __name__ == "__main__":
    main()
