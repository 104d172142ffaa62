"""Small models of calls that ONNX cannot express train as in PyTorch: losses of AdamW's steps and
gradients of the first. All stages are bitwise identical.

usage: check_small_models.py DATA WORK FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, relative, run_tool

ADAMW = ["--optimizer=adamw", "--lr=1e-2", "--betas=0.9,0.999", "--eps=1e-8", "--weight-decay=0.01"]


def train(model, data, work, steps, stage, ranks):
    log, gradients = work / "log.jsonl", work / "gradients.safetensors"
    run_tool("zero-run", model, f"--zero-stage={stage}", f"--ranks={ranks}", *ADAMW, "--quiet",
             "--loss-mean=local",  # all ranks have the same batch
             "--data=" + ",".join(f"{name}={path}" for name, path in data.items()),
             f"--steps={steps}", f"--log={log}", f"--dump-gradients={gradients}")
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    return np.array(losses), read_safetensors(gradients)


def check_model(checks, model, truth, work):
    """`truth` has the keys of the model: input.*, grad.*, losses."""
    data = {}
    for key, value in truth.items():
        if key.startswith("input."):
            data[key[len("input."):]] = work / f"{model.stem}.{key}.npy"
            np.save(work / f"{model.stem}.{key}.npy", value)
    first = None
    for stage, ranks in ((0, 1), (0, 2), (3, 2)):
        label = f"{model.stem}, stage {stage} on {ranks}"
        losses, gradients = train(model, data, work, len(truth["losses"]), stage, ranks)
        error = np.max(np.abs(losses - truth["losses"]) / np.abs(truth["losses"]))
        checks.that(error <= 1e-5, f"{label}: losses {losses}, not {truth['losses']}")
        expected = {key[len("grad."):]: value for key, value in truth.items()
                    if key.startswith("grad.")}
        checks.that(gradients.keys() == expected.keys(), f"{label}: trained {list(gradients)}")
        for name, value in expected.items():
            error = relative(gradients.get(name, 0 * value), value)
            checks.that(error <= 1e-5, f"{label}: gradient of {name} off by {error:.1e}")
        if ranks == 2:
            first = losses if first is None else first
            checks.that(np.array_equal(losses, first), f"{label}: bits differ from stage 0's")


def main():
    data, work, folder = sys.argv[1:]
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    truth = dict(np.load(Path(data) / folder / "groundtruth.npz"))
    models = sorted((Path(data) / folder).glob("*.onnx"))
    checks.that({m.stem for m in models} == {key.split("/")[0] for key in truth}, "models are missing")
    for model in models:
        own = {key.split("/")[1]: value for key, value in truth.items()
               if key.startswith(f"{model.stem}/")}
        check_model(checks, model, own, work)
    checks.finish()


if __name__ == "__main__":
    main()
