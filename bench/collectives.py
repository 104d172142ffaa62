"""Measures collectives of CPU ranks beside those of Open MPI, MPICH and Gloo, in turns.

usage: collectives.py BUILD [--ranks=2,4] [--turns=3]

Prints, for each number of ranks, collective and size, the best time of each, and how many times as
long as the runtime's processes the others take. MPI's collectives need Debian's mpicc.openmpi and
mpicc.mpich, Gloo's the environment of `bench/setup.sh torch`.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "bench/peers"
TORCHRUN = ROOT / ".deps/bench/torch/bin/torchrun"
# Root, and more processes than cores, have to be allowed.
OPEN_MPI = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def commands(build, ranks, folder):
    """How each is started."""
    own = str(build / "bin/collectives")
    found = {"threads": [own, str(ranks)],
             "processes": [*OPEN_MPI, "-n", str(ranks), own, str(ranks)]}
    for name, launcher in (("openmpi", OPEN_MPI), ("mpich", ["mpiexec.mpich"])):
        compiler = f"mpicc.{name}"
        if not shutil.which(compiler):
            continue
        program = folder / name
        subprocess.run([compiler, "-O2", "-march=native", PEERS / "mpi_collectives.c",
                        "-o", program], check=True)
        found[name] = [*launcher, "-n", str(ranks), str(program)]
    if TORCHRUN.exists():
        found["gloo"] = [str(TORCHRUN), f"--nproc-per-node={ranks}",
                         str(PEERS / "gloo_collectives.py")]
    return found


def measure(command, rounds):
    done = subprocess.run([*command, str(rounds)], capture_output=True, text=True, check=True,
                          env={**os.environ, **ALLOW_ROOT})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(line["collective"], line["bytes"]): line["median"] for line in lines}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    for ranks in map(int, options.ranks.split(",")):
        best = defaultdict(dict)
        with tempfile.TemporaryDirectory() as folder:
            found = commands(options.build.resolve(), ranks, Path(folder))
            for _ in range(options.turns):
                for name, command in found.items():
                    for key, seconds in measure(command, options.rounds).items():
                        best[key][name] = min(seconds, best[key].get(name, seconds))
        for (collective, size), seconds in best.items():
            own = seconds["processes"]
            texts = [f"{name} {value * 1e3:.2f} ms" + (
                "" if name == "processes" else f" ({value / own:.2f} x)")
                for name, value in seconds.items()]
            print(f"{ranks} ranks, {collective}, {size >> 20} MiB: {', '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
