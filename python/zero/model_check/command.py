"""python -m zero check-model."""

import argparse
import os
import sys

from ..errors import ZeroError


def make_parser():
    """The parser of the command line. The page of all flags lists it, by a Python without numpy."""
    parser = argparse.ArgumentParser(
        prog="python -m zero check-model", allow_abbrev=False,
        description="Compare loss and gradients of a program with an evaluation of its ONNX model "
                    "that shares no code with the compiler.",
        epilog="Every other flag is one of zeroc, for the program that it compiles.")
    add = parser.add_argument
    add("model", metavar="MODEL.onnx", help="with its loss")
    add("reference", metavar="REFERENCE.zexe", nargs="?",
        help="program of the model on one rank along data (default: compiled with --optimizer=sgd)")
    add("--shrink", action="store_true", help="make the sizes of the model smaller first")
    add("--save", metavar="SMALL.onnx", help="--shrink: write the smaller model to this file")
    add("--directions", type=int, default=2, metavar="N",
        help="random directions for each parameter (default: 2)")
    add("--tolerance", type=float, default=1e-4, metavar="X",
        help="as a part of the norm of a gradient (default: 1e-4)")
    add("--seed", type=int, default=0, metavar="N",
        help="of the batch, the parameters and the directions (default: 0)")
    add("--loss", metavar="NAME", help="output of the model")
    return parser


def _parsed(words):
    parser = make_parser()
    asked, flags = parser.parse_known_args(words)
    if asked.directions < 1 or not 0 < asked.tolerance < 1:
        parser.error("expected at least one direction and a tolerance between 0 and 1")
    if asked.save and not asked.shrink:
        parser.error("--save has an effect only with --shrink")
    if asked.reference and (asked.shrink or flags):
        parser.error(f"'{flags[0] if flags else '--shrink'}' changes the program that is compiled, "
                     f"but {asked.reference} is given")
    return asked, flags


def main(words):
    asked, flags = _parsed(words)
    # Products of small matrices take longer on several threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from .run import check_model
    except ImportError as error:
        sys.exit(f"zero: error: {error}; install the packages numpy and onnx")
    try:
        outcome = check_model(asked.model, asked.reference, shrinks=asked.shrink, small=asked.save,
                              directions=asked.directions, tolerance=asked.tolerance,
                              seed=asked.seed, loss=asked.loss, flags=flags)
    except (ZeroError, OSError) as error:
        sys.exit(f"zero: error: {error}")
    errors = list(outcome.errors())
    for line in outcome.summary():
        print(line)
    if errors:
        sys.exit("\n".join(f"zero: error: {error}" for error in errors))
