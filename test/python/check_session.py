"""Sessions of the Python package: steps, data, weights, checkpoints, errors, signals.

usage: check_session.py DATA WORK
"""

import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections import namedtuple
from pathlib import Path

import ml_dtypes
import numpy as np

import zero
from zero.errors import class_of
from zero.native import load as load_native
from zero.progress import line_of
from zero_test import Checks, Graph, read_safetensors, run_tool

ROOT = Path(__file__).resolve().parents[2]
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "weight_decay": 0.01}


class Foreign:
    """An array of another library: nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice(Foreign):
    """An array of a GPU."""

    def __dlpack_device__(self):
        return 2, 0


def compile_model(data, name, work, **flags):
    return zero.compile(Path(data) / name / "model.onnx", output=work / f"{name}.zexe",
                        **{**ADAMW, **flags})


def losses_of(session, batch, steps):
    return [session.step(batch).loss for _ in range(steps)]


def same_state(left, right):
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype and left[name].tobytes() == right[name].tobytes()
        for name in left)


def check_steps(checks, program, graph):
    truth = graph.truth["adamw_losses"]
    with program.session() as session:
        results = [session.step(graph.inputs) for _ in truth]
    losses = [result.loss for result in results]
    checks.that(np.allclose(losses, truth, rtol=2e-5), f"losses {losses}, PyTorch's are {truth}")
    checks.that([result.step for result in results] == list(range(len(truth))), "numbers of steps")
    checks.that(all(result.learning_rate == np.float32(1e-3) and result.seconds > 0
                    and not result.skipped and result.gradient_norm is None for result in results),
                f"figures: {results[0]}")
    return losses


def check_arrays(checks, program, graph, losses):
    """Other libraries, orders, widths and byte orders give the same losses, without a copy."""
    batch = graph.inputs
    ids, labels = batch["input_ids"], batch["labels"]
    for label, other in {
            "DLPack": {name: Foreign(value) for name, value in batch.items()},
            "read-only": {"input_ids": np.frombuffer(ids.tobytes(), np.int64).reshape(ids.shape),
                          "labels": labels},
            "order of columns": {"input_ids": np.asfortranarray(ids), "labels": labels[::1]},
            "steps": {"input_ids": np.repeat(ids, 2, 1)[:, ::2], "labels": labels},
            "narrow": {"input_ids": ids.astype(np.uint16), "labels": labels.astype(np.int32)},
            "big-endian": {"input_ids": ids.astype(">i8"), "labels": labels},
            "lists": {"input_ids": ids.tolist(), "labels": labels.tolist()}}.items():
        with program.session() as session:
            got = losses_of(session, other, 2)
        checks.that(got == losses[:2], f"{label}: losses {got}, not {losses[:2]}")
    for make in (lambda array: array, Foreign):
        views = {"input_ids": np.zeros_like(ids), "labels": np.zeros_like(labels)}
        dataset = zero.Dataset(program, {name: make(view) for name, view in views.items()})
        views["input_ids"][:], views["labels"][:] = ids, labels
        with program.session() as session:
            checks.that(session.step(dataset).loss == losses[0], f"{make}: the array was copied")


def check_bfloat16(checks, data, work):
    program = compile_model(data, "mlp", work, ranks=1)
    truth = np.load(Path(data) / "mlp/groundtruth.npz")
    half = truth["input.x"].astype(ml_dtypes.bfloat16)
    with program.session() as session:
        got = session.step({"x": half, "labels": truth["input.labels"]}).loss
    with program.session() as session:
        wide = session.step({"x": half.astype(np.float32), "labels": truth["input.labels"]}).loss
    checks.that(got == wide, f"bfloat16: loss {got}, not {wide}")
    # Parameters that are stored in bf16 without a master copy come back exactly, too.
    frozen = compile_model(data, "mlp", work / "frozen", freeze=["fc1.*"], frozen_precision="bf16")
    with frozen.session() as session, frozen.session() as other:
        session.step({"x": half, "labels": truth["input.labels"]})
        state = session.state_dict()
        types = {value.dtype for value in frozen.parameters}
        checks.that(types == {"float32", "bfloat16"}, f"types of parameters: {types}")
        checks.that({array.dtype for array in state.values()} == {np.dtype(np.float32)}, "types")
        other.load_state_dict(state)
        checks.that(same_state(state, other.state_dict()), "bf16 parameters change")


def check_train(checks, program, graph, losses):
    """Every form of a dataset trains alike; epochs, steps and callbacks end a training."""
    batch = graph.inputs
    npz = graph.folder / "groundtruth.npz"
    files = {name: graph.work / f"{name}.npy" for name in batch}
    for label, dataset, keywords in (
            ("arrays", batch, {"steps": 4}), ("npz", npz, {"steps": 4}),
            ("files", files, {"steps": 4}), ("batches", [batch] * 4, {}),
            ("passes", [batch] * 2, {"epochs": 2}), ("repeated", [batch], {"steps": 4}),
            ("generator", (batch for _ in range(4)), {}),
            ("tuples", [tuple(batch.values())] * 4, {}), ("lists", [[*batch.values()]] * 4, {}),
            ("namedtuples", [namedtuple("Batch", reversed(batch))(**batch)] * 4, {}),
            ("more than steps", (batch for _ in range(9)), {"steps": 4}),
            ("Dataset", zero.Dataset(program, batch), {"steps": 4})):
        with program.session() as session:
            history = session.train(dataset, progress=False, **keywords)
        checks.that(history.losses == losses[:4], f"{label}: {history.losses}, not {losses[:4]}")
    seen = []
    with program.session() as session:
        history = session.train([batch] * 9, progress=False, callbacks=[
            lambda who, result: seen.append((who.steps, result.loss)),
            lambda who, result: result.step < 2])
    checks.that(seen == [(i + 1, losses[i]) for i in range(3)], f"callbacks: {seen}")
    checks.that(len(history) == 3 and session.steps == 3, f"{history}")


def check_batches(checks, program, graph):
    """Batches that do not fit, and too few of them, are errors that say what to give."""
    ids, labels = graph.inputs["input_ids"], graph.inputs["labels"]
    batch = {"input_ids": ids, "labels": labels}

    def refuses(kind, words, dataset, **keywords):
        with program.session() as session:
            for word in words:
                check_raises(checks, kind, word, lambda: session.train(
                    dataset() if callable(dataset) else dataset, progress=False, **keywords))

    refuses(zero.InvalidArgumentError, ["epochs=2", "got a generator", "without epochs="],
            lambda: (batch for _ in range(4)), epochs=2)
    refuses(zero.BadDataError, ["expected 4 batches, got 2", "generator is at its end"],
            lambda: (batch for _ in range(2)), steps=4)
    refuses(zero.BadDataError, ["expected batches in epoch 1, got none", "list"], [])
    refuses(zero.BadDataError, ["2 arrays for the inputs 'input_ids', 'labels', in this order",
                                "got 3", "a dictionary by name"], [(ids, labels, ids)])
    refuses(zero.BadDataError, ["got 1"], [ids])
    refuses(zero.BadDataError, ["got a list with tuple", "collate_fn"], [[(ids, labels)] * 2])
    refuses(zero.BadDataError, ["a tuple of them in the order", "got int"], [3])
    refuses(zero.NotFoundError, ["no input 'ids'", "must be left out: {name: batch[name] for name "
                                 "in ('input_ids', 'labels')}"], {**batch, "ids": ids})
    refuses(zero.InvalidArgumentError, ["no data for input 'labels'", "a mask of ones"],
            [{"input_ids": ids}])
    refuses(zero.BadDataError, ["expected int64 [*, 32], got int64 [8, 16]", "pad or cut the rows",
                                "shape={'input_ids': (4, 16)}"],
            [{"input_ids": ids[:, :16], "labels": labels[:, :16]}])


def check_epochs(checks, data, work):
    """Data of several batches: an epoch has all, shuffled or not; evaluate() is the mean over all
    samples."""
    program = compile_model(data, "mlp", work, ranks=2, shape=None)
    truth = np.load(Path(data) / "mlp/groundtruth.npz")
    generator = np.random.default_rng(0)
    whole = {"x": generator.standard_normal((200, 784), np.float32),
             "labels": generator.integers(0, 10, 200)}
    dataset = zero.Dataset(program, whole)
    checks.that((dataset.samples, dataset.samples_per_step, dataset.steps_per_epoch)
                == (200, 64, 3), "size of the dataset")
    parts = [{name: value[i * 64:(i + 1) * 64] for name, value in whole.items()} for i in range(3)]
    with program.session() as one, program.session() as other:
        each = [one.evaluate(part) for part in parts]
        first = {name: value[:192] for name, value in whole.items()}
        checks.that(one.evaluate(first) == sum(each) / 3 == one.evaluate(parts), "evaluate")
        checks.that(one.evaluate(whole, batches=1) == each[0], "evaluate a part")
        check_rest(checks, one, whole)
        left = one.train(whole, epochs=2, progress=False).losses
        right = other.train(parts, epochs=2, progress=False).losses
        checks.that(len(left) == 6 and left == right, f"epochs: {left}, {right}")
    with program.session() as one, program.session() as other, program.session() as third:
        left = one.train(whole, progress=False, shuffle=1).losses
        right = other.train(whole, progress=False, shuffle=1).losses
        checks.that(left == right != third.train(whole, progress=False).losses, "shuffle")
    with program.session() as session, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.step({"x": truth["input.x"][:8], "labels": truth["input.labels"][:8]})
    checks.that([str(each.message) for each in caught] == [
        "input 'x' has 8 samples, a global batch 64: samples are repeated within a batch"],
        f"warnings: {caught}")
    checks.that(caught and caught[0].filename == __file__, "the warning names the caller's line")


def check_rest(checks, session, whole):
    """An incomplete batch counts once, in data and in an iterable, wherever it is cut."""
    def cut(*ends):
        return [{name: value[begin:end] for name, value in whole.items()}
                for begin, end in zip((0, *ends), (*ends, 200))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ways = [session.evaluate(whole)] + [
            session.evaluate(iter(cut(*ends))) for ends in ((64, 128, 192), (50, 110, 127, 190))]
        single = [session.evaluate(each) for each in cut(*range(1, 200))]
    for loss in ways:
        checks.that(abs(loss - np.mean(single)) < 1e-6 * np.mean(single),
                    f"evaluate the rest: {loss}, expected {np.mean(single)}")


def check_state(checks, program, graph):
    """Weights are bitwise those of zero-run, and come back."""
    saved = graph.work / "tool.safetensors"
    run_tool("zero-run", program.path, graph.data_flag, "--steps=3", "--quiet", f"--save={saved}",
             f"--save-state={graph.work / 'tool-state'}")
    with program.session() as session:
        session.train(graph.inputs, steps=3, progress=False)
        state = session.state_dict()
        checks.that(same_state(state, read_safetensors(saved)), "state_dict is not zero-run's")
        session.save(graph.work / "python.safetensors")
        checks.that((graph.work / "python.safetensors").read_bytes() == saved.read_bytes(),
                    "save() is not that of zero-run")
        session.save(graph.work / "trained.onnx")
        following = losses_of(session, graph.inputs, 2)
        first = session.evaluate(graph.inputs)
    check_tied(checks, program, state)
    with program.session(weights=state) as session:
        checks.that(same_state(state, session.state_dict()), "the round trip changes weights")
        foreign = {name: Foreign(value) for name, value in state.items()}
        checks.that(session.load_state_dict(foreign) == (len(state), 0, 0), "counts")
    with zero.Session(program.path, weights=saved) as session:
        checks.that(same_state(state, session.state_dict()), "weights of a file")
    with program.session(resume=graph.work / "tool-state") as session:
        checks.that(session.steps == 3, f"resumed at {session.steps}")
        checks.that(losses_of(session, graph.inputs, 2) == following, "resumed from zero-run")
        folder = graph.work / "python-state"
        path = session.save_checkpoint(folder)
        checks.that(path == folder / "step-00000005" and path.is_dir(), f"checkpoint: {path}")
        beside = session.save_checkpoint(graph.work / "beside-state", wait=False)
        expected = losses_of(session, graph.inputs, 2)
        session.finish_checkpoint()
        checks.that(all((beside / file.name).read_bytes() == file.read_bytes()
                        for file in path.iterdir()), "a checkpoint beside steps has other bytes")
    with program.session() as session:
        checks.that(session.load_checkpoint(folder) == 5, "step of the checkpoint")
        checks.that(session.evaluate(graph.inputs) == first, "evaluation after resuming")
        checks.that(losses_of(session, graph.inputs, 2) == expected, "resumed from Python")
    compiled = zero.compile(graph.work / "trained.onnx", stage=3, ranks=2, **ADAMW)
    with compiled.session() as session:
        checks.that(same_state(state, session.state_dict()), "weights of the saved model")


def check_averages(checks, data, work, graph):
    """Inside of averages(), parameters have their averages; behind it, their own values."""
    for folder in ("averages", "plain"):
        (work / folder).mkdir()
    program = compile_model(data, "gpt2-tiny", work / "averages", stage=1, ranks=2, ema=0.5)
    name = "model.lm_head.weight"
    with program.session() as session:
        session.train(graph.inputs, steps=3, progress=False)
        before, average = session.state_dict(), session.tensor(f"{name}.average")
        own = session.evaluate(graph.inputs)
        with session.averages():
            checks.that(np.array_equal(session.tensor(name), average), "the average of a parameter")
            checks.that(session.evaluate(graph.inputs) != own, "an evaluation of averages")
            averages = session.state_dict()
            for what, call in (("step", lambda: session.step(graph.inputs)),
                               ("checkpoint", lambda: session.save_checkpoint(work / "no-state")),
                               ("weights", lambda: session.load_state_dict(before))):
                check_raises(checks, zero.InvalidArgumentError,
                             f"{what}: parameters have the values of their averages", call)
        checks.that(same_state(before, session.state_dict()), "parameters behind averages()")
        checks.that(session.evaluate(graph.inputs) == own, "an evaluation behind averages()")
    with program.session(weights=averages) as session:
        checks.that(np.array_equal(session.tensor(f"{name}.average"), session.tensor(name)),
                    "weights that are loaded begin an average")
    with compile_model(data, "gpt2-tiny", work / "plain", stage=1, ranks=2).session() as session:
        check_raises(checks, zero.UnsupportedError, "compile with --ema", session.averages().__enter__)


def check_tied(checks, program, state):
    """The head of the model is its embedding, too: the state has both names if asked."""
    first, other = "model.lm_head.weight", "model.transformer.wte.weight"
    with program.session(weights=state) as session:
        tied = session.state_dict(tied=True)
        checks.that(tied.keys() - state.keys() == {other} and tied[other] is tied[first], "tied")
        checks.that(session.load_state_dict(tied)[1:] == (0, 0), "a state with both names")
        renamed = {other if name == first else name: value for name, value in state.items()}
        checks.that(session.load_state_dict(renamed)[1:] == (0, 0), "a state with the other name")
        checks.that(same_state(session.state_dict(), state), "names change values")
        check_raises(checks, zero.BadDataError, "tied in the model, but not equal",
                     lambda: session.load_state_dict({**tied, other: tied[other] + 1}))


def check_values(checks, program, graph):
    with program.session() as session:
        loss = session.step(graph.inputs, keep_gradients=True).loss
        checks.that(float(session.output("loss")) == np.float32(loss), "output")
        for value in program.gradients:
            expected = graph.truth[f"grad.{value.name}"]
            got = session.gradient(value.name)
            checks.that(got.shape == value.shape == expected.shape
                        and np.allclose(got, expected, rtol=1e-3, atol=1e-5),
                        f"gradient of {value.name}")
        before = session.tensor("model.lm_head.weight")
        session.learning_rate = 0.5
        checks.that(session.step(graph.inputs).learning_rate == 0.5, "learning rate")
        change = np.abs(session.tensor("model.lm_head.weight") - before).max()
        checks.that(change > 0.1, f"a learning rate of 0.5 changes weights by {change}")
        stats = session.stats(1)
        checks.that(stats["steps"] == 2 and stats["arena_bytes"]["device"]
                    == program.certificate.peak, f"stats: {stats}")
        checks.that(stats["model_elements"] == 2 * program.info["planned_elements"], "elements")


def check_adapters(checks, data, graph):
    """Adapters of `lora` are saved as a folder; another program has none to save there."""
    program = compile_model(data, "gpt2-tiny", graph.work, stage=3, ranks=2, lora="c_attn",
                            lora_rank=2)
    folder = graph.work / "adapter"
    with program.session() as session:
        session.step(graph.inputs)
        session.save(f"{folder}/")
        trained = session.state_dict()
    saved = read_safetensors(folder / "adapter_model.safetensors")
    checks.that(len(saved) == 4 and all(np.array_equal(value, trained[name])
                                        for name, value in saved.items()),
                f"saved {sorted(saved)} of {sorted(trained)}")
    config = json.loads((folder / "adapter_config.json").read_text())
    checks.that(config["r"] == 2 and config["target_modules"] == ["c_attn"], f"{config}")


def check_raises(checks, kind, word, function):
    try:
        function()
        checks.that(False, f"{kind.__name__}: no error")
    except zero.ZeroError as error:
        checks.that(type(error) is kind and word in str(error),
                    f"expected {kind.__name__} with '{word}', got {type(error).__name__}: {error}")


def check_errors(checks, program, graph, work):
    batch = graph.inputs
    header = (ROOT / "runtime/include/zero_rt/zero_rt.h").read_text()
    codes = re.findall(r"^  (ZERO_RT_\w+)", header[header.index("typedef enum zero_rt_code"):
                                                   header.index("} zero_rt_code;")], re.MULTILINE)
    classes = [class_of(number) for number in range(1, len(codes))]
    checks.that(len(set(classes)) == len(codes) - 1 and all(
        issubclass(each, zero.ZeroError) for each in classes), f"a class for each of {codes}")
    (work / "text.zexe").write_text("not an executable")
    check_raises(checks, zero.BadFileError, "text.zexe", lambda: zero.load(work / "text.zexe"))
    with program.session() as session:
        def raises(kind, word, function):
            check_raises(checks, kind, word, function)
        raises(zero.NotFoundError, "no input 'z'", lambda: session.step({**batch, "z": 1}))
        raises(zero.InvalidArgumentError, "no data for input", lambda: session.step({}))
        raises(zero.BadDataError, "expected int64 [*, 32], got float64",
               lambda: session.step({**batch, "labels": batch["labels"] * 1.5}))
        raises(zero.BadDataError, "expected numbers",
               lambda: session.step({**batch, "labels": np.array(["a"])}))
        raises(zero.BadDataError, "got an array of complex64",
               lambda: session.step({**batch, "labels": batch["labels"].astype(np.complex64)}))
        raises(zero.BadDataError, "in the memory of this process, got OnDevice on another",
               lambda: session.step({**batch, "labels": OnDevice(batch["labels"])}))
        raises(zero.BadDataError, "expected a batch of 8 samples, got 24", lambda: session.step(
            {name: np.tile(value, (3, 1)) for name, value in batch.items()}))
        raises(zero.BadDataError, "expected steps", lambda: session.train(
            {name: value[:4] for name, value in batch.items()}))
        raises(zero.IoError, "No such file", lambda: session.save(work / "no/where.safetensors"))
        raises(zero.NotFoundError, "nothing", lambda: session.load_checkpoint(work / "nothing"))
        raises(zero.NotFoundError, "no tensor 'x'", lambda: session.tensor("x"))
        raises(zero.BadDataError, "do not fit the model",
               lambda: session.load_state_dict({"model.lm_head.weight": np.zeros(3, np.float32)}))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            counts = session.load_state_dict({**session.state_dict(), "x": np.zeros(3)})
        checks.that(counts[1:] == (0, 1) and
                    ["1 that the model does not have: 'x'" in str(w.message) for w in caught] == [True],
                    f"strict: {counts}, {[str(w.message) for w in caught]}")
        counts = session.load_state_dict({**session.state_dict(), "x": np.zeros(3)}, strict=False)
        checks.that(counts[1:] == (0, 1), f"not strict: {counts}")
        session.step(batch)  # none of these ends a session
        raises(zero.CheckFailedError, "must lie in [0, 512)",
               lambda: session.step({**batch, "labels": batch["labels"] + 1000}))
        raises(zero.AbortedError, "the session has ended", lambda: session.step(batch))
        session.state_dict()
    check_raises(checks, zero.InvalidArgumentError, "is closed", lambda: session.step(batch))
    with program.session(stall_rank=1, stall_collective=0, timeout=0.5) as session:
        check_raises(checks, zero.RankTimeoutError, "rank", lambda: session.step(batch))
    check_raises(checks, zero.UnsupportedError, "cuda", lambda: program.session(device="cuda"))
    check_raises(checks, zero.InvalidArgumentError, "algorithms of products on GPUs",
                 lambda: program.session(gpu_algorithms=work / "algorithms.json"))
    with program.session(learning_rate=1e38) as session:
        check_raises(checks, zero.NotFiniteError, "loss",
                     lambda: session.train(batch, steps=5, progress=False))


def check_threads(checks, program, graph):
    """Another thread of Python runs while a step does."""
    stamps, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            stamps.append(time.perf_counter())
            time.sleep(1e-4)

    dataset = zero.Dataset(program, graph.inputs)
    thread = threading.Thread(target=count)
    with program.session() as session:
        thread.start()
        inside = 0
        for _ in range(20):
            begin = time.perf_counter()
            session._session.step(dataset._data, False)  # nothing of Python in between
            end = time.perf_counter()
            inside += sum(begin < stamp < end for stamp in list(stamps))
        stop.set()
        thread.join()
    checks.that(inside > 20, f"another thread ran {inside} times in 20 steps")


def check_interrupt(checks, program, graph, losses):
    """The first SIGINT ends a training after its step; the session goes on."""
    def interrupt(session, result):
        if result.step == 2:
            threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

    # lit starts its tests with the signal ignored, and what is ignored stays so.
    before = signal.default_int_handler
    signal.signal(signal.SIGINT, before)
    with program.session() as session:
        try:
            session.train(graph.inputs, steps=1000, progress=False, callbacks=[interrupt])
            checks.that(False, "no KeyboardInterrupt")
        except KeyboardInterrupt as error:
            done = len(error.history)
            checks.that(3 <= done < 100 and session.steps == done, f"interrupted after {done}")
            checks.that(error.history.losses[:11] == losses[:done], "losses before the interrupt")
        checks.that(signal.getsignal(signal.SIGINT) is before, "the handler stays")
        path = session.save_checkpoint(graph.work / "interrupted")
        checks.that(path.name == f"step-{done:08}" and path.is_dir(), f"{path}")
        session.step(graph.inputs)


def check_progress(checks):
    for line, expected in (
            (line_of(3, 10, 1.5, "loss=9.0600", 70),
             " 30%|█████▋             | 3/10 [00:01<00:03,  2.00step/s, loss=9.0600]"),
            (line_of(10, 10, 20, "", 60),
             "100%|█████████████████████| 10/10 [00:20<00:00,  2.00s/step]"),
            (line_of(0, 10, 0, "", 40), "  0%|          | 0/10 [00:00<?, ?step/s]"),
            (line_of(7, 0, 3.5, "loss=1", 60), "7step [00:03,  2.00step/s, loss=1]")):
        checks.that(line == expected, f"progress: '{line}', not '{expected}'")


def check_work(checks, program):
    """Work on weights is reported, from whatever thread."""
    seen = []
    with program.session(progress=lambda *figures: seen.append(figures)) as session:
        session.load_state_dict(session.state_dict())
    checks.that(seen and seen[-1][1] == seen[-1][2] > 0, f"progress of the work: {seen}")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    (work / "frozen").mkdir(parents=True)
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work / "graph")
    for name, value in graph.inputs.items():  # a global batch of two ranks
        graph.set_input(name, np.concatenate([value, value]))
    program = compile_model(data, "gpt2-tiny", work, stage=3, ranks=2)
    losses = check_steps(checks, program, graph)
    check_arrays(checks, program, graph, losses)
    check_bfloat16(checks, data, work)
    check_train(checks, program, graph, losses)
    check_batches(checks, program, graph)
    check_epochs(checks, data, work)
    check_state(checks, program, graph)
    check_averages(checks, data, work, graph)
    check_values(checks, program, graph)
    check_adapters(checks, data, graph)
    check_errors(checks, program, graph, work)
    check_threads(checks, program, graph)
    check_interrupt(checks, program, graph, losses)
    check_progress(checks)
    check_work(checks, program)
    checks.that(load_native().__version__ == zero.__version__ == "0.1.0", "version")
    checks.finish()


if __name__ == "__main__":
    main()
