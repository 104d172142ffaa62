"""Programs and names files that zero.from_jax writes, and its errors.

usage: check_jax.py WORK

Each program is parsed by mlir-opt, which knows nothing of StableHLO.
"""

import dataclasses
import json
import re
import subprocess
import sys
import warnings
from collections import namedtuple
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import zero
from check_trees import check_raises
from zero_test import Checks

Adam = namedtuple("Adam", "count mu")
WORK = Path(sys.argv[1])
F32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
I32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.int32)
PARAMS = {"fc1": {"b": F32(3), "w": F32(4, 3)}}
PATHS = ["fc1.b", "fc1.w"]


def loss_of(params, x, labels):
    scores = x @ params["fc1"]["w"] + params["fc1"]["b"]
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], -1).mean()


def train_step(params, opt_state, step, x, labels):
    loss, gradient = jax.value_and_grad(loss_of)(params, x, labels)
    mu = jax.tree.map(lambda m, g: 0.9 * m + g, opt_state.mu, gradient)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, params, mu)
    return loss, Adam(opt_state.count + 1, mu), params, step + 1


class Program:
    """An exported program: its names file, and the attributes of its arguments."""

    def __init__(self, function, *args, name="step", **options):
        path = zero.from_jax(function, *args, path=WORK / f"{name}.mlir", **options)
        self.text = path.read_text()
        names = json.loads(path.with_suffix(".json").read_text())
        self.roles = {arg["name"]: arg.get("role") for arg in names["args"]}
        self.shapes = {arg["name"]: (arg["dtype"], *arg["shape"]) for arg in names["args"]}
        self.outputs, self.loss = names["outputs"], names.get("loss")
        self.gradients = names.get("grad_of", {})
        attrs = re.search(r"arg_attrs = \[(.*?)\], function_type", self.text)
        aliases = re.findall(r"\{(?:[^{}]*tf.aliasing_output = (\d+)[^{}]*)?\}", attrs[1])
        self.next = {name: self.outputs[int(alias)]
                     for name, alias in zip(self.roles, aliases) if alias}
        subprocess.run(["mlir-opt", "--allow-unregistered-dialect", path, "-o", "/dev/null"],
                       check=True)


def names_below(argument):
    return [f"{argument}.{path}" for path in PATHS]


def check_donated(checks):
    """Donated state is paired by its structure, although JAX pairs the first buffers of a type."""
    args = (PARAMS, Adam(I32(), PARAMS), I32(), F32(2, 4), I32(2))
    got = Program(jax.jit(train_step, donate_argnums=(0, 1, 2)), *args)
    state = [*names_below("params"), "opt_state.count", *names_below("opt_state.mu"), "step"]
    checks.that(list(got.roles) == [*state, "x", "labels"], f"names: {got.roles}")
    checks.that(got.roles == {**dict.fromkeys(state), "x": "data", "labels": "data"},
                f"roles: {got.roles}")
    checks.that(got.next == {name: f"{name}.new" for name in state}, f"next values: {got.next}")
    checks.that(got.outputs == ["loss", "opt_state.count.new",
                                *(f"{n}.new" for n in names_below("opt_state.mu")),
                                *(f"{n}.new" for n in names_below("params")), "step.new"],
                f"results: {got.outputs}")
    checks.that(got.loss == "loss" and not got.gradients, f"loss: {got.loss}")
    checks.that(got.shapes["params.fc1.w"] == ("float32", 4, 3) and
                got.shapes["step"] == ("int32",), f"shapes: {got.shapes}")
    carried = Program(train_step, *args, carry=("params", 1, "step"))
    checks.that(carried.next == got.next, f"carry by name and position: {carried.next}")
    placed = Program(train_step, *args, carry={"params": 2, "opt_state": "1"})
    checks.that(placed.next == {k: v for k, v in got.next.items() if k != "step"} and
                placed.roles["step"] == "data" and placed.outputs[-1] == "result.3",
                f"carry by place: {placed.next}, {placed.outputs}")
    # The function can still be called: its arguments are not donated.
    real = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), args)
    function = jax.jit(train_step)
    zero.from_jax(function, *real, path=WORK / "called.mlir", carry=(0, 1, 2))
    function(*real)
    checks.that(np.isfinite(real[0]["fc1"]["w"]).all(), "the function donates its arguments")
    lines = Program(train_step, *args, carry=(0, 1, 2), locations=True, name="lines")
    checks.that("check_jax.py" in lines.text and "check_jax.py" not in got.text, "locations")


def check_ambiguous(checks):
    """What JAX would pair wrongly: a result of the argument's type that is not its next value."""
    def step(scale, params, x):
        loss = jnp.mean((x * params["w"]) ** 2) * scale
        return loss, {"w": params["w"] * 0.9}, scale * 0.5
    args = (F32(), {"w": F32(4)}, F32(4))
    jitted = jax.jit(step, donate_argnums=(0, 1))
    check_raises(checks, "ambiguous", ["'scale': expected 1 part of the result", "'0', '2'",
                                       "carry={argument: position in the result}", "loss=POSITION"],
                 zero.from_jax, jitted, *args, path=WORK / "x.mlir")
    for options in ({"carry": {"scale": 2, "params": 1}}, {"loss": 0}):
        got = Program(jitted, *args, **options)
        checks.that(got.next == {"scale": "scale.new", "params.w": "params.w.new"} and
                    got.outputs == ["loss", "params.w.new", "scale.new"],
                    f"{got.next} {got.outputs}")


def check_joint(checks):
    args = (PARAMS, F32(2, 4), I32(2))
    got = Program(jax.value_and_grad(loss_of), *args, params=0)
    checks.that(got.roles == {**dict.fromkeys(names_below("params"), "parameter"), "x": "data",
                              "labels": "data"}, f"joint: {got.roles}")
    checks.that(got.outputs == ["loss", *(f"{n}.grad" for n in names_below("params"))] and
                got.gradients == {f"{n}.grad": n for n in names_below("params")} and not got.next,
                f"gradients: {got.gradients}")

    def with_metrics(params, x, labels):
        loss = loss_of(params, x, labels)
        return loss, {"loss": loss, "accuracy": loss * 2}
    got = Program(jax.jit(jax.value_and_grad(with_metrics, has_aux=True)), *args, params="params",
                  loss="0.0")
    checks.that(got.outputs[:3] == ["loss", "result.0.1.accuracy", "result.0.1.loss"],
                f"metrics: {got.outputs}")
    scalar = Program(jax.value_and_grad(lambda scale, x: jnp.mean(scale * x)), F32(), F32(3),
                     params=0, loss=0)
    checks.that(scalar.outputs == ["loss", "scale.grad"], f"scalar: {scalar.outputs}")
    forward = Program(loss_of, *args, params="params")
    checks.that(forward.roles == got.roles and forward.outputs == ["loss"] and
                not forward.gradients, f"forward: {forward.outputs}")


@jax.custom_vjp
def twice_the_gradient(x):
    return x


twice_the_gradient.defvjp(lambda x: (x, None), lambda _, gradient: (2 * gradient,))


def check_derivatives(checks):
    """A loss keeps cuts and the bounds of ReLUs as calls. JAX differentiates what has a derivative
    that only it knows, wherever that is."""
    def calls(text):
        return sorted(re.findall(r'call_target_name = "zero\.(\w+)"', text))
    cut = jax.lax.stop_gradient
    for label, function, expected in (
            ("cut", lambda p, x: jnp.sum(p * cut(p * x)), ["stop_gradient"]),
            ("scan", lambda p, x: jax.lax.scan(lambda h, r: (h + cut(r) * r, h), 0.0, p * x)[0],
             ["stop_gradient"]),
            ("remat", lambda p, x: jax.checkpoint(lambda a: jnp.sum(jax.nn.relu(a)))(p * x), ["relu"]),
            ("bounds", lambda p, x: jnp.sum(jax.nn.relu6(p) + jax.nn.softplus(x)), ["relu6"]),
            ("softmax", lambda p, x: jnp.sum(jax.nn.log_softmax(p) * x), ["stop_gradient"])):
        got = Program(function, F32(4), F32(4), params="p", name=label)
        checks.that(calls(got.text) == expected and not got.gradients, f"{label}: {calls(got.text)}")
    whole = Program(jax.value_and_grad(lambda p, x: jnp.sum(jax.nn.relu(p) * cut(p * x))), F32(4),
                    F32(4), params="p", loss=0)
    checks.that(not calls(whole.text), f"a joint graph has calls: {calls(whole.text)}")

    def inner(p, x):
        return jnp.sum(twice_the_gradient(p["w"]) * x)
    args = ({"n": I32(), "w": F32(4)}, F32(4))
    for label, function in (
            ("vjp", inner), ("jit", jax.jit(inner)), ("jvp", lambda p, x: jnp.sum(jnp.sinc(p["w"] * x))),
            ("in scan", lambda p, x: jax.lax.scan(lambda h, r: (h + twice_the_gradient(r), h), 0.0,
                                                  p["w"] * x)[0]),
            ("in remat", lambda p, x: jax.checkpoint(inner)(p, x))):
        got = Program(function, *args, params="p")
        checks.that(got.gradients == {"p.w.grad": "p.w"} and got.outputs == ["loss", "p.w.grad"],
                    f"{label}: {got.outputs}")

    def with_statistics(p, stats, x, *, rate):
        return {"stats": stats * rate, "loss": inner(p, x)}
    got = Program(jax.jit(with_statistics, static_argnames="rate"), args[0], F32(4), F32(4),
                  params="p", carry="stats", keywords={"rate": 0.5})
    checks.that(got.outputs == ["loss", "stats.new", "p.w.grad"] and
                got.next == {"stats": "stats.new"}, f"statistics: {got.outputs} {got.next}")
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    rows = NamedSharding(mesh, PartitionSpec("data"))
    sharded = jax.jit(lambda p, x: jnp.sum(twice_the_gradient(p) * x), in_shardings=(rows, rows))
    check_raises(checks, "sharded", ["derivatives that only JAX knows (custom_vjp of "
                                     "'twice_the_gradient' at ", "check_jax.py", "value_and_grad"],
                 zero.from_jax, sharded, F32(4), F32(4), params=0, path=WORK / "x.mlir")
    endless = lambda p, x: jax.lax.while_loop(lambda h: h < x, twice_the_gradient, p)
    check_raises(checks, "while", ["JAX cannot differentiate it: Reverse-mode"], zero.from_jax,
                 endless, F32(), F32(), params=0, path=WORK / "x.mlir")


def check_forward_state(checks):
    """A loss with statistics that are carried and a table that is only read."""
    def loss(params, stats, table, x):
        return jnp.mean(params["w"] * x + table + stats), stats * 0.9
    got = Program(loss, {"w": F32(4), "n": I32()}, F32(4), F32(4), F32(4), params=0, carry="stats",
                  buffers="table")
    checks.that(got.roles == {"params.w": "parameter", "stats": None, "table": "buffer",
                              "x": "data"}, f"state: {got.roles}")
    checks.that(got.next == {"stats": "stats.new"} and got.outputs == ["loss", "stats.new"],
                f"statistics: {got.next}")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class TrainState:
    params: dict
    key: jax.Array


def check_keys_and_classes(checks):
    """Keys of both kinds are state; a class is a tree; what nothing reads is left out."""
    def step(state, old, unused, *batches, rate=1.0):
        key, mask = jax.random.split(state.key)
        x = batches[1] * jax.random.bernoulli(mask, 0.5, (4,)) + jax.random.normal(old, (4,))
        loss, gradient = jax.value_and_grad(lambda p: jnp.mean((p["w"] * x) ** 2))(state.params)
        params = jax.tree.map(lambda p, g: p - rate * g, state.params, gradient)
        return TrainState(params, key), jax.random.split(old)[0], loss
    state = TrainState({"w": jnp.ones(4)}, jax.random.key(3))
    args = (state, jax.random.PRNGKey(4), F32(7), F32(4), F32(4))
    jitted = jax.jit(step, donate_argnums=(0, 1), static_argnames="rate")
    got = Program(jitted, *args, keywords={"rate": 0.1})
    checks.that(list(got.roles) == ["state.params.w", "state.key", "old", "batches.1"],
                f"kept arguments: {got.roles}")
    checks.that(got.shapes["state.key"] == got.shapes["old"] == ("uint32", 2), f"{got.shapes}")
    saved = np.load(zero.save_weights({"state": state, "old": args[1]}, WORK / "state.npz"))
    checks.that(saved["state.key"].tolist() == [0, 3] and saved["old"].tolist() == [0, 4] and
                saved["state.params.w"].tolist() == [1] * 4, f"saved: {dict(saved)}")
    half = {"w": jnp.ones(3, jnp.bfloat16)}
    check_raises(checks, "bfloat16", ["'w' is bfloat16", ".safetensors"], zero.save_weights, half,
                 WORK / "half.npz")
    zero.save_weights(half, WORK / "half.safetensors")
    check_raises(checks, "static", ["expected no static arguments by position"], zero.from_jax,
                 jax.jit(lambda x, n: x * n, static_argnums=1), F32(3), 2, path=WORK / "x.mlir")


def check_sharding(checks):
    """Shardings of arguments stay in the program beside the marks of state."""
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    whole, rows = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data",)))
    def step(w, x):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * gradient, loss
    jitted = jax.jit(step, in_shardings=(whole, rows), out_shardings=(whole, whole),
                     donate_argnums=0)
    text = Program(jitted, F32(4, 4), F32(8, 4), loss=1, name="sharded").text
    # JAX before 0.7 writes mhlo.sharding.
    sharding = r"\{(sdy|mhlo)\.sharding = .*?"
    pattern = rf"arg_attrs = \[{sharding}, tf\.aliasing_output = 0 : i32\}}, {sharding}"
    checks.that(re.search(pattern, text), f"shardings: {text[:800]}")


def check_errors(checks):
    args = (PARAMS, Adam(I32(), PARAMS), I32(), F32(2, 4), I32(2))
    def refused(label, words, function, *values, **options):
        check_raises(checks, label, words, zero.from_jax, function, *values, path=WORK / "x.mlir",
                     **options)
    refused("nothing", ["nothing to train", "donate_argnums", "carry=", "params="], train_step,
            *args)
    refused("name", ["carry: expected arguments of params, opt_state, step, x, labels, got 'p'"],
            train_step, *args, carry="p")
    refused("place", ["carry of 'params'", "got '9'"], train_step, *args, carry={"params": 9})
    refused("part", ["'0' of the result has nothing for 'params.fc1.b'"], train_step, *args,
            carry={"params": 0})
    refused("type", ["expected int32[] for 'step', got float32[] in '0'"], train_step, *args,
            carry={"step": 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns, too.
        refused("donated batch", ["'x'", "as the donated argument", "carry="],
                jax.jit(train_step, donate_argnums=(0, 3)), *args)
    refused("missing", ["do not fit the function", "labels"], train_step, *args[:4], carry=0)
    refused("loss", ["loss: expected a result of one float", "got '0' (float32[]), '1' (float32[])",
                     "loss=POSITION"],
            lambda params, x: (jnp.mean(params * x), jnp.sum(x)), F32(3), F32(3), params=0)
    refused("a scalar", ["'scale'", "'0', '1'", "name the loss with loss="],
            jax.value_and_grad(lambda scale, x: jnp.mean(scale * x)), F32(), F32(3), params=0)
    refused("no loss", ["one float that is not state, got no leaves"],
            lambda params, x: params * x, F32(3), F32(3), params=0)
    table = np.zeros((5 << 20,), np.float32)
    refused("closure", ["closes over 20971520 bytes"], lambda p, x: jnp.mean(p * x + table),
            F32(5 << 20), F32(5 << 20), params=0)
    check_raises(checks, "path", ["ends with .mlir"], zero.from_jax, train_step, *args, carry=0,
                 path=WORK / "x.json")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_donated(checks)
    check_ambiguous(checks)
    check_joint(checks)
    check_derivatives(checks)
    check_forward_state(checks)
    check_keys_and_classes(checks)
    check_sharding(checks)
    check_errors(checks)
    checks.finish()


if __name__ == "__main__":
    main()
