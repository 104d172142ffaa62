"""Steps of whole models on one GPU beside PyTorch's, and what the GPU can do at most."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from machine import preset_of
from models import GPT2, IF_QUICK, gpt2, llama
from report import Missing
from zero_test import run_tool

SKIPPED_STEPS = 5
MIB = 1 << 20


def row_of(context, model, precision, runtime, seconds, **more):
    """A row of the table of steps."""
    row = {"table": "Steps", "model": model.name, "precision": precision, "runtime": runtime,
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


def taken_by_driver():
    """Bytes of the GPU that are in use, as nvidia-smi says; None without it."""
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=10).stdout
        return int(text.splitlines()[0]) * MIB
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def run(model, executable, steps, *flags):
    """The report of a run, and the most bytes that the driver said were taken during it."""
    path, most, before = model.work / "report.json", None, taken_by_driver()
    process = subprocess.Popen(["zero-run", executable, model.data_flag, f"--steps={steps}", "--quiet",
                                f"--report-json={path}", *map(str, flags)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None:
        used = taken_by_driver()
        most = max(most or 0, used) if used is not None else most
        try:
            process.wait(1)  # each question takes a while of the driver's time
        except subprocess.TimeoutExpired:
            pass
    output = process.stdout.read()
    assert process.returncode == 0, output[-3000:]
    return json.loads(path.read_text()), most - before if most is not None else None


# Sessions without CUDA graphs, with them, and with algorithms of products that are timed before the first
# step.
VARIANTS = ("--gpu-graphs=off", "--gpu-graphs=on", "--gpu-algorithms")


def ours(context, model, precision, steps, variant):
    """The row of a session on one rank."""
    model.write()
    executable = model.work / f"{precision}.zexe"
    if not executable.exists():
        model.compile(precision, f"--precision={precision}")
    flags = ([f"{variant}={model.work / f'algorithms-{precision}.json'}"] if variant == "--gpu-algorithms"
             else [variant, "--gpu-algorithms=off"])
    report, driver = run(model, executable, steps, *flags)
    peak, taken = report["memory"]["device"]["peak"], report["per_rank"][0]["arena_bytes"]
    assert taken == peak, f"{peak} bytes were certified, {taken} allocated"
    assert np.isfinite(report["losses"]).all(), f"losses {report['losses']}"
    return [row_of(context, model, precision, f"Zero {variant}", median(report["seconds"]),
                   certificate=f"{peak / MIB:.1f} MiB", allocated=f"{taken / MIB:.1f} MiB",
                   **({"taken, by the driver": f"{driver / MIB:.0f} MiB"} if driver is not None else {}))]


def torch_python():
    """The interpreter that has PyTorch, or that may have it."""
    return os.environ.get("ZERO_TORCH_PYTHON") or sys.executable


def run_torch(script, *flags):
    """What a script of this folder prints as JSON on its last line."""
    done = subprocess.run([torch_python(), Path(__file__).with_name(script), *flags], capture_output=True, text=True)
    if done.returncode == 3:
        raise Missing(done.stdout.strip())
    assert done.returncode == 0, done.stderr.strip()[-1000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def torch(context, model, precision, mode, steps):
    """The row of PyTorch: eager or compiled."""
    sizes = [f"--{name}={value}" for name, value in vars(model.sizes).items()]
    result = run_torch("torch_step.py", *sizes, f"--steps={steps}", f"--precision={precision}", f"--mode={mode}")
    return [row_of(context, model, precision, f"PyTorch {result['version']}, {mode}", result["seconds"],
                   allocated=f"{result['bytes'] / MIB:.1f} MiB")]


def measure_ceilings(context):
    """Rows of copies and products of PyTorch's, which is what this GPU does at most."""
    sizes = (IF_QUICK["gpt2-124m"] if context.quick else GPT2["gpt2-1.5b"])
    shapes = ["1024x1024x1024" if context.quick else "8192x8192x8192",
              *("x".join(map(str, shape)) for shape in sizes.products())]
    copied = 1 << (20 if context.quick else 30)
    return [{"table": "Ceilings", **row} for row in run_torch("torch_ceilings.py", str(copied), *shapes)]


def ceilings(context):
    return [("ceilings: copies and products of PyTorch", lambda: measure_ceilings(context), 60)]


def start_torch():
    """Where its files are not in memory yet, the first start takes long."""
    found = run_torch("torch_gpu.py")
    return f"PyTorch {found['version']}, CUDA {found['cuda']}, {found['device']}"


def cases(context):
    """Model, precision, number of steps, and the seconds that must be left, of what is timed."""
    if context.quick:
        return [(gpt2(context, "gpt2-124m"), "bf16", 3, 5), (llama(context), "bf16", 3, 5)]
    return [(gpt2(context, "gpt2-124m"), "bf16", 30, 15), (gpt2(context, "gpt2-1.5b"), "bf16", 15, 30),
            (llama(context), "bf16", 15, 20), (gpt2(context, "gpt2-124m"), "fp32", 15, 15)]


def our_steps(context):
    for model, precision, steps, least in cases(context):
        for variant in VARIANTS:
            yield (f"{model.name}: {precision}, a step, {variant}",
                   lambda case=(model, precision, steps, variant): ours(context, *case), 60, least)


def steps_of_torch(context):
    for mode in ("compiled", "eager"):
        for model, precision, steps, least in cases(context):
            yield (f"{model.name}: {precision}, a step of PyTorch, {mode}",
                   lambda case=(model, precision, mode, steps): torch(context, *case), 120, least)
