"""Forms in which JAX programs keep documents of a row apart: each becomes an attention with
segments, and trains as JAX does.

usage: check_documents_jax.py WORK
"""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from zero_test import Checks, run_tool

import zero

BATCH, LENGTH, HEADS, WIDTH, VOCABULARY = 2, 64, 2, 16, 50
DOCUMENTS = [20, 30, 14]
RATE, STEPS = 0.5, 3
CAUSAL = np.tril(np.ones((LENGTH, LENGTH), bool))


def same(numbers):
    return numbers[:, :, None] == numbers[:, None, :]


def library(q, k, v, numbers):
    """jax.nn's own attention."""
    return jax.nn.dot_product_attention(q, k, v, mask=same(numbers)[:, None], is_causal=True)


def weighted(q, k, v, scores):
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores(
        jnp.einsum("bthd,bshd->bhts", q, k) / WIDTH ** 0.5), -1), v)


def chosen(q, k, v, numbers):
    """Hidden scores are replaced by a number."""
    mask = (same(numbers) & CAUSAL)[:, None]
    return weighted(q, k, v, lambda scores: jnp.where(mask, scores, -1e30))


def biased(q, k, v, numbers):
    """A bias hides."""
    bias = jnp.where(same(numbers) & CAUSAL, 0., jnp.finfo(jnp.float32).min)[:, None]
    return weighted(q, k, v, lambda scores: scores + bias)


def in_numbers(q, k, v, numbers):
    """Masks are numbers, as in Flax."""
    mask = jnp.logical_and(same(numbers)[:, None].astype(jnp.float32),
                           CAUSAL[None, None].astype(np.float32)).astype(jnp.float32)
    return weighted(q, k, v, lambda scores: jnp.where(mask > 0, scores,
                                                      jnp.finfo(jnp.float32).min))


def from_positions(q, k, v, positions):
    """The columns where documents begin tell them apart."""
    return library(q, k, v, jnp.arange(LENGTH)[None] - positions)


def from_starts(q, k, v, positions):
    """Documents are counted."""
    return library(q, k, v, jnp.cumsum(positions == 0, -1))


FORMS = {attend: np.repeat(np.arange(3), DOCUMENTS)
         for attend in (library, chosen, biased, in_numbers)}
FORMS |= {attend: np.concatenate(list(map(np.arange, DOCUMENTS)))
          for attend in (from_positions, from_starts)}


def check_form(checks, attend, numbers, folder):
    def loss(params, ids, numbers, labels):
        parts = (params["table"][ids] @ params["project"]).reshape(BATCH, LENGTH, 3, HEADS, WIDTH)
        heads = attend(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2], numbers)
        scores = heads.reshape(BATCH, LENGTH, HEADS * WIDTH) @ params["out"]
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[..., None], -1).mean()

    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.normal(0, 0.3, shape).astype(np.float32)
    params = {"table": draw(VOCABULARY, 32), "project": draw(32, 3 * HEADS * WIDTH),
              "out": draw(HEADS * WIDTH, VOCABULARY)}
    ids, labels = rng.integers(0, VOCABULARY, (2, BATCH, LENGTH), dtype=np.int32)
    batch = ids, np.stack([numbers.astype(np.int32)] * BATCH), labels
    program = zero.from_jax(loss, params, *batch, path=folder / "loss.mlir", params="params")
    zero.save_weights({"params": params}, folder / "init.npz", program)
    np.savez(folder / "batch.npz", **dict(zip(("ids", "numbers", "labels"), batch)))

    flags = [folder / "loss.mlir", f"--roles={folder / 'loss.json'}", "--optimizer=sgd"]
    kernels = run_tool("zeroc", *flags, "--plan-only", "--dump-after=kernels")
    checks.that(kernels.count("segments = true") == 2,
                f"{attend.__name__}: expected calls with segments in both directions")
    log = folder / "log.jsonl"
    run_tool("zero-run", *flags, f"--weights={folder / 'init.npz'}",
             f"--data={folder / 'batch.npz'}", f"--lr={RATE}", f"--steps={STEPS}", f"--log={log}")
    found = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    expected = []
    for _ in range(STEPS):
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        expected.append(float(value))
        params = jax.tree.map(lambda p, g: p - RATE * g, params, gradients)
    error = np.abs(np.subtract(found, expected)).max()
    checks.that(error < 1e-5, f"{attend.__name__}: losses are off by {error:.1e}")


def main():
    checks = Checks()
    for attend, numbers in FORMS.items():
        folder = Path(sys.argv[1]) / attend.__name__
        folder.mkdir(parents=True, exist_ok=True)
        check_form(checks, attend, numbers, folder)
    checks.finish()


if __name__ == "__main__":
    main()
