"""Simulated throughput beside what papers measured.

zeroc plans each row without weights (zero-translate --make-gpt), for a preset of the machine with the
constants below, and its seconds of a step are simulated (docs/design/planning.md). Nothing runs.
TFLOPS count 8 operations for each parameter and token, as the papers do, whatever is recomputed.
"""

import json
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import ROOT, Failure, parser, run, say, select, start, table, write_json

PRESETS = ROOT / "lib/Machine/presets"
#: bf16, whose updates do not wait until all gradients are known to be finite.
RATEL = ["--ranks=1", "--zero-stage=3", "--precision=bf16", "--offload-params=nvme",
         "--offload-optimizer=nvme", "--offload-gradients=host", "--offload-activations=auto",
         "--checkpoint=auto", "--memory-budget=24GB", "--host-budget=700GB"]
INFINITY = ["--zero-stage=3", "--precision=fp16", "--memory-budget=32GB", "--checkpoint=layer"]
ON_DEVICE = [*INFINITY, "--offload-activations=host", "--partition-activations"]
ON_NVME = [*ON_DEVICE, "--offload-params=nvme", "--offload-optimizer=nvme",
           "--offload-gradients=host"]
#: State on the device as the paper has it needs 43 GB of 32 GB here.
ON_HOST = [*ON_DEVICE, "--offload-optimizer=host", "--offload-gradients=host"]
#: A layer of all parameters and the gradients of one need more than a V100 has.
RESHARDED = [*ON_NVME, "--reshard-recomputed"]
#: Attention in one kernel is younger than these papers.
MEGATRON = ["--zero-stage=0", "--precision=fp16", "--checkpoint=layer", "--memory-budget=32GB",
            "--attention=products"]
ZERO = ["--zero-stage=2", "--precision=fp16", "--checkpoint=layer", "--memory-budget=32GB",
        "--attention=products"]
#: Of each system: the preset of its machine, and constants that replace those of the preset. The
#: rows that they are fitted on say so.
SYSTEMS = {
    "ratel": ("rtx4090", {"half_flops": 160e12, "disk.bus_bandwidth": 20.5e9,
                          "disk.write_bandwidth": 3.1e9}),
    "infinity": ("dgx2", {"half_flops": 45.4e12}),
    "recomputation": ("a100", {"half_flops": 157e12}),
    "zero": ("dgx2", {"half_flops": 50e12, "memory_bandwidth": 400e9, "network.bandwidth": 25e9}),
}


@dataclass
class Row:
    system: str
    layers: int
    width: int
    heads: int
    batch: int       # of a device, or of a group of devices along tensor
    flags: list
    tflops: float    # of a device, that the paper reports
    drives: int = 0  # 0: as the preset says
    fits: bool = False
    sequence: int = 1024


def ratel(layers, width, batch, drives, tflops, fits=False):
    return Row("ratel", layers, width, width // 128, batch, RATEL, tflops, drives, fits)


def mesh(ranks, tensor):
    return [f"--mesh=data={ranks // tensor},tensor={tensor}"] if tensor > 1 else [f"--ranks={ranks}"]


def infinity(layers, width, tensor, batch, ranks, flags, tflops, fits=False):
    return Row("infinity", layers, width, width // 128, round(batch * tensor),
               [*flags, *mesh(ranks, tensor)], tflops, 0, fits)


def zero(layers, width, heads, tensor, batch, ranks, tflops, fits=False):
    divided = ["--partition-activations"] if tensor > 1 else []
    return Row("zero", layers, width, heads, batch, [*ZERO, *divided, *mesh(ranks, tensor)], tflops, 0,
               fits)


def recomputation(seconds, flags, fits=False):
    """22B of Megatron's paper on recomputation, 8 ranks along tensor, from its seconds a step."""
    layers, width, batch, sequence, ranks = 48, 6144, 4, 2048, 8
    tflops = 8 * 12 * layers * width**2 * batch * sequence / ranks / seconds * 1e-12
    return Row("recomputation", layers, width, 64, batch,
               ["--precision=bf16", "--memory-budget=80GB", *flags, *mesh(ranks, ranks)], tflops, 0,
               fits, sequence)


def megatron(layers, width, tensor, batch, ranks, tflops):
    """The paper's baseline. It does not say the heads: as many as divide over the ranks."""
    heads = next(count for count in range(tensor, width + 1, tensor)
                 if count >= width // 128 and width % count == 0)
    return Row("zero", layers, width, heads, batch,
               [*MEGATRON, *mesh(ranks, tensor)], tflops)


ROWS = {
    **{f"zero-{name}": zero(layers, width, heads, tensor, batch, 400, tflops, fits=name == "1.5b")
       for name, tensor, layers, width, heads, batch, tflops in (
           ("1.5b", 1, 48, 1600, 16, 24, 30.3), ("8b", 4, 72, 3072, 24, 64, 36.9),
           ("40b", 4, 88, 6144, 32, 12, 35.9), ("60b", 16, 132, 6144, 32, 64, 36.5),
           ("80b", 16, 100, 8192, 64, 32, 37.6), ("100b", 16, 125, 8192, 64, 32, 38.7),
           ("120b", 16, 150, 8192, 64, 24, 28.2), ("140b", 16, 175, 8192, 64, 16, 26.9),
           ("170b", 16, 212, 8192, 64, 12, 21.0))},
    **{f"zero-60b-{ranks}": zero(75, 8192, 32, 16, batch, ranks, tflops, fits=ranks in (64, 400))
       for ranks, batch, tflops in ((64, 16, 25.7), (128, 48, 37.6), (256, 48, 39.1),
                                    (400, 64, 36.7))},
    **{f"megatron-{name}": megatron(layers, width, tensor, batch, ranks, tflops)
       for name, ranks, tensor, layers, width, batch, tflops in (
           ("1.5b", 400, 2, 48, 1600, 16, 26.3), ("8b", 400, 8, 72, 3072, 8, 23.1),
           ("40b", 384, 32, 88, 6144, 4, 5.0), ("60b", 384, 64, 132, 6144, 4, 6.3),
           ("80b", 384, 128, 100, 8192, 4, 5.2), ("100b", 384, 128, 125, 8192, 2, 3.8),
           ("120b", 384, 128, 150, 8192, 2, 3.8), ("140b", 384, 128, 175, 8192, 2, 3.9),
           ("170b", 256, 256, 212, 8192, 2, 2.2))},
    "megatron-22b-full": recomputation(1.42, ["--checkpoint=layer", "--attention=products"],
                                       fits=True),
    "megatron-22b-selective": recomputation(1.10, ["--checkpoint=none", "--sequence-parallel"]),
    **{f"ratel-13b-b{batch}": ratel(40, 5120, batch, 12, tflops, fits=batch in (8, 64))
       for batch, tflops in ((8, 42.8), (16, 84.3), (32, 143.1), (64, 155.8), (128, 153.8))},
    **{f"ratel-13b-b{batch}-{drives}ssd": ratel(40, 5120, batch, drives, tflops,
                                                fits=(batch, drives) == (32, 1))
       for batch, each in ((32, (37.5, 64.3, 81.1, 121.7, 142.0)),
                           (48, (53.1, 89.7, 121.7, 146.3, 153.9)),
                           (64, (70.3, 111.7, 136.3, 151.5, 148.2)))
       for drives, tflops in zip((1, 2, 3, 6, 12), each)},
    "ratel-175b-b8": ratel(96, 12288, 8, 12, 52.6),
    "ratel-175b-b16": ratel(96, 12288, 16, 12, 86.9),
    "infinity-0.5t": infinity(124, 18432, 4, 7, 512, ON_DEVICE, 46.3, fits=True),
    **{f"infinity-1t-{ranks}": infinity(128, 25600, 4, 5, ranks, ON_HOST, tflops)
       for ranks, tflops in ((128, 48.9), (256, 46.0), (512, 48.8))},
    "infinity-1t-64": infinity(128, 25600, 4, 5, 64, ON_NVME, 44.5),
    "infinity-5t": infinity(174, 49152, 4, 3, 512, ON_NVME, 44.0),
    "infinity-10t": infinity(200, 65536, 4, 2, 512, RESHARDED, 42.8),
    "infinity-20t": infinity(205, 90112, 8, 1.25, 512, RESHARDED, 37.2),
}
TITLES = ["row", "paper", "simulated", "error", "", "plan"]


def machine_of(row, folder):
    """The path of a description of the row's machine."""
    preset, fitted = SYSTEMS[row.system]
    machine = json.loads((PRESETS / f"{preset}.json").read_text())
    for name, value in fitted.items():
        *outer, last = name.split(".")
        place = machine
        for each in outer:
            place = place[each]
        place[last] = value
    if row.drives:
        machine["disk"]["count"] = row.drives
    path = folder / "machine.json"
    path.write_text(json.dumps(machine))
    return path


def simulate(row, folder, options):
    """TFLOPS of a device, and the seconds of planning."""
    model = folder / "gpt.onnx"
    run([options.build / "bin/zero-translate", "-o", model,
         f"--make-gpt=layers={row.layers},width={row.width},heads={row.heads},vocabulary=50304,"
         f"sequence={row.sequence},batch={row.batch}"])
    begin = time.monotonic()
    text = run([options.build / "bin/zeroc", model, "--plan-only", "--optimizer=adam",
                "--device=cuda", f"--machine={machine_of(row, folder)}", *row.flags],
               options.timeout).output
    seconds = float(re.search(r"^plan: .* ([\d.e+-]+) s a step", text, re.MULTILINE)[1])
    parameters = 12 * row.layers * row.width**2
    tensor = next((int(m[1]) for flag in row.flags if (m := re.search(r"tensor=(\d+)", flag))), 1)
    tokens = row.batch * row.sequence / tensor
    return 8 * parameters * tokens / seconds * 1e-12, time.monotonic() - begin


def line(name, row, tflops, planning):
    return [name, f"{row.tflops:.1f}", f"{tflops:.1f}", f"{tflops / row.tflops - 1:+.0%}",
            "fitted" if row.fits else "", f"{planning:.1f} s"]


def main():
    options = parser(__doc__, list(ROWS), [], rounds=1, steps=1).parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for name, row in zip(options.cases, select(options.cases, ROWS, "cases")):
            try:
                results[name] = simulate(row, Path(work), options)
            except Failure as failure:
                say(f"{name}: {failure}")
                continue
            say(f"{name}: {results[name][0]:.1f} TFLOPS simulated, {row.tflops} in the paper")
    print(table(TITLES, [line(name, ROWS[name], *result) for name, result in results.items()]))
    for kind, selects in (("fitted", True), ("predicted", False)):
        errors = [abs(result[0] / ROWS[name].tflops - 1) for name, result in results.items()
                  if ROWS[name].fits == selects]
        if errors:
            print(f"{kind}: {len(errors)} rows, mean error {statistics.mean(errors):.1%}, "
                  f"worst {max(errors):.1%}")
    write_json(options, results)


if __name__ == "__main__":
    start(main)
