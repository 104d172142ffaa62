"""A resumed run is bitwise identical to one that was not interrupted. A checkpoint loads at another
stage and on another number of ranks.

usage: check_checkpoint.py DATA WORK
"""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from checkpoints import generations, newest, read_manifest, read_tensors, same_tensors
from zero_test import Checks, Graph, read_safetensors, relative, run_tool

STEPS = 8

# Graph, stage, ranks, flags of zeroc, flags of zero-run. The data covers three steps and a part.
CASES = [
    ("gpt2-tiny", 3, 2, ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.1"], ["--shuffle=5"]),
    ("mlp-dropout", 2, 2, ["--optimizer=adam", "--lr=1e-3", "--seed=9"], ["--shuffle=1"]),
    ("mlp", 1, 3, ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"], []),
    ("resnet-tiny", 2, 2, ["--optimizer=sgd", "--lr=0.01", "--momentum=0.9"], []),
    # Covers a loss scale that adapts during the run, a schedule that counts, and micro-batches.
    ("llama-tiny", 3, 2, ["--optimizer=adamw", "--lr=1e-3", "--precision=fp16", "--clip-norm=0.5",
                          "--initial-loss-scale=3e6", "--loss-scale-window=2", "--micro-batches=2",
                          "--lr-schedule=cosine", "--warmup-steps=2", "--total-steps=9"], []),
]


class Job:
    """A graph with random data, and its runs."""

    def __init__(self, data, name, work):
        shutil.rmtree(work, ignore_errors=True)
        source = "mlp" if name == "mlp-dropout" else name  # both have the same inputs
        self.graph = Graph(data, source, work)
        self.graph.folder = Path(data) / name
        self.work = Path(work)
        self.rows = len(next(iter(self.graph.inputs.values())))  # rows of one rank

    def make_rows(self, rows):
        random = np.random.default_rng(3)
        for key, value in list(self.graph.inputs.items()):
            self.graph.set_input(key, random.choice(value.reshape(-1), (rows, *value.shape[1:])))

    def run(self, executable, steps, *flags, log="log.jsonl"):
        """Returns the printed text, the log and the weights."""
        log, weights = self.work / log, self.work / "weights.safetensors"
        text = run_tool("zero-run", executable, self.graph.data_flag, f"--steps={steps}",
                        f"--log={log}", f"--save={weights}", *flags)
        return text, log.read_text(), read_safetensors(weights)


def losses_of(log):
    return {line["step"]: line["loss"] for line in map(json.loads, log.splitlines())
            if "loss" in line}


def check_resumed(checks, data, work, case):
    name, stage, ranks, compiler_flags, flags = case
    job = Job(data, name, f"{work}/{name}")
    micro_batches = 2 if "--micro-batches=2" in compiler_flags else 1
    job.make_rows(3 * job.rows * ranks * micro_batches + 1)
    executable = job.graph.compile(stage, ranks, *compiler_flags)
    folder = job.work / "state"
    _, whole_log, whole = job.run(executable, STEPS, *flags, log="whole.jsonl")
    for steps in (2, 3, STEPS):  # in the middle of an epoch, and at its end
        resume = [f"--resume={folder}"] if steps > 2 else []
        text, log, weights = job.run(executable, steps, *flags, *resume, f"--save-state={folder}")
    checks.that(f"resumes at step 3 from '{folder}/step-00000003'" in text, f"{name}: {text}")
    checks.that("trained 5 steps" in text, f"{name}: other than 5 steps: {text}")
    checks.that(log == whole_log, f"{name}: another log: {log} {whole_log}")
    checks.that(same_tensors(weights, whole), f"{name}: other weights")
    checks.that(len(set(losses_of(whole_log).values())) == STEPS, f"{name}: losses repeat")
    found = [path.name for path in generations(folder)]
    checks.that(found == ["step-00000003", "step-00000008"], f"{name}: {found}")
    saved = read_tensors(newest(folder))
    checks.that(all(saved[key].tobytes() == value.tobytes() for key, value in whole.items()),
                f"{name}: other weights in the checkpoint")
    # A second resume has no steps to do, but writes the files.
    text, log, weights = job.run(executable, STEPS, *flags, f"--resume={folder}")
    checks.that("nothing to train: the checkpoint has 8 steps" in text, f"{name}: {text}")
    checks.that(log == whole_log and same_tensors(weights, whole), f"{name}: other files")


def check_periodic(checks, data, work):
    """--save-every keeps the last two; evaluation and --epochs count from the beginning."""
    job = Job(data, "mlp", f"{work}/periodic")
    job.make_rows(32 * 5 + 7)
    executable = job.graph.compile(0, 1, "--optimizer=adamw", "--lr=1e-3")
    folder, log = job.work / "state", job.work / "log.jsonl"
    flags = [job.graph.data_flag, f"--eval-data={job.graph.data_flag.removeprefix('--data=')}",
             "--eval-every=3", "--eval-steps=2", f"--log={log}", f"--save-state={folder}",
             "--save-every=4"]
    run_tool("zero-run", executable, *flags, "--epochs=2")
    whole = log.read_text()
    found = [path.name for path in generations(folder)]
    checks.that(found == ["step-00000008", "step-00000010"], f"every 4 of 10: {found}")
    checks.that(len(losses_of(whole)) == 10 and whole.count("eval_loss") == 4, f"2 epochs: {whole}")
    report = job.work / "report.json"
    shutil.rmtree(folder / "step-00000010")
    text = run_tool("zero-run", executable, *flags, "--epochs=2", f"--resume={folder}",
                    f"--report-json={report}")
    checks.that("trained 2 steps" in text, f"the rest of 2 epochs: {text}")
    checks.that(log.read_text() == whole, f"{log.read_text()} in place of {whole}")
    values = json.loads(report.read_text())
    checks.that((values["first_step"], values["steps"]) == (8, 2), f"report: {values}")


def check_interrupted(checks, data, work):
    """A signal also saves the state."""
    job = Job(data, "mlp", f"{work}/interrupted")
    job.make_rows(2 * 32 * 5)
    executable = job.graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-4")
    folder, log = job.work / "state", job.work / "log.jsonl"
    process = subprocess.Popen(
        [str(word) for word in ("zero-run", executable, job.graph.data_flag, "--steps=1000000",
                                f"--log={log}", f"--save-state={folder}")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not process.stdout.readline().startswith("step "):
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    steps = len(losses_of(log.read_text()))
    checks.that(process.returncode == 130 and f"after {steps} of" in errors, f"signal: {errors}")
    checks.that(newest(folder).name == f"step-{steps:08}", f"signal: {newest(folder)}, not {steps}")
    _, resumed_log, resumed = job.run(executable, steps + 3, f"--resume={folder}")
    _, whole_log, whole = job.run(executable, steps + 3, log="whole.jsonl")
    checks.that(resumed_log == whole_log, "signal: other losses")
    checks.that(same_tensors(resumed, whole), "signal: other weights")


def shapes(job, rows):
    return "--shape=" + ",".join(f"{key}={'x'.join(map(str, (rows, *value.shape[1:])))}"
                                 for key, value in job.graph.inputs.items())


def check_other_ranks(checks, data, work):
    """Saved at stage 3 on 4 ranks and loaded elsewhere: the values are equal and training
    continues."""
    job = Job(data, "gpt2-tiny-dyn", f"{work}/ranks")
    job.make_rows(50)
    flags = ["--optimizer=adamw", "--lr=1e-3"]
    executable = job.graph.compile(3, 4, shapes(job, 3), *flags)
    folder = job.work / "state"
    _, log, end = job.run(executable, 6, "--shuffle=2", log="whole.jsonl")
    expected = losses_of(log)
    _, _, middle = job.run(executable, 3, "--shuffle=2", f"--save-state={folder}")
    saved = read_tensors(newest(folder))
    checks.that(len(saved) == 2 + 3 * len(middle), f"{len(saved)} tensors, {len(middle)} weights")
    for stage, ranks, rows, bucket in ((1, 3, 4, 25000000), (0, 1, 12, 4096), (2, 6, 2, 100000),
                                       (3, 2, 6, 9999)):
        label = f"stage {stage} on {ranks}"
        other = job.work / f"state-{stage}-{ranks}"
        executable = job.graph.compile(stage, ranks, shapes(job, rows), f"--bucket-bytes={bucket}",
                                       *flags)
        text, _, weights = job.run(executable, 3, "--shuffle=2", f"--resume={folder}",
                                   f"--save-state={other}", log="none.jsonl")
        warnings = [line for line in text.splitlines() if "warning" in line]
        checks.that(all("threads share cores" in line for line in warnings), f"{label}: {text}")
        checks.that(same_tensors(weights, middle), f"{label}: other weights")
        checks.that(same_tensors(read_tensors(newest(other)), saved), f"{label}: other state")
        manifest = read_manifest(newest(other))
        checks.that((manifest["ranks"], manifest["stage"]) == (ranks, stage),
                    f"{label}: {manifest}")
        _, log, weights = job.run(executable, 6, "--shuffle=2", f"--resume={folder}",
                                  log="goes-on.jsonl")
        losses = losses_of(log)
        checks.that(sorted(losses) == [3, 4, 5], f"{label}: {log}")
        error = max(abs(losses[step] - expected[step]) for step in losses)
        checks.that(error < 1e-5, f"{label}: losses differ by {error}")
        error = max(relative(weights[name] - middle[name], end[name] - middle[name])
                    for name in end)
        checks.that(error < 2e-2, f"{label}: weights moved otherwise by {error}")
    executable = job.graph.compile(2, 2, shapes(job, 4), *flags)
    text, log, _ = job.run(executable, 4, "--shuffle=2", f"--resume={folder}", log="batch.jsonl")
    checks.that("a global batch was 12 samples and is 8; the data continues at sample 40 of epoch 0, "
                "from sample 36 of epoch 0" in text, f"another batch: {text}")
    checks.that(sorted(losses_of(log)) == [3], f"another batch: {log}")


def check_precisions(checks, data, work):
    """Saved in bf16, loaded in fp32, and back: masters become parameters, nothing is rounded."""
    job = Job(data, "gpt2-tiny", f"{work}/precision")
    job.make_rows(60)
    flags = ["--optimizer=adamw", "--lr=1e-3"]
    narrow = job.graph.compile(3, 4, "--precision=bf16", *flags)
    folders = [job.work / f"state{i}" for i in range(3)]
    _, _, middle = job.run(narrow, 3, f"--save-state={folders[0]}")
    saved = read_tensors(newest(folders[0]))
    shutil.copy(narrow, job.work / "narrow.zexe")
    wide = job.graph.compile(1, 4, *flags)
    text, _, weights = job.run(wide, 3, f"--resume={folders[0]}", f"--save-state={folders[1]}")
    checks.that("saved in bfloat16, resumed in float32" in text, f"precision: {text}")
    checks.that(same_tensors(weights, middle), "bf16 to fp32: other weights")
    checks.that(same_tensors(read_tensors(newest(folders[1])), saved), "bf16 to fp32: other state")
    text, _, weights = job.run(job.work / "narrow.zexe", 3, f"--resume={folders[1]}",
                               f"--save-state={folders[2]}")
    checks.that("saved in float32, resumed in bfloat16" in text, f"precision: {text}")
    checks.that(same_tensors(weights, middle), "fp32 to bf16: other weights")
    checks.that(same_tensors(read_tensors(newest(folders[2])), saved), "fp32 to bf16: other state")
    # It continues like the run that was never saved.
    runs = [job.run(job.work / "narrow.zexe", 5, *resume)[2] for resume in
            ([], [f"--resume={folders[2]}"])]
    checks.that(same_tensors(*runs), "through fp32 and back: other weights in the end")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for case in CASES:
        check_resumed(checks, data, work, case)
    check_periodic(checks, data, work)
    check_interrupted(checks, data, work)
    check_other_ranks(checks, data, work)
    check_precisions(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
