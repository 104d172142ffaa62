"""--delay-updates moves updates that wait for all gradients into the next step: the bits are those of
a run without it, also of what is evaluated, saved and resumed between steps.

usage: check_delayed_updates.py DATA WORK [cuda]
"""

import itertools
import json
import shutil
import subprocess
import sys

from zero_test import Checks, Graph, read_safetensors, read_trace, run_tool

OFFLOAD = ["--offload-optimizer=nvme", "--offload-gradients=host"]
#: Stage, ranks, and flags that say what waits for all gradients, and where state is.
CASES = [
    (0, 1, ["--clip-norm=0.5", *OFFLOAD]),
    (1, 2, ["--clip-norm=0.5", "--offload-optimizer=host"]),
    (2, 2, ["--clip-norm=0.5", "--micro-batches=2", *OFFLOAD]),
    (3, 2, ["--clip-norm=0.5", "--offload-params=nvme", *OFFLOAD]),
    (3, 3, ["--precision=fp16", "--micro-batches=2", "--offload-params=host", *OFFLOAD]),
    (3, 2, ["--precision=bf16", "--clip-norm=0.5", "--micro-batches=2",
            "--micro-batch-order=vertical", "--offload-params=host", *OFFLOAD]),
    (3, 2, ["--clip-norm=0.5", "--state-precision=8bit", "--checkpoint=layer", *OFFLOAD]),
    (1, 2, ["--clip-norm=0.5", "--ema=0.9", *OFFLOAD]),
]


def check_bits(checks, graph):
    for stage, ranks, flags in CASES:
        label = f"stage {stage}, {ranks} ranks, {' '.join(flags)}"
        flags = ["--optimizer=adamw", "--bucket-bytes=20KB", *flags]
        where = f"--nvme-dir={graph.work}"
        expected = graph.run(graph.compile(stage, ranks, *flags), 5, where)
        executable = graph.compile(stage, ranks, *flags, "--delay-updates")
        for check in ([], ["--check-memory"]):
            got = graph.run(executable, 5, where, *check)
            checks.that(got.same_bits(expected), f"{label}: other bits {check}")
        checks.that(all((got.gradients[k] == expected.gradients[k]).all()
                        for k in expected.gradients), f"{label}: other gradients")


def check_between_steps(checks, graph):
    """Evaluations and checkpoints between steps find the state of the steps before."""
    flags = ["--optimizer=adamw", "--bucket-bytes=20KB", "--clip-norm=0.5", "--offload-params=nvme",
             *OFFLOAD]
    where, evaluate = f"--nvme-dir={graph.work}", graph.data_flag.replace("--data", "--eval-data")
    plain = graph.compile(3, 2, *flags).rename(graph.work / "plain.zexe")
    delayed = graph.compile(3, 2, *flags, "--delay-updates")
    seen = {}
    for name, executable in (("plain", plain), ("delayed", delayed)):
        report, saved = graph.work / "report.json", graph.work / f"{name}.safetensors"
        run_tool("zero-run", executable, graph.data_flag, "--steps=6", where, evaluate, "--quiet",
                 "--eval-every=2", "--save-every=3", f"--save-state={graph.work / name}",
                 f"--report-json={report}", f"--save={saved}")
        ran = json.loads(report.read_text())
        seen[name] = ([each["eval_loss"] for each in ran["evaluations"]], ran["losses"],
                      {k: v.tobytes() for k, v in read_safetensors(saved).items()})
    checks.that(seen["plain"] == seen["delayed"], "evaluations, losses or weights differ")
    expected = graph.run(plain, 9, where)
    for saved, resumed in itertools.product(("plain", "delayed"), (plain, delayed)):
        weights, report = graph.work / "resumed.safetensors", graph.work / "resumed.json"
        run_tool("zero-run", resumed, graph.data_flag, "--steps=9", where, "--quiet",
                 f"--resume={graph.work / saved}", f"--save={weights}", f"--report-json={report}")
        got, losses = read_safetensors(weights), json.loads(report.read_text())["losses"]
        checks.that(losses == list(expected.losses[6:]) and
                    all(got[k].tobytes() == v.tobytes() for k, v in expected.weights.items()),
                    f"{saved} resumed by {resumed.name}: {losses}, {expected.losses}")


def check_processes(checks, graph):
    """Each process runs what is left when process 0 reads state."""
    flags = ["--optimizer=adamw", "--clip-norm=0.5", "--offload-optimizer=host"]
    expected = graph.run(graph.compile(2, 2, *flags), 4)
    executable, saved = graph.compile(2, 2, *flags, "--delay-updates"), graph.work / "own.safetensors"
    run_tool("zero-run", executable, graph.data_flag, "--steps=4", "--processes=2", "--quiet",
             f"--save={saved}")
    got = read_safetensors(saved)
    checks.that(all(got[k].tobytes() == v.tobytes() for k, v in expected.weights.items()),
                "processes: other bits")


def check_gpu(checks, graph):
    for stage, flags in ((1, []), (3, ["--offload-params=nvme"])):
        flags = ["--device=cuda", "--optimizer=adamw", "--clip-norm=0.5", *OFFLOAD, *flags]
        where = f"--nvme-dir={graph.work}"
        expected = graph.run(graph.compile(stage, 2, *flags), 4, where)
        got = graph.run(graph.compile(stage, 2, *flags, "--delay-updates"), 4, where)
        checks.that(got.same_bits(expected), f"GPU, stage {stage}: other bits")


def seconds_of(graph, *flags):
    executable = graph.compile(1, 1, "--optimizer=adamw", "--clip-norm=1", *OFFLOAD,
                               "--bucket-bytes=1MB", "--disk-read=1GB", "--disk-write=1GB", *flags)
    return json.loads(run_tool("zero-sim", executable, "--json"))["seconds"], executable


def check_time(checks, graph):
    """On a disk that takes about as long as the rest of a step, the disk is busy in forward."""
    plain, _ = seconds_of(graph)
    delayed, executable = seconds_of(graph, "--delay-updates")
    print(f"gpt2-mini: {plain:.3f} s simulated, delayed {delayed:.3f} s")
    checks.that(delayed < 0.95 * plain, f"{delayed} against {plain}")
    path = graph.work / "simulated.json"
    run_tool("zero-sim", executable, f"--trace={path}")
    rows = [(lane, e["ts"], e["ts"] + e["dur"]) for rank, lane, e in read_trace(path)]
    forward = min(end for lane, _, end in rows if lane == "compute")
    checks.that(min(begin for lane, begin, _ in rows if lane == "nvme read") <= forward,
                "no state is read beside forward")


def check_errors(checks, graph):
    """An optimizer whose updates cannot be delayed says so; they run as without the flag."""
    text = graph.compile_to(graph.work / "lamb.zexe", "--optimizer=lamb", "--clip-norm=1",
                            "--offload-optimizer=host", "--delay-updates")
    checks.that("run at the end of their step" in text, f"no remark: {text}")
    failed = subprocess.run(["zeroc", graph.folder / "model.onnx", "--plan-only", "--delay-updates"],
                            capture_output=True, text=True)
    checks.that(failed.returncode != 0 and "expected --offload-optimizer" in failed.stderr,
                f"accepted without offloading: {failed.stderr}")


def main():
    data, work, *device = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True) # a run does not overwrite later checkpoints
    checks = Checks()
    if device:
        check_gpu(checks, Graph(data, "mlp", work))
        return checks.finish()
    tiny = Graph(data, "gpt2-tiny", work)
    check_bits(checks, tiny)
    check_between_steps(checks, tiny)
    check_processes(checks, tiny)
    check_errors(checks, tiny)
    check_time(checks, Graph(data, "gpt2-mini", work))
    checks.finish()


if __name__ == "__main__":
    main()
