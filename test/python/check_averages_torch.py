"""Averages of parameters (--ema) beside AveragedModel of PyTorch, whose model gets the parameters that
each step has left.

usage: check_averages_torch.py DATA WORK PYTHON

PYTHON has PyTorch.
"""

import shutil
import subprocess
import sys

import numpy as np

from zero_test import Checks, Graph, read_safetensors, run_tool

STEPS = 6
AVERAGE = """
import sys
import numpy as np
import torch
from torch.optim import swa_utils as swa

values = np.load(sys.argv[1])
steps, names = int(sys.argv[2]), sorted({name.split(":", 1)[1] for name in values})
model = torch.nn.ParameterDict({str(i): torch.tensor(values[f"0:{n}"]) for i, n in enumerate(names)})
averages = {"mean": swa.AveragedModel(model),
            "0.9": swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9))}
for step in range(1, steps + 1):
    with torch.no_grad():
        for i, name in enumerate(names):
            model[str(i)].copy_(torch.tensor(values[f"{step}:{name}"]))
    for each in averages.values():
        each.update_parameters(model)
np.savez(sys.argv[3], **{f"{form}:{name}": each.module[str(i)].detach().numpy()
                         for form, each in averages.items() for i, name in enumerate(names)})
"""


def main():
    data, work, python = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    own, averages = graph.work / "own.safetensors", graph.work / "averages.safetensors"
    values, got = {}, {}
    for form in ("mean", "0.9"):
        executable = graph.compile(0, 1, "--optimizer=adamw", "--lr=1e-2", f"--ema={form}")
        for step in range(STEPS + 1):
            run_tool("zero-run", executable, graph.data_flag, f"--steps={step}", "--quiet",
                     f"--save={own}", f"--save-ema={averages}")
            values |= {f"{step}:{name}": value for name, value in read_safetensors(own).items()}
        got |= {f"{form}:{name}": value for name, value in read_safetensors(averages).items()}
    np.savez(graph.work / "values.npz", **values)
    subprocess.run([python, "-c", AVERAGE, graph.work / "values.npz", str(STEPS),
                    graph.work / "expected.npz"], check=True)
    expected = dict(np.load(graph.work / "expected.npz"))
    checks.that(got.keys() == expected.keys(), f"{got.keys()}, {expected.keys()}")
    worst = max(np.abs(got[name] - value).max() / np.abs(value).max() for name, value in expected.items())
    checks.that(worst < 2e-7, f"{worst:.1e} off those of PyTorch")
    checks.finish()


if __name__ == "__main__":
    main()
