"""The log of a training."""

import json
import os


class Log:
    """The file of a line of JSON for each step and each evaluation, as `zero-run --log` writes it.

    Of a run that continues after `done` steps, the lines of these are kept.
    """

    def __init__(self, path, done):
        self.lines = [line for line in self._read(path) if self._is_before(line, done)]
        draft = path.with_suffix(".temporary")
        draft.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        os.replace(draft, path)
        self._file = open(path, "a", encoding="utf-8")

    @staticmethod
    def _read(path):
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                return  # a kill has cut off the last line

    @staticmethod
    def _is_before(line, done):
        return line["step"] < done or ("eval_loss" in line and 0 < done == line["step"])

    def add(self, **line):
        """Appends a line."""
        self.lines.append(line)
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def flush(self):
        """Makes the lines survive a power cut."""
        os.fsync(self._file.fileno())

    def close(self):
        self._file.close()

    @property
    def evaluations(self):
        """Pairs of steps done and loss."""
        return [(line["step"], line["eval_loss"]) for line in self.lines if "eval_loss" in line]

    @property
    def metrics(self):
        """The other figures of each evaluation."""
        evaluations = [line for line in self.lines if "eval_loss" in line]
        return [{name.removeprefix("eval_"): value for name, value in line.items()
                 if name not in ("step", "eval_loss")} for line in evaluations]
