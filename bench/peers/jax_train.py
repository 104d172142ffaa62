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

from jax_model import map_shapes, mean_loss, parameter_shapes, update_all, weight_name
from measure import measure

TYPE = {"fp32": jnp.float32, "bf16": jnp.bfloat16}[PRECISION]
MESH = Mesh(jax.devices(), ("ranks",))
WHOLE = NamedSharding(MESH, PartitionSpec())
ROWS = NamedSharding(MESH, PartitionSpec("ranks"))


def train_step(state, tokens):
    p, first, second, count = state
    stored = jax.tree.map(lambda w: w.astype(TYPE), p)
    loss, gradient = jax.value_and_grad(mean_loss)(stored, tokens, SIZES["heads"])
    gradient = jax.tree.map(lambda g: g.astype(jnp.float32), gradient)
    return update_all(p, first, second, count, gradient), loss


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
        return jax.device_put(weights[weight_name(path)].reshape(shape), sharding)
    zero = lambda shape, sharding: jax.device_put(np.zeros(shape, np.float32), sharding)
    leaf = lambda x: isinstance(x, tuple)
    placed = jax.tree.map_with_path(place, shapes, shardings, is_leaf=leaf)
    first, second = (jax.tree.map(zero, shapes, shardings, is_leaf=leaf) for _ in range(2))
    return placed, first, second, jax.device_put(jnp.float32(0), WHOLE)


def main():
    shapes = parameter_shapes(SIZES)
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
