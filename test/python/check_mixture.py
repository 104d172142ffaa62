"""The samples that steps read of shards, of mixtures and of shuffled windows; runs of zero-run that
continue in a mixture.

usage: check_mixture.py DATA WORK
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import zero
from onnx import TensorProto, helper
from zero_test import Checks, check_refused, run_tool

ROWS, LENGTH, RANKS = 5, 4, 2
BATCH = ROWS * RANKS


def write_tokens(folder, first, count, length=LENGTH):
    """Documents of one id each: `first`, `first` + 1, ..."""
    folder.mkdir(parents=True)
    ids = np.repeat(np.arange(first, first + count, dtype=np.uint16), length)
    ids.tofile(folder / "ids.bin")
    (np.arange(count + 1, dtype=np.uint64) * length).tofile(folder / "starts.bin")
    np.ones(len(ids), np.uint8).tofile(folder / "mask.bin")
    (folder / "tokens.json").write_text(json.dumps(
        {"format": "zero-tokens", "version": 1, "documents": count, "tokens": len(ids),
         "largest_id": int(ids.max()), "pad_id": 0, "id_type": "uint16", "labels": "shifted"}))


def program_of(work):
    """Returns its ids."""
    graph = helper.make_graph(
        [helper.make_node("Cast", ["ids"], ["seen"], to=TensorProto.FLOAT)], "seen",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS, LENGTH])],
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, [ROWS, LENGTH])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, work / "seen.onnx")
    return zero.compile(work / "seen.onnx", ranks=RANKS, forward_only=True)


def seen(program, data, steps):
    """The ids of the samples of these steps, in order."""
    ids = []
    with program.session() as session:
        for _ in range(steps):
            session.step(data)
            rows = np.concatenate([session.output("seen", rank) for rank in range(RANKS)])
            assert (rows == rows[:, :1]).all()
            ids += rows[:, 0].astype(int).tolist()
    return ids


def check_shards(checks, program, work):
    for index, (first, count) in enumerate(((100, 7), (107, 17), (124, 5), (129, 1))):
        write_tokens(work / f"shards/part-{index}", first, count)
    # A part may have the samples of one rank, or one.
    every = list(range(100, 130))
    data = zero.Dataset(program, work / "shards")
    checks.that((data.samples, data.steps_per_epoch) == (30, 3), f"{data.samples}")
    checks.that(seen(program, data, 6) == every * 2, "shards are not one after the other")
    listed = zero.Dataset(program, [work / "shards/part-2", work / "shards/part-0"])
    checks.that(seen(program, listed, 1) == [*range(124, 129), *range(100, 105)], "a list of folders")
    windows = seen(program, zero.Dataset(program, work / "shards", shuffle=3, window=10), 6)
    for begin in range(0, 60, 10):
        expected = every[begin % 30:begin % 30 + 10]
        checks.that(sorted(windows[begin:begin + 10]) == expected, f"window {begin}: {windows}")
    checks.that(windows[:30] != every and windows[:30] != windows[30:], "windows are not shuffled")
    alone = seen(program, zero.Dataset(program, work / "shards", shuffle=3), 3)
    checks.that(sorted(alone) == every and sorted(alone[:10]) != every[:10], "one window")


def check_mixture(checks, program, work):
    write_tokens(work / "many", 1000, 400)
    write_tokens(work / "few", 500, 13)
    sources, weights = [work / "many", work / "few", work / "shards"], [0.6, 0.3, 0.1]
    for shuffle in (None, 7):
        data = zero.Dataset(program, sources, weights=weights, shuffle=shuffle)
        checks.that((data.samples, data.steps_per_epoch) == (443, 0), f"{data.samples}")
        ids = np.array(seen(program, data, 60))
        for source, low, high, weight in (("many", 1000, 1400, 0.6), ("few", 500, 513, 0.3),
                                          ("shards", 100, 130, 0.1)):
            own = ids[(ids >= low) & (ids < high)]
            checks.that(abs(len(own) - weight * len(ids)) <= 2, f"{source}: {len(own)} of {len(ids)}")
            size = high - low
            for begin in range(0, len(own) - size + 1, size):
                checks.that(sorted(own[begin:begin + size]) == list(range(low, high)),
                            f"{source}: {own[begin:begin + size]}")
            first = own[:size].tolist()
            checks.that((first == sorted(first)) == (shuffle is None), f"{source}: {first}")
    try:
        zero.Dataset(program, sources, weights=[1, 2])
        checks.that(False, "no error of two weights for three folders")
    except zero.InvalidArgumentError as error:
        checks.that("expected one for each of 3 sources, got 2" in str(error), f"{error}")


def losses(path):
    return [json.loads(line)["loss"] for line in path.read_text().splitlines()]


def check_run(checks, data, work):
    """zero-run continues a mixture where it was, and refuses another one."""
    write_tokens(work / "low", 10, 50, 128)
    write_tokens(work / "high", 130, 7, 128)
    model = Path(data) / "gpt-bytes/model.onnx"
    run_tool("zeroc", model, "--shape=input_ids=2x128", "--ranks=2", "--optimizer=adamw", "--lr=1e-3",
             "-o", work / "gpt.zexe")
    run = ["zero-run", str(work / "gpt.zexe"), f"--data={work}/low=0.7,{work}/high=0.3", "--shuffle=5",
           "--shuffle-window=20"]
    said = run_tool(*run, "--steps=9", f"--log={work}/whole.jsonl")
    checks.that(f"--data {work}/low: 70.00 % of the samples, from 50" in said, said)
    state = [f"--save-state={work}/state", f"--resume={work}/state", "--resume-if-any",
             f"--log={work}/parts.jsonl"]
    for steps in (4, 5, 9):
        run_tool(*run, *state, f"--steps={steps}")
    checks.that(losses(work / "parts.jsonl") == losses(work / "whole.jsonl"), "a run that continues")
    other = [word.replace("=0.7", "=0.6") for word in run]
    check_refused(checks, "other weights", ["different order", "mixed by weights 0.7, 0.3",
                                            "mixed by weights 0.6, 0.3"], *other, *state, "--steps=12")
    other = [word.replace("window=20", "window=10") for word in run]
    check_refused(checks, "another window", ["in windows of 20 samples", "in windows of 10 samples"],
                  *other, *state, "--steps=12")
    check_refused(checks, "epochs", ["a mixture has no epochs; use --steps"], *run, "--epochs=1")
    check_refused(checks, "one weight", ["each with a weight or none with one"], *run[:2],
                  f"--data={work}/low=0.7,{work}/high")
    check_refused(checks, "no weight", ["a weight above 0"], *run[:2], f"--data={work}/low=0")
    check_refused(checks, "evaluation", ["--eval-data takes no weights"], *run, "--steps=1",
                  f"--eval-data={work}/low=0.7")
    shards = work / "all"
    shards.mkdir()
    for name in ("low", "high"):
        shutil.copytree(work / name, shards / name)
    said = run_tool(*run[:2], f"--data={shards}/", "--steps=1", f"--eval-data={shards}/")
    checks.that("data: 57 samples" in said and "held-out data: 57 samples" in said, said)
    (shards / "low/ids.bin").write_bytes(b"")
    check_refused(checks, "a damaged shard", [f"{shards}/low"], *run[:2], f"--data={shards}/")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    warnings.simplefilter("ignore")  # the program has no labels
    checks = Checks()
    program = program_of(work)
    check_shards(checks, program, work)
    check_mixture(checks, program, work)
    check_run(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
