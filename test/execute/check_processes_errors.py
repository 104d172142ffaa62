"""Errors of one process are errors of all, before the first step and within seconds.

usage: check_processes_errors.py DATA WORK LAUNCHER [PREFIX...]
"""

import shutil
import sys
import time

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
        script = self.graph.work / "zero-run-of-one"
        script.write_text("#!/bin/sh\n"
                          "case ${ZERO_PROCESS-}${OMPI_COMM_WORLD_RANK-}${PMI_RANK-}"
                          "${SLURM_PROCID-} in\n"
                          f'1) exec zero-run {other} "$@" ;;\n*) exec zero-run {self.executable} "$@" ;;\nesac\n')
        script.chmod(0o755)
        self.launcher.program = script
        self.refused("another executable", 2, "process 1 on host", self.graph.data_flag)
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
        errors.check_contradiction()
    errors.checks.finish()


if __name__ == "__main__":
    main()
