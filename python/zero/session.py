"""Training: a program with its memory and its ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import islice, repeat
from pathlib import Path

import numpy as np

from . import native
from .arrays import empty, readable
from .batches import passes, without_extras
from .columns import Columns
from .dataset import Dataset, one_batch
from .errors import BadDataError, InvalidArgumentError, NotFoundError
from .history import History, StepResult
from .loop import Loop
from .prediction import Metrics, Predictor, is_batch
from .program import Program, load
from .warn import warn
from .weights import to_numpy


def _options(keywords):
    """The fields of zero_rt_session_options."""
    names = {"threads": "threads_per_rank", "timeout": "timeout_seconds"}
    options = {names.get(key, key): value for key, value in keywords.items() if value is not None}
    if "gpu_algorithms" in options:
        options["gpu_algorithms"] = str(options["gpu_algorithms"])
    for several in ("gpus", "nvme_dir"):
        if several in options:
            given = options[several]
            options[several] = ",".join(map(str, given if isinstance(given, (list, tuple)) else
                                            [given]))
    return {key: int(value) if isinstance(value, bool) else value
            for key, value in options.items()}


class Session:
    """A program with its memory, its ranks and the values of its tensors.

    program: a zero.Program, or the path of a .zexe.
    weights: initial values instead of the model's: the path of a .safetensors or .npz, or a
        dictionary of arrays by the names of the model's tensors.
    resume: a checkpoint, or a directory with checkpoints, to continue from.
    threads: of each rank; as compiled, if not given.
    learning_rate: instead of the compiled one.
    nvme_dir: directory of the nvme tier, or a list with one on each drive; required if the program
        has this tier.
    nvme_io: "io_uring", "threads" or "auto".
    timeout: seconds that a rank waits for another one (120).
    allow_nan: continue when the loss is NaN or infinite.
    check_memory: check what each command reads and writes, and measure the peak (slow).
    pin: bind ranks to cores: True, False, or None: if they use all cores.
    device: "cpu" or "cuda": an error unless the program is compiled for it.
    gpus: the GPU of each rank, or one for all.
    gpu_graphs: launch commands on a GPU as CUDA graphs where that is possible.
    gpu_algorithms: a file with the algorithms of matrix products on a GPU. Products that it lacks
        are timed and added; a file that does not exist is made. "auto": those of the checkpoint,
        or a file for the GPU in the folder of the cache, if there is one; None: what cuBLASLt
        expects to be the fastest.
    verbose: errors list all items, not only the first few.
    progress: called as progress(what, done, total), in bytes, while weights and checkpoints are
        read and written, from any thread.

    Use it in a `with` statement, or close() it, to free its memory at once. Steps, and reading and
    writing of files, release Python's interpreter lock. After an error in a step a session can
    only be queried.
    """

    def __init__(self, program, *, weights=None, resume=None, threads=None, learning_rate=None,
                 nvme_dir=None, nvme_io=None, timeout=None, allow_nan=False, check_memory=False,
                 pin=None, device=None, gpus=None, gpu_graphs=True, gpu_algorithms="auto", verbose=False,
                 progress=None, **for_tests):
        self.program = program if isinstance(program, Program) else load(program)
        self._learning_rate = self.program.info["learning_rate"]
        self._steps = 0
        self._predictor, self._is_predictor_current = None, False
        options = _options({
            "threads": threads, "timeout": timeout, "allow_nan": allow_nan,
            "check_memory": check_memory, "pin": pin, "device": device, "gpus": gpus,
            "gpu_graphs": gpu_graphs, "gpu_algorithms": gpu_algorithms,
            "nvme_dir": nvme_dir, "nvme_io": nvme_io, "verbose": verbose, "progress": progress,
            **for_tests})
        self._session = native.load().Session(self.program._executable, options)
        if weights is None and resume is None:
            weights = self.program.weights
        if weights is not None:
            self.load_state_dict(weights)
        if resume is not None:
            self.load_checkpoint(resume)
        if learning_rate is not None:
            self.learning_rate = learning_rate

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Ends the ranks and frees their memory. Every later call is an error."""
        if self._predictor is not None and self._predictor.session is not self:
            self._predictor.session.close()
        self._predictor = None
        self._session.close()

    def __repr__(self):
        return f"Session({self.program.name!r}, {self._steps} steps)"

    # Steps

    @property
    def steps(self) -> int:
        """Steps done, those before a checkpoint was loaded included."""
        return self._steps

    @property
    def learning_rate(self) -> float:
        """Of the next step, before the schedule of the program."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, rate):
        self._session.set_learning_rate(rate)
        self._learning_rate = rate

    def _result(self, values):
        def known(name):
            return None if math.isnan(values[name]) and not self.program._has_output(name) else (
                values[name])
        rate = known("learning_rate")
        return StepResult(values["loss"], values["step"], known("gradient_norm"),
                          self._learning_rate if rate is None else rate, values["seconds"],
                          known("loss_scale"), values["skipped"])

    def step(self, batch, *, keep_gradients: bool = False) -> StepResult:
        """Runs one step on all ranks and returns its StepResult.

        batch: by the name of each input an array of numpy, or of a library with __dlpack__, of
            the shape (global batch, ...): the rows of one rank, as program.inputs has them, times
            the ranks times the micro-batches. Row-major arrays are not copied, and those of a
            narrower type are widened if every value fits. Fewer samples are repeated, with a
            warning. Or a tuple or list of these arrays in the order of program.inputs, as a data
            loader yields them. Or a zero.Dataset, of which it reads the next batch.
        keep_gradients: gradient() can be called afterwards; takes memory.

        Raises BadDataError if the batch does not fit, CheckFailedError for a label or token out of
        range, NotFiniteError for a loss that is NaN or infinite.
        """
        values = self._session.step(one_batch(self.program, batch)._data, keep_gradients)
        self._steps = values["step"] + 1
        self._is_predictor_current = False
        return self._result(values)

    def train(self, dataset, *, steps=None, epochs=None, callbacks=(), progress=True,
              shuffle=None, eval_data=None, eval_every=None, metrics=None, checkpoint=None,
              save_every=None, resume="auto", patience=None, log=None) -> History:
        """Trains on a dataset and returns the History of its steps.

        dataset: a zero.Dataset; what one is made of: a dictionary of arrays or files by input, or
            the path of a .npz; zero.Columns of Parquet or Arrow files; or an iterable of batches,
            each as step() takes it.
        steps: how many; the data begins again when it ends.
        epochs: passes over the data, instead of `steps`. One, if neither is given. A generator has
            one pass: more epochs, or steps than it has batches, are an error.
        callbacks: each is called as callback(session, result) after every step, or is a
            zero.callbacks.Callback, which hears of evaluations, too. The training ends when one
            returns False.
        progress: show a bar on standard error, or in the notebook.
        shuffle: a number from which the order of the samples of each epoch follows.
        eval_data: held-out data, as evaluate() takes it, evaluated after the last step.
        eval_every: evaluate also after every so many steps.
        metrics: of these evaluations, as evaluate() takes them.
        checkpoint: a directory to save checkpoints to, at the end and after an interrupt. The same
            call continues from there: steps and epochs then count from the beginning of the
            training, and an iterable is iterated up to where it continues.
        save_every: save also after every so many steps.
        resume: with `checkpoint`, of a session that has done no step: "auto" continues if there is
            a checkpoint, True demands one, False does not.
        patience: end after so many evaluations in a row without a better loss.
        log: a file of a line of JSON for each step and evaluation, which a training that is
            continued keeps.

        A step reads the batch of its number, counted over the session and the checkpoint that it
        resumed from. Ctrl-C ends the training after the step in progress with KeyboardInterrupt,
        whose `history` are the steps so far; the session can then save and train on.
        """
        if steps is not None and epochs is not None:
            raise InvalidArgumentError("expected steps or epochs, got both")
        loop = Loop(self, eval_data=eval_data, eval_every=eval_every, metrics=metrics,
                    checkpoint=checkpoint, save_every=save_every, patience=patience, log=log,
                    callbacks=callbacks, progress=progress)
        return loop.run(*self._batches(dataset, steps, epochs, shuffle), resume)

    def _names(self):
        return [value.name for value in self.program.inputs]

    def _batches(self, dataset, steps, epochs, shuffle):
        """A function that returns the batches of a train() after so many, and how many there are in
        all, or None."""
        if isinstance(dataset, Columns):
            if shuffle is not None:
                raise InvalidArgumentError("shuffle: zero.Columns has a shuffle of its own")
            total = steps if steps is not None else len(dataset) * (epochs or 1)
            return lambda done: islice(dataset.batches_from(done), max(total - done, 0)), total
        if isinstance(dataset, (Mapping, str, Path)):
            dataset = Dataset(self.program, dataset, shuffle=shuffle)
        elif shuffle is not None:
            raise InvalidArgumentError("shuffle: expected a dictionary of arrays or a path; an "
                                       "iterable and a Dataset have an order of their own")
        if isinstance(dataset, Dataset):
            if steps is None and not dataset.steps_per_epoch:
                raise BadDataError(f"the data has {dataset.samples} samples, and a global batch "
                                   f"{dataset.samples_per_step}: expected steps")
            total = steps if steps is not None else dataset.steps_per_epoch * (epochs or 1)
            return lambda done: repeat(dataset, max(total - done, 0)), total
        batches, total = passes(dataset, steps, epochs)
        return lambda done: islice(without_extras(self._names(), batches), done, None), total

    def evaluate(self, dataset, *, batches=None, metrics=None) -> float | dict[str, float]:
        """The mean loss over the samples of a dataset with the current weights: each counts once,
        as the loss weighs samples or labels, also those of an incomplete last batch.

        dataset: as train() takes it; it may also be smaller than a global batch, and so may the
            batches of an iterable.
        batches: only the first so many.
        metrics: functions by name. Each is called as function(outputs, batch) with dictionaries of
            arrays, outputs as predict() returns them, and returns a number for each sample or
            their mean. The result is then a dictionary of "loss" and the means over the samples.
            Of data in memory only.

        Runs only what the loss depends on, and changes nothing that a later step reads. Warns of
        batches without labels, of a loss that is not finite, and of samples that cannot be told
        from the others in their batch, which are left out.
        """
        total = native.load().Evaluation()
        means = Metrics(metrics, self._predicting()) if metrics else None
        for part, data, first, count in islice(self._evaluated(dataset), batches):
            self._session.evaluate(data, first, count, total)
            if means:
                means.add(part, first, count)
        if not total.batches:
            raise BadDataError("expected at least one batch, got none")
        warn(total.warnings())
        if metrics is None:
            return total.loss
        return {"loss": total.loss, **(means.means() if means else {})}

    def _evaluated(self, dataset):
        """A part of a dataset, its data, the first sample of a batch in it, and the number of its
        samples."""
        is_whole = isinstance(dataset, (Mapping, str, Path, Dataset))
        parts = [dataset] if is_whole else without_extras(self._names(), dataset)
        for part in parts:
            data = part
            if not isinstance(part, Dataset):
                data = Dataset(self.program, part, _evaluates=True)
            for first in range(0, data.samples, data.samples_per_step):
                yield part, data._data, first, min(data.samples_per_step, data.samples - first)

    def predict(self, dataset) -> dict[str, np.ndarray]:
        """The outputs of the model for all samples, in their order, with the current weights: by
        name those that have a row for each sample.

        dataset: arrays by input, or one array if there is one input beside the labels; or an
            iterable of such batches. They may have any number of samples. Labels may be left out
            if no output depends on them.

        A program that trains computes the loss only. Then the model is compiled once more, without
        training, and has a copy of the weights beside this session. Programs that zero.load()
        returns do not know their model: predict with one that was compiled with forward_only=True.
        """
        predictor = self._predicting()
        parts = without_extras(predictor.names, [dataset] if is_batch(dataset) else dataset)
        outputs = [predictor.predict(part)[0] for part in parts]
        if not outputs:
            raise BadDataError("expected at least one batch, got none")
        return {name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}

    def _predicting(self):
        """A Predictor with the current weights."""
        if self._predictor is None:
            trains = bool(self.program.optimizer)
            self._predictor = Predictor(Session(self.program.forward()) if trains else self)
        other = self._predictor.session
        if other is not self and not self._is_predictor_current:
            names = {value.name for value in other.program.tensors if value.saved}
            other.load_state_dict({name: value for name, value in self.state_dict().items()
                                   if name in names})
        self._is_predictor_current = True
        return self._predictor

    # Values

    def _read(self, value, read):
        array = empty(value)
        # The extension writes memory that is row-major, and not a scalar's.
        read(array.reshape(-1))
        return to_numpy(array, value.dtype)

    def output(self, name: str, rank: int = 0) -> np.ndarray:
        """An output of a rank after the last step or evaluation, as an array of the shape that
        program.outputs has. An evaluation computes only the loss and what it depends on."""
        value = _find(self.program.outputs, name, "output")
        return self._read(value, lambda buffer: self._session.read_output(name, rank, buffer))

    def tensor(self, name: str) -> np.ndarray:
        """A tensor of the program as a whole, optimizer state among them. A parameter that is
        stored in 16 bits is its float32 master copy, if there is one. bfloat16 becomes float32."""
        value = _find(self.program.tensors, name, "tensor")
        return self._read(value, lambda buffer: self._session.read_tensor(name, buffer))

    def gradient(self, name: str) -> np.ndarray:
        """The gradient of a parameter, summed over ranks and before clipping, after a step with
        keep_gradients."""
        value = _find(self.program.gradients, name, "gradient")
        return self._read(value, lambda buffer: self._session.read_gradient(name, buffer))

    def state_dict(self, *, tied: bool = False) -> dict[str, np.ndarray]:
        """The trained weights and buffers: arrays by the names of the model's tensors.

        tied: also by the further names of tied tensors, as a state_dict of PyTorch has them.

        bfloat16, which numpy does not have, becomes float32; load_state_dict() takes it back
        without a change.
        """
        state = {}
        for value in self.program.tensors:
            if value.saved:
                state[value.name] = self.tensor(value.name)
                state |= dict.fromkeys(value.aliases if tied else (), state[value.name])
        return state

    def load_state_dict(self, state, strict: bool = True) -> tuple[int, int, int]:
        """Takes the values of the saved tensors by name, all or none; optimizer state stays.

        state: arrays by name, as state_dict() or a module of PyTorch has them, or the path of a
            .safetensors or .npz. Floats of another width are converted.
        strict: missing tensors are an error, as those of another shape always are, and a warning
            names unknown ones, such as buffers that the program does not read.

        Returns the numbers of tensors that were taken, missing and unknown.
        """
        if isinstance(state, Mapping):
            dtypes = native.load().dtypes
            arrays = {name: readable(name, value, dtypes) for name, value in state.items()}
            counts = self._session.load_arrays(arrays, not strict)
        else:
            counts = self._session.load(str(state), not strict)
        warn(self._session.remarks())
        self._is_predictor_current = False
        return counts

    def save(self, path) -> None:
        """Writes the weights as .safetensors, or, if the name ends in .onnx, the model with new
        initializers, or, if it ends with a slash, the adapters of `lora` as a folder for PEFT. Files
        appear when they are complete."""
        self._session.save(str(path))

    @contextmanager
    def averages(self):
        """Trained parameters have their averages (`ema` of the compiler) inside of `with`:
        evaluate(), save() and tensor() see these. Steps and checkpoints are errors there."""
        self._session.use_averages(True)
        try:
            yield self
        finally:
            self._session.use_averages(False)

    def save_checkpoint(self, folder, *, wait: bool = True) -> Path:
        """Writes all state, the number of the step and the position in the data to
        folder/step-N, and keeps the last two there. Returns the path.

        wait: False copies the state to host memory, as much as the checkpoint has bytes, and writes
            it beside the next steps; the path exists some steps later. The next checkpoint, close()
            and finish_checkpoint() wait for it.
        """
        save = self._session.save_state if wait else self._session.start_save
        save(str(folder))
        warn(self._session.remarks())
        return Path(folder) / f"step-{self._steps:08}"

    def finish_checkpoint(self) -> None:
        """Waits until the checkpoint is complete that save_checkpoint(..., wait=False) began, if
        there is one. An error says why it could not be written."""
        self._session.finish_save()
        warn(self._session.remarks())

    def load_checkpoint(self, path, *, restart_data: bool = False) -> int:
        """Resumes from the newest complete checkpoint in a directory, or from `path` itself, saved
        with any stage, ranks and precision. Returns the number of steps done.

        restart_data: the next step reads the first batch; needed if the data has changed.
        """
        self._steps = self._session.load_state(str(path), restart_data)["step"]
        self._is_predictor_current = False
        warn(self._session.remarks())
        return self._steps

    def stats(self, rank: int = 0) -> dict:
        """Figures of a rank: steps and seconds in them, bytes of the arenas by tier, elements and
        bytes received from other ranks, volumes (these elements by axes, as Program.volumes has
        them by plan), bytes to and from the disk, use of lanes; with check_memory the measured
        peaks."""
        stats = self._session.stats(rank)
        return {**stats, "volumes": dict(zip(self.program.volumes, stats.pop("volume_elements")))}


Program._begin = Session


def _find(values, name, what):
    for value in values:
        if value.name == name:
            return value
    names = [value.name for value in values]
    few = ", ".join(f"'{each}'" for each in names[:8])
    raise NotFoundError(f"the program has no {what} '{name}'; it has {few or 'none'}"
                        + (f" and {len(names) - 8} more" if len(names) > 8 else ""))
