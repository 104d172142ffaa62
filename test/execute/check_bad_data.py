"""Bad data, bad numbers and bad outputs end a run with one clear error and write nothing.

usage: check_bad_data.py DATA WORK
"""

import shutil
import subprocess
import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, has_avx512, run_tool

SGD = ["--optimizer=sgd", "--lr=0.05"]


class Case:
    """Runs an executable on the given data."""

    def __init__(self, checks, graph, ranks, stage=3):
        self.checks, self.graph, self.work = checks, graph, graph.work
        self.executable = graph.compile(stage, ranks, *SGD)

    def data(self, **changed):
        files = dict(self.graph.inputs, **changed)
        words = []
        for name, value in files.items():
            if value is not None:
                np.save(self.work / f"bad-{name}.npy", value)
                words.append(f"{name}={self.work / f'bad-{name}.npy'}")
        return "--data=" + ",".join(words)

    def refuses(self, label, words, *flags, data=None, executable=None, logs=None):
        """`logs`: the log lines of the steps before that one, which remain."""
        written = [self.work / name for name in ("bad.jsonl", "bad.safetensors", "bad.json")]
        usual = ["--quiet", "--steps=3", f"--log={written[0]}", f"--save={written[1]}",
                 f"--report-json={written[2]}"]
        given = {flag.split("=")[0] for flag in flags}
        check_refused(self.checks, label, words, "zero-run", executable or self.executable,
                      data or self.data(), *flags,
                      *(flag for flag in usual if flag.split("=")[0] not in given))
        if logs is not None:
            self.checks.that(written[0].exists() and len(written[0].read_text().splitlines()) == logs,
                             f"{label}: the log does not have {logs} lines")
            written[0].unlink(missing_ok=True)
        left = [p.name for p in self.work.iterdir() if p in written or ".tmp" in p.name]
        self.checks.that(not left, f"{label}: {left} were written")

    def runs(self, label, data, *flags):
        done = subprocess.run(["zero-run", str(self.executable), data, "--quiet", *flags],
                              capture_output=True, text=True, timeout=300)
        self.checks.that(done.returncode == 0, f"{label}: {done.stderr}")
        return done.stderr


def check_arrays(case):
    x, labels = case.graph.inputs["x"], case.graph.inputs["labels"]
    case.refuses("wrong dtype", ["'x'", "expected float32 [*, 784]", "got float64 [32, 784]"],
                 data=case.data(x=x.astype(np.float64)))
    case.refuses("float labels", ["'labels'", "int64", "float32"],
                 data=case.data(labels=labels.astype(np.float32)))
    case.refuses("wrong width", ["'x'", "[*, 784]", "[32, 783]"], data=case.data(x=x[:, 1:]))
    case.refuses("wrong rank", ["'x'", "[25088]"], data=case.data(x=x.reshape(-1)))
    case.refuses("no data for an input", ["no data for input 'labels'"],
                 data=case.data(labels=None))
    case.refuses("unknown input", ["no input 'y'", "'x' (float32 [*, 784]), 'labels' (int64 [*])"], data=case.data(y=x))
    case.refuses("empty data", ["'x'", "empty", "[0, 784]"], data=case.data(x=x[:0]))
    case.refuses("batches of different number", ["'x' and 'labels'", "different numbers"],
                 data=case.data(x=np.tile(x, (2, 1)), labels=np.tile(labels, 3)))
    case.refuses("missing file", ["missing.npy", "No such file"], data="--data=x=missing.npy")
    bad = case.work / "cut.npy"
    whole = case.work / "bad-x.npy"
    case.data()
    bad.write_bytes(whole.read_bytes()[:-1000])
    data = f"--data=x={bad},labels={case.work}/bad-labels.npy"
    case.refuses("truncated file", ["cut.npy"], data=data)
    bad.write_bytes(b"not an array")
    case.refuses("no array", ["cut.npy"], data=data)


def check_wrapping(case):
    """32 rows are reused from the beginning to fill a global batch of 64, and a message says so."""
    warning = case.runs("short data", case.data())
    case.checks.that("has 32 samples, a global batch 64: samples are repeated within a batch" in warning,
                     f"no warning of wrapping: '{warning}'")
    x, labels = case.graph.inputs["x"], case.graph.inputs["labels"]
    twice = case.data(x=np.tile(x, (2, 1)), labels=np.tile(labels, 2))
    case.checks.that(case.runs("whole data", twice) == "", "a warning without a reason")


def check_numbers(case):
    """NaN and infinity in rank 1's part of the first batch."""
    x, labels = (np.concatenate([v, v]) for v in case.graph.inputs.values())
    for value, text in ((np.nan, "NaN"), (np.inf, "")):
        bad = x.copy()
        bad[40, 100] = value
        data = case.data(x=bad, labels=labels)
        case.refuses(f"{value} in the data", ["step 0", "rank 1", "the loss is", text], data=data)
    log = case.work / "nan.jsonl"
    case.runs("--allow-nan", data, "--allow-nan", "--steps=3", f"--log={log}")
    lines = log.read_text().splitlines() if log.exists() else []
    case.checks.that(len(lines) == 3, f"--allow-nan: {len(lines)} steps")
    late = np.concatenate([x, x])
    late[64 + 40, 100] = np.nan  # rows 64 to 127 belong to step 1
    case.refuses("NaN in the second batch", ["step 1", "rank 1", "NaN"],
                 data=case.data(x=late, labels=np.concatenate([labels, labels])), logs=1)


def check_outputs(case):
    for flag in ("--save", "--log", "--dump-gradients", "--report-json"):
        case.refuses(f"unwritable {flag}", ["cannot write '/nonexistent/file'"],
                     f"{flag}=/nonexistent/file")
        case.refuses(f"a folder for {flag}", ["cannot write", str(case.work)],
                     f"{flag}={case.work}")
    case.refuses("over the data", ["bad-x.npy", "is an input of this run"],
                 f"--save={case.work}/bad-x.npy")
    model = case.work / "model.onnx"
    shutil.copyfile(case.graph.folder / "model.onnx", model)
    executable = case.work / "copy.zexe"
    run_tool("zeroc", model, "--ranks=2", "-o", executable)
    case.refuses("over the weights it starts from", ["model.onnx", "is an input of this run"],
                 f"--save={model}", executable=executable)
    case.refuses("over the executable", ["is an input of this run"], f"--save={case.executable}")


def check_executables(case):
    good = case.executable.read_bytes()
    bad = case.work / "bad.zexe"
    for label, content, words in (
            ("no executable", b"hello", ["bad.zexe"]),
            ("truncated", good[:-1], ["bad.zexe"]),
            ("cut in its tables", good[:5000], ["bad.zexe"]),
            ("empty", b"", ["bad.zexe"]),
            ("another version", good[:8] + b"\xff\xff" + good[10:], ["bad.zexe"])):
        bad.write_bytes(content)
        case.refuses(f"executable {label}", words, executable=bad)
    for at in range(100, len(good), len(good) // 12):
        bad.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        case.refuses(f"a flipped bit at {at}", ["checksum"], executable=bad)
    # Other processors need no workspace for products, for any number of threads.
    if has_avx512():
        case.refuses("threads that were not planned for",
                     ["of workspace on this machine", "compile it here with --threads-per-rank=2"],
                     "--threads-per-rank=2")
    case.refuses("missing executable", ["missing.zexe"], executable=case.work / "missing.zexe")


def check_ranges(checks, graph):
    """Errors for tokens and labels outside the vocabulary name the node that reads them."""
    case = Case(checks, graph, 2)
    for value in (512, -513, 2**40):
        tokens = graph.inputs["input_ids"].copy()
        tokens[3, 7] = value
        case.refuses(f"token {value}", ["step 0", "node 'node_embedding'", f"got {value}"],
                     data=case.data(input_ids=tokens))
    for value in (512, -1):
        labels = graph.inputs["labels"].copy()
        labels[2, 5] = value
        case.refuses(f"label {value}", ["step 0", "node 'node_", f"got {value}"],
                     data=case.data(labels=labels))


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    # Files of an interrupted run must not count as written by this one.
    shutil.rmtree(work, ignore_errors=True)
    mlp = Graph(data, "mlp", f"{work}/mlp")
    case = Case(checks, mlp, 2)
    for check in (check_arrays, check_wrapping, check_numbers, check_outputs, check_executables):
        check(case)
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_ranges(checks, gpt2)
    checks.finish()


if __name__ == "__main__":
    main()
