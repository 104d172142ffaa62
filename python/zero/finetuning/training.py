"""The steps of a fine-tuning: log, evaluation, checkpoints, and the folder that is written."""

from __future__ import annotations

import json
import math
import shutil
import signal
import sys
from dataclasses import dataclass
from itertools import repeat

from ..callbacks import Callback
from ..dataset import Dataset
from ..log import Log
from ..loop import Loop
from ..text.writer import replace_json
from .model import TOKENIZER_FILES


@dataclass
class Finetuned:
    """What a fine-tuning has done.

    Attributes:
        folder: the path that it wrote.
        losses: of each step, before its update.
        evaluations: pairs of steps done and the mean loss over the held-out documents; before the
            first step, every so many, and after the last.
        seconds: in steps.
    """
    folder: str
    losses: list
    evaluations: list
    seconds: float

    def __repr__(self):
        text = f"Finetuned({self.folder!r}: {len(self.losses)} steps"
        if self.evaluations:
            first, last = self.evaluations[0][1], self.evaluations[-1][1]
            text += f", evaluation loss {first:.4f} -> {last:.4f}"
        return text + f", {self.seconds:.1f} s in steps)"


def result_of(log, folder):
    """What the lines of a log say, as a Finetuned."""
    steps = [line for line in log.lines if "loss" in line]
    return Finetuned(str(folder), [line["loss"] for line in steps], log.evaluations,
                     sum(line["seconds"] for line in steps))


class _Evaluations(Callback):
    """Prints evaluations, and writes the folder after the best one so far, if that is kept."""

    def __init__(self, training):
        self._training = training

    def evaluation(self, session, values):
        loss, training = values["loss"], self._training
        training.say(f"step {session.steps} of {training.plan.steps}: evaluation loss {loss:.4f}")
        *former, _ = training.later_losses() or [None]
        is_best = math.isfinite(loss) and all(loss < each for each in former)
        if training.keeps_best and session.steps and is_best:
            training.write_folder()


class Training:
    """A session that carries out a Plan.

    session: of the program, with the state from which it continues.
    callbacks: as zero.Session.train() takes them.
    is_shown: whether progress and evaluations are printed.
    """

    def __init__(self, plan, session, callbacks, is_shown):
        self.plan, self.session, self._is_shown = plan, session, is_shown
        self.keeps_best = self._value("keep") == "best"
        places = plan.places
        held = None if plan.evaluation is None else self._documents("evaluation", _evaluates=True)
        self._loop = Loop(session, eval_data=held, eval_every=held and self._value(
            "eval_every", plan.steps), eval_first=True, checkpoint=places.state,
            save_every=self._value("save_every"), log=places.log,
            callbacks=[*callbacks, _Evaluations(self)], progress=is_shown,
            signals=(signal.SIGINT, signal.SIGTERM))

    def _value(self, *name):
        return self.plan.choices.value(*name)

    def run(self):
        """Trains what is left and writes the folder."""
        places, steps = self.plan.places, self.plan.steps
        order = None if self._value("in_order") else self._value("seed")
        data = self._documents("train", shuffle=order)
        try:
            self._loop.run(lambda done: repeat(data, steps - done), steps, resume=False)
        except KeyboardInterrupt as error:
            if not hasattr(error, "history"):
                raise  # the second Ctrl-C, in a step
            again = KeyboardInterrupt(f"interrupted after {self.session.steps} of {steps} steps; "
                                      f"the same command continues")
            again.signal = error.signal
            raise again from None
        if not self.keeps_best or not self.later_losses():
            self.write_folder()
        replace_json(places.result, {"steps": self.session.steps})
        shutil.rmtree(places.state, ignore_errors=True)
        return result_of(self._loop.log, places.out)

    def _documents(self, part, **options):
        """The trained or the held-out documents as data of the program."""
        return Dataset(self.plan.program, self.plan.places.tokens / part,
                       pack=self.plan.rows.pack, **options)

    def later_losses(self):
        """Of evaluations after the first step."""
        return [loss for step, loss in self._loop.history.evaluations if step > 0]

    def say(self, text):
        if self._is_shown:
            # Covers the bar, which is written again after the next step.
            is_live = sys.stderr.isatty()
            print(f"\r{text:<99}" if is_live else text, file=sys.stderr, flush=True)

    def write_folder(self):
        """Writes the weights, and what a folder needs besides to be loaded."""
        out, base = self.plan.places.out, self.plan.model.folder
        self.session.save(f"{out}/")
        if self._value("method") != "full":
            _complete_adapter(out / "adapter_config.json", base)
        for name in TOKENIZER_FILES:
            if (base / name).exists() and not (out / name).exists():
                shutil.copyfile(base / name, out / name)


def _complete_adapter(path, base):
    """Names the base, which a program does not know, so that transformers loads the folder."""
    config = json.loads(path.read_text(encoding="utf-8"))
    replace_json(path, {**config, "base_model_name_or_path": str(base.resolve()),
                        "task_type": "CAUSAL_LM"})


def carry_out(plan, callbacks, is_shown):
    """Trains as planned, from the newest checkpoint if there is one; returns a Finetuned."""
    places = plan.places
    if places.result.exists():
        log = Log(places.log, plan.steps)
        log.close()
        return result_of(log, places.out)
    resume = places.state if places.has_begun() else None
    with plan.program.session(resume=resume, nvme_dir=plan.choices.value("nvme_dir")) as session:
        return Training(plan, session, callbacks, is_shown).run()
