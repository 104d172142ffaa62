"""zero-run on a model does the same as zeroc followed by zero-run. Two equal runs are bitwise
identical. The saved file has the model's weights.

usage: check_one_go.py DATA WORK
"""

import json
import os
import subprocess
import sys

import numpy as np
import onnx

from zero_test import Checks, Graph, read_safetensors, run_tool

FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


def check_one_go(checks, graph, stage, ranks):
    label = f"{graph.name} stage {stage} on {ranks}"
    first = graph.run(graph.compile(stage, ranks, *FLAGS), 5)
    again = graph.run(graph.work / f"s{stage}r{ranks}.zexe", 5)
    checks.that(again.same_bits(first), f"{label}: a second run has other bits")
    checks.that(all(np.array_equal(again.gradients[k], v) for k, v in first.gradients.items()),
                f"{label}: a second run has other gradients")
    before = (graph.work / f"s{stage}r{ranks}.zexe").read_bytes()
    graph.compile(stage, ranks, *FLAGS)
    checks.that((graph.work / f"s{stage}r{ranks}.zexe").read_bytes() == before,
                f"{label}: a second compilation gives another file")
    scratch = graph.work / "scratch"
    scratch.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(scratch)
    whole = graph.run(graph.folder / "model.onnx", 5, f"--zero-stage={stage}", f"--ranks={ranks}",
                      *FLAGS)
    del os.environ["TMPDIR"]
    checks.that(whole.same_bits(first), f"{label}: in one go: other bits")
    checks.that(not list(scratch.iterdir()), f"{label}: left {list(scratch.iterdir())}")


def check_saved(checks, graph, stage, ranks):
    """Weights before any step equal the file's initializers in name, shape and bits."""
    label = f"{graph.name} stage {stage} on {ranks}"
    model = onnx.load(graph.folder / "model.onnx")
    values = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    saved = graph.work / "start.safetensors"
    executable = graph.compile(stage, ranks, *FLAGS)
    run_tool("zero-run", executable, graph.data_flag, "--steps=0", "--quiet", f"--save={saved}")
    weights = read_safetensors(saved)
    checks.that(sorted(weights) == list(graph.truth["parameters"]),
                f"{label}: saved {sorted(weights)}")
    for name, value in weights.items():
        checks.that(value.shape == values[name].shape and value.tobytes() == values[name].tobytes(),
                    f"{label}: {name} is not what the model has")


def check_log(checks, graph):
    """--log writes one JSON object per line; --lr replaces the compiled rate."""
    log = graph.work / "log.jsonl"
    executable = graph.compile(1, 2, *FLAGS)
    usual = graph.run(executable, 4)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    checks.that([line["step"] for line in lines] == [0, 1, 2, 3], f"steps in the log: {lines}")
    checks.that(np.allclose(usual.losses, usual.report["losses"], 1e-7), "log and report differ")
    others = [flag for flag in FLAGS if not flag.startswith("--lr")]
    other = graph.run(graph.compile(1, 2, *others, "--lr=0.01"), 4)
    given = graph.run(graph.compile(1, 2, *FLAGS), 4, "--lr=0.01")
    checks.that(given.same_bits(other), "--lr of zero-run is not that of zeroc")
    checks.that(not np.array_equal(given.losses, usual.losses), "--lr changed nothing")
    still = graph.run(graph.compile(1, 2, "--optimizer=sgd"), 3, "--lr=0")
    checks.that(len(set(still.losses)) == 1, f"a rate of 0 trains: {still.losses}")


def check_archive(checks, graph):
    """One .npz for all inputs, and a member of one by name."""
    executable = graph.compile(0, 2, *FLAGS)
    archive, packed = graph.work / "all.npz", graph.work / "packed.npz"
    np.savez(archive, **graph.inputs)
    np.savez_compressed(packed, pixels=graph.inputs["x"])
    expected = graph.run(executable, 2)
    for data in (f"--data={archive}",
                 f"--data=x={packed}:pixels,labels={graph.work / 'labels.npy'}"):
        log = graph.work / "archive.jsonl"
        done = subprocess.run(["zero-run", executable, data, "--steps=2", "--quiet",
                               f"--log={log}"], capture_output=True, text=True, timeout=300)
        checks.that(done.returncode == 0, f"{data}: {done.stderr}")
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        checks.that(np.array_equal(losses, expected.losses), f"{data}: losses {losses}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp, gpt2 = Graph(data, "mlp", f"{work}/mlp"), Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_one_go(checks, mlp, 3, 4)
    check_one_go(checks, gpt2, 2, 2)
    for stage in range(4):
        check_saved(checks, mlp, stage, 3)
    check_saved(checks, gpt2, 3, 2)
    check_log(checks, mlp)
    check_archive(checks, mlp)
    checks.finish()


if __name__ == "__main__":
    main()
