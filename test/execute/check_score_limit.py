"""MuonClip's limit of attention scores, against NumPy.

usage: check_score_limit.py DATA WORK

Each step with --qk-clip is the step without it, with queries and keys scaled by the largest scores
that NumPy computes. Ranks, stages, tiers, micro-batches and shards change nothing but rounding.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

import score_limit
from zero_test import Checks, Graph, check_refused, read_safetensors, relative, run_tool

MUON = ["--optimizer=muon", "--lr=0.02", "--weight-decay=0.1", "--other-lr=1e-3"]
# Flags; those that have one name and number of ranks have the same bits.
CASES = (("1", "--ranks=1"), ("1", "--ranks=1", "--zero-stage=3"), ("2", "--ranks=2"),
         ("2", "--ranks=2", "--zero-stage=1"), ("2", "--ranks=2", "--zero-stage=3"),
         ("2", "--ranks=2", "--zero-stage=3", "--offload-optimizer=host", "--offload-params=host"),
         ("4", "--ranks=4", "--zero-stage=2"), ("shards", "--mesh=tensor=2"),
         ("micro", "--ranks=2", "--micro-batches=2", "--zero-stage=2"),
         ("micro", "--ranks=2", "--micro-batches=2", "--zero-stage=3",
          "--micro-batch-order=vertical"),
         ("both", "--mesh=data=2,tensor=2"), ("both", "--mesh=data=2,tensor=2", "--zero-stage=3"))
STEPS = 3


class Model:
    def __init__(self, work):
        self.work = Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.path, self.inputs = self.work / "model.onnx", score_limit.make_inputs()
        score_limit.make_model(self.path)
        for name, value in self.inputs.items():
            np.save(self.work / f"{name}.npy", value)

    def compile(self, *flags):
        path = self.work / "model.zexe"
        run_tool("zeroc", self.path, "-o", path, *MUON, *flags)
        return path

    def run(self, executable, steps, *flags):
        saved = self.work / "weights.safetensors"
        data = ",".join(f"{name}={self.work / name}.npy" for name in self.inputs)
        run_tool("zero-run", executable, f"--data={data}", f"--steps={steps}", "--quiet",
                 "--check-memory", f"--save={saved}", *flags)
        return read_safetensors(saved)


def check_steps(checks, model, limit):
    """Each step goes on from the state of the last one, once without the limit."""
    first = {}
    for name, *flags in CASES:
        before, states = score_limit.make_weights(), [None]
        for step in range(STEPS):
            resume = [f"--resume={states[-1]}"] if states[-1] else []
            states.append(model.work / f"state{step}")
            shutil.rmtree(states[-1], ignore_errors=True)
            plain = model.run(model.compile(*flags), step + 1, *resume)
            after = model.run(model.compile(*flags, f"--qk-clip={limit!r}"), step + 1, *resume,
                              f"--save-state={states[-1]}")
            expected = score_limit.scaled(plain, before, model.inputs["x"], limit)
            errors = {key: relative(after[key], expected[key]) for key in expected}
            checks.that(max(errors.values()) <= 1e-5, f"{flags}, step {step}: off by {errors}")
            checks.that(step or relative(plain["a.q.weight"], after["a.q.weight"]) > 0.1,
                        f"{flags}: no head is above the limit")
            before = after
        same = first.setdefault(name, before)
        checks.that(all(np.array_equal(before[k], same[k]) for k in same), f"{flags}: other bits")


def check_precision(checks, model, limit):
    """Of 16-bit products the scores are those of NumPy but for their rounding."""
    for own in (["--precision=bf16"], ["--precision=fp16", "--initial-loss-scale=1024"]):
        first, before = {}, score_limit.make_weights()
        for flags in (["--ranks=1"], ["--ranks=2"], ["--ranks=2", "--zero-stage=3"],
                      ["--ranks=2", "--zero-stage=2", "--offload-optimizer=host"],
                      ["--mesh=tensor=2"]):
            plain = model.run(model.compile(*flags, *own), 1)
            after = model.run(model.compile(*flags, *own, f"--qk-clip={limit!r}"), 1)
            expected = score_limit.scaled(plain, before, model.inputs["x"], limit)
            errors = {key: relative(after[key], expected[key]) for key in expected}
            checks.that(max(errors.values()) <= 1e-2, f"{flags}, {own}: off by {errors}")
            checks.that(relative(plain["a.q.weight"], after["a.q.weight"]) > 0.1,
                        f"{flags}, {own}: no head is above the limit")
            same = first.setdefault(flags[0], after)
            checks.that(all(np.array_equal(after[k], same[k]) for k in same),
                        f"{flags}, {own}: other bits")


def check_models(checks, data, work):
    """Rotated and packed heads of exports: losses of one rank, that of llama-tiny with groups."""
    for name in ("gpt2-tiny", "llama-tiny"):
        graph = Graph(data, name, work / name)
        path = graph.work / "model.zexe"
        losses = {}
        for limit in ("0", "0.02"):
            for mesh in ("data=1", "data=2", "data=2,tensor=2"):
                graph.compile_to(path, *MUON, f"--qk-clip={limit}", f"--mesh={mesh}",
                                 "--zero-stage=3", "--checkpoint=layer")
                losses[limit, mesh] = graph.run(path, 4, has_gradients=False).losses
            for mesh in ("data=2", "data=2,tensor=2"):
                error = np.max(np.abs(losses[limit, mesh] / losses[limit, "data=1"] - 1))
                checks.that(error <= 1e-5, f"{name} on {mesh}: losses off by {error:.1e}")
        moved = np.max(np.abs(losses["0", "data=1"] - losses["0.02", "data=1"]))
        checks.that(moved > 1e-4, f"{name}: the limit moves losses by {moved:.1e}")


def check_errors(checks, data, model):
    clip = [*MUON, "--qk-clip=1", "--plan-only"]
    for label, path, flags, word in (
            ("no attention", Path(data) / "mlp" / "model.onnx", [], "expected attention"),
            ("products", model.path, ["--attention=products"], "in parts"),
            ("other optimizer", model.path, ["--other-params=a.q.weight"],
             "expected 'a.q.weight', which makes queries or keys, among the matrices"),
            ("frozen", model.path, ["--freeze=a.k.weight"], "not trained")):
        check_refused(checks, label, [word], "zeroc", path, *clip, *flags)
    check_refused(checks, "written", ["as --emit-onnx writes"], "zeroc", model.path, *clip[:-1],
                  f"--emit-onnx={model.work / 'step.onnx'}")
    normalized = model.work / "normalized.onnx"
    score_limit.make_model(normalized, norm=True)
    check_refused(checks, "normalized", ["expected queries", "LayerNormalization"], "zeroc",
                  normalized, *clip)


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    checks, model = Checks(), Model(work)
    scores = np.sort(np.concatenate(
        score_limit.largest_scores(score_limit.make_weights(), model.inputs["x"])))
    check_steps(checks, model, float(scores[2:4].mean()))  # two of eight heads are below
    check_precision(checks, model, float(scores[2:4].mean()))
    check_models(checks, data, work)
    check_errors(checks, data, model)
    still = model.run(model.compile("--qk-clip=0.1"), 2, "--lr=0")
    start = score_limit.make_weights()
    checks.that(all(np.array_equal(still[k], start[k]) for k in start), "a rate of 0 changed weights")
    checks.finish()


if __name__ == "__main__":
    main()
