"""zero.compile() of a module of PyTorch or a function of JAX: losses and weights against theirs.

usage: check_modules.py torch|jax WORK
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import zero
from zero_test import Checks, relative

STEPS = 5


def train_torch():
    """A module, its batch, and the losses and weights of PyTorch's AdamW."""
    import torch
    from torch import nn
    from torch.nn import functional
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).train()
    batch = {"x": torch.randn(8, 64), "labels": torch.randint(0, 10, (8,))}

    def loss(module, x, labels):
        return functional.cross_entropy(module(x), labels)

    def compile(**flags):
        return zero.compile(module, example=batch, loss=loss, optimizer="adamw", lr=1e-3,
                            weight_decay=0.01, **flags)

    def reference():
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.01)
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            value = loss(module, **batch)
            value.backward()
            optimizer.step()
            losses.append(value.item())
        return losses, {name: value.detach().numpy() for name, value in module.named_parameters()}

    def give_back(state):
        module.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()},
                               strict=True)
    return compile, batch, reference, give_back


def train_jax():
    """The same in JAX: SGD by hand, a whole step whose arguments are donated."""
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.key(0), 3)
    params = {"a": 0.1 * jax.random.normal(keys[0], (64, 32)),
              "b": 0.1 * jax.random.normal(keys[1], (32, 10))}
    batch = {"x": jax.random.normal(keys[2], (8, 64)), "labels": jnp.arange(8) % 10}

    def loss(params, x, labels):
        logits = jnp.tanh(x @ params["a"]) @ params["b"]
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(8), labels])

    def step(params, x, labels):
        value, gradients = jax.value_and_grad(loss)(params, x, labels)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    example = (params, batch["x"], batch["labels"])

    def compile(**flags):
        return zero.compile(jax.jit(step, donate_argnums=0), example=example, **flags)

    def reference():
        state, losses = params, []
        for _ in range(STEPS):
            state, value = step(state, **batch)
            losses.append(float(value))
        return losses, {f"params.{name}": np.asarray(value) for name, value in state.items()}
    return compile, batch, reference, lambda state: None


def main():
    kind, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True)
    compile, batch, reference, give_back = {"torch": train_torch, "jax": train_jax}[kind]()
    checks = Checks()
    program = compile(stage=3)
    with program.session() as session:
        losses = session.train([batch] * STEPS, progress=False).losses
        state = session.state_dict()
    saved = program.save(work / "saved.zexe")
    weights = program.weights
    direct = compile(output=work / "direct.zexe")
    checks.that(direct.weights == work / "direct.safetensors", f"weights: {direct.weights}")
    temporary = Path(tempfile.gettempdir())
    checks.that(weights.is_relative_to(temporary), f"{weights}")
    del program, session
    expected, trained = reference()
    checks.that(relative(losses, expected) < 1e-6, f"losses {losses}, not {expected}")
    checks.that(state.keys() == trained.keys(), f"names: {list(state)}, not {list(trained)}")
    for name, value in trained.items():
        checks.that(relative(state[name], value) < 1e-5, f"{name}")
    for path in (saved, direct.path):
        with zero.load(path).session(weights=path.with_suffix(".safetensors")) as session:
            checks.that(session.step(batch).loss == losses[0], f"{path}")
    give_back(state)
    checks.finish()


if __name__ == "__main__":
    main()
