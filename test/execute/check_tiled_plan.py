"""Products that are too large for a block of 2 GB are planned in tiles, and at most one tile is
gathered at a time (ZeRO-Infinity, arXiv 2104.07857, section 5.1.3). The generated graphs are only
planned.

usage: check_tiled_plan.py MAKE_LINEAR WORK
"""

import re
import subprocess
import sys
from pathlib import Path

from zero_test import Checks, run_tool

LIMIT = 2 * 10**9
RANKS = 8
PADDING = 64 * RANKS * 2  # bytes: each rank's part of a bucket ends at a multiple of 64 elements
SCRATCH = 96 << 20


class Planned:
    """The plan of one product, width x 4 width, in bf16."""

    def __init__(self, model, *flags):
        text = run_tool("zeroc", model, "--plan-only", "--dump-after=partition",
                        "--precision=bf16", "--zero-stage=3", f"--ranks={RANKS}", *flags)
        gathers = re.findall(r"zero\.all_gather .*-> tensor<(\d+)xbf16>", text)
        self.largest = 2 * max(map(int, gathers))
        found = re.search(r"parameter 'fc\.weight' of .* in (\d+) tiles of ", text)
        self.tiles = int(found.group(1)) if found else 1
        roles = {role: (int(most), int(peak)) for role, most, peak in
                 re.findall(r"^  (\w[\w ]*?) +(\d+) +(\d+)$", text, re.MULTILINE)}
        self.state = sum(roles[role][1] for role in ("parameters", "optimizer state"))
        self.working = roles["working"][0]
        self.gradients = roles["gradients"][0]
        self.peak = int(re.search(r"^  arena +(\d+)", text, re.MULTILINE)[1])


def check_width(checks, make, work, width, tiles):
    model = Path(work) / f"{width}.onnx"
    subprocess.run([sys.executable, make, model, f"--width={width}"], check=True)
    bytes = 2 * 4 * width * width
    whole = Planned(model)
    cut = Planned(model, f"--tile-params-over={LIMIT}")
    print(f"{width} x {4 * width}: {bytes} bytes, {cut.tiles} tiles, at most {cut.largest} gathered; "
          f"{whole.peak - whole.state} bytes beside state whole, {cut.peak - cut.state} in tiles")
    checks.that(whole.largest >= bytes, f"{width}: whole, only {whole.largest} are gathered")
    checks.that(cut.tiles == tiles if tiles < 18 else cut.tiles >= 18,
                f"{width}: {cut.tiles} tiles, expected {tiles}")
    checks.that(cut.largest <= LIMIT + PADDING, f"{width}: {cut.largest} are gathered at a time")
    checks.that(bytes // cut.tiles <= cut.largest, f"{width}: {cut.largest} is less than a tile")
    # Either a tile is gathered, or its gradient is live before it is reduced. In addition there are
    # small activations and the library's scratch in f32.
    own = bytes // RANKS  # slice of the summed gradient
    tile = cut.largest + SCRATCH
    checks.that(cut.working <= tile, f"{width}: {cut.working} bytes are working")
    checks.that(cut.gradients <= own + tile, f"{width}: gradients take {cut.gradients} bytes")
    checks.that(cut.peak <= cut.state + own + tile,
                f"{width}: {cut.peak} at the peak, {cut.state} of it state")
    checks.that(cut.state <= whole.state + tiles * PADDING, f"{width}: {cut.state} bytes of state")
    checks.that(whole.peak - whole.state >= bytes, f"{width}: {whole.peak} at the peak, whole")


def main():
    make, work = sys.argv[1:]
    checks = Checks()
    Path(work).mkdir(parents=True, exist_ok=True)
    for width, tiles in ((8 << 10, 1), (16 << 10, 2), (64 << 10, 18)):
        check_width(checks, make, work, width, tiles)
    checks.finish()


if __name__ == "__main__":
    main()
