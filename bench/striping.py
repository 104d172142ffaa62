"""Steps of one program whose state is on one drive, on two and on four, beside those of the plan.

Drives are loop devices with a file system each, in files of --folder. A control group limits what
each of them reads and writes in a second (blkio.throttle of cgroups 1, io.max of cgroups 2), so
that any disk stands for several slow ones. Needs root. zero-sim simulates each number of drives on
a machine with this limit; all else of it is measured by `zero-run --calibrate`.
"""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import ROOT, milliseconds, parser, run, say, start, table, write_json

DATA = ROOT / "test/data/gpt2-mini"
TITLES = ["drives", "read", "written", "step", "simulated", "error", "one drive / this", "planned"]
GROUPS = Path("/sys/fs/cgroup")
WARM_UP = 1


def call(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True,
                          text=True).stdout.strip()


@contextlib.contextmanager
def drive(folder, mebibytes):
    """A file system on a loop device of its own: its folder, and the numbers of the device."""
    image, point = folder.with_suffix(".img"), folder
    point.mkdir()
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, mebibytes << 20)
    call("mkfs.ext4", "-q", image)
    device = call("losetup", "--find", "--show", "--direct-io=on", image)
    try:
        call("mount", device, point)
        try:
            number = os.stat(device).st_rdev
            yield point, f"{os.major(number)}:{os.minor(number)}"
        finally:
            call("umount", point)
    finally:
        call("losetup", "--detach", device)
        image.unlink()


class Limits:
    """A control group in which each of some devices reads and writes so many bytes a second."""

    def __init__(self, devices, rate):
        old = GROUPS / "blkio"
        self.folder = (old if old.is_dir() else GROUPS) / f"zero-bench-{os.getpid()}"
        self.limits = [(f"blkio.throttle.{way}_bps_device", f"{device} {rate}")
                       for device in devices for way in ("read", "write")] if old.is_dir() else [
                           ("io.max", f"{device} rbps={rate} wbps={rate}") for device in devices]

    def __enter__(self):
        self.folder.mkdir()
        for name, line in self.limits:
            (self.folder / name).write_text(line)
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))
        return self

    def __exit__(self, *_):
        (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        self.folder.rmdir()


class Side:
    """One number of drives."""

    def __init__(self, folders, work, options):
        self.options, self.count = options, len(folders)
        self.machine, self.report = (work / f"{name}-{self.count}.json"
                                     for name in ("machine", "report"))
        self.folders = ",".join(map(str, folders))
        self.executable = work / "step.zexe"
        self.seconds, self.simulated = [], 0

    def tool(self, name, *words):
        return run([self.options.build / "bin" / name, *words], self.options.timeout).output

    def simulate(self, machine):
        """Simulates a step on `machine` with these drives."""
        rate = self.options.rate
        disk = {"read_bandwidth": rate, "write_bandwidth": rate, "count": self.count}
        self.machine.write_text(json.dumps(machine | {"disk": disk}))
        self.simulated = json.loads(self.tool("zero-sim", self.executable, "--json",
                                              f"--machine={self.machine}"))["seconds"]

    def step(self):
        self.tool("zero-run", self.executable, f"--data={DATA / 'groundtruth.npz'}", "--quiet",
                  "--threads-per-rank=1", f"--nvme-dir={self.folders}",
                  f"--report-json={self.report}", f"--steps={WARM_UP + self.options.steps}")
        found = json.loads(self.report.read_text())
        self.seconds.append(statistics.median(found["seconds"][WARM_UP:]))
        say(f"{self.count} drives: {self.seconds[-1]:.3f} s, simulated {self.simulated:.3f} s")
        return found["per_rank"][0]

    @property
    def median(self):
        return statistics.median(self.seconds)

    def row(self, rank, one):
        return [self.count, *(f"{2 * rank[f'nvme_{way}'] / 1e6:.1f} MB"
                              for way in ("read", "written")),
                milliseconds(self.median), milliseconds(self.simulated),
                f"{self.simulated / self.median - 1:+.0%}", f"{one.median / self.median:.2f}",
                f"{one.simulated / self.simulated:.2f}"]


def measure(folders, work, options):
    sides = [Side(folders[:count], work, options) for count in (1, 2, 4)]
    sides[0].tool("zeroc", DATA / "model.onnx", "--zero-stage=3", "--ranks=2",
                  "--optimizer=adamw", "--offload-params=nvme", "--offload-optimizer=nvme",
                  "-o", sides[0].executable)
    measured = work / "measured.json"
    sides[0].tool("zero-run", f"--calibrate={measured}", "--ranks=2", "--threads-per-rank=1")
    for side in sides:
        side.simulate(json.loads(measured.read_text()))
    for _ in range(options.rounds):
        ranks = [side.step() for side in sides]
    write_json(options, {side.count: {"step": side.seconds, "simulated": side.simulated}
                         for side in sides})
    return [side.row(rank, sides[0]) for side, rank in zip(sides, ranks)]


def main():
    arguments = parser(__doc__, [], [], rounds=3, steps=4)
    arguments.add_argument("--folder", type=Path, help="where the images are (a new folder)")
    arguments.add_argument("--rate", type=int, default=100_000_000,
                           help="bytes a second that a drive reads, and that it writes")
    options = arguments.parse_args()
    with contextlib.ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-",
                                                                    dir=options.folder)))
        drives = [stack.enter_context(drive(work / f"drive{number}", 256)) for number in range(4)]
        stack.enter_context(Limits([device for _, device in drives], options.rate))
        rows = measure([folder for folder, _ in drives], work, options)
    print(f"\neach drive reads and writes {options.rate / 1e6:g} MB/s\n\n{table(TITLES, rows)}")


if __name__ == "__main__":
    start(main)
