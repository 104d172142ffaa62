"""Writes a case's step as StableHLO: jax_program.py CASE FORM

Only GPT-2 and AdamW in fp32. FORM is `unrolled`, where each layer is written out, or `scan`, where
one loop has all layers. Writes FORM.mlir, FORM.json, FORM-input_ids.npy and, if the case has
weights, FORM.npz with the initial parameters. The moments and the count begin as zero.
"""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import zero
from jax_model import map_shapes, mean_loss, parameter_shapes, update_all, weight_name

FOLDER, FORM = Path(sys.argv[1]), sys.argv[2]
SIZES = json.loads((FOLDER / "case.json").read_text())


def step(params, first, second, count, input_ids):
    loss, gradient = jax.value_and_grad(mean_loss)(params, input_ids, SIZES["heads"])
    return *update_all(params, first, second, count, gradient), loss


def initial_values(shapes):
    """The weights of the graph; those of all layers stacked in the form of a loop."""
    weights = np.load(FOLDER / "weights.npz")

    def value(path, shape):
        name = weight_name(path)
        if FORM == "unrolled" or not name.startswith("layers."):
            return weights[name].reshape(shape)
        names = [name.replace("layers", f"layers.{i}") for i in range(SIZES["layers"])]
        return np.stack([weights[each] for each in names]).reshape(shape)
    return jax.tree_util.tree_map_with_path(value, shapes, is_leaf=lambda x: isinstance(x, tuple))


def main():
    shapes = parameter_shapes(SIZES, stacked=FORM == "scan")
    params = map_shapes(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32), shapes)
    count = jax.ShapeDtypeStruct((), jnp.float32)
    input_ids = jax.ShapeDtypeStruct((SIZES["batch"], SIZES["sequence"]), jnp.int32)
    zero.from_jax(step, params, params, params, count, input_ids, path=FOLDER / f"{FORM}.mlir",
                  carry=("params", "first", "second", "count"), loss=4)
    np.save(FOLDER / f"{FORM}-input_ids.npy", np.load(FOLDER / "input_ids.npy").astype(np.int32))
    if (FOLDER / "weights.npz").exists():
        zero.save_weights({"params": initial_values(shapes)}, FOLDER / f"{FORM}.npz")


if __name__ == "__main__":
    main()
