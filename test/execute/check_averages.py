"""Averages of parameters over updates (--ema) against NumPy; the same bits at each stage, on any ranks
and tier; in files of weights, evaluations and checkpoints.

usage: check_averages.py DATA WORK
"""

import itertools
import json
import shutil
import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

STEPS = 5
OPTIMIZERS = {"adamw": ["--optimizer=adamw", "--lr=1e-2"],
              "adafactor": ["--optimizer=adafactor", "--lr=1e-2"],
              "muon": ["--optimizer=muon", "--lr=1e-2"],
              "dora": ["--optimizer=adamw", "--lr=1e-2", "--lora=*c_fc*", "--dora", "--lora-rank=4"],
              "8bit": ["--optimizer=adamw", "--lr=1e-2", "--state-precision=8bit"],
              "muon bf16": ["--optimizer=muon", "--lr=1e-2", "--state-precision=bf16"]}


class Runs:
    def __init__(self, checks, data, work):
        self.checks, self.graph = checks, Graph(data, "gpt2-tiny", work)
        self.work = self.graph.work
        self.count = itertools.count()

    def train(self, executable, steps, *flags):
        """The weights and the averages after `steps` steps."""
        own, averages = self.work / "own.safetensors", self.work / "averages.safetensors"
        run_tool("zero-run", executable, self.graph.data_flag, f"--steps={steps}", "--quiet",
                 f"--save={own}", f"--save-ema={averages}", *flags)
        return read_safetensors(own), read_safetensors(averages)

    def same(self, got, expected, label):
        self.checks.that(got.keys() == expected.keys() and
                         all(np.array_equal(got[name], expected[name]) for name in expected),
                         f"{label}: other bits")


def average(values, decay, every=1, start=1):
    """Of the values after updates 1, 2, ...; in f64."""
    result = None
    for number, value in enumerate(values[start - 1::every]):
        value = value.astype(np.float64)
        if result is None:
            result = value
        else:
            weight = 1 - decay if decay is not None else 1 / (number + 1)
            result = result + weight * (value - result)
    return result


def check_formulas(runs):
    """Each optimizer, and each setting of the average."""
    cases = [(name, ["--ema=0.9"], (0.9,)) for name in OPTIMIZERS]
    cases += [("adamw", ["--ema=mean"], (None,)),
              ("adamw", ["--ema=mean", "--ema-start=2", "--ema-every=3"], (None, 3, 2)),
              ("adamw", ["--ema=0.3", "--ema-every=2"], (0.3, 2))]
    for name, flags, settings in cases:
        executable = runs.graph.compile(0, 1, *OPTIMIZERS[name], *flags)
        states = [runs.train(executable, steps) for steps in range(STEPS + 1)]
        label = f"{name} {' '.join(flags)}"
        runs.same(states[0][1], states[0][0], f"{label}: before the first update")
        worst = 0
        for key, got in states[-1][1].items():
            expected = average([own[key] for own, _ in states[1:]], *settings)
            worst = max(worst, np.abs(got - expected).max() / np.abs(expected).max())
        runs.checks.that(worst < 1e-6, f"{label}: {worst:.1e} off")
        changes = max(np.abs(states[-1][0][key] - got).max() for key, got in states[-1][1].items())
        runs.checks.that(changes > 1e-3, f"{label}: the average is the last value")
    plain = runs.graph.compile(0, 1, *OPTIMIZERS["adamw"])
    weights = runs.work / "plain.safetensors"
    run_tool("zero-run", plain, runs.graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--save={weights}")
    executable = runs.graph.compile(0, 1, *OPTIMIZERS["adamw"], "--ema=0.9")
    runs.same(runs.train(executable, STEPS)[0], read_safetensors(weights), "weights beside averages")


def check_partitions(runs):
    """The same bits at all stages, on tiers, in processes, and with 16 bits."""
    plans = [(1, []), (2, ["--offload-optimizer=host"]), (3, ["--offload-optimizer=nvme"]),
             (3, ["--offload-params=host"])]
    for name, ranks, common in (("adamw", 2, []), ("muon", 2, []), ("adamw", 2, ["--precision=bf16"]),
                                ("adamw", 4, ["--ranks-per-node=2"]),
                                ("adamw", 4, ["--mesh=data=2,tensor=2"])):
        first = None
        for (stage, flags), processes in itertools.product(plans, (False, True)):
            executable = runs.work / "partitioned.zexe"
            count = [] if "--mesh" in str(common) else [f"--ranks={ranks}"]
            runs.graph.compile_to(executable, f"--zero-stage={stage}", *count, *OPTIMIZERS[name],
                                  "--ema=0.9", *flags, *common)
            got = runs.train(executable, STEPS, f"--nvme-dir={runs.work}",
                             *([f"--processes={ranks}"] if processes else []))
            first = first or got
            for each, expected in zip(got, first):
                runs.same(each, expected, f"{name} on {ranks} {common}, stage {stage} {flags}, "
                          f"{'processes' if processes else 'threads'}")


def losses(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def check_evaluation(runs):
    """An evaluation of averages has the loss of a file of them, and training does not notice."""
    held = runs.graph.data_flag.replace("--data", "--eval-data")
    for stage, flags in ((0, []), (2, []), (2, ["--processes=2"]), (3, ["--processes=2"])):
        label = f"evaluation at stage {stage} {flags}"
        executable = runs.graph.compile(stage, 2 if stage else 1, *OPTIMIZERS["adamw"], "--ema=0.5")
        log, averages = runs.work / "log.jsonl", runs.work / "averages.safetensors"
        run_tool("zero-run", executable, runs.graph.data_flag, held, "--eval-ema", "--eval-every=2",
                 f"--steps={STEPS}", "--quiet", f"--log={log}", f"--save-ema={averages}", *flags)
        got = losses(log)
        other = runs.work / "other.jsonl"
        run_tool("zero-run", executable, held, "--steps=0", "--quiet", f"--weights={averages}",
                 f"--log={other}", *flags)
        runs.checks.that(got[-1]["eval_loss"] == losses(other)[-1]["eval_loss"],
                         f"{label}: {got[-1]}, {losses(other)}")
        run_tool("zero-run", executable, runs.graph.data_flag, f"--steps={STEPS}", "--quiet",
                 f"--log={other}", *flags)
        runs.checks.that([each for each in got if "loss" in each] == losses(other),
                         f"{label}: other losses of steps")


def check_checkpoints(runs):
    """A run that goes on at another stage has the same averages."""
    small = runs.graph.compile(3, 2, *OPTIMIZERS["adamw"], "--ema=0.9")
    state = runs.work / "state"
    runs.train(small, 3, f"--save-state={state}")
    got = runs.train(small, STEPS, f"--resume={state}")
    large = runs.graph.compile(1, 2, *OPTIMIZERS["adamw"], "--ema=0.9")
    for each, expected in zip(runs.train(large, STEPS, f"--resume={state}"), got):
        runs.same(each, expected, "resumed at stage 1")
    for each, expected in zip(got, runs.train(small, STEPS)):
        runs.same(each, expected, "resumed")


def check_refusals(runs):
    executable = runs.graph.compile(0, 1, *OPTIMIZERS["adamw"])
    for flag in ("--save-ema=x.safetensors",):
        check_refused(runs.checks, flag, ["--save-ema: the program keeps no averages of parameters: "
                                          "compile it with --ema"],
                      "zero-run", executable, runs.graph.data_flag, flag)
    model = runs.graph.folder / "model.onnx"
    for flags, expected in (
            (["--ema=1"], "--ema: expected 'mean', or a decay rate from 0 to below 1, got '1'"),
            (["--ema=x"], "--ema: expected 'mean', or a decay rate from 0 to below 1, got 'x'"),
            (["--ema-every=2"], "--ema-every=2 has no effect with no --ema"),
            (["--ema=0.9", "--ema-start=0"], "--ema-start: expected at least 1, got 0"),
            (["--ema=0.9", "--optimizer=lamb"], "an average of parameters: expected an optimizer that "
             "does not scale steps by norms of whole parameters, got lamb")):
        check_refused(runs.checks, " ".join(flags), [expected], "zeroc", model, "-o",
                      runs.work / "no.zexe", *flags)
    executable = runs.graph.compile(0, 1, "--optimizer=adamw", "--ema=0.9", "--precision=bf16",
                                    "--master-weights=nearest")
    check_refused(runs.checks, "no masters", ["has 16 bits and no f32 master"], "zero-run", executable,
                  runs.graph.data_flag, f"--save-ema={runs.work}/no.safetensors")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    runs = Runs(checks, data, work)
    check_formulas(runs)
    check_partitions(runs)
    check_evaluation(runs)
    check_checkpoints(runs)
    check_refusals(runs)
    checks.finish()


if __name__ == "__main__":
    main()
