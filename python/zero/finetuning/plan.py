"""The plan of a fine-tuning: its choices, the compiled program, memory, time and bytes written."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..compiler import automatic_flags, compile
from ..errors import CompileError, InvalidArgumentError
from ..flags import arguments_of
from ..session import Program, load
from ..text.command import left_out
from ..text.writer import replace_json
from ..values import bytes_text
from . import defaults
from .data import prepare
from .model import Model, read_model
from .rows import Rows, choose_rows, rows_of
from .settings import CALL, FREE, KEYS, flag_text

_FORMAT, _VERSION = "zero-finetune", 1
# What the flags that `zero-run --auto` adds are.
_AUTOMATIC = {"machine": "the speed of this machine, measured once",
              "ram_budget": "90 % of the available memory",
              "host_budget": "10 % of the available memory",
              "memory_budget": "75 % of the available memory",
              "nvme_budget": "no disk without --nvme-dir"}


def clock(seconds):
    """Seconds as people read them: "3 h 05 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


@dataclass
class Places:
    """Where the files of a run are, below the folder that it writes."""
    out: Path

    def __post_init__(self):
        self.work = self.out / "training"
        self.tokens = self.work / "tokens"
        self.record = self.work / "run.json"
        self.program = self.work / "model.zexe"
        self.state = self.work / "state"
        self.log = self.work / "log.jsonl"
        self.result = self.work / "result.json"

    def has_begun(self):
        """Whether there is state of training, or a result of it."""
        return self.result.exists() or any(self.state.glob("step-*"))


@dataclass
class Plan:
    """What a fine-tuning does. str() is the text that `--dry-run` prints.

    Attributes:
        model: the Model that is trained.
        places: of its files.
        choices: the Choices, by name.
        program: the compiled zero.Program.
        train, evaluation: manifests of the documents; the second may be None.
        rows: the Rows of the trained documents.
        held_out: those of the others, or None.
        shape: of a micro-batch of a rank, as "4x128": documents by tokens.
        process: bytes of the process as the compiler has them: `arenas` and `beside`; and of
            `python`, which it does not count. None on GPUs.
    """
    model: Model
    places: Places
    choices: defaults.Choices
    program: Program
    train: dict
    evaluation: dict | None
    rows: Rows
    held_out: Rows | None
    shape: str
    process: dict | None = None

    @property
    def steps(self):
        return self.choices.value("steps")

    @property
    def step_seconds(self):
        """Of a step, as the compiler estimates it for this machine; None without an estimate."""
        estimate = self.program.estimate
        return estimate and estimate["seconds"]

    @property
    def evaluations(self):
        """How many there are: before the first step, every so many, and after the last."""
        every = self.choices.value("eval_every")
        return 1 + -(-self.steps // every) if self.evaluation else 0

    @property
    def seconds(self):
        """Of the whole run. An evaluation runs the forward pass, a third of a step."""
        if not self.step_seconds:
            return None
        held_out = self.held_out.count if self.held_out else 0
        batches = self.evaluations * held_out / self.choices.value("batch")
        return self.step_seconds * (self.steps + batches / 3)

    def __str__(self):
        return "\n".join([self._documents(), f"rows: {self.rows}", *left_out(self.train),
                          "choices, each as the flag that changes it:",
                          *map(str, self.choices.values()), *self._memory(), self._time(),
                          self._written()])

    def _documents(self):
        held = (f", {self.evaluation['documents']:,} held out" if self.evaluation else
                ", none held out")
        return (f"{self.model.folder}: {self.train['documents']:,} documents of "
                f"{self.train['tokens']:,} tokens to train{held}")

    def _memory(self):
        if self.process:
            whole = self.process["arenas"] + self.process["beside"]
            python = self.process["python"]
            budget = str(self.choices.value("ram_budget", ""))
            of = bytes_text(int(budget)) if budget.isdigit() else budget
            yield (f"memory of the process: at most {bytes_text(whole)}"
                   + (f", of a budget of {of}" if of else "")
                   + (f", and {bytes_text(python)} of Python" if python else ""))
        for tier in self.program.certificate.values():
            roles = ", ".join(f"{role} {bytes_text(size)}" for role, size in tier.most.items()
                              if size)
            yield f"  {tier.tier}: {bytes_text(tier.peak)} of each rank; at most {roles}"

    def _time(self):
        if not self.step_seconds:
            return f"time: {self.steps} steps; no estimate for this device"
        return (f"time: {clock(self.seconds)} for {self.steps} steps of "
                f"{self.step_seconds:.3g} s and {self.evaluations} evaluations, by the "
                f"compiler's estimate")

    def _written(self):
        stored = [value for value in self.program.tensors if value.role != "constants"]
        state = sum(map(_bytes_of, stored))
        is_whole = self.choices.value("method") == "full"
        weights = sum(_bytes_of(value) for value in stored
                      if value.saved and (is_whole or not value.frozen))
        saves = -(-self.steps // self.choices.value("save_every"))
        tier = self.program.info["nvme_written"] * self.program.ranks * self.steps
        whole = saves * state + tier + weights
        parts = [f"{saves} checkpoint{'s' if saves > 1 else ''} of at most {bytes_text(state)}",
                 f"{bytes_text(weights)} of weights"]
        if tier:
            parts.append(f"{bytes_text(tier)} by the nvme tier")
        return f"written to the drive: {bytes_text(whole)}, {', '.join(parts)}"


def _python_bytes():
    """What this process takes before it trains, without files; 0 if the system does not say."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _bytes_of(value):
    sizes = {"bfloat16": 2}
    size = sizes.get(value.dtype) or np.dtype(value.dtype).itemsize
    return size * int(np.prod(value.shape, dtype=np.int64))


#===-----------------------------------------------------------------------===#
# The record of a run
#===-----------------------------------------------------------------------===#

def _described(model, corpus, settings):
    """What a run is, as far as a resumed one must not change it."""
    return {"model": str(Path(model).resolve()),
            "corpus": [str(Path(path).resolve()) for path in corpus],
            "settings": {name: value for name, value in settings.items() if name not in FREE}}


def _difference(was, now):
    """The first difference between two descriptions, or None."""
    for part in ("model", "corpus"):
        if was[part] != now[part]:
            return f"{part} was {was[part]}, and is {now[part]}"

    def text(settings, name):
        return flag_text(name, settings[name]) if name in settings else "not given"
    old, new = was["settings"], now["settings"]
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            return f"{KEYS[name].flag} was {text(old, name)}, and is {text(new, name)}"
    return None


def _read_record(places):
    try:
        record = json.loads(places.record.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return record if record.get("format") == _FORMAT and record["version"] == _VERSION else None


def _write_record(plan, described):
    choices = [[choice.name, choice.value, choice.why] for choice in plan.choices.values()]
    replace_json(plan.places.record, {
        "format": _FORMAT, "version": _VERSION, **described, "choices": choices,
        "shape": plan.shape, "process": plan.process})


def _check_same(places, record, described):
    """A run that has begun continues with the same settings only."""
    if record is None:
        raise InvalidArgumentError(f"'{places.work}' has files of something else: expected "
                                   f"another --out, or --overwrite")
    # JSON has lists for tuples.
    difference = _difference({part: record[part] for part in described},
                             json.loads(json.dumps(described)))
    if difference:
        raise InvalidArgumentError(f"'{places.out}' has a run of other settings: {difference}; "
                                   f"write to another --out, or add --overwrite to begin anew")


#===-----------------------------------------------------------------------===#
# Planning
#===-----------------------------------------------------------------------===#

def _flags(choices, shape):
    """The keywords of zero.compile()."""
    shares = choices.value("pack") != "off"
    return {**choices.of_compiler(), "shape": shape, **({"documents": True} if shares else {})}


def _take_automatic(choices, model, shape):
    """Adds what `zero-run --auto` says about this machine."""
    if choices.value("device", "cpu") != "cpu":
        return
    given = arguments_of(_flags(choices, shape))
    for word in automatic_flags(model.folder, given):
        name, _, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        choices.take(name, value, _AUTOMATIC.get(name, "by the planner"))


def _compile_one(model, choices, shape, path):
    flags = _flags(choices, shape)
    if choices.value("lr_schedule") in ("linear", "cosine"):
        flags["total_steps"] = choices.value("steps")
    return compile(model.folder, output=path, **flags)


def _compile(model, choices, shape, path):
    """Compiles with the first method that fits; returns the choices and the program."""
    methods = defaults.choose_methods(choices)
    why = "learns most" if methods[0] == "full" else "adapters are asked for"
    for method in methods:
        tried = defaults.Choices({})
        tried.take("method", method, why)
        tried.update(choices)
        defaults.choose_training(tried, model, method)
        _take_automatic(tried, model, shape)
        if method == "full" != methods[-1] and (state := defaults.excess_state(tried, model)):
            why = f"weights and moments of full take {bytes_text(state)}"
            continue
        try:
            program = _compile_one(model, tried, shape, path)
        except CompileError as error:
            least = re.search(r"-budget=.*?(?:smallest budget with a plan is (\d+) bytes|$)",
                              str(error).splitlines()[0])
            if not least or method == methods[-1]:
                raise
            needs = f" below {bytes_text(int(least[1]))}" if least[1] else ""
            why = f"no plan of {method} fits{needs}"
            continue
        return tried, program
    raise AssertionError("there is always a method")


def _check_out(places, model, method=None):
    """A run must not write over its base, or beside weights that transformers would load with its
    own."""
    if places.out.resolve() == model.folder.resolve():
        raise InvalidArgumentError(f"--out={places.out}: expected another folder than that of the "
                                   f"model")
    other = {"full": "adapter_config.json", "lora": "config.json", "qlora": "config.json"}
    if method and (places.out / other[method]).exists():
        raise InvalidArgumentError(
            f"--out={places.out}: expected a folder without '{other[method]}', which transformers "
            f"would load beside the result of --method={method}")


def _survey(model, settings):
    """The Model with its number of parameters, which the compiler counts where no weights do."""
    if model.parameters:
        return model
    if "init" not in settings:
        raise InvalidArgumentError(f"'{model.folder}' has no model.safetensors: expected weights, "
                                   f"or --init=normal:0.02 to begin with random ones")
    counted = compile(model.folder, shape="1x16", init=settings["init"], plan_only=True)
    return Model(**{**vars(model), "parameters": counted.plan["parameters"]})


def make_plan(folder, corpus, out, settings):
    """The Plan of a run, which is recorded in the folder `out`; that of a run that has begun is the
    one that it began with."""
    places, model = Places(Path(out)), read_model(folder)
    _check_out(places, model)
    if settings.get("overwrite") and _read_record(places):
        shutil.rmtree(places.work)
    described = _described(folder, corpus, settings)
    has_begun = places.has_begun()
    if has_begun:
        record = _read_record(places)
        _check_same(places, record, described)
    model = _survey(model, settings)
    choices = defaults.Choices({name: value for name, value in settings.items()
                                if name not in CALL})
    length = defaults.choose_length(choices, model)
    train, evaluation = prepare(model, corpus, places.tokens, settings, length, not has_begun)
    if has_begun:
        return _recorded_plan(model, places, choices, record, train, evaluation)
    rows = choose_rows(choices, places.tokens / "train", (train, evaluation))
    defaults.choose_run(choices, rows, evaluation)
    shape = defaults.choose_parts(choices, rows.width)
    choices, program = _compile(model, choices, shape, places.program)
    _check_out(places, model, choices.value("method"))
    process = program.plan.get("process")
    plan = Plan(model, places, choices, program, train, evaluation, rows,
                _held_out(places, evaluation, rows), shape,
                process and {**process, "python": _python_bytes()})
    defaults.choose_checkpoints(choices, plan.step_seconds)
    _write_record(plan, described)
    return plan


def _held_out(places, evaluation, rows):
    """The Rows of documents that are held out, like those of the others."""
    return evaluation and rows_of(places.tokens / "evaluation", rows.pack, rows.width)


def _recorded_plan(model, places, given, record, train, evaluation):
    choices = defaults.Choices({})
    for name, value, why in record["choices"]:
        choices.take(name, value, why)
    choices.update({name: choice for name, choice in given.items() if name in FREE})
    width = int(record["shape"].partition("x")[2])
    rows = rows_of(places.tokens / "train", choices.value("pack", "off"), width)
    return Plan(model, places, choices, load(places.program), train, evaluation, rows,
                _held_out(places, evaluation, rows), record["shape"], record["process"])
