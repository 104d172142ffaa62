"""Ranks in several processes compute and write what threads of one process do, bit for bit.

usage: check_processes.py DATA WORK main|stages|tiers|resumed LAUNCHER [PREFIX...]

Each run writes every kind of file that there is. Only `main` depends on the launcher.
"""

import json
import re
import shutil
import sys
import time

from processes import Launcher, shared_memory
from zero_test import Checks, Graph, read_trace, run_tool

STEPS = "--steps=4"
FILES = ("log.jsonl", "out.safetensors", "out.onnx", "outputs.safetensors", "gradients.safetensors")
# What depends on time, or on how ranks decide together.
VARYING = {"seconds", "profile", "written_per_day", "control_elements", "control_bytes", "stalled", "lanes",
           "mpi_bytes_per_process", "process_memory"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items()
                if key not in VARYING and not key.endswith("seconds")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


class Results:
    """A folder with the files of a run."""

    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.state = folder, folder / "state"
        self.disk = folder / "disk"
        self.disk.mkdir()

    def flags(self, gradients=True):
        flags = ["--save=out.safetensors", "--save=out.onnx", "--log=log.jsonl",
                 "--save-outputs=outputs.safetensors", "--report-json=report.json",
                 "--trace=trace.json", "--save-state=state"]
        if gradients:
            flags.append("--dump-gradients=gradients.safetensors")
        return [f"{name}={self.folder / file}" for name, file in
                (flag.split("=") for flag in flags)] + [f"--nvme-dir={self.disk}"]

    def report(self):
        return json.loads((self.folder / "report.json").read_text())

    def check_same(self, checks, label, other):
        for name in FILES:
            if name.startswith("gradients") and not (other.folder / name).exists():
                continue
            checks.that((self.folder / name).read_bytes() == (other.folder / name).read_bytes(),
                        f"{label}: another {name}")
        checks.that(checkpoint(self.state) == checkpoint(other.state),
                    f"{label}: another checkpoint")
        mine, others = without_times(self.report()), without_times(other.report())
        different = {key: (mine.get(key), others[key]) for key in others
                     if mine.get(key) != others[key]}
        checks.that(mine == others, f"{label}: another report: {different}")
        mine, others = (commands(each.folder / "trace.json") for each in (self, other))
        checks.that(mine == others, f"{label}: other commands in the trace")
        self.check_nothing_left(checks, label)

    def check_nothing_left(self, checks, label):
        left = [path.name for path in self.folder.rglob("*")
                if ".tmp-" in path.name or path.name == ".lock" or path.parent == self.disk]
        checks.that(not left, f"{label}: {left} is left")


def checkpoint(folder):
    """The content of each file of a folder of checkpoints."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


def commands(path):
    """How often a trace has each command, by rank and track."""
    counts = {}
    for rank, track, event in read_trace(path):
        key = rank, track, event["name"]
        counts[key] = counts.get(key, 0) + 1
    return counts


class Suite:
    def __init__(self, data, work, launcher):
        self.checks, self.launcher = Checks(), launcher
        self.graph = Graph(data, "gpt2-tiny", work)
        self.work = self.graph.work

    def executable(self, name, ranks, *flags):
        path = self.work / f"{name}.zexe"
        run_tool("zeroc", self.graph.folder / "model.onnx", f"--ranks={ranks}", "-o", path, *flags)
        return path

    def start(self, label, processes, executable, *flags, steps=STEPS, gradients=True,
              many=()):
        """A run that ends without an error."""
        results = Results(self.work / label.replace(" ", "-") / str(processes))
        words = (executable, self.graph.data_flag, steps, *results.flags(gradients), *flags)
        if processes == 1:
            run_tool("zero-run", *words)
            return results
        code, output, errors = self.launcher.run(processes, *words, *many)
        self.checks.that(code == 0, f"{label}: exit code {code}: {errors}")
        self.check_printed(label, processes, output)
        mpi = results.report().get("mpi_bytes_per_process", [])
        uses = processes if self.launcher.name in ("openmpi", "mpich") else 0
        self.checks.that(len(mpi) == uses and all(bytes > 2**20 for bytes in mpi),
                         f"{label}: MPI takes {mpi}")
        return results

    def check_printed(self, label, processes, output):
        """One process prints, and first says what was detected."""
        lines = output.splitlines()
        self.checks.that(lines and re.fullmatch(self.launcher.detected(processes), lines[0]),
                         f"{label}: begins with {lines[:1]}")
        first = re.search("step ([03]:|[14]/)", output)  # a terminal gets a bar
        for text in ("started by", "ZeRO stage", first and first[0], "trained "):
            self.checks.that(text and output.count(text) == 1,
                             f"{label}: '{text}' is not printed once:\n{output}")

    def compare(self, label, processes, ranks, *flags, run=(), many=(), **options):
        """Compiles, and compares a run of threads with one of processes. Returns that."""
        executable = self.executable(label.replace(" ", "-"), ranks, *flags)
        expected = self.start(label, 1, executable, *run, **options)
        got = self.start(label, processes, executable, *run, many=many, **options)
        got.check_same(self.checks, label, expected)
        return got

    #===--- What each launcher does ---===#

    def check_compiled(self):
        """A model is compiled once, for as many ranks as there are processes."""
        model = self.graph.folder / "model.onnx"
        place = {}
        if self.launcher.name == "processes":  # Open MPI has files there, too
            place["TMPDIR"] = str(self.work / "two\nlines")
            (self.work / "two\nlines").mkdir(exist_ok=True)
        code, output, errors = self.launcher.run(2, model, self.graph.data_flag, "--zero-stage=1",
                                                 **place)
        self.checks.that(code == 0 and output.count("compiled in") == 1,
                         f"compiled: {code} {output} {errors}")
        self.checks.that("on 2 ranks" in output, f"compiled: {output}")

    def check_main(self):
        batch = [f"--eval-data={self.graph.data_flag[7:]}", "--eval-every=2"]
        self.compare("stage 3 of 4 ranks", 2, 4, "--zero-stage=3", run=batch,
                     many=["--ranks-per-process=2"])
        self.check_compiled()

    #===--- What does not depend on the launcher ---===#

    def check_stages(self):
        for stage in range(4):
            self.compare(f"stage {stage}", 2, 2, f"--zero-stage={stage}")
        self.compare("within nodes", 2, 4, "--zero-stage=3", "--ranks-per-node=2", "--shard-params=node")
        got = self.compare("one rank each", 4, 4, "--zero-stage=2", "--precision=bf16")
        self.checks.that(len(got.report()["per_rank"]) == 4, "one rank each: ranks are missing")

    def check_start(self):
        """16 processes start and train a step within 5 s."""
        executable = self.executable("sixteen", 16, "--zero-stage=2")
        begin = time.monotonic()
        code, _, errors = self.launcher.run(16, executable, self.graph.data_flag, "--steps=1")
        seconds = time.monotonic() - begin
        print(f"16 processes trained a step after {seconds:.2f} s")
        self.checks.that(code == 0 and seconds < 5, f"16 processes: {code}, {seconds} s: {errors}")

    def check_tiers(self):
        self.compare("host", 2, 2, "--zero-stage=3", "--offload-params=host",
                     "--offload-optimizer=host", gradients=False)
        got = self.compare("nvme", 2, 4, "--zero-stage=3", "--offload-params=nvme",
                           "--offload-optimizer=nvme", gradients=False)
        self.checks.that(all(rank["nvme_written"] > 0 for rank in got.report()["per_rank"]),
                         "nvme: a rank writes nothing")

    def check_memory(self):
        executable = self.executable("checked", 2, "--zero-stage=3")
        words = executable, self.graph.data_flag, "--steps=2", "--check-memory"
        reports = []
        for run, name in ((lambda *words: run_tool("zero-run", *words), "threads.json"),
                          (lambda *words: self.launcher.run(2, *words), "processes.json")):
            output = run(*words, f"--report-json={self.work / name}")
            printed = output if isinstance(output, str) else output[1]
            self.checks.that(re.search(r"^memory of rank 0: ([\d.]+ [KM]iB) used, \1 planned$", printed,
                                       re.MULTILINE), f"check-memory prints {printed}")
            reports.append(without_times(json.loads((self.work / name).read_text())))
        self.checks.that(reports[0] == reports[1], f"check-memory: {reports}")
        self.checks.that(all(rank["measured_peak"] > 0 for rank in reports[1]["per_rank"]),
                         f"check-memory: {reports[1]['per_rank']}")

    def check_resumed(self):
        """Any number of processes goes on from the checkpoint of any other."""
        executables = {ranks: self.executable(f"resumed{ranks}", ranks, "--zero-stage=3")
                       for ranks in (2, 4)}
        for ranks, processes, before in ((4, 2, 1), (4, 1, 2), (4, 4, 2), (2, 2, 4)):
            label = f"resumed by {processes} from {before}"
            ending = executables[ranks]
            begin = self.start(f"{label} begin", before, executables[max(before, 2)],
                               steps="--steps=3")
            goes_on = [f"--resume={begin.state}"]
            expected = self.start(f"{label} expected", 1, ending, *goes_on, steps="--steps=6",
                                  gradients=False)
            got = self.start(label, processes, ending, *goes_on, steps="--steps=6",
                             gradients=False)
            got.check_same(self.checks, label, expected)
            self.checks.that(got.report()["first_step"] == 3, f"{label}: {got.report()}")

    def check_weights(self):
        """Weights of another run, and a profile of all ranks."""
        before = self.start("weights before", 1, self.executable("weights", 2, "--zero-stage=1"))
        flags = [f"--weights={before.folder / 'out.safetensors'}", "--profile"]
        got = self.compare("weights", 2, 2, "--zero-stage=2", run=flags)
        self.checks.that(got.report()["profile"], "no profile")


def main():
    data, work, which, name, *prefix = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    before = shared_memory()
    suite = Suite(data, work, Launcher(name, prefix))
    parts = {"main": [suite.check_main], "stages": [suite.check_stages, suite.check_start],
             "tiers": [suite.check_tiers, suite.check_memory, suite.check_weights],
             "resumed": [suite.check_resumed]}
    for check in parts[which]:
        check()
    left = shared_memory() - before
    suite.checks.that(not {name for name in left if "zero" in name}, f"/dev/shm: {left}")
    suite.checks.finish()


if __name__ == "__main__":
    main()
