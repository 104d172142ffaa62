"""Names of leaves, pairs of arguments and results, names files and weights: without JAX or PyTorch.

usage: check_trees.py WORK
"""

import json
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np

import zero
from zero.match import Argument, Leaf, pair, pair_explicit
from zero.names import Names, check_path
from zero.trees import check_unique, flatten, join
from zero_test import Checks, read_safetensors

Adam = namedtuple("Adam", "count mu")


def check_raises(checks, label, words, function, *args, **keywords):
    try:
        function(*args, **keywords)
        checks.that(False, f"{label}: no error")
    except zero.ExportError as error:
        for word in words:
            checks.that(word in str(error), f"{label}: '{word}' is not in '{error}'")


def check_paths(checks):
    tree = {"params": {"h": [{"w": 1}, {"w": 2}]}, "opt": (Adam(3, {"w": 4}), None), "step": 5}
    names = {join(path): value for path, value in flatten(tree)}
    checks.that(names == {"params.h.0.w": 1, "params.h.1.w": 2, "opt.0.count": 3, "opt.0.mu.w": 4,
                          "step": 5}, f"paths: {names}")
    check_raises(checks, "equal names", ["'a.b' twice"], check_unique,
                 [join(path) for path, _ in flatten({"a.b": 1, "a": {"b": 2}})], "leaf")


def leaves(tree):
    """Leaves whose values are their types."""
    return [Leaf(path, value) for path, value in flatten(tree)]


def pairs_of(arguments, result):
    """By argument, the names of the results that are its next value."""
    results = leaves(result)
    found = pair([Argument(name, leaves(tree)) for name, tree in arguments.items()], results,
                 "the argument", "give it a partner")
    return {name: [join(results[i].path) for i in indices]
            for name, indices in zip(arguments, found)}


def check_pairs(checks):
    params = {"b": "f32[3]", "w": "f32[4,3]"}
    adam = Adam("i32[]", params)
    found = pairs_of({"p": params, "m": params, "opt": adam, "step": "i32[]"},
                     ("f32[]", adam, "i32[]", params, params))
    checks.that(found == {"p": ["3.b", "3.w"], "m": ["4.b", "4.w"],
                          "opt": ["1.count", "1.mu.b", "1.mu.w"], "step": ["2"]},
                f"in order, large ones first: {found}")
    found = pairs_of({"p": params, "m": params}, {"m": params, "p": params, "loss": "f32[]"})
    checks.that(found == {"p": ["p.b", "p.w"], "m": ["m.b", "m.w"]}, f"by name: {found}")
    found = pairs_of({"p": params}, ({"mu": params}, params))
    checks.that(found == {"p": ["1.b", "1.w"]}, f"the one that is less deep: {found}")
    found = pairs_of({"p": params, "opt": ()}, (params, ()))
    checks.that(found == {"p": ["0.b", "0.w"], "opt": []}, f"no leaves: {found}")
    found = pairs_of({"state": {"p": params}}, {"p": params})
    checks.that(found == {"state": ["p.b", "p.w"]}, f"the whole result: {found}")
    check_raises(checks, "none", ["'p'", "same structure", "'w' (f32[4,3])", "give it a partner"],
                 pairs_of, {"p": params}, {"w": "f32[4,3]"})
    check_raises(checks, "another type", ["'step'", "got '0' (f32[]), '1' (f32[])"], pairs_of,
                 {"step": "i32[]"}, ("f32[]", "f32[]"))
    check_raises(checks, "several", ["'scale'", "expected 1 part ", "got 2: '0', '1'"], pairs_of,
                 {"scale": "f32[]"}, ("f32[]", "f32[]"))


def check_explicit(checks):
    params = {"b": "f32[3]", "w": "f32[4,3]"}
    argument = Argument("p", leaves(params))
    results = leaves(({"b": "f32[3]", "w": "f32[4,4]"}, "f32[]", params))
    checks.that(pair_explicit(argument, ("2",), results, "carry") == [3, 4], "explicit")
    check_raises(checks, "type", ["carry of 'p'", "expected f32[4,3] for 'p.w', got f32[4,4] in "
                                  "'0'"], pair_explicit, argument, ("0",), results, "carry")
    check_raises(checks, "leaf", ["'1' of the result has nothing for 'p.b'"], pair_explicit,
                 argument, ("1",), results, "carry")
    check_raises(checks, "place", ["got '7'", "'0.b' (f32[3])"], pair_explicit, argument, ("7",),
                 results, "carry")


def check_names(checks, work):
    names = Names(outputs=["loss", "w.grad"], gradients={"w.grad": "w"}, loss="loss")
    names.add("w", (4, 3), "f32", "parameter")
    names.add("step", (), "i32")
    path = names.write(work / "step.mlir")
    checks.that(path == work / "step.json", f"names file: {path}")
    checks.that(json.loads(path.read_text()) == {
        "args": [{"name": "w", "role": "parameter", "shape": [4, 3], "dtype": "f32"},
                 {"name": "step", "shape": [], "dtype": "i32"}],
        "outputs": ["loss", "w.grad"], "grad_of": {"w.grad": "w"}, "loss": "loss"},
        f"contents: {path.read_text()}")
    check_raises(checks, "role", ["'x'", "expected a role of parameter, buffer, data, got state"],
                 names.add, "x", (), "f32", "state")
    check_raises(checks, "path", ["ends with .mlir, got 'step.json'"], check_path, "step.json")


def check_weights(checks, work):
    tree = {"params": {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}, "step": 7,
            "key": np.array([1, 2], np.uint32), "mask": np.array([True, False])}
    saved = dict(np.load(zero.save_weights(tree, work / "w.npz")))
    stored = read_safetensors(zero.save_weights(tree, work / "w.safetensors"))
    for kind, got in (("npz", saved), ("safetensors", stored)):
        checks.that(list(got) == ["params.w", "step", "key", "mask"], f"{kind}: {list(got)}")
        checks.that(all(np.array_equal(got[join(path)], value) for path, value in flatten(tree)),
                    f"{kind}: {got}")
        checks.that(got["step"].dtype == np.int32 and got["step"].shape == (), f"{kind}: step")
        checks.that(got["key"].dtype == np.uint32, f"{kind}: key")
    check_raises(checks, "suffix", ["ends with .npz or .safetensors", "w.bin"], zero.save_weights,
                 tree, work / "w.bin")
    check_raises(checks, "text", ["'name'", "expected an array of numbers, got str"],
                 zero.save_weights, {"name": "x"}, work / "x.npz")
    check_raises(checks, "one array", ["expected a name of its own for each array, got ''"],
                 zero.save_weights, np.ones(3), work / "x.npz")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_paths(checks)
    check_pairs(checks)
    check_explicit(checks)
    check_names(checks, work)
    check_weights(checks, work)
    checks.that(not {"jax", "torch"} & set(sys.modules), "JAX or PyTorch was imported")
    checks.finish()


if __name__ == "__main__":
    main()
