"""zero-run --auto measures the machine once, plans for its memory, and trains to the same bits as the
plan says; what the user gives stays, and a cache that cannot be written is a warning.

usage: check_auto_run.py DATA WORK
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from zero_test import Checks, Graph, run_tool

STEPS = 2
MIB = 1 << 20
FEW_PLANS = "--zero-stage=1"  # for what does not depend on plans


def run(graph, cache, *flags, enter=None):
    """Exit code and output of a run that caches in `cache`; enter() is called in its process."""
    done = subprocess.run(
        ["zero-run", graph.folder / "model.onnx", graph.data_flag, f"--steps={STEPS}",
         "--optimizer=adamw", *flags], capture_output=True, text=True, preexec_fn=enter,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    return done.returncode, done.stdout + done.stderr


def check_runs(checks, graph, cache):
    weights = [graph.work / name for name in ("auto.safetensors", "given.safetensors")]
    code, text = run(graph, cache, "--auto", "--ranks=2", f"--save={weights[0]}")
    checks.that(code == 0 and "measuring its speed" in text, text)
    described = list((cache / "zero").glob("machine-*.json"))
    checks.that(len(described) == 1, f"{described}")
    before = described[0].read_bytes()
    code, text = run(graph, cache, "--auto", "--ranks=2", "--memory-budget=64MB")
    checks.that(code == 0 and f"cached in '{described[0]}'" in text, text)
    checks.that("memory-budget of each rank" not in text, f"a given budget is replaced: {text}")
    checks.that(described[0].read_bytes() == before, "the description was written again")
    stage = re.search(r"^plan: stage (\d)", text, re.MULTILINE)
    checks.that(stage is not None, text)
    code, text = run(graph, cache, "--ranks=2", "--zero-stage=1", f"--save={weights[1]}")
    checks.that(code == 0, text)
    checks.that(weights[0].read_bytes() == weights[1].read_bytes(), "other weights than stage 1's")


def check_tiers(checks, graph, cache):
    """A budget that state exceeds, with and without a disk."""
    budgets = ["--auto", "--memory-budget=1300KB", "--host-budget=900KB"]
    disk = graph.work / "disk"
    disk.mkdir(exist_ok=True)
    code, text = run(graph, cache, *budgets, f"--nvme-dir={disk}")
    checks.that(code == 0 and "nvme of each rank" in text, text)
    code, text = run(graph, cache, *budgets)
    checks.that(code != 0 and "no plan fits" in text and "nvme of each rank" not in text, text)


def check_memory_disk(checks, graph, cache):
    """Files in memory are no disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        code, text = run(graph, cache, "--auto", "--memory-budget=1300KB", "--host-budget=900KB",
                         f"--nvme-dir={folder}")
    checks.that(code != 0 and f"warning: files in '{folder}' are in memory" in text and
                "no plan fits" in text, text)


def check_limits(checks, data, graph, cache):
    """Budgets are parts of what ulimit leaves, and a run keeps within it."""
    for kind, bytes in ((resource.RLIMIT_AS, 1200 * MIB), (resource.RLIMIT_DATA, 400 * MIB)):
        code, text = run(graph, cache, "--auto", "--ranks=2", FEW_PLANS,
                         enter=lambda: resource.setrlimit(kind, (bytes, bytes)))
        budget = re.search(r"^ram-budget: ([\d.]+) ([MG])iB, 90 % of the available memory", text,
                           re.MULTILINE)
        checks.that(code == 0 and budget and
                    float(budget[1]) * MIB * (1024 if budget[2] == "G" else 1) < bytes, f"{bytes}: {text}")
    mini = Graph(data, "gpt2-mini", graph.work / "mini")
    done = subprocess.run(["zero-run", mini.compile(0, 2), mini.data_flag],
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (100 * MIB,) * 2),
                          capture_output=True, text=True)
    checks.that(done.returncode != 0 and re.search(r"cannot reserve .* bytes of memory: .*; the process may "
                                                   r"take 104857600 bytes, .* \(ulimit -d\)", done.stderr),
                done.stderr)


def check_cache(checks, graph, cache):
    """A broken description is measured again; a cache that is no folder is a warning."""
    described, = (cache / "zero").glob("machine-1*.json")
    described.write_text(described.read_text()[:100])
    code, text = run(graph, cache, "--auto", FEW_PLANS)
    checks.that(code == 0 and "measuring its speed" in text, text)
    code, text = run(graph, cache, "--auto", FEW_PLANS)
    checks.that(code == 0 and "measured before" in text, text)
    file = graph.work / "file"
    file.write_text("")
    code, text = run(graph, file, "--auto", "--no-cache", "--print-auto")
    checks.that(code != 0 and "warning" not in text, text)
    code, text = run(graph, file, "--auto", FEW_PLANS)
    checks.that(code == 0 and "warning: cannot cache the description" in text, text)


def check_printed(checks, graph, cache):
    """The flags, which zeroc takes; they need a description of the machine that stays."""
    code, text = run(graph, cache, "--auto", "--ranks=2", "--print-auto")
    flags = text.splitlines()
    checks.that(code == 0 and [flag.split("=")[0] for flag in flags] == [
        "--machine", "--ram-budget", "--nvme-budget", "--zero", "--offload"], text)
    report = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--ranks=2", *flags)
    checks.that("plan: stage" in report, report)
    code, text = run(graph, cache, "--auto", "--ranks=2", "--print-auto", "--no-cache")
    checks.that(code != 0 and "expected --machine or --cache-dir" in text, text)
    code, text = run(graph, cache, "--print-auto")
    checks.that(code != 0 and "--print-auto has no effect without --auto" in text, text)


def check_refusals(checks, graph, cache):
    code, text = run(graph, cache, "--auto", "--device=cuda")
    checks.that(code != 0 and "--auto measures CPU ranks" in text, text)
    executable = graph.compile(0, 1)
    done = subprocess.run(["zero-run", executable, graph.data_flag, "--auto"], capture_output=True,
                          text=True)
    checks.that(done.returncode != 0 and "--auto has no effect on an executable" in done.stderr,
                done.stderr)


def main():
    data, work = sys.argv[1:]
    checks, graph = Checks(), Graph(data, "gpt2-tiny", work)
    cache = Path(work) / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    check_runs(checks, graph, cache)
    check_tiers(checks, graph, cache)
    check_memory_disk(checks, graph, cache)
    check_limits(checks, data, graph, cache)
    check_cache(checks, graph, cache)
    check_printed(checks, graph, cache)
    check_refusals(checks, graph, cache)
    checks.finish()


if __name__ == "__main__":
    main()
