"""A whole step of JAX with optax's Muon for its matrices, and AdamW for the rest.

usage: check_optax_muon.py WORK

Losses are JAX's within 1e-3, with the same bits at all stages and tiers. Each matrix has an owner.
"""

import functools
import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

import zero
from whole_step import STEPS, WholeStep, check_stages, check_tiers
from zero_test import Checks

# By optax's defaults, all parameters of two dimensions.
MATRICES = ["fc1.w", "fc2.w", "head.w"]
OPTIMIZER = optax.contrib.muon(0.02, weight_decay=0.1, adam_weight_decay=0.01)


def loss_of(params, x, y):
    for layer in ("fc1", "fc2"):
        x = jax.nn.relu(x @ params[layer]["w"] + params[layer]["b"])
    return ((x @ params["head"]["w"] + params["head"]["b"] - y) ** 2).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = OPTIMIZER.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def write_step(work):
    """Writes the program, its state and, as test/data has it, groundtruth.npz."""
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = {"fc1": (24, 32), "fc2": (32, 24), "head": (24, 10)}
    params = {layer: {"w": jax.random.normal(key, shape) * shape[0] ** -0.5, "b": jnp.zeros(shape[1])}
              for key, (layer, shape) in zip(keys, shapes.items())}
    state = OPTIMIZER.init(params)
    x, y = jax.random.normal(keys[3], (16, 24)), jax.random.normal(keys[4], (16, 10))
    program = zero.from_jax(train_step, params, state, x, y, path=str(work / "step.mlir"))
    zero.save_weights({"params": params, "state": state}, str(work / "init.npz"), program)
    losses = []
    for _ in range(STEPS):
        params, state, loss = train_step(params, state, x, y)
        losses.append(float(loss))
    (work / "optax").mkdir(exist_ok=True)
    np.savez(work / "optax" / "groundtruth.npz", losses=losses, **{"input.x": x, "input.y": y})


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    write_step(work)
    step = WholeStep(work, "optax", work, work / "step.mlir", [f"--roles={work / 'step.json'}"],
                     [f"--weights={work / 'init.npz'}"], truth="losses")
    check_stages(checks, step)
    check_tiers(checks, step, ["recomputed"])  # no layer repeats
    for ranks, stage in ((2, 1), (3, 3)):
        step.compile(f"--zero-stage={stage}", f"--ranks={ranks}", "-v")
        found = re.findall(r"params\.(\S+): \S+, updated as a whole matrix", step.report)
        checks.that(sorted(found) == MATRICES, f"matrices: {found}")
        checks.that(f"{len(MATRICES)} tensors have owners" in step.report, step.report)
    checks.finish()


if __name__ == "__main__":
    main()
