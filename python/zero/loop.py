"""What a training does besides its steps: evaluations, checkpoints, a log, and an early end."""

import math
from pathlib import Path

from .errors import InvalidArgumentError, NotFoundError
from .log import Log


class Loop:
    """The settings of Session.train() that have this effect, which has their documentation."""

    def __init__(self, session, *, eval_data, eval_every, checkpoint, save_every, patience, log):
        for name, value, needs, given in (
                ("eval_every", eval_every, "eval_data", eval_data is not None),
                ("patience", patience, "eval_every", eval_every),
                ("save_every", save_every, "checkpoint", checkpoint)):
            if value is not None and (value < 1 or not given):
                raise InvalidArgumentError(f"{name}: expected at least 1, and {needs}, got {value} "
                                           f"and {needs}={None if not given else '...'}")
        self._session = session
        self._eval_data, self._eval_every = eval_data, eval_every
        self._checkpoint, self._save_every = checkpoint, save_every
        self._patience, self._log_path = patience, log
        self._log = None
        self.evaluations = []  # pairs of steps done and loss

    def begin(self, resume):
        """Continues from the newest checkpoint, if there is one. Returns the steps that count as
        done."""
        if resume not in ("auto", True, False):
            raise InvalidArgumentError(f"resume: expected 'auto', True or False, got {resume!r}")
        if self._checkpoint and resume and not self._session.steps:
            self._resume(must=resume is True)
        if self._log_path:
            self._log = Log(Path(self._log_path), self._session.steps)
            self.evaluations = self._log.evaluations
        return self._session.steps if self._checkpoint else 0

    def _resume(self, must):
        try:
            self._session.load_checkpoint(self._checkpoint)
        except NotFoundError:
            if must:
                raise

    def after(self, result):
        """Called after each step; whether the training goes on."""
        if self._log:
            self._log.add_step(result)
        done = self._session.steps
        if self._eval_every and done % self._eval_every == 0:
            self._evaluate()
        if self._save_every and done % self._save_every == 0:
            self._save()
        return not self._is_out_of_patience()

    def _evaluate(self):
        loss = self._session.evaluate(self._eval_data)
        self.evaluations.append((self._session.steps, loss))
        if self._log:
            self._log.add(step=self._session.steps, eval_loss=loss)

    def _is_out_of_patience(self):
        """Whether so many evaluations came since the best one."""
        losses = [loss if math.isfinite(loss) else math.inf for _, loss in self.evaluations]
        since = len(losses) - 1 - losses.index(min(losses)) if losses else 0
        return bool(self._patience) and since >= self._patience

    def _save(self):
        if self._log:
            self._log.flush()
        self._session.save_checkpoint(self._checkpoint)

    def finish(self, is_interrupted):
        """After the last step that is done."""
        done = self._session.steps
        is_evaluated = [step for step, _ in self.evaluations[-1:]] == [done]
        if self._eval_data is not None and not is_evaluated and not is_interrupted:
            self._evaluate()
        if self._checkpoint and not (self._save_every and done % self._save_every == 0):
            self._save()

    def close(self):
        if self._log:
            self._log.close()
