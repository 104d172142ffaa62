"""The largest GPT that fits a machine, by plans alone, beside what papers report.

Cases bisect the number of layers of a GPT-2 of one width, or plan one model (sequence 1024, one
sequence for each rank, 16-bit precision, Adam, --checkpoint=layer). zeroc plans it without weights,
and it fits if the bytes of no tier are more than a rank has. Nothing runs. The memory of a node's
host and drives is shared by its ranks.
"""

import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import arenas, parser, run, say, select, start, table, write_json

HOST = ["--offload-optimizer=host", "--offload-params=host"]
NVME = ["--offload-optimizer=nvme", "--offload-params=nvme", "--offload-gradients=nvme",
        "--offload-activations=host"]
#: Bytes of a rank on the device, the host and drives.
V100, DGX2 = (32e9, 0, 0), (32e9, 1.5e12 / 16, 28e12 / 16)
RTX4090 = (24e9, 256e9, 12 * 3.84e12)
TILES = "--tile-params-over=200MB"


@dataclass
class Case:
    width: int
    memory: tuple    # bytes of a rank by tier
    flags: list
    paper: str       # what a paper reports
    layers: int = 0  # plan this model; 0: find the largest


CASES = {
    "v100x64-stage0": Case(2560, V100, ["--ranks=64", "--zero-stage=0"], "1.3B (ZeRO, table 2)"),
    "v100x64-stage1": Case(4096, V100, ["--ranks=64", "--zero-stage=1"], "6.2B (ZeRO, table 2)"),
    "v100x64-stage2": Case(5120, V100, ["--ranks=64", "--zero-stage=2"],
                             "13B (ZeRO); 14.4B is its bound"),
    "v100x64-stage3": Case(8192, V100, ["--ranks=64", "--zero-stage=3", TILES],
                             "128B is its bound"),
    "v100x1024-stage3": Case(25600, V100, ["--ranks=1024", "--zero-stage=3", TILES],
                                "1T is its bound"),
    "dgx2-device": Case(8192, V100, ["--ranks=16", "--zero-stage=3", TILES],
                           "20B (ZeRO-Infinity)"),
    "dgx2-host": Case(8192, DGX2, ["--ranks=16", "--zero-stage=3", TILES, *HOST],
                        "70B (ZeRO-Infinity)"),
    "dgx2-nvme": Case(25600, DGX2, ["--ranks=16", "--zero-stage=3", TILES, *NVME],
                                 "1T (ZeRO-Infinity)"),
    **{f"rtx4090-{name}": Case(width, RTX4090, ["--ranks=1", "--zero-stage=3", TILES, *NVME], paper,
                               layers)
       for name, layers, width, paper in (("175b", 96, 12288, "fits (Ratel)"),
                                          ("276b", 112, 14336, "fits (Ratel)"),
                                          ("412b", 128, 16384, "does not fit (Ratel)"))},
}
TITLES = ["case", "width", "layers", "parameters", "device", "host", "drives", "plan", "a paper has"]


class Plan:
    """The plan of a GPT with `layers` layers."""

    def __init__(self, options, work, case, layers):
        model = work / "gpt.onnx"
        run([options.build / "bin/zero-translate", "-o", model,
             f"--make-gpt=layers={layers},width={case.width},heads={case.width // 128}"])
        began = time.perf_counter()
        text = run([options.build / "bin/zeroc", model, "--plan-only", "--device=cuda",
                    "--precision=bf16", "--optimizer=adam", "--checkpoint=layer", *case.flags]).output
        self.seconds, self.layers = time.perf_counter() - began, layers
        self.bytes = tuple(arenas(text).values())
        self.parameters = int(re.search(r"ranks?, (\d+) parameters", text)[1])

    def fits(self, case):
        return all(used <= given for used, given in zip(self.bytes, case.memory, strict=True))


def largest(options, work, case):
    """The plan with the most layers that fits, by bisection."""
    fits, above, best, layers = 0, None, None, 8
    while above is None or above - fits > 1:
        plan = Plan(options, work, case, layers)
        say(f"  {layers} layers: {plan.parameters / 1e9:.4g}B, {plan.bytes}, {plan.seconds:.1f} s")
        if plan.fits(case):
            fits, best = layers, plan
        else:
            above = layers
        layers = 2 * fits if above is None else (fits + above) // 2
        if layers == 0:
            return None
    return best


def gigabytes(size):
    return f"{size / 1e9:,.1f} GB" if size else "-"


def main():
    options = parser(__doc__, list(CASES), [], rounds=1).parse_args()
    select(options.cases, CASES, "cases")
    rows, found = [], {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for name in options.cases:
            case = CASES[name]
            say(name)
            plan = (Plan(options, Path(work), case, case.layers) if case.layers
                    else largest(options, Path(work), case))
            found[name] = vars(plan)
            rows.append([name, f"{case.width:,}", plan.layers, f"{plan.parameters / 1e9:,.4g}B",
                         *map(gigabytes, plan.bytes), f"{plan.seconds:.1f} s", case.paper or "-"])
    print(table(TITLES, rows))
    write_json(options, found)


if __name__ == "__main__":
    start(main)
