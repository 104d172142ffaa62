"""The JAX peer, all ranks in one process: jax_train.py CASE PRECISION STEPS REPORT

Only GPT-2. State and batch are fully sharded over the ranks, and XLA inserts gathers and
reductions. PRECISION bf16 means parameters, activations and gradients in bf16, master and optimizer
state in fp32, gradients summed over ranks in fp32. With STEPS 0 it only compiles, on abstract
shapes, and the report has the seconds of that.
"""

import json
import os
import sys
import time
from pathlib import Path

FOLDER, PRECISION, STEPS, REPORT = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
SIZES = json.loads((FOLDER / "case.json").read_text())
RANKS = SIZES["ranks"]
# JAX reads this when it is imported.
os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={RANKS} "
                           + os.environ.get("XLA_FLAGS", ""))

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from measure import measure

LEARNING_RATE, WEIGHT_DECAY, BETA1, BETA2, EPSILON = 1e-4, 0.01, 0.9, 0.999, 1e-8
TYPE = {"fp32": jnp.float32, "bf16": jnp.bfloat16}[PRECISION]
MESH = Mesh(jax.devices(), ("ranks",))
WHOLE = NamedSharding(MESH, PartitionSpec())
ROWS = NamedSharding(MESH, PartitionSpec("ranks"))


def parameter_shapes():
    width, vocabulary = SIZES["width"], SIZES["vocabulary"]
    norm = {"weight": (width,), "bias": (width,)}
    linear = lambda rows, columns: {"weight": (rows, columns), "bias": (columns,)}
    layer = {"norm1": norm, "packed": linear(width, 3 * width), "mixed": linear(width, width),
             "norm2": norm, "grow": linear(width, 4 * width), "shrink": linear(4 * width, width)}
    return {"tokens": (vocabulary, width), "positions": (SIZES["sequence"], width),
            "layers": [layer] * SIZES["layers"], "norm": norm}


def map_shapes(function, shapes):
    return jax.tree.map(function, shapes, is_leaf=lambda x: isinstance(x, tuple))


def normalize(x, p):
    """In fp32, as PyTorch's, which only reads and writes bf16."""
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    variance = ((wide - mean) ** 2).mean(-1, keepdims=True)
    normal = (wide - mean) * jax.lax.rsqrt(variance + 1e-5) * p["weight"] + p["bias"]
    return normal.astype(x.dtype)


def project(x, p):
    return x @ p["weight"] + p["bias"]


def apply_layer(x, p):
    heads = (*x.shape[:2], SIZES["heads"], -1)
    parts = jnp.split(project(normalize(x, p["norm1"]), p["packed"]), 3, -1)
    query, key, value = (part.reshape(heads) for part in parts)
    mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
    x = x + project(mixed.reshape(x.shape), p["mixed"])
    grown = jax.nn.gelu(project(normalize(x, p["norm2"]), p["grow"]))
    return x + project(grown, p["shrink"])


def mean_loss(p, tokens):
    x = p["tokens"][tokens] + p["positions"]
    for layer in p["layers"]:
        x = apply_layer(x, layer)
    logits = (normalize(x, p["norm"]) @ p["tokens"].T)[:, :-1].astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    # Less work than log_softmax, which writes all the logits again.
    return (jax.nn.logsumexp(logits, -1) - chosen).mean()


def train_step(state, tokens):
    p, first, second, count = state
    stored = jax.tree.map(lambda w: w.astype(TYPE), p)
    loss, gradient = jax.value_and_grad(mean_loss)(stored, tokens)
    gradient = jax.tree.map(lambda g: g.astype(jnp.float32), gradient)
    count = count + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradient)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradient)

    def update(w, m, v):
        scaled = jnp.sqrt(v / (1 - BETA2 ** count)) + EPSILON
        return w - LEARNING_RATE * (m / (1 - BETA1 ** count) / scaled + WEIGHT_DECAY * w)
    return (jax.tree.map(update, p, first, second), first, second, count), loss


def compile_step(shapes, shardings):
    """Compiles only for shapes, before the model exists."""
    state = (shardings, shardings, shardings, WHOLE)
    jitted = jax.jit(train_step, in_shardings=(state, ROWS), out_shardings=(state, WHOLE),
                     donate_argnums=0)
    abstract = map_shapes(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32), shapes)
    count = jax.ShapeDtypeStruct((), jnp.float32)
    tokens = jax.ShapeDtypeStruct((RANKS * SIZES["batch"], SIZES["sequence"]), jnp.int32)
    return jitted.lower((abstract, abstract, abstract, count), tokens).compile()


def make_state(shapes, shardings):
    """The weights of the graph, and moments of zero."""
    weights = np.load(FOLDER / "weights.npz")

    def place(path, shape, sharding):
        name = ".".join(str(getattr(key, "key", getattr(key, "idx", None))) for key in path)
        return jax.device_put(weights[name].reshape(shape), sharding)
    zero = lambda shape, sharding: jax.device_put(np.zeros(shape, np.float32), sharding)
    leaf = lambda x: isinstance(x, tuple)
    placed = jax.tree.map_with_path(place, shapes, shardings, is_leaf=leaf)
    first, second = (jax.tree.map(zero, shapes, shardings, is_leaf=leaf) for _ in range(2))
    return placed, first, second, jax.device_put(jnp.float32(0), WHOLE)


def main():
    shapes = parameter_shapes()
    shardings = map_shapes(lambda shape: ROWS if shape[0] % RANKS == 0 else WHOLE, shapes)
    start = time.perf_counter()
    compiled = compile_step(shapes, shardings)
    if STEPS == 0:
        Path(REPORT).write_text(json.dumps({"compile_seconds": time.perf_counter() - start}))
        return
    state = make_state(shapes, shardings)
    tokens = jax.device_put(np.load(FOLDER / "input_ids.npy").astype(np.int32), ROWS)

    def step():
        nonlocal state
        state, loss = compiled(state, tokens)
        jax.block_until_ready(state)
        return float(loss)
    measure(step, STEPS, f"{REPORT}.0")


if __name__ == "__main__":
    main()
