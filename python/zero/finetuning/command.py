"""python -m zero finetune."""

import argparse
import re
import signal
import sys
import warnings

from ..errors import ZeroError
from .settings import COMPILER, KEYS, OWN, PLACES, nearest

# Flags of zeroc that are listed in help; all others are taken, too.
_LISTED = ("lora", "lora_rank", "lora_alpha", "frozen_precision", "precision", "ram_budget",
           "memory_budget", "allow_precision", "nvme_dir", "optimizer", "lr_schedule",
           "warmup_steps", "weight_decay", "clip_norm", "ranks", "micro_batches", "device")


def _add(parser, key, is_listed):
    # The defaults of zeroc, in parentheses, are not those of a fine-tuning, which a plan prints.
    meaning = re.sub(r" \([^()]*\)$", "", key.meaning) if key.name in _LISTED else key.meaning
    text = meaning.replace("%", "%%") if is_listed else argparse.SUPPRESS
    if key.kind == "switch":
        # What is not given must not take precedence over a file.
        parser.add_argument(key.flag, action="store_const", const=True, help=text)
    else:
        words = key.words if is_listed else ()
        parser.add_argument(key.flag, metavar=f"<{'|'.join(words)}>" if words else key.value,
                            help=text)


def make_parser():
    """The parser of the command line. The page of all flags lists it, by a Python without numpy."""
    parser = argparse.ArgumentParser(
        prog="python -m zero finetune", allow_abbrev=False,
        description="Fine-tune the model of a Hugging Face folder on a corpus, and write a folder.",
        epilog="Every other flag of zeroc that concerns the step is taken, too.")
    parser.add_argument("model", metavar="FOLDER", nargs="?", help="Hugging Face folder")
    parser.add_argument("corpus", metavar="CORPUS", nargs="*",
                        help=".jsonl, .json, .txt or .parquet")
    parser.add_argument("-o", "--out", metavar="OUT", help="folder to write")
    parser.add_argument("--config", metavar="FILE", help="the same keys in a file of YAML")
    for name, key in KEYS.items():
        _add(parser, key, name in OWN or name not in COMPILER or name in _LISTED)
    return parser


def _parsed(words):
    parser = make_parser()
    asked, rest = parser.parse_known_intermixed_args(words)
    if rest:
        name = rest[0].partition("=")[0].removeprefix("--").replace("-", "_")
        hint = nearest(name, [*KEYS, *PLACES, "config"]).replace("_", "-")
        parser.error(f"unknown argument '{rest[0]}'{hint}")
    return vars(asked)


def _show_warning(message, *_, **__):
    print(f"zero: warning: {message}", file=sys.stderr)


def main(words):
    asked = _parsed(words)
    from .run import finetune
    warnings.showwarning = _show_warning
    try:
        done = finetune(asked.pop("model"), asked.pop("corpus") or None, asked.pop("out"),
                        config=asked.pop("config"), **asked)
    except ZeroError as error:
        sys.exit(f"zero: error: {error}")
    except KeyboardInterrupt as error:
        print(f"zero: {str(error) or 'interrupted; the same command continues'}", file=sys.stderr)
        sys.exit(128 + getattr(error, "signal", signal.SIGINT))
    if not asked["quiet"] and not asked["dry_run"]:
        print(done)
