"""Gradients of losses that JAX exported, against JAX's in float64, one parameter an operation.

usage: check_derivatives.py DATA WORK [--export]

DATA is test/data/stablehlo/jax-derivatives. With --export, the JAX that is installed writes the
programs and computes the gradients.
"""

import json
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, relative, run_tool

PROGRAMS = ("moves", "windows", "functions", "cuts", "penalties")


class Stored:
    """The programs and gradients of test/data."""

    def __init__(self, folder):
        self.folder = folder
        self.arrays = dict(np.load(folder / "groundtruth.npz"))

    def program(self, name):
        return self.folder / f"{name}.mlir"

    def expected(self, names):
        return {name: self.arrays[f"gradient.{name.removeprefix('params.')}"] for name in names}


class Exported(Stored):
    """The same, by the JAX that is installed."""

    def __init__(self, folder, work):
        super().__init__(folder)
        sys.path.insert(0, str(Path(__file__).parent.parent / "reference"))
        import jax_derivatives
        self.jax, self.work = jax_derivatives, work

    def program(self, name):
        operations = self.jax.PROGRAMS[name]
        for key, value in self.jax.gradients_of(operations).items():
            self.arrays[f"gradient.{key}"] = value
        return self.jax.export(name, self.work)


def gradients(program, arrays, work):
    """Those of the parameters that the names file of `program` lists."""
    weights, data, dump = (work / f"{program.stem}.{kind}" for kind in
                           ("weights.npz", "data.npz", "safetensors"))
    listed = json.loads(program.with_suffix(".json").read_text())["args"]
    names = [argument["name"] for argument in listed if argument.get("role") == "parameter"]
    np.savez(weights, **{name: arrays[f"weight.{name.removeprefix('params.')}"] for name in names})
    np.savez(data, x=arrays["x"])
    run_tool("zero-run", program, f"--roles={program.with_suffix('.json')}", f"--weights={weights}",
             f"--data={data}", "--optimizer=sgd", "--lr=0.1", "--steps=1", "--quiet",
             f"--dump-gradients={dump}")
    return read_safetensors(dump)


def main():
    folder, work = Path(sys.argv[1]), Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    source = Exported(folder, work) if "--export" in sys.argv else Stored(folder)
    checks = Checks()
    for name in PROGRAMS:
        program = source.program(name)
        found = gradients(program, source.arrays, work)
        for parameter, expected in source.expected(found).items():
            error = relative(found[parameter], expected)
            checks.that(error < 1e-5, f"{name}: {parameter}: {error:.2g} from float64")
    checks.finish()


if __name__ == "__main__":
    main()
