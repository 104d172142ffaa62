"""Trains a GPT-2 export under every ZeRO stage and prints them side by side.

usage: demo.py BIN MODEL
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RANKS, BATCH, SEQUENCE, VOCABULARY = 4, 4, 128, 8192
LONG, SHORT = 30, 5
ROLES = ["parameters", "gradients", "optimizer state", "activations", "working"]


def make_tokens(folder):
    """Text-like data that can be learned: a walk in which each token nearly
    determines the next. Labels are the tokens: the model shifts them itself."""
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


def train(binaries, model, stage, steps, tokens, report, *flags):
    """Runs zero-run on the model; its progress goes to this terminal."""
    subprocess.run([binaries / "zero-run", model, f"--zero-stage={stage}", f"--ranks={RANKS}",
                    "--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01",
                    f"--data=input_ids={tokens},labels={tokens}", f"--steps={steps}",
                    f"--report-json={report}", *flags], check=True)
    return json.loads(report.read_text())


def table(reports):
    print(f"\nZeRO stages on {RANKS} ranks, {SHORT} steps each; memory of each rank in MiB, "
          "the most of each role at once")
    print(f"{'stage':>5} " + " ".join(f"{role:>15}" for role in ROLES) +
          f" {'arena':>8} {'received/step':>14} {'loss':>10}")
    for stage, report in enumerate(reports):
        memory = report["memory"]["device"]
        cells = " ".join(f"{memory['most'][role] / 2**20:>15.2f}" for role in ROLES)
        received = report["per_rank"][0]["received_elements"] // report["steps"]
        print(f"{stage:>5} {cells} {memory['peak'] / 2**20:>8.2f} "
              f"{received:>14,} {report['losses'][-1]:>10.6f}")
    same = all(r["losses"] == reports[0]["losses"] for r in reports)
    print("losses of all stages are " + ("equal bit for bit" if same else "DIFFERENT"))
    return 0 if same else 1


def main():
    binaries, model = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        tokens = make_tokens(work)
        print(f"Training {model} under ZeRO stage 3 on {RANKS} in-process ranks\n", flush=True)
        train(binaries, model, 3, LONG, tokens, work / "long.json")
        reports = [train(binaries, model, stage, SHORT, tokens, work / f"{stage}.json", "--quiet")
                   for stage in range(4)]
    sys.exit(table(reports))


if __name__ == "__main__":
    main()
