"""Weights & Biases and MLflow keep each step of a training once, also of one that was interrupted and
continues. After a kill MLflow has each step once, and Weights & Biases those since the checkpoint.

usage: check_callbacks.py DATA WORK

Needs the packages wandb and mlflow.
"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import zero
from zero_test import Checks, Graph

STEPS, EVERY, LAST = 8, 3, 4


def samples():
    dice = np.random.default_rng(3)
    return {"x": dice.random((128, 784), np.float32), "labels": dice.integers(0, 10, 128)}


def callbacks_of(work):
    """Each costs a line."""
    return [zero.callbacks.WandB(project="zero", mode="offline", dir=str(work)),
            zero.callbacks.MLflow(f"sqlite:///{work}/mlflow.db", experiment="zero")]


def train(executable, work, ends=None):
    """ends: after step LAST, by a signal."""
    def end(session, result):
        if ends and result.step == LAST:
            os.kill(os.getpid(), ends)

    with zero.Session(executable) as session:
        session.train(samples(), steps=STEPS, eval_data=samples(), eval_every=2, save_every=EVERY,
                      checkpoint=work / "state", log=work / "log.jsonl", progress=False,
                      callbacks=[*callbacks_of(work), end])


def records_of(path):
    """The records of a file of an offline run: a head of 7 bytes, then blocks of 32 KiB as in the logs
    of LevelDB. A record is in parts, each with a checksum of 4 bytes, its length and its kind: whole,
    first, middle or last. One that a kill has cut off is left out."""
    data, at, record = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        room = 32768 - at % 32768
        if room < 7:
            at += room
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        record += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4) and at <= len(data):
            yield record
            record = b""


def wandb_figures(work):
    """Pairs of step and value by name, of all files of offline runs, and the ids of the runs."""
    from wandb.proto import wandb_internal_pb2
    figures, ids = {}, set()
    paths = work.glob("wandb/offline-run-*/run-*.wandb")
    for path in sorted(paths, key=lambda path: path.stat().st_mtime):
        for data in records_of(path):
            record = wandb_internal_pb2.Record.FromString(data)
            if record.WhichOneof("record_type") == "run":
                ids.add(record.run.run_id)
            if record.WhichOneof("record_type") != "history":
                continue
            values = {"/".join(item.nested_key) or item.key: json.loads(item.value_json)
                      for item in record.history.item}
            for name, value in values.items():
                if "/" in name:
                    figures.setdefault(name, []).append((int(values["_step"]), value))
    return figures, ids


def mlflow_figures(work):
    import mlflow
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{work}/mlflow.db")
    group = client.get_experiment_by_name("zero")
    run, = client.search_runs([group.experiment_id])
    figures = {name: [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, name)]
               for name in run.data.metrics}
    return figures, run


def expected_of(checks, work):
    """What the log says of each figure."""
    lines = [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()]
    expected = {f"train/{name}": [(line["step"], line[name]) for line in lines if name in line]
                for name in ("loss", "gradient_norm", "learning_rate")}
    expected["eval/loss"] = [(line["step"] - 1, line["eval_loss"]) for line in lines
                             if "eval_loss" in line]
    checks.that([step for step, _ in expected["train/loss"]] == list(range(STEPS)), "steps")
    checks.that([step for step, _ in expected["eval/loss"]] == [1, 3, 5, 7], "evaluations")
    return expected


def check(checks, executable, data, work, number):
    """A training that a signal ends, and the same call again, each in a process of its own."""
    codes = [subprocess.run([sys.executable, __file__, data, work, executable, str(int(ends))],
                            stderr=subprocess.PIPE).returncode for ends in (number, 0)]
    checks.that(codes[0] != 0 and codes[1] == 0, f"{number!r}: {codes}")
    expected = expected_of(checks, work)
    by_board, ids = wandb_figures(work)
    checks.that(len(ids) == 1, f"{number!r}: runs of Weights & Biases: {ids}")
    by_flow, run = mlflow_figures(work)
    checks.that(run.info.status == "FINISHED" and run.data.params["ranks"] == "2",
                f"{number!r}: {run.info.status}, {run.data.params}")
    for name, values in expected.items():
        checks.that(by_flow.get(name) == values, f"{number!r}: {name}: {by_flow.get(name)}, {values}")
        board = by_board.get(name)
        if number == signal.SIGKILL:
            board = [each for each in board if each in values]
            since = [each for each in values if each[0] >= EVERY]
            checks.that(board[-len(since):] == since, f"{number!r}: {name}: {board}, {since}")
        else:
            checks.that(board == values, f"{number!r}: {name}: {board}, {values}")
    checks.that(len(by_flow["train/seconds_per_step"]) == STEPS, f"{sorted(by_flow)}")


def main():
    data, work = sys.argv[1:3]
    work = Path(work)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # lit ignores it
    if sys.argv[3:]:
        executable, number = sys.argv[3:]
        return train(executable, work, int(number))
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(1, 2, "--optimizer=adamw", "--lr=1e-3", "--clip-norm=1")
    for number in (signal.SIGINT, signal.SIGKILL):
        (work / number.name).mkdir()
        check(checks, executable, data, work / number.name, number)
    checks.finish()


if __name__ == "__main__":
    main()
