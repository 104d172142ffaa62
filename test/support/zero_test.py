"""Shared functions of execution tests: compile, run, and read results."""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np


class Failed(Exception):
    """A tool exited with an error."""


def run_tool(*arguments, timeout=1200):
    """Runs a tool; returns its output, or raises Failed with it."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, arguments))}\nexit {done.returncode}\n"
                     f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def has_avx512():
    """Whether the processor has the feature. On others oneDNN computes products differently."""
    return "avx512vl" in Path("/proc/cpuinfo").read_text()


def read_safetensors(path):
    """The tensors of a .safetensors file by name; those of bf16 as f32."""
    dtypes = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "BOOL": np.bool_,
              "I8": np.int8, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64,
              "I16": np.int16, "I32": np.int32, "I64": np.int64}
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            flat = (np.frombuffer(data[begin:end], np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            flat = np.frombuffer(data[begin:end], dtypes[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def read_trace(path):
    """Rank, name of the track and slice, for each slice of a trace in the order of the file."""
    events = json.loads(Path(path).read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    return [(e["pid"] - 1, names[e["tid"]], e) for e in events if e["ph"] == "X"]


class Graph:
    """A graph of test/data with its ground truth and its batch as .npy files."""

    runner = ("zero-run",)  # the command that runs executables

    def __init__(self, data, name, work):
        self.name = name
        self.folder = Path(data) / name
        self.work = Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.truth = dict(np.load(self.folder / "groundtruth.npz"))
        self.inputs = {k[len("input."):]: v for k, v in self.truth.items()
                       if k.startswith("input.")}
        self.write_inputs()

    def initializers(self):
        """The initial values of the model's parameters and constants, by name."""
        import onnx.numpy_helper  # only some tests need it
        return {tensor.name: onnx.numpy_helper.to_array(tensor)
                for tensor in onnx.load(self.folder / "model.onnx").graph.initializer}

    def write_inputs(self):
        for key, value in self.inputs.items():
            np.save(self.work / f"{key}.npy", value)

    def set_input(self, name, value):
        """Sets the graph's training data to `value`."""
        self.inputs[name] = value
        self.write_inputs()

    @property
    def data_flag(self):
        return "--data=" + ",".join(f"{k}={self.work / (k + '.npy')}" for k in self.inputs)

    def shape_flag(self, ranks=None):
        """Binds the batch. With `ranks`, each rank gets a part of it."""
        shapes = []
        for key, value in self.inputs.items():
            shape = list(value.shape)
            if ranks:
                shape[0] //= ranks
            shapes.append(f"{key}={'x'.join(map(str, shape))}")
        return "--shape=" + ",".join(shapes)

    def compile_to(self, path, *flags):
        """Compiles to the executable `path` and returns the report."""
        return run_tool("zeroc", self.folder / "model.onnx", "-o", path, *flags)

    def compile(self, stage, ranks, *flags):
        """Compiles to an executable and returns its path."""
        path = self.work / f"s{stage}r{ranks}.zexe"
        self.report = self.compile_to(path, f"--zero-stage={stage}", f"--ranks={ranks}", *flags)
        return path

    def run(self, executable, steps, *flags, has_gradients=True):
        """Runs `steps` steps; returns losses, final weights, step-0 gradients (if the program keeps
        them until the update), report."""
        log, weights = self.work / "log.jsonl", self.work / "weights.safetensors"
        gradients, report = self.work / "gradients.safetensors", self.work / "report.json"
        run_tool(*self.runner, executable, self.data_flag, f"--steps={steps}", "--quiet",
                 f"--log={log}", f"--save={weights}", f"--report-json={report}", *flags,
                 *([f"--dump-gradients={gradients}"] if has_gradients else []))
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return Result(np.array(losses), read_safetensors(weights),
                      read_safetensors(gradients) if has_gradients else {},
                      json.loads(report.read_text()))


def certificate(text):
    """Bytes of the arena, parameters and optimizer state of each tier, as zeroc prints them."""
    tiers, tier = {}, "device"
    for line in text.splitlines():
        if found := re.match(r"(host|nvme) of each rank, bytes:", line):
            tier = found[1]
        if found := re.match(r"  (parameters|optimizer state|arena) +(\d+)", line):
            tiers.setdefault(tier, {})[found[1]] = int(found[2])
    return tiers


class Plan:
    """The decisions of zeroc for a graph: its certificate, and the contents of each bucket."""

    def __init__(self, graph, stage, ranks, *flags):
        text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=place",
                        f"--zero-stage={stage}", f"--ranks={ranks}", *flags)
        sizes = re.search(r"zero\.buckets = array<i64: ([\d, ]+)>", text).group(1)
        self.buckets = [int(size) for size in sizes.split(",")]
        self.bucket_of = {name: int(bucket) for name, bucket in re.findall(
            r"zero\.parameter +@([\w.]+) .*home = @bucket(\d+)", text)}
        self.certificate = {key.strip(): int(value) for key, value in re.findall(
            r"^  (parameters|gradients|optimizer state|activations|working|arena) +(\d+)", text,
            re.MULTILINE)}
        self.arithmetic = re.search(r"before padding: ([\d.]+ \w+) per rank; "
                                    r"in the paper's 16 bits with Adam ([\d.]+ \w+)", text).groups()


class Result:
    def __init__(self, losses, weights, gradients, report):
        self.losses, self.weights, self.gradients, self.report = losses, weights, gradients, report

    def same_bits(self, other):
        """Whether losses and weights are bitwise identical to those of `other`."""
        return (np.array_equal(self.losses, other.losses) and
                self.weights.keys() == other.weights.keys() and
                all(self.weights[k].tobytes() == other.weights[k].tobytes() for k in self.weights))


class Checks:
    """Counts assertions and reports those that fail."""

    def __init__(self):
        self.held = 0
        self.failed = []

    def that(self, holds, message):
        if holds:
            self.held += 1
        else:
            self.failed.append(message)
            print("FAILED:", message)

    def finish(self):
        print(f"{self.held} checks hold, {len(self.failed)} fail")
        sys.exit(1 if self.failed else 0)


def check_received(checks, label, report, steps):
    """Each rank has received in `steps` steps what the report of the run says is planned: elements by
    the axes of the groups."""
    planned = report["planned_elements_along"]
    for rank in report["per_rank"]:
        counted = rank["received_elements_along"]
        checks.that(counted == {axes: steps * count for axes, count in planned.items()},
                    f"{label}: a rank received {counted} in {steps} steps, planned {planned}")


def check_refused(checks, label, words, *command, timeout=300, notes=False):
    """The command exits with code 1 and one error line that contains all of `words`. With `notes`,
    these may be in the lines of notes that follow."""
    assert not isinstance(words, str), f"{label}: expected a list of words, got '{words}'"
    done = subprocess.run([str(a) for a in command], capture_output=True, text=True,
                          timeout=timeout)
    lines = [line for line in done.stderr.splitlines() if "warning:" not in line]
    checks.that(done.returncode == 1, f"{label}: exit code {done.returncode}: {done.stderr}")
    rest = [line for line in lines[1:] if not (notes and "note:" in line)]
    checks.that(lines and not rest and "error:" in lines[0],
                f"{label}: {len(lines)} lines: {lines}")
    for word in words:
        checks.that(any(word in line for line in lines), f"{label}: '{word}' is not in {lines}")


def to_bf16(values):
    """Rounds to nearest even; the result is f32."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(np.float32)


def relative(actual, expected):
    """Norm of the difference divided by the norm of the expected values, in fp64."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    return np.linalg.norm(actual - expected) / max(np.linalg.norm(expected), 1e-30)
