"""train() with evaluations, checkpoints, a log and patience: the same call continues a training that
was interrupted, and gives the numbers of one that was not.

usage: check_loop.py DATA WORK
"""

import json
import os
import shutil
import signal
import sys
import threading
import warnings

import numpy as np
import zero
from checkpoints import newest, read_tensors, same_tensors
from zero_test import Checks, Graph

STEPS, EVERY = 12, 4


def read(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return ([(line["step"], line["loss"]) for line in lines if "loss" in line],
            [(line["step"], line["eval_loss"]) for line in lines if "eval_loss" in line])


def interrupt(session, result):
    if result.step == 5:
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()


def check_continued(checks, program, data, held, work):
    """Of arrays, and of an iterable of batches."""
    batches = [{name: array[begin:begin + 64] for name, array in data.items()}
               for begin in range(0, len(data["labels"]), 64)]
    for label, source in (("arrays", data), ("batches", batches)):
        settings = {"steps": STEPS, "eval_data": held, "eval_every": EVERY, "save_every": EVERY,
                    "progress": False}
        with program.session() as session:
            whole = session.train(source, checkpoint=work / f"{label}-whole",
                                  log=work / f"{label}-whole.jsonl", **settings)
        state, log = work / label, work / f"{label}.jsonl"
        with program.session() as session:
            try:
                session.train(source, checkpoint=state, log=log, callbacks=[interrupt], **settings)
                checks.that(False, f"{label}: no KeyboardInterrupt")
            except KeyboardInterrupt as error:
                done = session.steps
                checks.that(f"the same call continues from step {done}: train(..., checkpoint="
                            f"'{state}')" in str(error), f"{label}: {error}")
        checks.that(6 <= done < STEPS and newest(state).name == f"step-{done:08}",
                    f"{label}: {done} steps, {newest(state)}")
        with program.session() as session:
            rest = session.train(source, checkpoint=state, log=log, **settings)
        checks.that(len(rest) == STEPS - done and rest.evaluations == whole.evaluations,
                    f"{label}: {rest}, {rest.evaluations}, {whole.evaluations}")
        checks.that(read(log) == read(work / f"{label}-whole.jsonl"), f"{label}: another log")
        checks.that([step for step, _ in whole.evaluations] == [4, 8, 12], f"{whole.evaluations}")
        checks.that(same_tensors(read_tensors(newest(state)),
                                 read_tensors(newest(work / f"{label}-whole"))),
                    f"{label}: another state")
        with program.session() as session:
            again = session.train(source, checkpoint=state, **settings)
            checks.that(len(again) == 0 and session.steps == STEPS, f"{label}: {again}")


def check_patience(checks, program, data, held, work):
    with program.session(learning_rate=0) as session:
        history = session.train(data, steps=100, eval_data=held, eval_every=1, patience=3,
                                progress=False, log=work / "patience.jsonl")
    checks.that(len(history) == 4 and len(history.evaluations) == 4, f"patience: {history}")


def check_ends(checks, program, data):
    """A list that is shorter than it says, and a training without a checkpoint that is interrupted."""
    class Short(list):
        def __len__(self):
            return super().__len__() + 1

    with program.session() as session:
        try:
            session.train(Short([data, data]), progress=False)
            checks.that(False, "no error of a short list")
        except zero.BadDataError as error:
            checks.that("expected 3 batches in epoch 1, got 2" in str(error), f"{error}")

    def failing():
        yield data
        raise OSError("the disk is gone")

    with program.session() as session:
        try:
            session.train(failing(), progress=False)
            checks.that(False, "no error of a generator that fails")
        except OSError as error:
            checks.that("zero: batch 1 of the generator could not be read"
                        in getattr(error, "__notes__", ["zero: batch 1 of the generator could not be "
                                                        "read"]), f"{error}")
    with program.session() as session:
        try:
            session.train(data, steps=STEPS, progress=False, callbacks=[interrupt])
            checks.that(False, "no KeyboardInterrupt")
        except KeyboardInterrupt as error:
            checks.that("save_checkpoint() of the session keeps" in str(error)
                        and error.signal == signal.SIGINT, f"{error}")


class Heard(zero.callbacks.Callback):
    """Writes down what a callback hears."""

    def __init__(self, last=STEPS):
        self.words, self._last = [], last

    def begin(self, session, checkpoint):
        self.words.append(("begin", session.steps, checkpoint))

    def step(self, session, result):
        self.words.append(("step", result.step))
        return result.step < self._last

    def evaluation(self, session, values):
        self.words.append(("evaluation", session.steps, sorted(values)))

    def end(self, session, is_complete):
        self.words.append(("end", is_complete))


def check_callback(checks, program, data):
    heard = Heard(last=2)
    with program.session() as session:
        session.train(data, steps=STEPS, eval_data=data, eval_every=2, progress=False,
                      callbacks=[heard])
    checks.that(heard.words == [
        ("begin", 0, None), ("step", 0), ("step", 1), ("evaluation", 2, ["loss"]), ("step", 2),
        ("evaluation", 3, ["loss"]), ("end", True)], f"{heard.words}")
    failed = Heard()
    with program.session() as session:
        try:
            session.train([data, {"x": data["x"]}], progress=False, callbacks=[failed])
            checks.that(False, "no error of a batch without labels")
        except zero.InvalidArgumentError:
            checks.that(failed.words[-1] == ("end", False), f"{failed.words}")


def check_extras(checks, program, data):
    """What a batch of a data loader has besides the inputs is left out, with one warning."""
    half = len(data["labels"]) // 2
    batches = [{**{name: array[at:at + half] for name, array in data.items()}, "attention_mask": array}
               for at, array in ((0, np.ones(2)), (half, np.ones(2)))]
    with program.session() as session, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        losses = session.train(batches, progress=False).losses
        session.evaluate(batches)
    texts = [str(each.message) for each in caught if "attention_mask" in str(each.message)]
    checks.that(len(texts) == 2, f"one warning of train(), and one of evaluate(): {texts}")
    with program.session() as session:
        checks.that(losses == session.train(data, steps=2, progress=False).losses, f"{losses}")


def check_wrong(checks, program, data, work):
    with program.session() as session:
        for keywords, expected in (
                ({"eval_every": 2}, "eval_every: expected at least 1, and eval_data, got 2"),
                ({"save_every": 0, "checkpoint": "x"}, "save_every: expected at least 1"),
                ({"patience": 1, "eval_data": data}, "patience: expected at least 1, and eval_every"),
                ({"checkpoint": work / "none", "resume": True}, "no checkpoint in"),
                ({"resume": "yes"}, "resume: expected 'auto', True or False, got 'yes'")):
            try:
                session.train(data, steps=1, progress=False, **keywords)
                checks.that(False, f"{keywords}: no error")
            except zero.ZeroError as error:
                checks.that(expected in str(error), f"{keywords}: {error}")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # lit ignores it
    checks = Checks()
    graph = Graph(data, "mlp", work)
    dice = np.random.default_rng(3)

    def samples(count):
        return {"x": dice.random((count, 784), np.float32), "labels": dice.integers(0, 10, count)}

    program = zero.compile(graph.folder / "model.onnx", stage=2, ranks=2, optimizer="adamw", lr=1e-3)
    train, held = samples(256), samples(80)
    check_continued(checks, program, train, held, graph.work)
    check_patience(checks, program, train, held, graph.work)
    batch = samples(zero.Dataset(program, train).samples_per_step)
    check_ends(checks, program, batch)
    check_callback(checks, program, batch)
    check_extras(checks, program, samples(2 * zero.Dataset(program, train).samples_per_step))
    check_wrong(checks, program, train, graph.work)
    checks.finish()


if __name__ == "__main__":
    main()
