"""Checkpoints of a GPT-2 with 100 billion parameters at a batch of 32, whole and in slices over 16
ranks: ZeRO, arXiv 1910.02054, section 6.1. GPT-2 1.5B is in test/phases/check_activations.py.

usage: check_kept.py WORK
"""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import make_gpt2
import papers
from certificates import Certificate
from zero_test import Checks

TENSOR = 16
BATCH, SEQUENCE, WIDTH, LAYERS = 32, 1024, 8192, 125
SIZE = SimpleNamespace(layers=LAYERS, width=WIDTH, heads=64, vocabulary=50304, sequence=SEQUENCE,
                       batch=BATCH, seed=0, sparse=True)
# The paper prints 33 GB and 2 GB, which is one byte for each element. Checkpoints have 16 bits.
CASES = [([], 1, 67.1), (["--partition-activations"], TENSOR, 4.19)]


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    model = work / "gpt2.onnx"
    make_gpt2.write(model, SIZE)
    checks = Checks()
    for flags, slices, gigabytes in CASES:
        plan = Certificate(model, f"--mesh=data=1,tensor={TENSOR}", "--checkpoint=layer", *flags)
        saved = re.search(r"([\d.]+) GiB are saved for backward", plan.text)
        print(saved[0], plan.bytes)
        formula = papers.kept_checkpoints(BATCH, SEQUENCE, WIDTH, LAYERS, slices)
        checks.that(abs(formula / 1e9 - gigabytes) < 0.01 * gigabytes, f"formula: {formula}")
        # On top come the inputs, and values of the layer that is computed: a checkpoint that is
        # cut into slices or gathered, and its gradient.
        whole = papers.kept_checkpoints(BATCH, SEQUENCE, WIDTH, 1)
        more = (plan.bytes["activations"] - formula) / whole
        checks.that(0 <= more < 2.2, f"{flags}: {more} values more")
    checks.finish()


if __name__ == "__main__":
    main()
