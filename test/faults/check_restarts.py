"""A run that fails goes on by itself from its newest checkpoint.

usage: check_restarts.py DATA WORK [TORCHRUN]

Without TORCHRUN, zero-run starts the processes.
"""

import json
import re
import shutil
import signal
import sys
import time

import numpy as np
from checkpoints import newest, read_tensors, same_tensors
from jobs import Job, wait_until
from zero_test import Checks, Graph, check_refused, run_tool

STEPS, AT = 10, 6  # steps of a run, and the one in which it stalls
SLACK = 0.3  # seconds that processes may wait for cores
MODEL = ["--zero-stage=3", "--optimizer=adamw", "--lr=1e-3"]


def losses(log):
    return {line["step"]: line["loss"] for line in map(json.loads, log.read_text().splitlines())}


class Case:
    def __init__(self, checks, data, work):
        self.checks = checks
        self.graph = Graph(data, "mlp", work)
        dice = np.random.default_rng(3)
        self.graph.set_input("x", dice.random((512, 784), np.float32))
        self.graph.set_input("labels", dice.integers(0, 10, 512))
        self.executable = self.graph.compile(3, 2, *MODEL[1:])
        self.collectives = self.count()
        self.folder, self.state = self.graph.work / "run", self.graph.work / "run" / "state"
        self.log = self.folder / "log.jsonl"
        self.expect()

    def expect(self, *flags):
        """What a run without faults gives is expected from now on."""
        expected = self.graph.work / "expected"
        shutil.rmtree(expected, ignore_errors=True)
        run_tool("zero-run", self.executable, self.graph.data_flag, f"--steps={STEPS}", "--quiet",
                 f"--log={expected}.jsonl", f"--save-state={expected}", *flags)
        self.expected = losses(expected.with_suffix(".jsonl"))
        self.expected_state = read_tensors(newest(expected))

    def count(self):
        text = run_tool("zeroc", self.graph.folder / "model.onnx", "--plan-only",
                        "--dump-after=schedule", "--ranks=2", *MODEL)
        return text.count("= zero.all_") + text.count("= zero.reduce_scatter")

    def start(self, *flags, model=(), launcher=(), stalls=True, steps=STEPS, output=None):
        """A run whose rank 1 does not reach step `AT`; an attempt that resumes there does."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "tmp").mkdir(parents=True)
        stall = [f"--stall=1:{AT * (self.collectives + 1) + 2}"] if stalls else []
        return Job(self.folder, launcher, "zero-run", *(model or [self.executable]),
                   self.graph.data_flag, f"--steps={steps}", "--timeout=100", *([] if output else ["--quiet"]),
                   f"--save-state={self.state}", f"--log={self.log}", *stall, *flags,
                   variables={"TMPDIR": str(self.folder / "tmp")}.items(), output=output)

    def wait(self, step=AT):
        wait_until((self.state / f"step-{step:08}").exists, 60, f"checkpoint of step {step}")
        time.sleep(0.2)

    def check_done(self, label, job, starts, same=True):
        """It has succeeded. `starts`: what each line on a new attempt must have."""
        seconds = job.finish(60)
        said = job.lines("warning")
        print(f"{label}: {seconds:.2f} s after the failure; {said}")
        self.checks.that(job.process.returncode == 0, f"{label}: exit code {job.process.returncode}: "
                         f"{job.errors_file.read_text()}")
        self.checks.that(len(said) == len(starts), f"{label}: {said}")
        for line, words in zip(said, starts):
            for word in words:
                self.checks.that(word in line, f"{label}: '{word}' is not in '{line}'")
        self.checks.that(not job.left(), f"{label}: {job.left()} is left")
        got = losses(self.log)
        if same:
            self.checks.that(got == self.expected, f"{label}: losses {got}, not {self.expected}")
            self.checks.that(same_tensors(read_tensors(newest(self.state)), self.expected_state),
                             f"{label}: another state")
            return
        self.checks.that(got.keys() == self.expected.keys(), f"{label}: steps {list(got)}")
        self.checks.that(all(abs(got[step] - self.expected[step]) < 1e-4 for step in got),
                         f"{label}: losses {got}, not about {self.expected}")


def check_killed(case, rank, *flags):
    """Losses and state are those of a run without faults, bit for bit."""
    label = f"rank {rank} killed"
    job = case.start("--processes=2", "--save-every=1", "--restarts=2", *flags)
    case.wait()
    job.disturb(rank)
    case.check_done(label, job, [[f"process {rank} was ended by signal 9 (Killed)",
                                  "starts again (1 of 2)", f"from '{case.state}/step-{AT:08}'"]])


def check_beginning(case):
    """Without a checkpoint, a run begins as the first attempt did: here with other weights."""
    weights = case.graph.work / "begin.safetensors"
    run_tool("zero-run", case.executable, case.graph.data_flag, "--steps=1", "--quiet",
             f"--save={weights}")
    case.expect(f"--weights={weights}")
    job = case.start("--processes=2", "--restarts=1", f"--weights={weights}", stalls=False)
    job.disturb(1)
    case.check_done("killed before a checkpoint", job,
                    [["process 1 was ended by signal 9", "(1 of 1), from the beginning"]])
    case.expect()


def check_no_more(case):
    """After the last attempt the run ends with the error."""
    job = case.start("--processes=2", "--save-every=1", "--restarts=1")
    case.wait()
    job.disturb(0)
    job.disturb(0, attempt=1)
    job.finish(60)
    case.checks.that(job.process.returncode == 128 + signal.SIGKILL,
                     f"two kills: exit code {job.process.returncode}")
    case.checks.that(len(job.lines("warning")) == 1, f"two kills: {job.lines('warning')}")
    case.checks.that(not job.left(), f"two kills: {job.left()} is left")


def check_stops(case):
    """A signal ends the run, and is no failure. The state is saved in about the announced time."""
    output = case.graph.work / "output"
    job = case.start("--processes=2", "--restarts=3", stalls=False, steps=1000000, output=output)
    announced = re.compile(r"^on SIGTERM the state is saved within about (\S+) s: a step of \S+ s, "
                           r"and \S+ \w+ at \S+ \w+/s$", re.MULTILINE)
    wait_until(lambda: announced.search(output.read_text()), 60, "announcement")
    time.sleep(0.2)
    job.disturb(1, signal.SIGTERM)  # of any process
    wait_until(lambda: list(case.state.glob("step-*")), 60, "state")
    seconds = time.monotonic() - job.disturbed
    bound = float(announced.search(output.read_text()).group(1))
    print(f"SIGTERM: the state was saved after {seconds:.3f} s, announced were {bound} s")
    case.checks.that(seconds < 2 * bound + SLACK, f"SIGTERM: {seconds} s, announced were {bound} s")
    job.finish(60)
    case.checks.that(job.process.returncode == 143, f"SIGTERM: {job.process.returncode}")
    case.checks.that(not job.lines("warning"), f"SIGTERM: {job.lines('warning')}")


def check_fewer(case):
    """A restart that comes nowhere goes on with half the ranks, and the same global batch."""
    model = [case.graph.folder / "model.onnx", *MODEL, "--ranks=2"]
    job = case.start("--processes=2", "--save-every=1", "--restarts=3", "--min-ranks=1",
                     model=model)
    case.wait()
    job.disturb(1)
    job.disturb(1, attempt=1)
    case.check_done("fewer ranks", job,
                    [["(1 of 3)", f"step-{AT:08}"],
                     ["with 1 instead of 2 ranks and 2 micro-batches", "(2 of 3)"]], same=False)


def check_no_divisor(case):
    """Two of three ranks cannot keep the global batch: it becomes smaller, and a warning says so."""
    model = [case.graph.folder / "model.onnx", *MODEL, "--ranks=3"]
    job = case.start("--processes=3", "--save-every=1", "--restarts=3", "--min-ranks=2", model=model,
                     stalls=False, steps=1_000_000)
    case.wait()
    job.disturb(2)
    job.disturb(2, attempt=1)
    wait_until(lambda: any("instead of 3 ranks" in line for line in job.lines("warning")), 60, "restart")
    before = newest(case.state).name
    wait_until(lambda: newest(case.state).name != before, 60, "checkpoint of two ranks")
    case.checks.that(any("so that the global batch is smaller by 33 %" in line for line in job.lines("warning")),
                     f"two of three ranks: {job.lines('warning')}")
    job.disturb(0, signal.SIGTERM, attempt=2)
    job.finish(60)
    case.checks.that(job.process.returncode == 143, f"two of three ranks: {job.process.returncode}")


def check_torchrun(case, torchrun):
    """torchrun starts the processes again; zero-run resumes."""
    job = case.start("--save-every=1", "--restarts=1", launcher=[
        torchrun, "--no-python", "--nproc-per-node=2", "--max-restarts=1", "--monitor-interval=0.1", "--"])
    case.wait()
    job.disturb(1)
    case.check_done("torchrun", job, [])


def check_errors(case):
    def refuse(label, *words, flags, model=case.executable):
        check_refused(case.checks, label, words, "zero-run", model, case.graph.data_flag, *flags)

    state = f"--save-state={case.state}"
    refuse("no state", "--restarts needs --save-state", flags=["--processes=2", "--restarts=1"])
    refuse("no launcher", "--restarts needs --processes=N or torchrun", flags=["--restarts=1", state])
    refuse("executable", "--min-ranks needs a model", "is compiled already",
           flags=["--processes=2", "--restarts=1", "--min-ranks=1", state])
    refuse("no restarts", "--min-ranks has no effect without --restarts", flags=["--min-ranks=1"])
    refuse("configuration", "expected --min-ranks or --config",
           flags=["--processes=2", "--restarts=1", "--min-ranks=1", state, "--config=x.json"],
           model=case.graph.folder / "model.onnx")
    refuse("gradients", "--dump-gradients", "--restarts",
           flags=["--processes=2", "--restarts=1", state, "--dump-gradients=g.safetensors"])


def main():
    data, work, *torchrun = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    case = Case(checks, data, work)
    if torchrun:
        check_torchrun(case, torchrun[0])
    else:
        check_killed(case, 1)
        check_killed(case, 0, "--local-state")
        check_beginning(case)
        check_no_more(case)
        check_stops(case)
        check_fewer(case)
        check_no_divisor(case)
        check_errors(case)
    checks.finish()


if __name__ == "__main__":
    main()
