"""Trains a GPT-2 export under ZeRO stage 3, then compares all four stages.

usage: demo.py BIN MODEL
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RANKS, BATCH, SEQUENCE, VOCABULARY = 4, 4, 128, 8192
LONG, SHORT = 30, 5
ROLES = ["parameters", "gradients", "optimizer state", "activations", "working"]
MIB = 2**20


def make_tokens(folder):
    """Writes data that a model can learn: a random walk in which each token almost determines
    the next one. The labels are the tokens, because the model shifts them itself."""
    random = np.random.default_rng(0)
    successor = random.permutation(VOCABULARY)
    tokens = np.empty((RANKS * BATCH * 4, SEQUENCE), np.int64)
    tokens[:, 0] = random.integers(0, 64, len(tokens))
    for t in range(1, SEQUENCE):
        jump = random.random(len(tokens)) < 0.05
        tokens[:, t] = np.where(jump, random.integers(0, 64, len(tokens)),
                                successor[tokens[:, t - 1]] % 64)
    np.save(folder / "tokens.npy", tokens)
    return folder / "tokens.npy"


class Demo:
    def __init__(self, binaries, model, work):
        self.binaries, self.model, self.work = binaries, model, work
        self.tokens = make_tokens(work)

    def compile(self, stage):
        """Compiles for a stage; returns the executable and zeroc's report."""
        executable = self.work / f"stage{stage}.zexe"
        done = subprocess.run(
            [self.binaries / "zeroc", self.model, f"--zero-stage={stage}", f"--ranks={RANKS}",
             "--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01", "-o", executable],
            stdout=subprocess.PIPE, text=True, check=True)
        return executable, done.stdout

    def train(self, executable, steps, *flags):
        """Trains, with progress on this terminal. Returns the report of the run."""
        report = executable.with_suffix(".json")
        subprocess.run([self.binaries / "zero-run", executable, f"--steps={steps}",
                        f"--data=input_ids={self.tokens},labels={self.tokens}",
                        f"--report-json={report}", *flags], check=True)
        return json.loads(report.read_text())

    def train_long(self):
        print(f"Training {self.model} under ZeRO stage 3 on {RANKS} in-process ranks")
        executable, output = self.compile(3)
        count = re.search(r"trained parameters \((\d+)\)", output)
        print(f"compiled; {count[1]} tensors are trained", flush=True)
        self.train(executable, LONG)

    def train_short(self, stage):
        """Returns the report of a short run and the bytes of its trained weights."""
        weights = self.work / f"stage{stage}.safetensors"
        executable, _ = self.compile(stage)
        report = self.train(executable, SHORT, "--quiet", f"--save={weights}")
        return report, weights.read_bytes()


def print_table(reports):
    print(f"\nThe four stages on {RANKS} ranks, {SHORT} steps each. Memory of one rank in MiB: "
          "each role at its largest,\nand the peak of all together. Received: elements a rank "
          "gets from the others in a step.\n")
    heads = ["stage", *ROLES, "peak", "received", "loss"]
    widths = [5, 10, 9, 15, 11, 7, 7, 10, 8]
    print("  ".join(f"{head:>{width}}" for head, width in zip(heads, widths)))
    for report in reports:
        memory = report["memory"]["device"]
        cells = [str(report["stage"])]
        cells += [f"{memory['most'][role] / MIB:.2f}" for role in ROLES]
        cells += [f"{memory['peak'] / MIB:.2f}",
                  f"{report['per_rank'][0]['received_elements'] // report['steps']:,}",
                  f"{report['losses'][-1]:.6f}"]
        print("  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths)))


def main():
    binaries, model = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        demo = Demo(binaries, model, Path(work))
        demo.train_long()
        reports, weights = zip(*(demo.train_short(stage) for stage in range(4)))
    print_table(reports)
    same = (all(report["losses"] == reports[0]["losses"] for report in reports) and
            all(saved == weights[0] for saved in weights))
    print("\nlosses and trained weights of the four stages are " +
          ("bitwise identical" if same else "DIFFERENT"))
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # the tool has printed the error
    except KeyboardInterrupt:
        sys.exit(130)
