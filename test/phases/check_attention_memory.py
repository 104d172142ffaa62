"""The bytes of activations of a GPT-2 grow linearly with its sequence length.

usage: check_attention_memory.py WORK
"""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import make_gpt2
from zero_test import Checks, run_tool

SEQUENCES = (1024, 2048, 4096)
# Few classes, because logits are not under test.
SIZE = {"layers": 2, "width": 512, "heads": 8, "vocabulary": 128, "batch": 1, "seed": 0,
        "sparse": False}


def plan(work, sequence):
    """The bytes of activations and of the arena in the certificate of a model of `sequence`
    positions."""
    model = work / f"{sequence}.onnx"
    make_gpt2.write(model, SimpleNamespace(sequence=sequence, **SIZE))
    report = run_tool("zeroc", model, "--zero-stage=3", "--ranks=2", "--plan-only")
    model.with_name(f"{model.name}.data").unlink()
    return [int(re.search(rf"^  {name} +(\d+)", report, re.M)[1])
            for name in ("activations", "arena")]


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    plans = [plan(work, sequence) for sequence in SEQUENCES]
    print("activations of 1024, 2048 and 4096 positions:", *(plan[0] for plan in plans))
    for name, (short, middle, long) in zip(("activations", "arena"), zip(*plans)):
        growth = (long - middle) / (middle - short)
        checks.that(growth < 2.01, f"{name}: twice the positions grow by {growth} as much")
    checks.finish()


if __name__ == "__main__":
    main()
