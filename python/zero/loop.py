"""The steps of a training, with what it does besides: evaluations, checkpoints, a log, callbacks,
and an early end."""

import math
import signal
from pathlib import Path

from .callbacks import callback_of
from .errors import InvalidArgumentError, NotFoundError
from .history import History
from .interrupt import Interrupt
from .log import Log
from .progress import progress_of


class Loop:
    """The settings of Session.train() with these names, which has their documentation.

    signals: that end the training after the step in progress.
    eval_first: whether a training evaluates before its first step, too.
    """

    def __init__(self, session, *, eval_data=None, eval_every=None, metrics=None, checkpoint=None,
                 save_every=None, patience=None, log=None, callbacks=(), progress=True,
                 signals=(signal.SIGINT,), eval_first=False):
        for name, value, needs, given in (
                ("eval_every", eval_every, "eval_data", eval_data is not None),
                ("patience", patience, "eval_every", eval_every),
                ("save_every", save_every, "checkpoint", checkpoint)):
            if value is not None and (value < 1 or not given):
                raise InvalidArgumentError(f"{name}: expected at least 1, and {needs}, got {value} "
                                           f"and {needs}={None if not given else '...'}")
        self._session = session
        self._eval_data, self._eval_every, self._eval_first = eval_data, eval_every, eval_first
        self._metrics = metrics
        self._checkpoint, self._save_every = checkpoint, save_every
        self._patience, self._log_path = patience, log
        self._callbacks, self._begun = [callback_of(each) for each in callbacks], []
        self._progress, self._signals = progress, signals
        self.log = None
        self.history = History()

    def run(self, batches_after, total, resume="auto"):
        """Trains on the batches that batches_after(done) returns, of which there are `total` in
        all, or None, and returns the History. A signal raises KeyboardInterrupt with `history` and
        `signal` once the training is saved."""
        interrupt = Interrupt(*self._signals)
        bar, is_complete = None, False
        try:
            done = self._begin(resume)
            bar = progress_of(max(total - done, 0) if total else 0, self._progress)
            with interrupt:
                if self._eval_first and not self._session.steps and self._eval_data is not None:
                    self._evaluate()
                for batch in batches_after(done):
                    if interrupt.asked:
                        break
                    goes_on = self._after(self._session.step(batch))
                    bar.update(self._figures())
                    if interrupt.asked or not goes_on:
                        break
            if self.history.results:
                self._finish(interrupt.asked)
            is_complete = not interrupt.asked
        finally:
            if bar:
                bar.close()
            self._close(is_complete)
        if interrupt.asked:
            self._refuse_interrupted(interrupt.asked)
        return self.history

    def _begin(self, resume):
        """Continues from the newest checkpoint, if there is one. Returns the steps that count as
        done."""
        if resume not in ("auto", True, False):
            raise InvalidArgumentError(f"resume: expected 'auto', True or False, got {resume!r}")
        if self._checkpoint and resume and not self._session.steps:
            self._resume(must=resume is True)
        if self._log_path:
            self.log = Log(Path(self._log_path), self._session.steps)
            self.history.evaluations, self.history.metrics = self.log.evaluations, self.log.metrics
        for callback in self._callbacks:
            callback.begin(self._session, self._checkpoint)
            self._begun.append(callback)
        return self._session.steps if self._checkpoint else 0

    def _resume(self, must):
        try:
            self._session.load_checkpoint(self._checkpoint)
        except NotFoundError:
            if must:
                raise

    def _figures(self):
        result = self.history.results[-1]
        text = f"loss={result.loss:.4f}"
        if self.history.evaluations:
            text += f", evaluation={self.history.evaluations[-1][1]:.4f}"
        return text + ", skipped" if result.skipped else text

    def _after(self, result):
        """Called after each step; whether the training goes on."""
        self.history.results.append(result)
        if self.log:
            self.log.add(step=result.step, **result.figures())
        answers = [each.step(self._session, result) for each in self._callbacks]
        done = self._session.steps
        if self._eval_every and done % self._eval_every == 0:
            self._evaluate()
        if self._save_every and done % self._save_every == 0:
            self._save()
        return not (self._is_out_of_patience() or any(each is False for each in answers))

    def _evaluate(self):
        values = self._session.evaluate(self._eval_data, metrics=self._metrics or {})
        loss, metrics = values.pop("loss"), values
        self.history.evaluations.append((self._session.steps, loss))
        self.history.metrics.append(metrics)
        if self.log:
            named = {f"eval_{name}": value for name, value in metrics.items()}
            self.log.add(step=self._session.steps, eval_loss=loss, **named)
        for callback in self._callbacks:
            callback.evaluation(self._session, {"loss": loss, **metrics})

    def _is_out_of_patience(self):
        """Whether so many evaluations came since the best one."""
        losses = [loss if math.isfinite(loss) else math.inf for _, loss in self.history.evaluations]
        since = len(losses) - 1 - losses.index(min(losses)) if losses else 0
        return bool(self._patience) and since >= self._patience

    def _save(self):
        if self.log:
            self.log.flush()
        self._session.save_checkpoint(self._checkpoint)

    def _finish(self, is_interrupted):
        """After the last step that is done."""
        done = self._session.steps
        is_evaluated = [step for step, _ in self.history.evaluations[-1:]] == [done]
        if self._eval_data is not None and not is_evaluated and not is_interrupted:
            self._evaluate()
        if self._checkpoint and not (self._save_every and done % self._save_every == 0):
            self._save()

    def _close(self, is_complete):
        if self.log:
            self.log.close()
        for callback in self._begun:
            callback.end(self._session, is_complete)

    def _refuse_interrupted(self, number):
        count = len(self.history)
        again = "save_checkpoint() of the session keeps what is trained"
        if self._checkpoint:
            again = (f"the same call continues from step {self._session.steps}: "
                     f"train(..., checkpoint={str(self._checkpoint)!r})")
        error = KeyboardInterrupt(f"interrupted after {count} steps; {again}")
        error.history, error.signal = self.history, number
        raise error
