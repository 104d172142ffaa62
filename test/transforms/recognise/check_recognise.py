"""Runs every function of recognise-*.mlir twice, with and without the recognisers.

usage: check_recognise.py ZERO_OPT LLVM_TOOLS FILE.mlir...

Results and gradients must be the same on random inputs, in which some rows show no key at all. If
the primitives' gradient is NaN, as that of Where(IsNaN(p), 0, p) is, the composite's must be a
number. The functions of *-grad.mlir and *-gradient.mlir return gradients themselves.
"""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from lowered import Tools, call, run_tool

FOUND = ("func.func(zero-fold-transposes,zero-recognise-mean,zero-recognise-softmax-grad,"
         "zero-recognise-softmax,"
         "zero-recognise-gelu,zero-recognise-swish,zero-recognise-log-sigmoid,zero-recognise-atan2,"
         "zero-recognise-normalization,zero-recognise-rotary),zero-recognise-attention,")
DIFFERENTIATE = "func.func(zero-expand-nodes,zero-test-gradient),"
LOWER = "func.func(zero-expand-nodes,zero-fold-transposes,zero-lower-onnx),canonicalize"
TYPES = {"f32": np.float32, "i1": np.bool_, "i64": np.int64}
FUNCTION = re.compile(r"^  func\.func @(\w+)\(([^\n]*)\) -> ([^\n]*) \{\n(.*?)^  \}\n", re.M | re.S)
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")
TOLERANCE = 2e-5


def arrays(text, rng=None):
    """One array per tensor type in `text`: random, or only of its shape."""
    values = []
    for dims, name in TENSOR.findall(text):
        shape = [int(d) for d in dims.split("x") if d]
        if rng is None:
            values.append(np.empty(shape, TYPES[name]))
        elif name == "i1":
            values.append(rng.random(shape) < 0.5)
        else:
            values.append(rng.standard_normal(shape).astype(TYPES[name]))
    return values


def functions(zero_opt, path, recognise):
    """The lowered functions of a file: name -> (arguments, results, text)."""
    has_gradients = path.stem.endswith(("-grad", "-gradient"))
    passes = [FOUND if recognise else "", "" if has_gradients else DIFFERENTIATE, LOWER]
    pipeline = f"builtin.module({''.join(passes)})"
    text = run_tool([zero_opt, str(path), "--mlir-print-local-scope",
                     f"--pass-pipeline={pipeline}"], "")
    suffix = "_found" if recognise else "_plain"
    return {name: (args, results, f"func.func @{name}{suffix}({args}) -> {results} {{\n{body}}}\n")
            for name, args, results, body in FUNCTION.findall(text)}


def difference(found, plain):
    """The error in `found`, or None."""
    if not np.isfinite(found).all():
        return "not finite"
    known = np.isfinite(plain)
    error = np.abs(np.where(known, found - plain, 0)).max(initial=0)
    scale = max(np.abs(plain[known]).max(initial=0), 1)
    return None if error <= TOLERANCE * scale else f"off by {error:.2e} of {scale:.2e}"


def main():
    tools = Tools(sys.argv[1], sys.argv[2])
    rng = np.random.default_rng(0)
    failed = ran = 0
    for path in map(Path, sys.argv[3:]):
        found, plain = (functions(tools.zero_opt, path, which) for which in (True, False))
        with tempfile.TemporaryDirectory() as folder:
            texts = [text for group in (found, plain) for *_, text in group.values()]
            library = tools.compile(texts, Path(folder))
            for name, (args, results, _) in plain.items():
                assert found[name][:2] == (args, results), name
                inputs, shapes = arrays(args, rng), arrays(results)
                pairs = zip(call(library, name + "_found", inputs, shapes),
                            call(library, name + "_plain", inputs, shapes))
                for index, pair in enumerate(pairs):
                    ran += 1
                    if problem := difference(*pair):
                        failed += 1
                        print(f"{path.name} @{name}: result {index} {problem}")
    print(f"{ran} results, {failed} differ")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
