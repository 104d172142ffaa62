"""Which settings a fine-tuning has where no one gives them, and why."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from ..errors import BadDataError, InvalidArgumentError
from ..values import parse_bytes
from .rows import STEP_DOCUMENTS
from .settings import COMPILER, flag_text

# Tokens of a micro-batch on each rank: enough for products to be fast, while activations are small
# beside the model.
_MICRO_BATCH_TOKENS = 2048
_EVALUATIONS = 10
_SECONDS_BETWEEN_CHECKPOINTS = 1800

# Settings that only adapters, or the base beside them, have.
_OF_ADAPTERS = ("lora", "lora_rank", "lora_alpha", "lora_dropout", "lora_init", "rslora",
                "dora", "frozen_precision")

_ALPACA = "Stanford Alpaca"
_QLORA = "QLoRA, arXiv 2305.14314"
_BIDERMAN = "arXiv 2405.09673"


@dataclass(frozen=True)
class Choice:
    """A setting of a run. Attributes: name, value, why."""
    name: str
    value: object
    why: str

    def __str__(self):
        return f"  {flag_text(self.name, self.value):34} {self.why}"


class Choices(dict):
    """Choices by name: given values, and those that were chosen."""

    def __init__(self, given):
        super().__init__({name: Choice(name, value, "given") for name, value in given.items()})

    def take(self, name, value, why):
        """Chooses a value unless one is given; returns the one that holds."""
        if name not in self:
            self[name] = Choice(name, value, why)
        return self[name].value

    def value(self, name, default=None):
        return self[name].value if name in self else default

    def of_compiler(self):
        """The keywords of zero.compile()."""
        return {name: choice.value for name, choice in self.items() if name in COMPILER}


def choose_length(choices, model):
    """The most tokens of a document.

    1024 is the max_length of TRL's SFTConfig.
    """
    most = min(1024, model.positions or 1024)
    why = "max_length of TRL" if most == 1024 else "the positions of the model"
    return choices.take("length", most, why)


def choose_methods(choices):
    """The methods to try, in order: the first one with a plan that fits is taken.

    Full fine-tuning learns more than LoRA ("LoRA Learns Less and Forgets Less", arXiv 2405.09673),
    so it comes first.
    """
    method = choices.value("method", "auto")
    of_adapters = [name for name in _OF_ADAPTERS if name in choices]
    if method == "full" and of_adapters:
        given = flag_text(of_adapters[0], choices.value(of_adapters[0]))
        raise InvalidArgumentError(f"{given}: expected --method=lora or qlora, got --method=full")
    if method != "auto":
        return [method]
    choices.pop("method", None)
    return ["lora", "qlora"] if of_adapters else ["full", "lora", "qlora"]


def _usual_batch(choices, rows):
    """Rows of about STEP_DOCUMENTS documents that the given ranks and micro-batches divide."""
    parts = choices.value("ranks", 1) * choices.value("micro_batches", 1)
    whole = max(rows.count // parts, 1)
    return parts * min(max(round(STEP_DOCUMENTS * rows.count / rows.documents / parts), 1), whole)


def choose_run(choices, rows, evaluation):
    """Batch, steps and the distances between evaluations, for the Rows of the trained documents.

    - 16 documents of a step are those of QLoRA (table 9) up to 13 billion parameters. Where they
      share rows, as many rows have about as many documents.
    - 3 epochs are those of Stanford Alpaca.
    """
    count, unit = rows.count, rows.unit
    why = f"{_QLORA}, table 9" if rows.documents >= STEP_DOCUMENTS else f"all {unit}"
    if rows.pack != "off":
        why = f"rows of about {STEP_DOCUMENTS} documents: {why}"
    batch = choices.take("batch", _usual_batch(choices, rows), why)
    if batch > count:
        raise BadDataError(f"--batch={batch}: expected at most the {count} {unit} to train")
    if "steps" in choices and choices["steps"].why == "given":
        if "epochs" in choices:
            raise InvalidArgumentError("expected --steps or --epochs, got both")
        steps = choices.value("steps")
    else:
        epochs = choices.take("epochs", 3, _ALPACA)
        steps = count // batch * epochs
        choices.take("steps", steps, f"{count} {unit}, {epochs} time{'s' if epochs > 1 else ''}")
    if evaluation is not None:
        choices.take("eval_every", -(-steps // _EVALUATIONS), "a tenth of the steps")
    elif choices.value("keep") == "best":
        raise InvalidArgumentError("--keep=best needs documents that are held out: expected "
                                   "--eval-split above 0 and at least 2 documents")
    return steps


def choose_parts(choices, length):
    """How a step of rows of `length` tokens is divided: ranks, threads, micro-batches; returns the
    shape of a micro-batch.

    One rank with a thread for each core stores the model once.
    """
    ranks = choices.take("ranks", 1, "one copy of the model")
    cores = len(os.sched_getaffinity(0))
    if choices.value("device", "cpu") == "cpu":
        choices.take("threads_per_rank", max(1, cores // ranks), f"{cores} cores")
    batch = choices.value("batch")
    if batch % ranks:
        raise InvalidArgumentError(f"--batch={batch}: expected a multiple of the {ranks} ranks")
    rows = batch // ranks
    local = max(rows_of for rows_of in range(1, rows + 1)
                if rows % rows_of == 0 and (rows_of == 1 or
                                            rows_of * length <= _MICRO_BATCH_TOKENS))
    parts = choices.take("micro_batches", rows // local,
                         f"{local} x {length} tokens of a rank at a time")
    if rows % parts:
        raise InvalidArgumentError(f"--micro-batches={parts}: expected a divisor of the {rows} "
                                   f"rows of a rank (--batch={batch})")
    return f"{rows // parts}x{length}"


def choose_training(choices, model, method):
    """The hyperparameters of a method.

    Full fine-tuning:
    - a learning rate of 2e-5 for 7 billion parameters and 1e-5 for 13, as Stanford Alpaca has
      them; 5e-5, the default of TrainingArguments of transformers, below 1 billion.

    LoRA:
    - adapters beside all linear layers: needed to match full fine-tuning (QLoRA, section 4);
    - 2e-4 up to 13 billion parameters, 1e-4 above (QLoRA, table 9);
    - rank 16, alpha twice the rank ("LoRA Learns Less and Forgets Less", its best practices);
    - the base as the folder stores it, for qlora in NF4 (QLoRA).

    Both: AdamW without weight decay, a cosine after a warm-up of 3 % of the steps (Stanford
    Alpaca), gradients clipped to a norm of 1 (TrainingArguments).
    """
    billions = model.parameters / 1e9
    if method == "full":
        if billions < 1:
            choices.take("lr", 5e-5, "full, below 1e9 parameters: TrainingArguments")
        else:
            large = billions > 10
            choices.take("lr", 1e-5 if large else 2e-5, f"full: {_ALPACA}, "
                         f"{'13' if large else '7'} billion parameters")
    else:
        _choose_adapters(choices, model, method)
    choices.take("optimizer", "adamw", f"{_ALPACA}, QLoRA")
    choices.take("weight_decay", 0.0, _ALPACA)
    choices.take("clip_norm", 1.0, "max_grad_norm of TrainingArguments")
    schedule = choices.take("lr_schedule", "cosine", _ALPACA)
    steps = choices.value("steps")
    if schedule != "constant":
        choices.take("warmup_steps", math.ceil(0.03 * steps) if steps > 1 else 0,
                     f"3 % of the steps: {_ALPACA}")
    if choices.value("device") == "cuda":
        choices.take("precision", "bf16", "mixed precision with masters in fp32")
    choices.take("seed", 0, "of the order, the held-out documents and random numbers")


def _choose_adapters(choices, model, method):
    if "lora" not in choices and not model.linear:
        raise InvalidArgumentError("--lora: expected the names of the layers that get adapters, "
                                   "because the folder has no weights that tell them")
    choices.take("lora", list(model.linear), f"all linear layers: {_QLORA}, section 4")
    rank = choices.take("lora_rank", 16, f"best practices of {_BIDERMAN}")
    choices.take("lora_alpha", 2.0 * rank, f"twice the rank: {_BIDERMAN}")
    large = model.parameters > 20e9
    choices.take("lr", 1e-4 if large else 2e-4, f"LoRA: {_QLORA}, table 9")
    if method == "qlora":
        choices.take("frozen_precision", "nf4", _QLORA)
    elif model.half and choices.value("precision", "fp32") == "fp32":
        choices.take("frozen_precision", model.half, "as the folder stores it")


# Settings with which the state of full fine-tuning takes fewer bytes in memory.
_LESS_STATE = ("allow_precision", "freeze", "freeze_all_but", "master_weights", "nvme_dir",
               "precision", "state_precision", "trainable")
_STATE_BYTES = 12  # of a parameter in fp32 with the two moments of AdamW


def excess_state(choices, model):
    """The bytes of weights and moments of full fine-tuning, if they alone exceed the budget of the
    process; otherwise 0. The compiler finds that out, too, but looks for the smallest budget that
    would be enough, which takes minutes for large models."""
    budget = parse_bytes(choices.value("ram_budget", ""))
    is_usual = choices.value("optimizer") == "adamw" and not any(
        name in choices for name in _LESS_STATE)
    state = _STATE_BYTES * model.parameters
    return state if budget is not None and is_usual and state > budget else 0


def choose_checkpoints(choices, seconds):
    """How often the state is saved, from the time of a step; None if it is not known."""
    steps = choices.value("steps")
    every = round(_SECONDS_BETWEEN_CHECKPOINTS / seconds) if seconds else -(-steps // _EVALUATIONS)
    choices.take("save_every", min(max(every, 1), steps), "about half an hour")
