"""The steps of a fine-tuning: log, evaluation, checkpoints, and the folder that is written."""

from __future__ import annotations

import json
import math
import shutil
import signal
import sys
from dataclasses import dataclass

from ..dataset import Dataset
from ..interrupt import Interrupt
from ..log import Log
from ..progress import progress_of
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


class Training:
    """A session that carries out a Plan.

    session: of the program, with the state from which it continues.
    callbacks: as zero.Session.train() takes them.
    is_shown: whether progress and evaluations are printed.
    """

    def __init__(self, plan, session, callbacks, is_shown):
        self.plan, self.session = plan, session
        self._callbacks, self._is_shown = callbacks, is_shown
        self.log = Log(plan.places.log, session.steps)
        self._bar = None

    @property
    def _value(self):
        return self.plan.choices.value

    def run(self):
        """Trains what is left and writes the folder."""
        places, left = self.plan.places, self.plan.steps - self.session.steps
        if not self.session.steps:
            self._evaluate()
        self._bar = progress_of(left, self._is_shown and left > 0)
        try:
            with Interrupt(signal.SIGTERM) as self._terminated:
                if left:
                    self._train(left)
        finally:
            self._bar.close()
        if self._value("keep") != "best" or not self._improved():
            self._write_folder()
        replace_json(places.result, {"steps": self.session.steps})
        shutil.rmtree(places.state, ignore_errors=True)
        return result_of(self.log, places.out)

    def _train(self, left):
        order = None if self._value("in_order") else self._value("seed")
        number = signal.SIGTERM
        try:
            self.session.train(self._documents("train", shuffle=order), steps=left,
                               progress=False, callbacks=[self._after])
        except KeyboardInterrupt as error:
            if not hasattr(error, "history"):
                raise  # the second Ctrl-C, in a step
            number = signal.SIGINT
        if number == signal.SIGINT or self._terminated.asked:
            self._save_state()
            error = KeyboardInterrupt(
                f"interrupted after {self.session.steps} of {self.plan.steps} steps; the same "
                f"command continues")
            error.signal = number
            raise error

    def _documents(self, part, **options):
        """The trained or the held-out documents as data of the program."""
        return Dataset(self.plan.program, self.plan.places.tokens / part,
                       pack=self.plan.rows.pack, **options)

    def _improved(self):
        """Evaluations after the first step."""
        return [loss for step, loss in self.log.evaluations if step > 0]

    def _after(self, session, result):
        """Called after each step."""
        self.log.add_step(result)
        self._bar.update(self._figures(result))
        done = result.step + 1
        stops = any([call(session, result) is False for call in self._callbacks])
        is_last = stops or done == self.plan.steps
        if is_last or done % self._value("eval_every", self.plan.steps) == 0:
            self._evaluate()
        if is_last or done % self._value("save_every") == 0:
            self._save_state()
        return not (stops or self._terminated.asked)

    def _figures(self, result):
        text = f"step {result.step + 1}/{self.plan.steps}, loss={result.loss:.4f}"
        if self.log.evaluations:
            text += f", evaluation={self.log.evaluations[-1][1]:.4f}"
        return text

    def _evaluate(self):
        if self.plan.evaluation is None:
            return
        former = self._improved()
        loss = self.session.evaluate(self._documents("evaluation", _evaluates=True))
        self.log.add(step=self.session.steps, eval_loss=loss)
        self._say(f"step {self.session.steps} of {self.plan.steps}: evaluation loss {loss:.4f}")
        is_best = math.isfinite(loss) and all(loss < each for each in former)
        if self._value("keep") == "best" and self.session.steps and is_best:
            self._write_folder()

    def _say(self, text):
        if self._is_shown:
            # Covers the bar, which is written again after the next step.
            is_live = sys.stderr.isatty()
            print(f"\r{text:<99}" if is_live else text, file=sys.stderr, flush=True)

    def _save_state(self):
        self.log.flush()
        self.session.save_checkpoint(self.plan.places.state)

    def _write_folder(self):
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
        training = Training(plan, session, callbacks, is_shown)
        try:
            return training.run()
        finally:
            training.log.close()
