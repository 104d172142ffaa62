"""zero.finetune()."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

from ..errors import InvalidArgumentError
from .plan import Plan, Places, make_plan
from .settings import KEYS, PLACES, nearest, read_file, settings_of
from .training import Finetuned, carry_out


@contextmanager
def _alone(work):
    """Keeps other runs out of a folder."""
    work.mkdir(parents=True, exist_ok=True)
    lock = os.open(work.parent / ".training.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InvalidArgumentError(f"another process trains in '{work.parent}'") from None
    finally:
        os.close(lock)


def _merged(config, places, settings):
    """The places and settings of a file and of a call, which takes precedence."""
    found = read_file(config) if config is not None else {}
    for name, value in places.items():
        if value is None:
            places[name] = found.get(name)
    if missing := [name for name, value in places.items() if not value]:
        raise InvalidArgumentError(f"expected {' and '.join(missing)}: arguments, or keys of "
                                   f"the file of --config")
    of_file = {name: value for name, value in found.items() if name not in PLACES}
    return {**settings_of(of_file, f"'{config}': "), **settings_of(settings)}


def finetune(model=None, corpus=None, out=None, *, config=None, callbacks=(),
             **settings) -> Plan | Finetuned:
    """Fine-tunes the model of a Hugging Face folder on a corpus, and writes a folder.

    model: the folder: config.json, safetensors and tokenizer.json.
    corpus: a file .jsonl, .json, .txt or .parquet, or a list of them, as zero.tokenize() takes it.
    out: the folder to write. OUT/training has the tokens, the log, the compiled program and, until
        the end, checkpoints.
    config: a file of YAML with the same keys; arguments take precedence.
    callbacks: each is called as callback(session, result) after every step, as those of
        zero.Session.train(). The training ends when one returns False.
    settings: the flags of `python -m zero finetune`, with underscores: method, epochs, batch,
        length, eval_split, ..., and those of zeroc. What none says is chosen; the printed plan says
        how and why. dry_run=True returns the Plan. quiet=True prints nothing.

    Returns a Finetuned: its folder, losses and evaluations. A call that was killed or interrupted
    continues when it is repeated, with the same bits.

        zero.finetune("llama/", "corpus.jsonl", "tuned/", method="lora", epochs=1)
    """
    for name in settings:
        if name not in KEYS:
            raise TypeError(f"zero.finetune() has no keyword '{name}'"
                            f"{nearest(name, [*KEYS, *PLACES])}")
    places = {"model": model, "corpus": corpus, "out": out}
    settings = _merged(config, places, settings)
    corpus = places["corpus"]
    corpus = [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
    is_shown = not settings.get("quiet", False)
    with _alone(Places(Path(places["out"])).work):
        plan = make_plan(places["model"], corpus, places["out"], settings)
        if is_shown:
            print(plan, flush=True)
        if settings.get("dry_run"):
            return plan
        return carry_out(plan, callbacks, is_shown)
