"""The time that zeroc needs to plan GPT-2s of width 12,288, up to 348 billion parameters, by depth.

Seconds are CPU seconds of one core (user time), because others may use this machine. For every
choice left to the planner, 96 layers (175 billion parameters) should take at most LIMIT seconds on
a core with LIMIT_FLOPS. The times are scaled by the speed of this core. Exits with 1 if a time is
too long.
"""

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, Failure, parser, run, select, start, say, table, write_json
from sides import Peak

LIMIT, LIMIT_FLOPS = 5.0, 122e9
LIMITED = 96  # layers
LAYERS = (24, 48, 96, 192)
H100 = ["--ranks=64", "--machine=h100", "--zero=auto"]
CASES = {  # {GiB for 96 layers}: a budget, which grows with the layers
    "stage 3": ["--ranks=1024", "--zero-stage=3"],
    "budget": ["--ranks=64", "--zero-stage=3", "--checkpoint=auto", "--memory-budget={80}GiB"],
    "auto": [*H100, "--memory-budget={80}GiB"],
    "auto-tiles": [*H100, "--memory-budget={52}GiB"],
    "auto-tiers": [*H100, "--memory-budget={60}GiB", "--offload-activations=auto",
                   "--offload-optimizer=auto", "--offload-params=auto", "--host-budget={120}GiB"],
}
TITLES = ["case", *(f"{layers} layers" for layers in LAYERS), "192 to 48"]


def make(layers, folder):
    """A graph whose weights take no space: zeroc never reads one."""
    folder.mkdir(parents=True)
    model = folder / "model.onnx"
    run([sys.executable, ROOT / "test/support/make_gpt2.py", f"--layers={layers}", "--width=12288",
         "--heads=96", "--vocabulary=50304", "--sequence=2048", "--batch=1", "--sparse", model])
    return model


def flags_of(name, layers):
    """The flags of a case. A sixth of a budget is for memory that does not grow with the layers."""
    def budget(match):
        return str(round(int(match[1]) * (LIMITED + 5 * layers) / (6 * LIMITED)))
    return [re.sub(r"\{(\d+)\}", budget, flag) for flag in CASES[name]]


def user_seconds(command, timeout):
    """User seconds of a program; Failure with its last lines if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode}\n{done.stderr[-2000:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(names, work, options):
    """The minimal user seconds of the rounds, by case and layers."""
    models = {layers: make(layers, work / str(layers)) for layers in LAYERS}
    seconds = {name: {} for name in names}
    for number in range(options.rounds):
        for name in names:
            for layers, model in models.items():
                took = user_seconds([options.build / "bin/zeroc", model, "--plan-only",
                                     *flags_of(name, layers)], options.timeout)
                say(f"{name}, {layers} layers, round {number + 1}: {took:.2f} s")
                seconds[name][layers] = min(took, seconds[name].get(layers, took))
    return seconds


def main():
    options = parser(__doc__, list(CASES), [], rounds=1).parse_args()
    select(options.cases, CASES, "cases")
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        seconds = measure(options.cases, Path(work), options)
        flops = Peak(Path(work)).measure(1)
    limit = LIMIT * LIMIT_FLOPS / flops
    print(table(TITLES, [[name, *(f"{took:.2f} s" for took in of.values()),
                          f"{of[192] / of[48]:.1f}"] for name, of in seconds.items()]))
    slow = {name: of[LIMITED] for name, of in seconds.items() if of[LIMITED] > limit}
    print(f"\na core of {flops / 1e9:.0f} GFLOP/s: {limit:.1f} s at most for {LIMITED} layers "
          f"({LIMIT:g} s of one with {LIMIT_FLOPS / 1e9:g} GFLOP/s)"
          + "".join(f"; {name} takes {took:.1f} s" for name, took in slow.items()))
    write_json(options, {"seconds": seconds, "limit": limit, "peak_flops": flops})
    if slow:
        sys.exit(1)


if __name__ == "__main__":
    start(main)
