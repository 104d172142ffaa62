"""Functions in linalg compute the same with nodes and without.

usage: check_raised_linalg.py DIRECTORY WORK

Takes the functions of DIRECTORY/raise-linalg-*.mlir, inlines those of a file into one program, and
runs it twice on the same data: as nodes, which zero-raise-linalg makes, and as kernels, of which
each holds one op of the file as it is. Both programs only run forward and return all results. Then
data for which a check of a program does not hold stops the run.
"""

import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Failed, read_safetensors, run_tool

FILES = ("elementwise", "scalars", "reductions", "products", "windows", "gathers", "tensors", "rest")
# What has no kernel of its own: a check in the body of a loop, ops on scalars of a function.
NODES_ONLY = ("embedding", "checked", "affine", "scalars", "step", "k0", "generated", "positions",
              "many_positions", "dynamic")
TYPE = re.compile(r"tensor<((?:\d+x)*)(\w+)>")


def functions(text):
    """Name, types of arguments and types of results of each function."""
    for match in re.finditer(r"func\.func (?:private )?@(\w+)\((.*?)\)(?: -> (.*?))?(?: attributes.*)? \{\n",
                             text):
        name, arguments, results = match.groups()
        if name not in NODES_ONLY:
            yield (name, ["".join(("tensor<", *t, ">")) for t in TYPE.findall(arguments)],
                   ["".join(("tensor<", *t, ">")) for t in TYPE.findall(results)])


def program(text):
    """The functions of `text`, and one that calls them all."""
    calls, arguments, values, types = [], [], [], []
    for name, takes, gives in functions(text):
        first = len(arguments)
        arguments += takes
        names = [f"%a{first + i}" for i in range(len(takes))]
        results = f"%{name}:{len(gives)}"
        calls.append(f"  {results} = func.call @{name}({', '.join(names)}) : "
                     f"({', '.join(takes)}) -> ({', '.join(gives)})")
        values += [f"%{name}#{i}" for i in range(len(gives))]
        types += gives
    head = ", ".join(f"%a{i}: {t}" for i, t in enumerate(arguments))
    text = re.sub(r"^zero\.parameter.*$", "", text, flags=re.M)
    text = re.sub(r"^func\.func @step.*?^}$", "", text, flags=re.M | re.S)
    text = re.sub(r"^func\.func @", "func.func private @", text, flags=re.M)
    main = [f"func.func @main({head}) -> ({', '.join(types)}) {{", *calls,
            f"  return {', '.join(values)} : {', '.join(types)}", "}"]
    return text + "\n".join(main) + "\n", arguments


def data(types, rng):
    """Floats around zero, some of them NaN, infinite and minus zero; small indices; booleans."""
    arrays = {}
    for index, text in enumerate(types):
        dims, element = TYPE.fullmatch(text).groups()
        shape = [int(d) for d in dims.split("x") if d]
        if element == "i1":
            array = rng.random(shape) < 0.5
        elif element.startswith("i"):
            array = rng.integers(0, 4, shape).astype(f"int{element[1:]}")
        else:
            array = np.asarray(rng.standard_normal(shape)).astype(np.float32)
            if shape == [8]:
                array[:6] = [-0.0, 2.5, -1.5, 1e-9, np.nan, np.inf]
        arrays[f"arg{index}"] = array
    return arrays


def outputs(model, work, label, inputs):
    executable, results = work / f"{label}.zexe", work / f"{label}.safetensors"
    run_tool("zeroc", model, "--forward-only", "--ranks=1", "-o", executable)
    run_tool("zero-run", executable, f"--data={inputs}", "--steps=1", f"--save-outputs={results}")
    return read_safetensors(results)


def check_file(checks, path, work):
    text, types = program(path.read_text())
    source = work / path.name
    source.write_text(text)
    inlined = work / f"inlined-{path.name}"
    inlined.write_text(run_tool("zero-opt", source, "--inline", "--symbol-dce"))
    kernels = work / f"kernels-{path.name}"
    kernels.write_text(run_tool("zero-opt", inlined, "--zero-bind-arguments=forward-only=true"))
    inputs = work / f"{path.stem}.npz"
    np.savez(inputs, **data(types, np.random.default_rng(7)))
    by_nodes = outputs(inlined, work, f"{path.stem}-nodes", inputs)
    by_kernels = outputs(kernels, work, f"{path.stem}-kernels", inputs)
    checks.that(sorted(by_nodes) == sorted(by_kernels), f"{path.stem}: other results")
    for name, value in by_nodes.items():
        other = by_kernels[name]
        same = np.allclose(value, other, rtol=1e-5, atol=1e-6, equal_nan=True)
        checks.that(same, f"{path.stem}: {name}: {value.ravel()[:8]} is not {other.ravel()[:8]}")


def check_stops(checks, path, name, arrays, words, work):
    """A run of function `name` on `arrays` ends with an error that contains `words`."""
    text = re.sub(r"^func\.func @", "func.func private @", path.read_text(), flags=re.M)
    source, executable = work / f"{name}.mlir", work / f"{name}.zexe"
    source.write_text(text.replace(f"func.func private @{name}(", f"func.func @{name}("))
    only = work / f"only-{name}.mlir"
    only.write_text(run_tool("zero-opt", source, "--symbol-dce"))
    run_tool("zeroc", only, "--forward-only", "--ranks=1", "-o", executable)
    inputs = work / f"{name}.npz"
    np.savez(inputs, **{f"arg{i}": array for i, array in enumerate(arrays)})
    try:
        run_tool("zero-run", executable, f"--data={inputs}", "--steps=1")
        checks.that(False, f"{name}: the run did not stop")
    except Failed as error:
        checks.that(words in str(error), f"{name}: expected '{words}' in {error}")


def check_checks(checks, path, work):
    table = np.ones((9, 4), np.float32)
    for row, range_ in ((9, "[0, 8]"), (-1, "[0, 8]")):
        check_stops(checks, path, "embedding", [table, np.array([0, 1, 2, 3, row])],
                    f"lies outside {range_}", work)
    check_stops(checks, path, "columns", [table, np.array([0, 1, -5, 2, 3])],
                "lies outside [-4, 3]", work)
    check_stops(checks, path, "checked", [np.array([1, 2, 3, 4, -5], np.float32)],
                "expected a positive number", work)


def main():
    directory, work = Path(sys.argv[1]), Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    for name in FILES:
        check_file(checks, directory / f"raise-linalg-{name}.mlir", work)
    check_checks(checks, directory / "raise-linalg-gathers.mlir", work)
    checks.finish()


if __name__ == "__main__":
    main()
