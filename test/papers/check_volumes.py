"""What ranks exchange in a step of planned models: ZeRO, arXiv 1910.02054, sections 7 and 8. And
what a step reads from and writes to drives: Ratel, arXiv 2403.06504.

usage: check_volumes.py WORK
"""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import make_chain
import make_gpt2
import papers
from certificates import Certificate
from zero_test import Checks

RANKS = 64
LAYERS, WIDTH, OTHER = 10, 25000, 30000
PARAMETERS = LAYERS * WIDTH * OTHER
PADDING = 1e-4  # of a volume: buckets are padded so that ranks divide them
TENSOR = 4
# bsh of a block along tensor. The paper counts 12 where backward runs all of forward again. Here
# forward and backward take two sums each, of two messages; recomputation needs only the first sum
# of a block, because the second is the input of the next block, which is saved.
PLAIN, RECOMPUTED = 8, 10


def check_data(checks, work):
    model = work / "chain.onnx"
    make_chain.write(model, LAYERS, WIDTH, OTHER)
    for stage in range(4):
        plan = Certificate(model, f"--zero-stage={stage}", f"--ranks={RANKS}")
        # The gradient of the first product's input is not computed, so stage 3 gathers its weight
        # once and not twice.
        expected = papers.data_volume(PARAMETERS, stage) - (stage == 3) * WIDTH * OTHER
        difference = plan.volume["data"] / expected - 1
        checks.that(0 <= difference < PADDING,
                    f"stage {stage}: {plan.volume['data']} elements, expected {expected}")
        checks.that(plan.part["data"] == (RANKS - 1, RANKS), f"stage {stage}: {plan.part}")


def gpt2(work, layers, **size):
    """Writes a GPT-2 without weights."""
    model = work / f"gpt2-{layers}.onnx"
    make_gpt2.write(model, SimpleNamespace(layers=layers, seed=0, sparse=True, **size))
    return model


def check_tensor(checks, work):
    """A block exchanges the difference of two depths, so the ends of the model do not count."""
    size = {"width": 256, "heads": 8, "vocabulary": 512, "sequence": 64, "batch": 4}
    few, many = 4, 6
    models = {layers: gpt2(work, layers, **size) for layers in (few, many)}
    unit = papers.partition_volume(size["batch"], size["sequence"], size["width"])
    checks.that(papers.tensor_volume(size["batch"], size["sequence"], size["width"]) == 12 * unit,
                "the paper's 12 bsh")

    def block(*flags):
        plans = {layers: Certificate(model, f"--mesh=data=1,tensor={TENSOR}", *flags)
                 for layers, model in models.items()}
        checks.that(plans[few].part["tensor"] == (TENSOR - 1, TENSOR), f"{plans[few].part}")
        return (plans[many].volume["tensor"] - plans[few].volume["tensor"]) / (many - few)
    recompute = "--checkpoint=layer"
    for flags, count in (([], PLAIN), ([recompute], RECOMPUTED),
                         ([recompute, "--partition-activations"], RECOMPUTED + 1)):
        checks.that(block(*flags) == count * unit,
                    f"{flags}: {block(*flags) / unit} bsh a block, expected {count}")


def check_drives(checks, work):
    """Ratel's model of 13 billion parameters, all of its state on drives."""
    model = gpt2(work, 40, width=5120, heads=40, vocabulary=50304, sequence=1024, batch=32)
    plan = Certificate(model, "--zero-stage=3", "--machine=rtx4090", "--memory-budget=24GB",
                       "--host-budget=256GB", "--offload-params=nvme", "--offload-optimizer=nvme",
                       "--offload-activations=auto")
    parameters = int(re.search(r"(\d+) parameters in bf16", plan.text)[1])
    traffic = re.search(r"reads (\d+) bytes per step from nvme and writes (\d+)", plan.text)
    for actual, (kind, size) in zip(traffic.groups(), papers.RATEL_TRAFFIC.items(), strict=True):
        checks.that(abs(int(actual) / (size * parameters) - 1) < 0.01,
                    f"{kind} {int(actual) / parameters:.2f} bytes a parameter, the paper {size}")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_data(checks, work)
    check_tensor(checks, work)
    check_drives(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
