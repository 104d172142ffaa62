"""Errors of one process are errors of all, before the first step and within seconds.

usage: check_processes_errors.py DATA WORK LAUNCHER [PREFIX...]
"""

import shlex
import shutil
import sys
import time

import numpy as np

from processes import Launcher
from zero_test import Checks, Graph, run_tool

SOON = 10  # seconds; mpirun and torchrun take most of them to start and to end


class Errors:
    def __init__(self, data, work, launcher):
        self.checks, self.launcher = Checks(), launcher
        self.graph = Graph(data, "mlp", work)
        self.executable = self.compile("two", 2)

    def compile(self, name, ranks, *flags):
        path = self.graph.work / f"{name}.zexe"
        run_tool("zeroc", self.graph.folder / "model.onnx", f"--ranks={ranks}", "--zero-stage=2",
                 "-o", path, *flags)
        return path

    def refused(self, label, processes, text, *words, least=None, **variables):
        """A run that fails with `text`, which all processes print, or at least so many."""
        begin = time.monotonic()
        code, output, errors = self.launcher.run(processes, *words, timeout=SOON, **variables)
        seconds = time.monotonic() - begin
        print(f"{label}: {seconds:.1f} s")
        self.checks.that(code not in (0, None) and seconds < SOON, f"{label}: {code}: {errors}")
        printed = (output + errors).count(text)
        enough = range(least or processes, processes + 1)
        self.checks.that(printed in enough,
                         f"{label}: '{text}' is printed {printed} times:\n{output}{errors}")
        said = (output + errors).count("zero-run: error:")
        self.checks.that(said in enough, f"{label}: {said} errors:\n{output}{errors}")
        self.checks.that("step 0" not in output and "step 1/" not in output,
                         f"{label}: a step was run")

    def check_numbers(self):
        data = self.graph.data_flag
        self.refused("3 processes", 3, "do not divide among 3 processes", self.executable, data)
        # mpirun ends the others as soon as one has ended; these have not met.
        self.refused("ranks per process", 2, "2 processes of 2 ranks are 4 ranks, and the "
                     "executable has 2", self.executable, data, "--ranks-per-process=2",
                     least=1)

    def check_files(self):
        data = self.graph.data_flag
        self.refused("no data", 2, "input 'x': cannot open", self.executable, "--data=x=none.npy")
        # Only process 0 writes.
        self.refused("no folder", 2, "none/out.safetensors", self.executable, data,
                     f"--save={self.graph.work}/none/out.safetensors")
        self.refused("no checkpoint", 2, "no checkpoint in", self.executable, data,
                     f"--resume={self.graph.work}", "--steps=2")
        # Process 0 has printed the compiler's error, and no other.
        self.refused("no model", 2, "none.onnx:0:0: error: cannot open",
                     f"{self.graph.work}/none.onnx", data, least=1)

    def check_other_executable(self):
        """A link that each process finds elsewhere."""
        other = self.compile("other", 2, "--optimizer=adam")
        self.refused_with("another executable", "process 1 on host", [self.executable], [other],
                          self.graph.data_flag)

    def check_other_options(self):
        """Processes that would train otherwise than process 0."""
        changed = self.graph.work / "changed.npz"
        arrays = dict(np.load(self.graph.folder / "groundtruth.npz"))
        first = next(name for name, value in arrays.items() if name.startswith("input.") and value.dtype == np.float32)
        arrays[first] = arrays[first] * 2
        np.savez(changed, **arrays)
        for option, own, others in (("--lr", ["--lr=0.25", self.graph.data_flag], ["--lr=0.5", self.graph.data_flag]),
                                    ("--shuffle", [self.graph.data_flag], ["--shuffle=1", self.graph.data_flag]),
                                    ("--allow-nan", [self.graph.data_flag], ["--allow-nan", self.graph.data_flag]),
                                    ("--data", [self.graph.data_flag], [f"--data={changed}"])):
            self.refused_with(f"other {option}", f"zero-run: error: {option}", [self.executable, *own],
                              [self.executable, *others])

    def refused_with(self, label, words, own, others, *flags):
        """`own` are the words of process 0, `others` those of process 1."""
        script = self.graph.work / "zero-run-of-one"
        script.write_text("#!/bin/sh\n"
                          "case ${ZERO_PROCESS-}${OMPI_COMM_WORLD_RANK-}${PMI_RANK-}"
                          "${SLURM_PROCID-} in\n"
                          f'1) exec zero-run {shlex.join(map(str, others))} "$@" ;;\n'
                          f'*) exec zero-run {shlex.join(map(str, own))} "$@" ;;\nesac\n')
        script.chmod(0o755)
        self.launcher.program = script
        self.refused(label, 2, words, *flags)
        self.launcher.program = "zero-run"

    def check_contradiction(self):
        """torchrun's variables are left from another job."""
        self.refused("contradiction", 2, "contradict each other", self.executable,
                     self.graph.data_flag, RANK="0", WORLD_SIZE="3", MASTER_ADDR="localhost",
                     MASTER_PORT="29500", least=1)


def main():
    data, work, name, *prefix = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    errors = Errors(data, work, Launcher(name, prefix))
    errors.check_numbers()
    errors.check_files()
    if name != "processes":
        errors.check_other_executable()
        errors.check_other_options()
        errors.check_contradiction()
    errors.checks.finish()


if __name__ == "__main__":
    main()
