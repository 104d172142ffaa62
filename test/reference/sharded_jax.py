"""Writes test/data/stablehlo/jax-sharded: a step whose data and parameters JAX shards over a mesh of
four devices, and JAX's losses. Needs jax.

usage: sharded_jax.py FOLDER
"""

import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

STEPS = 11


def loss_of(params, x, labels):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    scores = jax.nn.log_softmax(hidden @ params["w2"] + params["b2"])
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))


def train_step(params, x, labels):
    loss, grads = jax.value_and_grad(loss_of)(params, x, labels)
    return jax.tree.map(lambda value, grad: value - 0.1 * grad, params, grads), loss


def draw():
    random = np.random.default_rng(0)
    params = {"b1": np.zeros(32, np.float32), "b2": np.zeros(10, np.float32),
              "w1": random.normal(0, 0.1, (16, 32)).astype(np.float32),
              "w2": random.normal(0, 0.1, (32, 10)).astype(np.float32)}
    x = random.normal(0, 1, (8, 16)).astype(np.float32)
    return params, x, random.integers(0, 10, 8).astype(np.int32)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_use_shardy_partitioner", True)
    mesh = Mesh(np.array(jax.devices()), ("data",))
    place = lambda *axes: NamedSharding(mesh, PartitionSpec(*axes))
    shardings = {"b1": place(), "b2": place(), "w1": place("data", None), "w2": place("data", None)}
    step = jax.jit(train_step, in_shardings=(shardings, place("data"), place("data")),
                   out_shardings=(shardings, place()), donate_argnums=0)
    params, x, labels = draw()
    text = step.lower(params, x, labels).compiler_ir().operation.get_asm(print_generic_op_form=True)
    (folder / "step.generic.mlir").write_text(text)
    arrays = {f"arg.{i}": value for i, value in enumerate([*jax.tree.leaves(params), x, labels])}
    np.save(folder / "x.npy", x)
    np.save(folder / "labels.npy", labels)
    losses = []
    for _ in range(STEPS):
        params, loss = step(params, x, labels)
        losses.append(float(loss))
    np.savez_compressed(folder / "groundtruth.npz", adamw_losses=np.array(losses), **arrays)


if __name__ == "__main__":
    main()
