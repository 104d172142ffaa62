"""Gradients of functions in bodies of linalg.generic, against central differences in float64.

usage: check_linalg_functions.py WORK

Each function has a parameter of its own in one program, and the loss is the sum of all results.
"""

import math
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, relative, run_tool

SHAPE = (3, 8)
# What a body computes from %a, and the same in numpy.
FUNCTIONS = {
    "exp2": (["%y = math.exp2 %a : f32"], np.exp2),
    "log2": (["%y = math.log2 %a : f32"], np.log2),
    "log10": (["%y = math.log10 %a : f32"], np.log10),
    "log1p": (["%y = math.log1p %a : f32"], np.log1p),
    "expm1": (["%y = math.expm1 %a : f32"], np.expm1),
    "erfc": (["%y = math.erfc %a : f32"], np.vectorize(math.erfc)),
    "cbrt": (["%y = math.cbrt %a : f32"], np.cbrt),
    "rsqrt": (["%y = math.rsqrt %a : f32"], lambda x: 1 / np.sqrt(x)),
    "atan2": (["%e = math.exp %a : f32", "%y = math.atan2 %a, %e : f32"],
              lambda x: np.arctan2(x, np.exp(x))),
}

HEAD = """#elements = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>
func.func @main({arguments}) -> (tensor<f32> {{zero.role = "loss"}}) {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
"""
LOOP = """  %{name} = linalg.generic {{indexing_maps = [#elements, #scalar], iterator_types = ["reduction", "reduction"]}} ins(%w_{name} : {type}) outs(%{start} : tensor<f32>) {{
  ^bb0(%a: f32, %sum: f32):
    {body}
    %next = arith.addf %sum, %y : f32
    linalg.yield %next : f32
  }} -> tensor<f32>
"""


def program():
    type_ = f"tensor<{SHAPE[0]}x{SHAPE[1]}xf32>"
    text = HEAD.format(arguments=", ".join(
        f'%w_{name}: {type_} {{zero.role = "parameter", zero.name = "{name}"}}'
        for name in FUNCTIONS))
    for (name, (body, _)), start in zip(FUNCTIONS.items(), ["start", *FUNCTIONS]):
        text += LOOP.format(name=name, start=start, type=type_, body="\n    ".join(body))
    return text + f"  return %{name} : tensor<f32>\n}}\n"


def difference(function, values, step=1e-5):
    """The gradient of the sum of `function`, by central differences."""
    gradient = np.zeros_like(values)
    for index in np.ndindex(values.shape):
        moved = np.zeros_like(values)
        moved[index] = step
        gradient[index] = (function(values + moved).sum() - function(values - moved).sum())
    return gradient / (2 * step)


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    source, weights, dump = (work / name for name in ("loss.mlir", "weights.npz", "g.safetensors"))
    source.write_text(program())
    random = np.random.default_rng(3)
    values = {name: (0.05 + 2 * random.random(SHAPE)).astype(np.float32) for name in FUNCTIONS}
    np.savez(weights, **values)
    run_tool("zero-run", source, f"--weights={weights}", "--optimizer=sgd", "--lr=0.1",
             "--steps=1", "--quiet", f"--dump-gradients={dump}")
    found = read_safetensors(dump)
    checks = Checks()
    for name, (_, function) in FUNCTIONS.items():
        expected = difference(function, values[name].astype(np.float64))
        error = relative(found[name], expected)
        checks.that(error < 2e-6, f"{name}: {error:.2g} from differences")
    checks.finish()


if __name__ == "__main__":
    main()
