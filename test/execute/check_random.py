"""The numbers of random tensors come from Philox. They are the same for any split of the batch,
differ for each node, row, step and seed, and have the requested distribution.

usage: check_random.py WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from philox import draw, node_numbers, normal, normal64, uniform, uniform64

from zero_test import Checks, check_refused, read_safetensors, run_tool

BATCH, SAMPLES, CLASSES = 12, 300, 5
F32, F64, I32, I64, BOOL = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32,
                            TensorProto.INT64, TensorProto.BOOL)


def describe(rows):
    """{result: (operator, input or None, attributes, type, shape)}: each operator of the family,
    with and without its attributes."""
    cube = [rows, 6, 50]
    return {
        "u": ("RandomUniform", None, {"shape": cube}, F32, cube),
        "u_bounds": ("RandomUniform", None, {"shape": cube, "low": -2.0, "high": 6.0}, F32, cube),
        "u_double": ("RandomUniform", None, {"shape": cube, "low": 5.0, "high": 5.5, "dtype": F64},
                     F64, cube),
        "u_like": ("RandomUniformLike", "p", {}, F32, cube),
        "u_seed": ("RandomUniformLike", "p", {"seed": 2.5}, F32, cube),
        "u_row": ("RandomUniformLike", "i", {"dtype": F32}, F32, [rows, 1]),
        "n": ("RandomNormal", None, {"shape": cube}, F32, cube),
        "n_moved": ("RandomNormalLike", "p", {"mean": 3.0, "scale": 0.5}, F32, cube),
        "n_double": ("RandomNormalLike", "p", {"dtype": F64}, F64, cube),
        "b": ("Bernoulli", "p", {}, F32, cube),
        "b_bool": ("Bernoulli", "p", {"dtype": BOOL}, BOOL, cube),
        "b_int": ("Bernoulli", "p", {"dtype": I64, "seed": 1.0}, I64, cube),
        "m": ("Multinomial", "s", {"sample_size": SAMPLES, "dtype": I64}, I64, [rows, SAMPLES]),
        "m_one": ("Multinomial", "s", {}, I32, [rows, 1]),
    }


def save_graph(path, nodes, inputs, outputs, opset=20):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "random", [value(*i) for i in inputs],
                              [value(*o) for o in outputs])
    onnx.save(helper.make_model(graph, ir_version=9,
                                opset_imports=[helper.make_opsetid("", opset)]), path)


def save_model(path, rows, name=lambda result: f"node_{result}"):
    results = describe(rows)
    nodes = [helper.make_node(op, [given] if given else [], [result], name=name(result), **attrs)
             for result, (op, given, attrs, _, _) in results.items()]
    inputs = [("p", F32, [rows, 6, 50]), ("s", F32, [rows, CLASSES]), ("i", I64, [rows, 1])]
    save_graph(path, nodes, inputs,
               [(result, dtype, shape) for result, (*_, dtype, shape) in results.items()])


def make_data(work):
    """Probabilities that include 0 and 1, and scores with classes of probability 0."""
    random = np.random.default_rng(3)
    data = {"p": random.random((BATCH, 6, 50), np.float32),
            "s": random.standard_normal((BATCH, CLASSES)).astype(np.float32),
            "i": np.zeros((BATCH, 1), np.int64)}
    data["p"][:, :2] = [[0.0], [1.0]]
    data["s"][:, 1] = -np.inf
    data["s"][0] = [-np.inf, -np.inf, 3, -np.inf, -np.inf]
    for name, array in data.items():
        np.save(work / f"{name}.npy", array)
    return data


def run_model(work, ranks, *flags, steps=1, **options):
    """The outputs of the last of `steps` steps over the full batch."""
    save_model(work / "model.onnx", BATCH // ranks, **options)
    files = ",".join(f"{name}={work / name}.npy" for name in "psi")
    run_tool("zero-run", work / "model.onnx", "--forward-only", f"--ranks={ranks}",
             f"--data={files}", f"--steps={steps}", "--quiet",
             f"--save-outputs={work / 'outputs.safetensors'}", *flags)
    return read_safetensors(work / "outputs.safetensors")


def numbers_of(work):
    return node_numbers(run_tool("zeroc", work / "model.onnx", "--forward-only", "--plan-only",
                                 "--dump-after=recognise"))


def expected_of(data, numbers, step, seed):
    """The numbers that NumPy draws, except for Multinomial."""
    def words(result):
        *_, attrs, _, shape = describe(BATCH)[result]
        return draw(shape, numbers[f"node_{result}"], step, seed, attrs.get("seed", 0.0))

    def truth(result):
        return uniform(words(result)) < data["p"]

    return {"u": uniform(words("u")), "u_bounds": uniform(words("u_bounds"), -2, 6),
            "u_double": uniform64(words("u_double"), 5, 5.5), "u_like": uniform(words("u_like")),
            "u_seed": uniform(words("u_seed")), "u_row": uniform(words("u_row")),
            "n": normal(words("n")), "n_moved": normal(words("n_moved"), 3, 0.5),
            "n_double": normal64(words("n_double")), "b": truth("b").astype(np.float32),
            "b_bool": truth("b_bool"), "b_int": truth("b_int").astype(np.int64)}


def expected_classes(data, numbers, result, step, seed):
    """The class whose part of [0, 1) contains a uniform number, and the numbers that are so near to
    a bound that rounding decides."""
    *_, shape = describe(BATCH)[result]
    unit = uniform(draw(shape, numbers[f"node_{result}"], step, seed)).astype(np.float64)
    weights = np.exp(data["s"].astype(np.float64))
    bounds = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
    distance = np.abs(unit[:, :, None] - bounds[:, None]).min(2)
    return (unit[:, :, None] >= bounds[:, None]).sum(2), distance < 1e-6


def check_words(checks, outputs, data, numbers, step, seed):
    label = f"step {step}, seed {seed}"
    for name, expected in expected_of(data, numbers, step, seed).items():
        got = outputs[name]
        if name.startswith("n"):
            bound = 1e-12 if name == "n_double" else 1e-5  # of an angle of 2 pi, times 4
            error = np.abs(got - expected).max()
            checks.that(error < bound, f"{label}: {name} is off by {error}")
        else:
            checks.that(got.dtype == expected.dtype and np.array_equal(got, expected),
                        f"{label}: {name} is not what Philox draws")
    for name in ("m", "m_one"):
        expected, unsure = expected_classes(data, numbers, name, step, seed)
        checks.that(np.array_equal(outputs[name][~unsure], expected[~unsure]),
                    f"{label}: {name} is not what Philox draws")
        checks.that(unsure.mean() < 1e-2, f"{label}: {name}: {unsure.sum()} numbers at bounds")


def check_statistics(checks, outputs, data):
    def mean_and_variance(name, mean, variance):
        x = outputs[name].astype(np.float64)
        spread = np.sqrt(variance / x.size)
        checks.that(abs(x.mean() - mean) < 5 * spread, f"{name}: mean {x.mean()}, not {mean}")
        checks.that(abs(x.var() / variance - 1) < 0.1, f"{name}: variance {x.var()}")

    mean_and_variance("u", 0.5, 1 / 12)
    mean_and_variance("u_bounds", 2, 64 / 12)
    mean_and_variance("u_double", 5.25, 0.25 / 12)
    mean_and_variance("n", 0, 1)
    mean_and_variance("n_moved", 3, 0.25)
    mean_and_variance("n_double", 0, 1)
    # Checks more than mean and variance of normal numbers.
    n = outputs["n"]
    for bound, share in ((1, 0.6827), (2, 0.9545)):
        got = (np.abs(n) < bound).mean()
        checks.that(abs(got - share) < 0.03, f"n: {got} are within {bound}")
    for name in ("b", "b_bool", "b_int"):
        drawn = outputs[name].astype(np.float64)
        checks.that(not drawn[:, 0].any() and drawn[:, 1].all(), f"{name}: 0 or 1 is not certain")
        error = (drawn - data["p"]).mean()
        checks.that(abs(error) < 0.03, f"{name}: {error} too many")
    weights = np.exp(data["s"].astype(np.float64))
    shares = weights / weights.sum(1, keepdims=True)
    got = np.stack([np.bincount(row, minlength=CLASSES) / SAMPLES for row in outputs["m"]])
    checks.that(np.abs(got - shares).max() < 0.15, f"m: shares off by {np.abs(got - shares).max()}")
    checks.that(not got[shares == 0].any(), "m: a class of probability 0 was drawn")
    checks.that(got[0, 2] == 1, "m: the only class was not always drawn")


def check_independence(checks, outputs, other, label,
                       names=("u", "u_like", "n", "n_moved", "n_double")):
    """Two draws agree in no more elements than expected by chance."""
    for name in names:
        a, b = (o[name].astype(np.float64).ravel() for o in (outputs, other))
        correlation = np.corrcoef(a, b)[0, 1]
        checks.that(abs(correlation) < 0.1, f"{label}: {name} correlates by {correlation}")


def check_cuts(checks, work, whole):
    for ranks in (2, 3, 4):
        parts = run_model(work, ranks)
        for name in whole:
            checks.that(np.array_equal(parts[name], whole[name]),
                        f"{name} on {ranks} ranks is not that on one")


def check_rows(checks, whole):
    """Rows and nodes have different numbers."""
    u = whole["u"].reshape(BATCH, -1)
    worst = np.abs(np.corrcoef(u) - np.eye(BATCH)).max()
    checks.that(worst < 0.3, f"rows correlate by {worst}")
    checks.that(len(np.unique(whole["u_row"])) == BATCH, "rows of one number are not all distinct")
    others = {"u": whole["u_like"], "n": whole["n_double"], "u_like": whole["u_seed"]}
    check_independence(checks, whole, others, "two nodes", list(others))


def check_names(checks, work):
    """Nodes of the same name draw different numbers, too."""
    same = run_model(work, 1, name=lambda _: "same")
    checks.that(not np.array_equal(same["u"], same["u_like"]), "nodes of one name draw the same")
    check_rows(checks, same)


def check_shared(checks, work):
    """For a tensor without rows of the batch, each rank draws the numbers of its first rows."""
    node = helper.make_node("RandomNormal", [], ["noise"], name="noise", shape=[1, 40])
    add = helper.make_node("Add", ["x", "noise"], ["y"])
    save_graph(work / "model.onnx", [node, add], [("x", F32, [3, 40])], [("y", F32, [3, 40])])
    np.save(work / "x.npy", np.zeros((6, 40), np.float32))
    run_tool("zero-run", work / "model.onnx", "--forward-only", "--ranks=2", "--steps=1", "--quiet",
             f"--data=x={work / 'x.npy'}", f"--save-outputs={work / 'outputs.safetensors'}")
    y = read_safetensors(work / "outputs.safetensors")["y"]
    expected = normal(draw([2, 40], numbers_of(work)["noise"], 0))
    checks.that(np.abs(y - np.repeat(expected, 3, 0)).max() < 1e-5,
                "noise of one row is not one row of each rank")


def check_refusals(checks, work):
    for attrs, words in (({"low": 2.0, "high": 1.0}, ["low at most high", "low 2", "high 1"]),
                         ({"high": float("inf")}, ["finite"])):
        node = helper.make_node("RandomUniformLike", ["x"], ["y"], name="bad", **attrs)
        save_graph(work / "bad.onnx", [node], [("x", F32, [3])], [("y", F32, [3])])
        check_refused(checks, f"uniform {attrs}", ["'bad'", *words], "zeroc", work / "bad.onnx",
                      "--forward-only", "--plan-only")
    node = helper.make_node("RandomNormalLike", ["x"], ["y"], name="bad", scale=-1.0)
    save_graph(work / "bad.onnx", [node], [("x", F32, [3])], [("y", F32, [3])])
    check_refused(checks, "normal", ["'bad'", "at least 0", "scale -1"], "zeroc", work / "bad.onnx",
                  "--forward-only", "--plan-only")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    data = make_data(work)
    whole = run_model(work, 1)
    numbers = numbers_of(work)
    check_words(checks, whole, data, numbers, 0, 0)
    check_statistics(checks, whole, data)
    check_rows(checks, whole)
    check_cuts(checks, work, whole)
    later = run_model(work, 1, "--seed=7", steps=3)
    check_words(checks, later, data, numbers, 2, 7)
    check_independence(checks, whole, later, "steps and seeds")
    seeded = run_model(work, 1, "--seed=7")
    check_independence(checks, whole, seeded, "seeds")
    check_names(checks, work)
    check_shared(checks, work)
    check_refusals(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
