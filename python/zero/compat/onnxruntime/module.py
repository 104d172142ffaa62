"""Module: calls in training and in evaluation mode."""

import os
import weakref
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from .errors import TrainingError
from .graphs import TrainingModel, move_to_initializers, prune
from .runner import Files, Runner, join_calls, shapes_of
from .values import LazyArray, OrtValue, as_array, is_value


class _Call:
    """A call in training mode: its inputs, and its results as far as they are known."""

    def __init__(self, module, inputs, outputs):
        self.inputs, self._module = inputs, module
        self.known = {}
        self.results = [LazyArray(lambda name=name: self.value(name)) for name in outputs]
        # Results that have been dropped need not be computed.
        self._wanted = {name: weakref.ref(result) for name, result in zip(outputs, self.results)}

    def take_results(self):
        """The results, which only the caller has from now on."""
        results, self.results = self.results, None
        return results

    def value(self, name):
        if name not in self.known:
            self.known |= self._module.forward_of(self.inputs)
        return self.known[name]

    def settle(self, besides=()):
        """Computes what the caller still has and may read later, but for some outputs."""
        for name, result in self._wanted.items():
            if name not in besides and name not in self.known and result() is not None:
                self.value(name)


def _threads_of(options, ranks):
    """The threads of a rank that session options of onnxruntime ask for; without any, all usable
    cores for all ranks."""
    return (getattr(options, "intra_op_num_threads", 0)
            or max(1, len(os.sched_getaffinity(0)) // ranks))


def _load(path):
    try:
        return onnx.load(os.fspath(path))
    except DecodeError as error:
        raise TrainingError(f"'{path}': expected a model in the format of ONNX: {error}") from None


class Module:
    """A model with its parameters: trains and evaluates it.

    train_model_uri: the path of a training model of generate_artifacts, of Zero or of
        onnxruntime-training.
    state: the CheckpointState with the parameters.
    eval_model_uri: the path of the evaluation model; needed in evaluation mode and for exports.
    device: "cpu".
    session_options: an object with the attribute `intra_op_num_threads`; others are not read.
        Without it a session has all usable cores.
    flags: keywords of zero.compile() for the training step, such as `{"memory_budget": "1GiB"}`.

    Attributes:
        training: whether calls train or evaluate.
    """

    def __init__(self, train_model_uri, state, eval_model_uri=None, device="cpu",
                 session_options=None, *, flags=None):
        if device != "cpu":
            raise TrainingError(f"device: expected 'cpu', got '{device}'")
        if state._state.module is not None:
            raise TrainingError("expected a CheckpointState without a Module: load the checkpoint "
                                "once for each")
        self.training = True
        self._state = state._state
        self._flags = dict(flags or {})
        self._threads = _threads_of(session_options, self._flags.get("ranks", 1))
        self._model = TrainingModel(_load(train_model_uri))
        self._eval = None if eval_model_uri is None else _load(eval_model_uri)
        self._files = Files(self._state)
        self._forward = Runner(self._files, "forward", lambda _: self._model.forward(),
                               self._threads, forward_only=True)
        self._evaluation = Runner(self._files, "evaluation", lambda _: self._eval, self._threads,
                                  forward_only=True)
        self._trainer = self._gradients = None
        self._calls, self._called, self._is_stepped = [], None, False
        self._state.module = self

    # Calls

    def train(self, mode=True):
        """Calls train from now on, or evaluate if `mode` is False. Returns the module."""
        self.training = mode
        return self

    def eval(self):
        """Calls evaluate from now on. Returns the module."""
        return self.train(False)

    def __call__(self, *user_inputs):
        """The outputs for a batch: an array, or a tuple if there are several.

        user_inputs: arrays of numpy, or values of onnxruntime, in the order of input_names().

        In training mode this notes the batch for the next step of the optimizer. The outputs are
        arrays that are computed by this step, or when they are read before. In evaluation mode they
        are arrays of numpy. If no input is an array of numpy, they are of the class OrtValue.
        """
        names = self.input_names()
        if len(user_inputs) != len(names):
            raise TrainingError(f"expected {len(names)} inputs ({', '.join(names)}), got "
                                f"{len(user_inputs)}")
        # The caller may write to its arrays before the step reads them.
        inputs = {name: np.array(as_array(value)) for name, value in zip(names, user_inputs)}
        results = self._train(inputs) if self.training else self._evaluate(inputs)
        if all(is_value(value) for value in user_inputs):
            results = [OrtValue(result) for result in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _train(self, inputs):
        if self._is_stepped:
            raise TrainingError("expected lazy_reset_grad() after a step of the optimizer: "
                                "gradients cannot be added to those of an earlier step")
        self._state.values()
        self._check_unchanged()
        self._called = self._state.version
        self._calls.append(_Call(self, inputs, self._model.outputs))
        return self._calls[-1].take_results()

    def _evaluate(self, inputs):
        outputs = self.output_names()
        return list(self._run(self._evaluation, inputs, outputs).values())

    def _run(self, runner, inputs, outputs):
        session = runner.session(self._state, shapes_of(inputs))
        session.step(_read_by(session, inputs))
        return {name: session.output(name) for name in outputs}

    def forward_of(self, inputs):
        """The outputs of the training model for a batch, by name, with the present parameters."""
        return self._run(self._forward, inputs, self._model.outputs)

    def lazy_reset_grad(self):
        """Forgets the calls since the last step of the optimizer: the gradients begin at zero."""
        self.settle()
        self._calls, self._called, self._is_stepped = [], None, False

    def settle(self):
        """Computes the results of calls that a change of the parameters would change."""
        for call in self._calls:
            call.settle()

    def _check_unchanged(self):
        if self._calls and self._called != self._state.version:
            raise TrainingError("the parameters were changed after a call in training mode, whose "
                                "gradients the step computes: expected a step of the optimizer or "
                                "lazy_reset_grad() before")

    # The optimizer

    def attach(self, optimizer_path):
        """Makes the steps of an optimizer model possible."""
        self._trainer = self._stepper("step", optimizer_path)

    def _stepper(self, name, optimizer_path):
        return Runner(self._files, name, self._model.step, self._threads, self._model.step_flags,
                      ort_optimizer=optimizer_path, **self._flags)

    def step(self, rate):
        """Updates the parameters with the gradients of the calls since lazy_reset_grad()."""
        if not self._calls:
            raise TrainingError("expected a call of the module in training mode before a step of "
                                "the optimizer")
        self._check_unchanged()
        calls, loss = self._calls, self._model.outputs[0]
        for call in calls:
            # The loss of a step of one call is that of the call.
            call.settle(besides=(loss,) if len(calls) == 1 else ())
        batch = join_calls([call.inputs for call in calls])
        session = self._trainer.session(self._state, shapes_of(calls[0].inputs), len(calls))
        session.learning_rate = rate
        result = session.step(_read_by(session, batch))
        if len(calls) == 1:
            calls[0].known.setdefault(loss, self._model.loss_of(result.loss))
        self._calls, self._is_stepped = [], True
        self._state.step_done(self._parameters)
        self._trainer.updated(self._state.version)

    def _parameters(self):
        """The parameters in the session that trains them."""
        return self._trainer.values(self._state.names())

    def read_optimizer(self):
        """Reads the moments of the session into the state, if it has some."""
        if self._trainer is None:
            return
        file, moments = self._state.file, ("momentum0", "momentum1")
        values = self._trainer.values([f"{name}.{moment}" for name in file.trained
                                       for moment in moments])
        if values:
            file.moments = {name: {moment: values[f"{name}.{moment}"] for moment in moments}
                            for name in file.trained}

    def gradients(self):
        """The sums of the gradients of the calls since lazy_reset_grad() by parameter; empty if
        there are none, or if the optimizer has made a step since."""
        if not self._calls:
            return {}
        self._check_unchanged()
        if self._gradients is None:
            self._gradients = self._stepper("gradients", self._files.write_model(_sgd(), "sgd"))
        batch = join_calls([call.inputs for call in self._calls])
        session = self._gradients.session(self._state, shapes_of(self._calls[0].inputs),
                                          len(self._calls))
        session.learning_rate = 0.0
        session.step(_read_by(session, batch), keep_gradients=True)
        return {name: session.gradient(name) for name in self._model.trained}

    # Parameters

    def _buffer_names(self, trainable_only):
        """The parameters that a buffer has, in its order."""
        state = self._state.file
        known = state.trained if trainable_only else state.trained | state.frozen
        return [value.name for value in self._model.model.graph.input if value.name in known]

    def get_parameters_size(self, trainable_only=True):
        """The number of elements of the parameters that are trained, or of all."""
        values = self._state.file.trained | self._state.file.frozen
        return sum(values[name].size for name in self._buffer_names(trainable_only))

    def get_contiguous_parameters(self, trainable_only=False):
        """The elements of all parameters, or of those that are trained, one after the other: an
        OrtValue of float32 with one dimension."""
        values = self._state.values()
        parts = [np.ravel(values[name]) for name in self._buffer_names(trainable_only)]
        return OrtValue(np.concatenate(parts).astype(np.float32, copy=False))

    def copy_buffer_to_parameters(self, buffer, trainable_only=True):
        """Takes the parameters from a buffer as get_contiguous_parameters() returns it.

        buffer: an OrtValue, one of onnxruntime, or an array, of float32.

        Raises TrainingError if it has another number of elements.
        """
        array, offset, values = np.ravel(as_array(buffer)), 0, {}
        if array.size != self.get_parameters_size(trainable_only):
            raise TrainingError(f"expected a buffer of {self.get_parameters_size(trainable_only)} "
                                f"elements, got {array.size}")
        known = self._state.file.trained | self._state.file.frozen
        for name in self._buffer_names(trainable_only):
            size = known[name].size
            values[name] = array[offset:offset + size].reshape(known[name].shape)
            offset += size
        self._state.write(values)

    # Models

    def export_model_for_inferencing(self, inference_model_uri, graph_output_names):
        """Writes the part of the evaluation model that some values depend on, with the parameters
        as initializers.

        graph_output_names: names of values of the evaluation model, such as its outputs without
            the loss.
        """
        model = prune(self._evaluation_model(), list(graph_output_names))
        move_to_initializers(model, self._state.values())
        onnx.save(model, Path(inference_model_uri))

    def _evaluation_model(self):
        if self._eval is None:
            raise TrainingError("expected a Module with eval_model_uri: without it there is no "
                                "evaluation, and no export for inference")
        return self._eval

    def input_names(self):
        """The names of the inputs of a call, in their order."""
        if self.training:
            return self._model.inputs(self._state.names())
        known = set(self._state.names())
        return [value.name for value in self._evaluation_model().graph.input
                if value.name not in known]

    def output_names(self):
        """The names of the outputs of a call, in their order."""
        if self.training:
            return list(self._model.outputs)
        return [value.name for value in self._evaluation_model().graph.output]


def _sgd():
    """An optimizer model that changes nothing at a rate of 0."""
    from .artifacts import OptimType, optimizer_model
    return optimizer_model(OptimType.SGD)


def _read_by(session, batch):
    """The arrays that a program has inputs for. A model may have some that nothing depends on."""
    names = {value.name for value in session.program.inputs}
    return {name: array for name, array in batch.items() if name in names}
