"""Gradients at ties and bounds against the frameworks that the rules come from.

usage: check_tie_sources.py torch
       check_tie_sources.py jax WORK

torch: the expected numbers of test/ops/check_ties.py are PyTorch's. jax: a loss that zero.from_jax
exports without its gradient has JAX's.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ops"))

from check_ties import CASES
from zero_test import Checks, read_safetensors, run_tool


def torch_functions(torch):
    """What the cases are in PyTorch, but for those that it does not have."""
    functional, low, high = torch.nn.functional, torch.tensor(-1.0), torch.tensor(1.0)
    ones = torch.ones(2)
    return {
        "relu": torch.relu,
        "leaky": lambda x: functional.leaky_relu(x, 0.25),
        "prelu": lambda x: functional.prelu(x, torch.tensor(0.25)),
        "elu": lambda x: functional.elu(x, 2.0),
        "celu": lambda x: functional.celu(x, 2.0),
        "selu": lambda x: torch.ops.aten.elu(x, 2.0, 1.5),
        "hard sigmoid": functional.hardsigmoid,
        "hard swish": functional.hardswish,
        "thresholded": lambda x: functional.threshold(x, 1.0, 0.0),
        "shrink": lambda x: functional.hardshrink(x, 0.5),
        "abs": torch.abs,
        "clip": lambda x: x.clamp(-1, 1),
        "clip above": lambda x: functional.hardtanh(x, -9.0, 1.0),
        "max": lambda x: torch.maximum(x, ones),
        "min": lambda x: torch.minimum(x, ones),
        "reduce max": lambda x: x.amax(0),
        "reduce min": lambda x: x.amin(0),
        "l1": lambda x: x.norm(1),
        "l2": lambda x: x.norm(),
        "product": lambda x: x.prod(),
        "max pool": lambda x: functional.max_pool1d(x[0], 3)[None],
        "global max pool": lambda x: functional.adaptive_max_pool1d(x, 1),
        "top 1": lambda x: x.topk(1).values,
        "sort": lambda x: x.sort(descending=True, stable=True).values,
        "sort up": lambda x: x.sort(stable=True).values,
        "square at zero": lambda x: x**2,
        "power 0": lambda x: x**0.0,
        "root at zero": torch.sqrt,
        "max(dim)": lambda x: x.max(0).values,
        "min(dim)": lambda x: x.min(0, keepdim=True).values,
        "amax": lambda x: x.amax(0),
        "clamp": lambda x: x.clamp(-1.0, 1.0),
        "clamp, as Max": lambda x: x.clamp_min(-1.0),
        "clamp, as Min": lambda x: x.clamp_max(1.0),
        "clamp of numbers": lambda x: torch.clip(x, -1.0, 1.0),
        "clamp of tensors": lambda x: x.clamp(low, high),
        "clamp of tensors, as Max": lambda x: x.clamp(low, high * 9),
        "clamp to a tensor": lambda x: x.clamp(max=high),
        "clamp_min": lambda x: x.clamp_min(low),
        "clamp_max": lambda x: x.clamp_max(high),
        "minimum of maximum": lambda x: torch.minimum(torch.maximum(x, low), high),
        "minimum of clamp": lambda x: torch.minimum(x.clamp(min=-1.0), high),
        "maximum of minimum": lambda x: torch.maximum(torch.minimum(x, high), low),
    }


def check_torch(checks):
    import torch

    functions = torch_functions(torch)
    checks.that(set(CASES) - set(functions) == {"max of three"}, "cases without a function")
    for label, function in functions.items():
        _, _, operands, _, dy, expected = CASES[label]
        x = torch.tensor(np.float32(operands[0]), requires_grad=True)
        y = function(x)
        y.backward(torch.tensor(np.float32(dy)).reshape(y.shape))
        checks.that(np.allclose(x.grad, expected, rtol=1e-6, atol=0),
                    f"{label}: PyTorch has {x.grad.numpy()}, the table {expected}")


def jax_functions(jax, jnp):
    """Label: a function and its operand."""
    lax = jax.lax
    return {
        "maximum": (lambda x: jnp.maximum(x, 1.0), [1, 2]),
        "minimum": (lambda x: jnp.minimum(x, 1.0), [1, 2]),
        "clamp": (lambda x: lax.clamp(-1.0, x, 1.0), [-1, 1, 0, 2]),
        "clamp_bounds": (lambda x: lax.clamp(x[0], jnp.float32([-1, 1, 0, -2, 2]), x[1]),
                         [[-1] * 5, [1] * 5]),
        "clip": (lambda x: jnp.clip(x, -1, 1), [-1, 1, 0, 2]),
        "abs": (jnp.abs, [0, -2, 2]),
        "max": (lambda x: x.max(), [1, 2, 2]),
        "min": (lambda x: x.min(), [2, 1, 1]),
        "sort": (jnp.sort, [2, 1, 2]),
        "top": (lambda x: lax.top_k(x, 1)[0], [1, 2, 2]),
        "window": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3,), (3,), "VALID"),
                   [1, 2, 2, 0, 0, 0]),
        "hard_tanh": (jax.nn.hard_tanh, [-1, 1, 0]),
        "leaky_relu": (lambda x: jax.nn.leaky_relu(x, 0.25), [0, 1]),
        "elu": (lambda x: jax.nn.elu(x, 2.0), [0, 1]),
        "scatter": (lambda x: jnp.ones(2).at[jnp.array([0, 0, 1])].max(x), [1, 1, 0]),
        "sign": (lambda x: jnp.sign(x) + x, [0, 1]),
    }


def check_jax(checks, work):
    import jax
    import jax.numpy as jnp
    import zero

    functions = jax_functions(jax, jnp)
    params = {label: jnp.float32(at) for label, (_, at) in functions.items()}

    def loss(params, x):
        # Each element of a result has another weight.
        parts = [function(params[label]) for label, (function, _) in functions.items()]
        return sum((part * (1.0 + jnp.arange(part.size).reshape(part.shape))).sum()
                   for part in parts) + x

    x = jnp.float32(0)
    path = zero.from_jax(loss, params, x, path=work / "ties.mlir", params="params")
    zero.save_weights({"params": params}, work / "ties.npz", path)
    np.save(work / "x.npy", np.float32(0))
    run_tool("zero-run", path, f"--roles={path.with_suffix('.json')}", "--steps=1", "--quiet",
             f"--weights={work / 'ties.npz'}", f"--data=x={work / 'x.npy'}",
             f"--dump-gradients={work / 'gradients.safetensors'}")
    got = read_safetensors(work / "gradients.safetensors")
    for label, expected in jax.grad(loss)(params, x).items():
        checks.that(np.allclose(got[f"params.{label}"], expected, rtol=1e-6, atol=0),
                    f"{label}: {got[f'params.{label}']}, JAX has {expected}")


def main():
    checks = Checks()
    if sys.argv[1] == "torch":
        check_torch(checks)
    else:
        work = Path(sys.argv[2])
        work.mkdir(parents=True, exist_ok=True)
        check_jax(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
