"""Steps of GPT-2 on one GPU, beside PyTorch's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from machine import preset_of
from models import TEST, Made, Model, Sizes, sizes_of
from report import Missing
from zero_test import run_tool

SKIPPED_STEPS = 5
MIB = 1 << 20


def row_of(context, model, precision, runtime, seconds, **more):
    """A row of the table of steps."""
    row = {"model": model.name, "precision": precision, "runtime": runtime,
           "ms a step": f"{1e3 * seconds:.3f}",
           "tokens/s": f"{model.sizes.batch * model.sizes.sequence / seconds:.0f}",
           "TFLOP/s": f"{model.sizes.flops_of_step() / seconds / 1e12:.3g}"}
    preset = preset_of(context.machine)
    if preset:
        peak = preset["peak_flops" if precision == "fp32" else "half_flops"]
        row["MFU"] = f"{100 * model.sizes.flops_of_step() / seconds / peak:.1f} %"
    return {**row, **more}


def median(seconds):
    return float(np.median(seconds[min(SKIPPED_STEPS, len(seconds) - 1):]))


def ours(context, model, precision, stages, steps):
    """Rows of sessions on one rank: with CUDA graphs and without, where zero-run has them, and with
    algorithms of products that were timed before the first step."""
    rows = []
    model.write()
    file = model.work / f"algorithms-{precision}.json"
    file.unlink(missing_ok=True)
    modes = {"--gpu-graphs=off": ["--gpu-graphs=off"], "--gpu-graphs=on": ["--gpu-graphs=on"],
             "--gpu-algorithms": [f"--gpu-algorithms={file}"]} if context.has_graphs else {"": []}
    for stage in stages:
        executable = model.work / f"{precision}-{stage}.zexe"
        run_tool("zeroc", model.path, "--device=cuda", "--optimizer=adamw", "--lr=1e-4",
                 f"--precision={precision}", f"--zero-stage={stage}", "--ranks=1", "-o", executable)
        for mode, flags in modes.items():
            path = model.work / "report.json"
            run_tool("zero-run", executable, model.data_flag, f"--steps={steps}", "--quiet",
                     f"--report-json={path}", *flags)
            report = json.loads(path.read_text())
            peak = report["memory"]["device"]["peak"]
            taken = report["per_rank"][0]["arena_bytes"]
            assert taken == peak, f"{peak} bytes were certified, {taken} allocated"
            assert np.isfinite(report["losses"]).all(), f"losses {report['losses']}"
            rows.append(row_of(context, model, precision, f"Zero, stage {stage} {mode}".strip(),
                               median(report["seconds"]), certificate=f"{peak / MIB:.1f} MiB",
                               allocated=f"{taken / MIB:.1f} MiB"))
    return rows


def torch_python():
    """The interpreter that has PyTorch, or that may have it."""
    installed = TEST.parent / ".deps/bench/torch/bin/python"
    return os.environ.get("ZERO_TORCH_PYTHON") or (installed if installed.exists() else sys.executable)


def torch(context, model, precision, mode, steps):
    """The row of PyTorch: eager or compiled."""
    sizes = [f"--{name}={value}" for name, value in vars(model.sizes).items()]
    done = subprocess.run([torch_python(), Path(__file__).with_name("torch_step.py"), *sizes, f"--steps={steps}",
                           f"--precision={precision}", f"--mode={mode}"], capture_output=True, text=True)
    if done.returncode == 3:
        raise Missing(done.stdout.strip())
    assert done.returncode == 0, done.stderr.strip()[-1000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    return [row_of(context, model, precision, f"PyTorch {result['version']}, {mode}", result["seconds"],
                   allocated=f"{result['bytes'] / MIB:.1f} MiB")]


LARGE = Sizes(layers=12, width=768, heads=12, vocabulary=50304, sequence=1024, batch=8)
LARGE_IF_QUICK = Sizes(layers=1, width=64, heads=2, vocabulary=128, sequence=32, batch=2)


def all_checks(context):
    """Name, body and limit in seconds of each measurement."""
    def existing(name):
        path = TEST / f"data/{name}/model.onnx"
        return Model(name, path, sizes_of(path), context.work / "speed" / name)

    def both(model, precision, stages, steps):
        yield (f"{model.name}: {precision}, a step", lambda: ours(context, model, precision, stages, steps), 240)
        for mode in ("eager", "compiled"):
            yield (f"{model.name}: {precision}, a step of PyTorch, {mode}",
                   lambda: torch(context, model, precision, mode, steps), 180)

    large = Made("gpt2-124m", LARGE_IF_QUICK if context.quick else LARGE, context.work / "speed/large")
    if context.quick:
        yield from both(existing("gpt2-tiny"), "fp32", (0,), 3)
        yield from both(large, "bf16", (0,), 3)
        return
    for precision in ("bf16", "fp32"):
        yield from both(large, precision, (0,), 30)
        for name in ("gpt2-mini", "gpt2-tiny"):
            yield from both(existing(name), precision, (0, 3), 100)
