"""The keys of zero.finetune(): one table for keywords, the command line and files of YAML."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from .._flags import FLAGS
from ..errors import BadFileError, InvalidArgumentError, ZeroError
from ..flags import arguments_of
from ..text.command import make_parser


@dataclass(frozen=True)
class Key:
    """A setting.

    Attributes:
        name: as a keyword; the flag has dashes.
        kind: "switch", "integer", "number", "bytes", "word" or "text".
        value: the name of the value in help, or its words.
        meaning: for help.
        least, below: the smallest number that is allowed, and one that is too large; or None.
    """
    name: str
    kind: str
    value: str
    meaning: str
    least: float | None = None
    below: float | None = None

    @property
    def flag(self):
        return "--" + self.name.replace("_", "-")

    @property
    def words(self):
        return self.value.split("|") if self.kind == "word" else ()


_OWN = (
    Key("method", "word", "auto|full|lora|qlora",
        "what is trained: all parameters, adapters, or adapters beside a base in 4 bits; auto: "
        "the first of these that fits into memory (auto)"),
    Key("epochs", "integer", "N", "passes over the documents (3)", 1),
    Key("steps", "integer", "N", "steps in place of --epochs", 1),
    Key("batch", "integer", "N",
        "documents of a step on all ranks, over all micro-batches (16); rows, if documents share "
        "them", 1),
    Key("pack", "word", "off|documents|stream",
        "which documents share a row, without seeing each other: none, several whole ones that "
        "fill it, or all of them one after the other (documents, if that saves a quarter of the "
        "tokens)"),
    Key("length", "integer", "N",
        "tokens of a document at most (1024, or what the model allows)", 2),
    Key("lr", "number", "X", "learning rate, at its peak", 0),
    Key("eval_split", "number", "X",
        "share of the documents that are held out and evaluated (0.05); 0: none", 0, 1),
    Key("eval_every", "integer", "N", "steps between evaluations (a tenth of all)", 1),
    Key("save_every", "integer", "N", "steps between checkpoints (about half an hour)", 1),
    Key("in_order", "switch", "", "train on the documents in the order of the corpus"),
    Key("keep", "word", "last|best",
        "which weights are written: those at the end, or those of the lowest evaluation loss "
        "(last)"),
    Key("seed", "integer", "N",
        "of the order of documents, of those that are held out, and of random numbers (0)", 0),
)
# What a call does, in contrast to what is trained.
_CALL = (
    Key("dry_run", "switch", "", "stop after the plan"),
    Key("overwrite", "switch", "", "begin anew where a run with other settings has begun"),
    Key("quiet", "switch", "", "print errors only"),
)
_TEXT = ("train_on", "overlong", "no_eos", "sample_by", "chat_template", "date", "processes")
# Flags of zeroc for other kinds of models, and those that follow from the keys above.
_NOT_TAKEN = {
    "allow_symlinks", "carry", "clean_after_phases", "config", "documents", "dump_after",
    "emit_onnx", "external_data", "forward_only", "keep_initializers", "loss", "mesh",
    "ort_checkpoint", "ort_optimizer", "plan_only", "roles", "shape", "tie", "total_steps",
    "training_info", "verbose", "zeros"}


def _key_of(action):
    """A flag of `python -m zero tokenize` as a key."""
    kind = ("switch" if action.nargs == 0 else "word" if action.choices else
            "integer" if action.type is int else "text")
    return Key(action.dest, kind, "|".join(action.choices or ()) or action.metavar or "",
               action.help, 1 if kind == "integer" else None)


def _text_keys():
    actions = {action.dest: action for action in make_parser()._actions}
    return [_key_of(actions[name]) for name in _TEXT]


OWN = {key.name: key for key in _OWN}
CALL = {key.name: key for key in _CALL}
TEXT = {key.name: key for key in _text_keys()}
COMPILER = {name: Key(name, flag.kind, flag.value, flag.meaning)
            for name, flag in FLAGS.items() if name not in _NOT_TAKEN}
KEYS = {**OWN, **TEXT, **CALL, **{name: key for name, key in COMPILER.items() if name not in OWN}}
# Whose values change neither the numbers nor the files of a run, so that a resumed one may change
# them.
FREE = {"save_every", "processes", *CALL}
PLACES = ("model", "corpus", "out")


def nearest(name, known):
    """The most similar of the known names, as a hint, or nothing."""
    found = difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean '{found[0]}'?" if found else ""


def _number(key, value, kind):
    try:
        # A text of YAML may be a number: 2e-4 has no dot.
        number = kind(value) if isinstance(value, str) else value
        if isinstance(number, bool) or number != kind(number):
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{key.flag}: expected {_expected(key)}, got "
                                   f"'{value}'") from None
    if key.least is not None and number < key.least:
        raise InvalidArgumentError(f"{key.flag}: expected at least {key.least}, got {number}")
    if key.below is not None and number >= key.below:
        raise InvalidArgumentError(f"{key.flag}: expected less than {key.below}, got {number}")
    return kind(number)


def _expected(key):
    return {"integer": "an integer", "number": "a number", "switch": "true or false",
            "word": f"one of {', '.join(key.words)}", "bytes": "a size"}.get(key.kind, "a text")


def checked(key, value):
    """The value of a key as it is compared and stored. What only the compiler knows, it checks."""
    if key.kind == "switch" or isinstance(value, bool):
        if key.kind == "switch" and isinstance(value, bool):
            return value
    elif key.kind == "integer" or key.kind == "number" and "," not in key.value:
        return _number(key, value, int if key.kind == "integer" else float)
    elif key.kind != "word" or value in key.words:
        return os.fspath(value) if isinstance(value, os.PathLike) else value
    raise InvalidArgumentError(f"{key.flag}: expected {_expected(key)}, got '{value}'")


def settings_of(given, where=""):
    """Checked values by name; those that are None are left out."""
    settings = {}
    for given_name, value in given.items():
        name = given_name.replace("-", "_")
        if name not in KEYS:
            raise InvalidArgumentError(f"{where}unknown key '{given_name}'"
                                       f"{nearest(name, [*KEYS, *PLACES])}")
        if value is not None:
            settings[name] = checked(KEYS[name], value)
    return settings


def read_file(path):
    """The keys of a file of YAML as a dictionary."""
    try:
        import yaml
    except ImportError:
        raise ZeroError("--config needs the Python package 'pyyaml': pip install pyyaml") from None
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadFileError(f"'{path}' is no YAML: {error}") from None
    except OSError as error:
        raise InvalidArgumentError(f"--config: {error}") from None
    if not isinstance(found, dict):
        raise BadFileError(f"'{path}': expected keys and values, got {type(found).__name__}")
    return {str(name): value for name, value in found.items()}


def flag_text(name, value):
    """A setting as it is written on the command line."""
    key = KEYS[name]
    if name in COMPILER:
        return " ".join(arguments_of({name: value})) or f"no {key.flag}"
    if key.kind == "switch":
        return key.flag if value else f"no {key.flag}"
    return f"{key.flag}={value:g}" if key.kind == "number" else f"{key.flag}={value}"
