"""Trains a graph that brings its own Muon: the losses of the formulas in fp64, the same bits at every
stage and tier, an owner for each matrix.

usage: check_whole_step_muon.py WORK
"""

import re
import sys
from pathlib import Path

import numpy as np

from muon_step import MATRICES, write_muon_step
from whole_step import WholeStep, check_gradients, check_stages, check_tiers
from zero_test import Checks


def check_owners(checks, step):
    """Each matrix is found, has one momentum, and one rank that makes its step."""
    for ranks, stage in ((2, 1), (3, 3), (4, 2)):
        step.compile(f"--zero-stage={stage}", f"--ranks={ranks}", "-v")
        found = re.findall(r"(\S+): \S+, updated as a whole matrix", step.report)
        checks.that(sorted(found) == sorted(MATRICES), f"matrices: {found}")
        checks.that(f"{len(MATRICES)} tensors have owners" in step.report, step.report)


def check_options(checks, step):
    """Two equal micro-batches have the gradient of one. A limit that nothing reaches has no effect;
    what scales all gradients of a matrix alike hardly changes its step."""
    losses, _ = step.train(2, "--zero-stage=2", steps=3)
    got, _ = step.train(2, "--zero-stage=2", micro_batches=2, steps=3)
    checks.that(np.allclose(got, losses, rtol=1e-5), f"micro-batches: {got}, not {losses}")
    free, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e9", steps=3)
    checks.that(np.allclose(free, losses, rtol=1e-6), f"not clipped, but {free}, not {losses}")
    first, _ = step.train(1, "--clip-norm=1e-3", steps=3)
    second, _ = step.train(2, "--zero-stage=3", "--clip-norm=1e-3", steps=3)
    checks.that(np.allclose(first, second, rtol=1e-4) and not np.allclose(first, losses, rtol=1e-4),
                f"clipped: {first}, {second}")


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    model = write_muon_step(work / "muon")
    step = WholeStep(work, "muon", work, model, ["--carry=*=*.new"], truth="losses")
    check_stages(checks, step)
    check_tiers(checks, step)
    check_owners(checks, step)
    check_options(checks, step)
    check_gradients(checks, step)
    # A limit in the graph, of a tenth of the norm: ranks compute the norm together.
    model = write_muon_step(work / "clipped", clip=0.05)
    clipped = WholeStep(work, "clipped", work, model, ["--carry=*=*.new"], truth="losses")
    checks.that(not np.allclose(clipped.losses, step.losses, rtol=5e-3), "the limit has no effect")
    check_stages(checks, clipped)
    model = write_muon_step(work / "stored", stored=True)
    stored = WholeStep(work, "stored", work, model, ["--carry=*=*.new"], truth="losses")
    check_stages(checks, stored)
    check_owners(checks, stored)
    checks.finish()


if __name__ == "__main__":
    main()
