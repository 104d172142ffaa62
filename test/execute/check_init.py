"""zero-translate --make-gpt writes a model whose weights zeroc --init draws, the same on all ranks
and at all stages.

usage: check_init.py WORK
"""

import math
import os
import re
import sys
from pathlib import Path

import numpy as np
from zero_test import Checks, check_refused, read_safetensors, run_tool

VOCABULARY, SEQUENCE, BATCH, RANKS = 1000, 32, 2, 2
SIZES = f"layers=2,width=64,heads=4,vocabulary={VOCABULARY},sequence={SEQUENCE},batch={BATCH}"
FLAGS = [["--zero-stage=0"], ["--zero-stage=3"], ["--zero-stage=3", "--offload-params=nvme"]]


def train(work, model, flags, ranks):
    """Initial values, and losses of some steps."""
    executable, weights = work / "gpt.zexe", work / "weights.safetensors"
    run_tool("zeroc", model, "--init=normal:0.02", f"--ranks={ranks}", *flags, "-o", executable)
    data = f"--data=input_ids={work / 'tokens.npy'},labels={work / 'tokens.npy'}"
    disk = [f"--nvme-dir={work}"] if "nvme" in flags[-1] else []
    run_tool("zero-run", executable, data, "--steps=0", "--quiet", f"--save={weights}", *disk)
    text = run_tool("zero-run", executable, data, "--steps=3", *disk)
    return read_safetensors(weights), re.findall(r"^step \d+: loss ([0-9.]+)", text, re.M)


def check_values(checks, values):
    for name, value in values.items():
        if value.ndim == 1:
            norm = ".ln_" in name and name.endswith("weight")
            checks.that(np.all(value == (1 if norm else 0)), f"{name}: {value[:4]}")
            continue
        # The standard error of the mean is std / sqrt(n); five of them.
        near = 5 * 0.02 / math.sqrt(value.size)
        checks.that(abs(value.mean()) < near and abs(value.std() - 0.02) < near,
                    f"{name}: mean {value.mean()}, standard deviation {value.std()}")
    first, second = (values[f"transformer.h.{i}.mlp.c_fc.weight"] for i in range(2))
    checks.that(np.mean(first == second) < 0.01, "two layers have the same values")


def check_errors(checks, work, model):
    for words, sizes in ((["'depth'"], "depth=3"), (["layers", "'0'"], "layers=0"),
                         (["heads divide", "65"], "width=65,heads=2"),
                         (["less than 2^63 bytes"], "layers=2000,width=2000000000")):
        check_refused(checks, sizes, ["--make-gpt", *words], "zero-translate", f"--make-gpt={sizes}",
                      "-o", work / "bad.onnx")
    check_refused(checks, "no output", ["-o FILE.onnx"], "zero-translate", "--make-gpt=layers=1")
    check_refused(checks, "no folder", ["cannot write"], "zero-translate", "--make-gpt=layers=1",
                  "-o", "/nonexistent/m.onnx")
    check_refused(checks, "scheme", ["--init", "got 'zeros'"], "zeroc", model, "--init=zeros", "-o",
                  work / "bad.zexe")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    model, checks = work / "gpt.onnx", Checks()
    run_tool("zero-translate", f"--make-gpt={SIZES}", "-o", model)
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (4 * BATCH, SEQUENCE))
    np.save(work / "tokens.npy", tokens)
    values, losses = train(work, model, FLAGS[0], RANKS)
    check_values(checks, values)
    checks.that(abs(float(losses[0]) - math.log(VOCABULARY)) < 0.2, f"{losses}")
    for flags in FLAGS[1:]:
        others, again = train(work, model, flags, RANKS)
        checks.that(again == losses, f"{flags}: {again}, {losses}")
        checks.that(all(np.array_equal(others[name], value) for name, value in values.items()),
                    f"{flags}: other values")
    # Values of 16 bits are trained beside a copy in float32.
    for flags in ["--precision=bf16", "--zero-stage=0"], ["--precision=fp16", "--zero-stage=3"]:
        halves, again = train(work, model, flags, RANKS)
        checks.that(all(np.array_equal(halves[name], value) for name, value in values.items()),
                    f"{flags}: other values")
        checks.that(np.allclose(np.array(again, float), np.array(losses, float), rtol=1e-2),
                    f"{flags}: {again}, {losses}")
    alone, _ = train(work, model, FLAGS[0], 1)
    checks.that(all(np.array_equal(alone[name], value) for name, value in values.items()),
                "one rank has other values")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    single, _ = train(work, model, FLAGS[0], 1)
    checks.that(all(np.array_equal(alone[name], value) for name, value in single.items()),
                "one core has other values than several")
    other, _ = train(work, model, [*FLAGS[0], "--seed=1"], RANKS)
    name = "transformer.wte.weight"
    checks.that(np.mean(other[name] == values[name]) < 0.01, "another seed, the same values")
    check_errors(checks, work, model)
    checks.finish()


if __name__ == "__main__":
    main()
