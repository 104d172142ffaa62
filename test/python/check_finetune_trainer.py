"""Losses of fine-tunings beside those of the Trainer of transformers with the same order of data,
and what transformers loads.

usage: check_finetune_trainer.py PYTHON DATA WORK     (PYTHON has transformers, peft, accelerate)
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import zero
from finetune_cases import make_corpus, make_model
from zero_test import Checks

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-3
SETTINGS = {"in_order": True, "steps": 20, "batch": 8, "micro_batches": 2, "quiet": True,
            "eval_split": 0.1}


def run_peer(python, script, *arguments):
    done = subprocess.run([python, script, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""})
    if done.returncode:
        sys.exit(f"{script}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def check(checks, python, model, corpus, out, **settings):
    done = zero.finetune(model, corpus, out, **SETTINGS, **settings)
    adapter = []
    if settings["method"] != "full":
        begin = out.parent / "begin"
        with zero.load(out / "training/model.zexe").session() as session:
            session.save(f"{begin}/")
        adapter = [f"--adapter={begin}"]
    result = out.parent / f"{out.name}.json"
    run_peer(python, ROOT / "bench/peers/trainer.py", out, result, *adapter)
    losses = json.loads(result.read_text())["losses"]
    checks.that(len(losses) == len(done.losses) == 20, f"{losses}")
    error = max(abs(mine - other) for mine, other in zip(done.losses, losses))
    print(f"{settings}: losses off by {error:.1e}")
    checks.that(error < TOLERANCE, f"{settings}: off by {error}: {done.losses} {losses}")
    loaded = run_peer(python, Path(__file__).parent / "Inputs/load_finetuned.py", out)
    loaded = json.loads(loaded.splitlines()[-1])
    error = abs(loaded["loss"] - done.evaluations[-1][1])
    checks.that(error < TOLERANCE and loaded["generated"] == 8, f"{loaded} {done}")


def main():
    python, data, work = sys.argv[1], *map(Path, sys.argv[2:])
    work.mkdir(parents=True)
    checks = Checks()
    text = data / "gpt-bytes/text.txt"
    model, corpus = make_model(work / "model", text), make_corpus(work / "corpus.jsonl", text)
    check(checks, python, model, corpus, work / "lora", method="lora", lr=1e-2)
    check(checks, python, model, corpus, work / "full", method="full", lr=1e-3)
    checks.finish()


if __name__ == "__main__":
    main()
