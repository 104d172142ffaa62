"""What a training tells of its progress, and services that keep its figures.

    session.train(data, epochs=3, callbacks=[zero.callbacks.WandB(project="novel")])
"""

import json
import os
import time
from importlib import import_module
from pathlib import Path

from .errors import UnsupportedError


class Callback:
    """Hears of a training. A function(session, result) is one that hears of its steps only."""

    def begin(self, session, checkpoint) -> None:
        """Before the first step, once a checkpoint is loaded. checkpoint: the directory that the
        training saves to, or None."""

    def step(self, session, result):
        """After each step, with its StepResult. False ends the training."""

    def evaluation(self, session, values) -> None:
        """After each evaluation: a dictionary of "loss" and the metrics."""

    def end(self, session, is_complete) -> None:
        """At the end. is_complete: not after an error or an interrupt."""


class _Function(Callback):
    def __init__(self, function):
        self.step = function


def callback_of(each):
    """A Callback, or one for a function of the session and the result of a step."""
    return each if isinstance(each, Callback) else _Function(each)


class _Tracker(Callback):
    """A service that keeps figures by step. A training with a checkpoint goes on in the run of the
    service in which it began: the directory has a file with its id, and with the last steps that
    the service was told."""

    def __init__(self):
        self._place, self._id, self._last = None, None, {}

    def begin(self, session, checkpoint):
        self._place, self._id = None, None
        self._last = {"train": -1, "eval": -1}
        if checkpoint is not None:
            self._place = Path(checkpoint) / f"{type(self).__name__.lower()}.json"
            if session.steps and self._place.exists():
                kept = json.loads(self._place.read_text(encoding="utf-8"))
                self._id, self._last = kept["id"], kept["last"]
        self._id = self._open(self._id, _settings(session.program))
        self._last = self._told(self._last)

    def _told(self, last):
        """The last steps that the service keeps; later ones are told, also if they were before."""
        return last

    def step(self, session, result):
        figures = result.figures()
        figures["seconds_per_step"] = figures.pop("seconds")
        self._tell("train", result.step, figures)

    def evaluation(self, session, values):
        # With the last step that it depends on, as in the event files of zero-run.
        self._tell("eval", max(session.steps - 1, 0), values)

    def _tell(self, kind, step, figures):
        if step > self._last[kind]:
            self._send(step, {f"{kind}/{name}": float(value) for name, value in figures.items()})
            self._last[kind] = step
            self._keep()

    def _keep(self):
        if self._place is None:
            return
        self._place.parent.mkdir(parents=True, exist_ok=True)
        draft = self._place.with_suffix(".temporary")
        draft.write_text(json.dumps({"id": self._id, "last": self._last}))
        os.replace(draft, self._place)


def _settings(program):
    """What a service shows of a program beside its figures."""
    info = program.info
    return {name: info[name] for name in ("name", "optimizer", "ranks", "stage", "micro_batches",
                                          "learning_rate", "device")}


class WandB(_Tracker):
    """Writes figures to Weights & Biases.

    settings: of wandb.init(): project, name, mode="offline", ... `id` is chosen unless given.

    What the service does not say that it has is told again from the checkpoint on: wandb writes its
    files some time after it is told, and a kill loses the rest.
    """

    def __init__(self, **settings):
        super().__init__()
        self._settings = settings
        self._run = None

    def _open(self, identity, program):
        wandb = _imported("wandb")
        settings = {"id": identity, **self._settings}
        settings["config"] = {**program, **(settings.get("config") or {})}
        self._run = wandb.init(resume="allow" if settings["id"] else None, **settings)
        return self._run.id

    def _told(self, last):
        return dict.fromkeys(last, self._run.step - 1)

    def _send(self, step, figures):
        self._run.log(figures, step=step)

    def end(self, session, is_complete):
        self._run.finish(exit_code=0 if is_complete else 1)


class MLflow(_Tracker):
    """Writes figures to MLflow.

    uri: of the tracking server, or a local "sqlite:///runs.db"; as MLflow is set, if not given.
    experiment: its name.
    name: of the run; chosen by MLflow, if not given.
    """

    def __init__(self, uri=None, experiment="Default", name=None):
        super().__init__()
        self._uri, self._experiment, self._name = uri, experiment, name
        self._client = None

    def _open(self, identity, program):
        mlflow = _imported("mlflow")
        self._client = mlflow.MlflowClient(tracking_uri=self._uri)
        if identity is not None:
            self._client.update_run(identity, status="RUNNING")
            return identity
        found = self._client.get_experiment_by_name(self._experiment)
        group = found.experiment_id if found else self._client.create_experiment(self._experiment)
        run = self._client.create_run(group, run_name=self._name)
        for name, value in program.items():
            self._client.log_param(run.info.run_id, name, value)
        return run.info.run_id

    def _send(self, step, figures):
        metric = _imported("mlflow").entities.Metric
        now = int(time.time() * 1000)
        self._client.log_batch(self._id, metrics=[metric(name, value, now, step)
                                                  for name, value in figures.items()])

    def end(self, session, is_complete):
        self._client.set_terminated(self._id, "FINISHED" if is_complete else "FAILED")


def _imported(name):
    try:
        return import_module(name)
    except ImportError as error:
        raise UnsupportedError(f"zero.callbacks needs the package {name}: {error}; install it with "
                               f"pip install {name}") from None
