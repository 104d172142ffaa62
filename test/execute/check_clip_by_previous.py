"""--clip-by-previous scales gradients by the norm of the step before: for SGD that is a learning rate
for each step, and updates of offloaded state need not wait for all gradients.

usage: check_clip_by_previous.py DATA WORK
"""

import shutil
import subprocess
import sys

import numpy as np
from zero_test import Checks, Graph

LR, CLIP, STEPS = 0.1, 0.3, 5
SGD = ["--optimizer=sgd", "--momentum=0"]


def check_rates(checks, graph):
    executable = graph.compile(1, 2, *SGD, f"--lr={LR}", f"--clip-norm={CLIP}", "--clip-by-previous")
    clipped = graph.run(executable, STEPS)
    norms = clipped.report["gradient_norm"]
    factors = [1, *(min(1, CLIP / (norm + 1e-6)) for norm in norms[:-1])]
    checks.that(min(factors) < 0.9, f"nothing is clipped: {norms}")
    points = ",".join(f"{step}:{factor}" for step, factor in enumerate(factors))
    expected = graph.run(graph.compile(1, 2, *SGD, f"--lr={LR}", "--lr-schedule=points",
                                       f"--lr-points={points}"), STEPS)
    for name, weights in clipped.weights.items():
        checks.that(np.allclose(weights, expected.weights[name], rtol=0, atol=1e-6),
                    f"{name}: other values")
    checks.that(np.allclose(clipped.losses, expected.losses, rtol=1e-5), "other losses")


def check_tiers(checks, graph):
    flags = ["--optimizer=adamw", f"--clip-norm={CLIP}", "--clip-by-previous"]
    expected = graph.run(graph.compile(3, 2, *flags), STEPS)
    offloaded = graph.compile(3, 2, *flags, "--offload-params=nvme", "--offload-optimizer=nvme",
                              "--bucket-bytes=20KB")
    checks.that("wait for" not in graph.report, f"updates wait: {graph.report}")
    got = graph.run(offloaded, STEPS, f"--nvme-dir={graph.work}", has_gradients=False)
    checks.that(np.allclose(got.losses, expected.losses, rtol=1e-5), "other losses on drives")
    # A program that clips by its own norm resumes without the norm, and the other way round.
    own = graph.compile(3, 1, "--optimizer=adamw", f"--clip-norm={CLIP}")
    saved = graph.work / "saved"
    graph.run(own, 2, f"--save-state={saved}")
    resumed = graph.compile(3, 2, *flags)
    graph.run(resumed, 4, f"--resume={saved}", has_gradients=False)


def check_errors(checks, graph):
    for flags, expected in ((["--clip-by-previous"], "expected --clip-norm"),
                            (["--clip-by-previous", "--clip-norm=1", "--precision=fp16"],
                             "whether the step counts")):
        failed = subprocess.run(["zeroc", graph.folder / "model.onnx", "--plan-only", *flags],
                                capture_output=True, text=True)
        checks.that(failed.returncode != 0 and expected in failed.stderr, f"{flags}: {failed.stderr}")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True) # a run does not overwrite later checkpoints
    checks = Checks()
    check_rates(checks, Graph(data, "mlp", work))
    check_tiers(checks, Graph(data, "gpt2-tiny", work))
    check_errors(checks, Graph(data, "mlp", work))
    checks.finish()


if __name__ == "__main__":
    main()
