"""zero.finetune() and `python -m zero finetune`: from a folder to a folder.

usage: check_finetune.py DATA WORK
       check_finetune.py --signal NUMBER STEP PACK MODEL CORPUS OUT     (a run that signals itself)
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import zero
from finetune_cases import make_corpus, make_model
from zero.finetuning.data import held_out
from zero.finetuning.defaults import Choices, excess_state
from zero.values import parse_bytes
from zero_test import Checks, read_safetensors, run_tool

FINETUNE = [sys.executable, "-m", "zero", "finetune"]
# Without a dense schedule of evaluations and checkpoints a tiny run would end before them.
SETTINGS = {"method": "lora", "steps": 12, "batch": 8, "lr": 1e-2, "eval_split": 0.1,
            "eval_every": 4, "save_every": 4, "threads_per_rank": 1, "machine": "cpu"}
FLAGS = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]


def log_of(out):
    return [json.loads(line) for line in (out / "training/log.jsonl").read_text().splitlines()]


def losses_of(out):
    return [line["loss"] for line in log_of(out) if "loss" in line]


def same_run(out, other):
    """Whether losses, evaluations and adapters of two runs are bitwise identical."""
    def bits(folder):
        lines = [{**line, "seconds": 0} for line in log_of(folder)]
        return lines, (folder / "adapter_model.safetensors").read_bytes()
    return bits(out) == bits(other)


def check_plan(checks, model, corpus, work):
    """A dry run prints choices with their flags, memory, time and bytes, and trains nothing."""
    out = work / "plan"
    text = run_tool(*FINETUNE, model, corpus, f"--out={out}", "--dry-run")
    for word in ("81 documents", "4 held out", "--method=full", "learns most", "--lr=5e-05",
                 "--epochs=3", "Alpaca", "--batch=16", "memory of the process: at most",
                 "rows: 81 of ", "a document each", "optimizer state", "time: ", "by the compiler's estimate",
                 "written to the drive: ", "1 checkpoint of at most"):
        checks.that(word in text, f"'{word}' is not in the plan:\n{text}")
    left = {path.name for path in (out / "training").iterdir()}
    checks.that(left == {"tokens", "model.zexe", "run.json"}, f"a dry run leaves {left}")


def check_run(checks, model, corpus, work):
    """A run writes what it says; its losses are those of zero-run on the same tokens."""
    out = work / "lora"
    text = run_tool(*FINETUNE, model, corpus, f"--out={out}", *FLAGS)
    checks.that("evaluation loss" in text and "12 steps" in text, text)
    evaluations = [line["step"] for line in log_of(out) if "eval_loss" in line]
    checks.that(evaluations == [0, 4, 8, 12], f"evaluations {evaluations}")
    losses = losses_of(out)
    checks.that(len(losses) == 12 and losses[-1] < losses[0] - 0.1, f"{losses}")
    config = json.loads((out / "adapter_config.json").read_text())
    checks.that(config["base_model_name_or_path"] == str(model.resolve()) and config["r"] == 16
                and config["lora_alpha"] == 32 and len(config["target_modules"]) == 7, f"{config}")
    checks.that((out / "tokenizer.json").read_bytes() == (model / "tokenizer.json").read_bytes(),
                "the tokenizer is not copied")
    checks.that(not (out / "training/state").exists(), "checkpoints are left")
    record = json.loads((out / "training/run.json").read_text())
    chosen = {name: value for name, value, _ in record["choices"]}
    log = work / "log.jsonl"
    run_tool("zero-run", out / "training/model.zexe", f"--data={out / 'training/tokens/train'}",
             f"--shuffle={chosen['seed']}", f"--pack={chosen['pack']}", "--steps=12", f"--log={log}", "--threads-per-rank=1")
    beside = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    checks.that(np.array_equal(np.float32(losses), np.float32(beside)),
                f"losses {losses}, by zero-run {beside}")
    again = run_tool(*FINETUNE, model, corpus, f"--out={out}", *FLAGS)
    checks.that("12 steps" in again and losses_of(out) == losses, again)
    return out


def check_full(checks, model, corpus, work):
    """All parameters: the folder has the files of the model's, and other weights of its shapes."""
    out = work / "full"
    done = zero.finetune(model, corpus, out, quiet=True, **{**SETTINGS, "method": "full"})
    written = {path.name for path in out.iterdir() if path.is_file() and path.name[0] != "."}
    checks.that(written == {path.name for path in model.iterdir()}, f"{written}")
    old, new = (read_safetensors(folder / "model.safetensors") for folder in (model, out))
    checks.that(old.keys() == new.keys() and all(old[name].shape == new[name].shape and
                                                 (old[name] != new[name]).any() for name in old),
                "the weights are not those of a trained model")
    again = zero.finetune(out, corpus, work / "again", quiet=True,
                          **{**SETTINGS, "method": "full", "steps": 1})
    checks.that(again.evaluations[0][1] == done.evaluations[-1][1],
                f"{done} is loaded with another loss: {again}")


def check_split(checks, run):
    """The documents are divided by the seed; each is in one part."""
    tokens = run / "training/tokens"
    counts = []
    rows = {}
    for part in ("all", "train", "evaluation"):
        manifest = json.loads((tokens / part / "tokens.json").read_text())
        ids = np.fromfile(tokens / part / "ids.bin", manifest["id_type"])
        starts = np.fromfile(tokens / part / "starts.bin", np.uint64).astype(int)
        rows[part] = [ids[a:b].tobytes() for a, b in zip(starts, starts[1:])]
        counts.append(manifest["documents"])
        checks.that(manifest["tokens"] == len(ids) and
                    manifest["longest"] == np.diff(starts).max(), f"{part}: {manifest}")
    checks.that(counts == [85, 77, 8] or counts == [85, 76, 9], f"{counts}")
    checks.that(sorted(rows["all"]) == sorted(rows["train"] + rows["evaluation"]),
                "documents are lost or in both parts")
    masks = [held_out(50, 0.2, seed) for seed in (0, 0, 1)]
    checks.that((masks[0] == masks[1]).all() and (masks[0] != masks[2]).any() and
                all(mask.sum() == 10 for mask in masks), "the split does not follow the seed")
    checks.that(held_out(3, 0.01, 0).sum() == 1 and not held_out(3, 0.0, 0).any() and
                held_out(3, 0.99, 0).sum() == 2, "small splits")


def signalled(number, step, pack, *places):
    """A run that sends itself a signal after a step."""
    return subprocess.run([sys.executable, __file__, "--signal", str(int(number)), str(step), pack,
                           *places], capture_output=True, text=True)


def check_interruptions(checks, model, corpus, work, whole):
    """A killed and an interrupted run continue with the same bits."""
    for number, step, code in ((signal.SIGKILL, 7, -9), (signal.SIGINT, 7, 130),
                               (signal.SIGTERM, 7, 143)):
        out = work / f"signal{number}"
        done = signalled(number, step, "off", model, corpus, out)
        checks.that(done.returncode == code, f"{number}: {done.returncode}: {done.stderr}")
        steps = sorted(path.name for path in (out / "training/state").glob("step-*"))[-1]
        # Killed before the checkpoint after step 8; interrupted after it.
        checks.that(steps == ("step-00000004" if code == -9 else "step-00000008"), steps)
        if code > 0:
            checks.that("interrupted after 8 of 12 steps; the same command continues"
                        in done.stderr, done.stderr)
        refused(checks, ["other settings", "--lr was --lr=0.01, and is --lr=0.02"], model, corpus,
                out, **{**SETTINGS, "pack": "off", "lr": 0.02})
        run_tool(*FINETUNE, model, corpus, f"--out={out}", *FLAGS, "--pack=off", "--save-every=3")
        checks.that(same_run(out, whole), f"a run after signal {number} differs")


def check_packing(checks, model, text, work):
    """Documents that share rows: the same losses as a row for each, in fewer rows."""
    corpus = work / "short.jsonl"
    parts = [part for part in text.read_text().split("\n\n") if len(part) > 160][:120]
    corpus.write_text("".join(json.dumps({"text": part[:8 + 9 * (i % 14)]}) + "\n"
                              for i, part in enumerate(parts)))
    settings = {"method": "full", "lr": 1e-2, "epochs": 2, "eval_every": 1, "quiet": True,
                "threads_per_rank": 1, "machine": "cpu"}
    usual = zero.finetune(model, corpus, work / "usual", dry_run=True, **settings)
    rows = usual.rows
    checks.that(rows.pack == "documents" and "saves" in usual.choices["pack"].why and
                rows.tokens == usual.train["tokens"] > 0.8 * rows.count * rows.width and
                usual.steps == rows.count // usual.choices.value("batch") * 2, str(usual))
    for word in ("--pack=documents", f"rows: {rows.count} of {rows.width} tokens", "% full"):
        checks.that(word in str(usual), f"'{word}' is not in the plan:\n{usual}")
    halved = zero.finetune(model, corpus, work / "halved", dry_run=True, ranks=2, micro_batches=2,
                           **settings)
    checks.that(halved.rows.pack == "documents" and halved.choices.value("batch") % 4 == 0 and
                halved.choices["batch"].why != "given", str(halved))
    kept = zero.finetune(model, corpus, work / "kept", dry_run=True, in_order=True, **settings)
    checks.that(kept.rows.pack == "off" and "order" in kept.choices["pack"].why, str(kept))
    runs = {}
    for pack in ("off", "documents", "stream"):
        plan = zero.finetune(model, corpus, work / pack, dry_run=True, pack=pack, **settings)
        runs[pack] = zero.finetune(model, corpus, work / pack, pack=pack, overwrite=True,
                                   batch=plan.rows.count, **settings)
        checks.that(len(runs[pack].losses) == 2, f"{pack}: {runs[pack]}")
    # All documents are one batch: a token that sees another document would change its loss.
    for each in ("losses", "evaluations"):
        alone, packed, cut = (np.array([np.ravel(value)[-1] for value in getattr(run, each)])
                              for run in runs.values())
        checks.that(np.allclose(alone, packed, rtol=1e-5), f"{each}: {alone}, packed {packed}")
        checks.that(np.abs(alone / cut - 1).max() > 1e-5, f"{each} of a stream: {cut}, {alone}")
    check_packed_resume(checks, model, corpus, work)


def check_packed_resume(checks, model, corpus, work):
    """A packed run that is killed continues with the same bits, which YAML and zero-run have."""
    packed = {**SETTINGS, "batch": 2, "pack": "documents"}
    whole, killed = work / "packed", work / "packed-killed"
    zero.finetune(model, corpus, whole, quiet=True, **packed)
    done = signalled(signal.SIGKILL, 7, "documents", model, corpus, killed)
    checks.that(done.returncode == -9 and not (killed / "adapter_model.safetensors").exists(),
                f"{done.returncode}: {done.stderr}")
    refused(checks, ["--pack was --pack=documents, and is not given"], model, corpus, killed,
            **{**SETTINGS, "batch": 2})
    zero.finetune(model, corpus, killed, quiet=True, **packed)
    checks.that(same_run(killed, whole), "a packed run that was killed differs")
    config = work / "packed.yaml"
    config.write_text("".join(f"{name}: {value}\n" for name, value in packed.items()))
    zero.finetune(model, corpus, work / "packed-yaml", config=config, quiet=True)
    checks.that(same_run(work / "packed-yaml", whole), "YAML packs otherwise")
    log = work / "packed.jsonl"
    run_tool("zero-run", whole / "training/model.zexe", f"--data={whole / 'training/tokens/train'}",
             "--shuffle=0", "--pack=documents", "--steps=12", f"--log={log}",
             "--threads-per-rank=1")
    beside = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    checks.that(np.array_equal(np.float32(losses_of(whole)), np.float32(beside)),
                f"losses {losses_of(whole)}, by zero-run {beside}")


def check_ways(checks, model, corpus, work, whole):
    """YAML, flags and Python make the same run; callbacks see each step."""
    config = work / "run.yaml"
    # YAML reads 1e-2, without a dot, as a text.
    config.write_text("".join(f"{name.replace('_', '-')}: {value}\n"
                              for name, value in {**SETTINGS, "lr": "1e-2"}.items())
                      + f"model: {model}\ncorpus: [{corpus}]\n")
    run_tool(*FINETUNE, f"--config={config}", f"--out={work / 'yaml'}", "--quiet")
    checks.that(same_run(work / "yaml", whole), "YAML makes another run")
    seen = []
    done = zero.finetune(model, corpus, work / "python", quiet=True, **SETTINGS,
                         callbacks=[lambda session, result: seen.append(result.step)])
    checks.that(seen == list(range(12)) and done.losses == losses_of(whole) and
                [step for step, _ in done.evaluations] == [0, 4, 8, 12], f"{seen} {done}")
    checks.that(same_run(work / "python", whole), "Python makes another run")
    plan = zero.finetune(config=config, out=work / "dry", dry_run=True, quiet=True, epochs=None)
    checks.that(plan.steps == 12 and plan.evaluations == 4, str(plan))


def check_best(checks, model, corpus, work):
    """keep=best writes the weights of the lowest evaluation loss."""
    settings = {**SETTINGS, "lr": 3.0, "lr_schedule": "constant", "steps": 2, "eval_every": 1,
                "quiet": True}
    done = zero.finetune(model, corpus, work / "best", keep="best", **settings)
    step, _ = min(done.evaluations[1:], key=lambda pair: pair[1])
    checks.that(step == 1, f"the last step is the best: {done.evaluations}")

    def stop(session, result):
        return result.step + 1 < step
    zero.finetune(model, corpus, work / "stopped", callbacks=[stop], **settings)
    last, best = (read_safetensors(work / name / "adapter_model.safetensors")
                  for name in ("stopped", "best"))
    checks.that(all((last[name] == best[name]).all() for name in best), "other weights are kept")
    checks.that(len(losses_of(work / "stopped")) == step, "a callback does not stop the run")


def check_methods(checks, model, corpus, work):
    """What does not fit into memory is trained by adapters; the compiler says what would fit."""
    settings = {name: value for name, value in SETTINGS.items() if name != "method"}
    least = {}
    for method in ("full", "lora"):
        try:
            zero.finetune(model, corpus, work / "size", quiet=True, method=method,
                          ram_budget="1KiB", **settings)
        except zero.CompileError as error:
            found = re.search("smallest budget with a plan is ([0-9]+) bytes", str(error))
            checks.that(found, f"{method}: {error}")
            least[method] = int(found[1])
    checks.that(least["lora"] < least["full"], f"{least}")
    for method, budget in least.items():
        plan = zero.finetune(model, corpus, work / "size", dry_run=True, quiet=True,
                             ram_budget=budget, **settings)
        checks.that(plan.choices.value("method") == method, str(plan))
    checks.that("no plan of full fits" in plan.choices["method"].why, str(plan))
    checks.that(plan.process["arenas"] + plan.process["beside"] <= least["lora"], f"{plan.process}, {least}")
    sizes = [parse_bytes(text) for text in ("4GiB", "4g", 4 << 30, "1.5KB", "many")]
    checks.that(sizes == [4 << 30] * 3 + [1500, None], f"{sizes}")
    small = Choices({"ram_budget": "700KiB", "optimizer": "adamw"})
    excess = [excess_state(small, plan.model),
              excess_state(Choices({"ram_budget": "1MiB", "optimizer": "adamw"}), plan.model),
              excess_state(Choices({"ram_budget": "700KiB", "optimizer": "lion"}), plan.model)]
    checks.that(excess == [12 * plan.model.parameters, 0, 0], f"{excess}")
    refused(checks, ["--ram-budget", "smallest budget with a plan"], model, corpus, work / "size",
            ram_budget="1MiB", **settings)


def refused(checks, words, model, corpus, out, **settings):
    try:
        zero.finetune(model, corpus, out, quiet=True, **settings)
    except zero.ZeroError as error:
        for word in words:
            checks.that(word in str(error), f"'{word}' is not in: {error}")
    else:
        checks.that(False, f"{words}: accepted")


def check_errors(checks, model, corpus, work):
    out = work / "errors"
    refused(checks, ["nowhere", "no folder", "save_pretrained"], work / "nowhere", corpus, out)
    (work / "empty.jsonl").write_text("")
    refused(checks, ["no sample of", "0 samples"], model, work / "empty.jsonl", out)
    for text, words in (("epoch: 3", ["unknown key 'epoch'", "did you mean 'epochs'?", "bad.yaml"]),
                        ("epochs: many", ["--epochs", "an integer", "many"]),
                        ("- 1", ["keys and values", "list"])):
        (work / "bad.yaml").write_text(text)
        refused(checks, words, model, corpus, out, config=work / "bad.yaml")
    refused(checks, ["--out", "another folder"], model, corpus, model)
    refused(checks, ["adapter_config.json", "--method=full"], model, corpus, work / "lora",
            method="full", overwrite=True)
    refused(checks, ["--lora-rank=4", "--method=full"], model, corpus, out, method="full",
            lora_rank=4)
    refused(checks, ["--batch=100", "at most the 81 documents"], model, corpus, out, batch=100)
    refused(checks, ["--keep=best", "--eval-split"], model, corpus, out, keep="best", eval_split=0)
    refused(checks, ["--steps or --epochs"], model, corpus, out, steps=1, epochs=1)
    refused(checks, ["--eval-split", "less than 1"], model, corpus, out, eval_split=1.5)
    refused(checks, ["expected corpus"], model, None, out)
    small = make_model(work / "small", corpus)
    config = json.loads((small / "config.json").read_text())
    (small / "config.json").write_text(json.dumps({**config, "vocab_size": 100}))
    refused(checks, ["vocab_size of 100", "tokenizer"], small, corpus, out)
    (model.parent / "bare").mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (model.parent / "bare" / name).write_bytes((model / name).read_bytes())
    refused(checks, ["no model.safetensors", "--init"], model.parent / "bare", corpus, out)
    done = subprocess.run([*FINETUNE, model, corpus, f"--out={out}", "--epoch=3"],
                          capture_output=True, text=True)
    checks.that(done.returncode == 2 and "did you mean 'epochs'?" in done.stderr, done.stderr)
    try:
        zero.finetune(model, corpus, out, epoch=3)
    except TypeError as error:
        checks.that("did you mean 'epochs'?" in str(error), f"{error}")


def run_with_signal(number, step, pack, *arguments):
    """A run that sends itself a signal after a step."""
    def send(session, result):
        if result.step == int(step):
            os.kill(os.getpid(), int(number))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # lit ignores it
    try:
        packed = {"batch": 2} if pack == "documents" else {}
        zero.finetune(*arguments, callbacks=[send], **{**SETTINGS, **packed, "pack": pack})
    except KeyboardInterrupt as error:
        sys.stderr.write(str(error))
        sys.exit(128 + error.signal)


def main():
    if sys.argv[1] == "--signal":
        return run_with_signal(*sys.argv[2:])
    data, work = map(Path, sys.argv[1:])
    work.mkdir(parents=True)
    checks = Checks()
    text = data / "gpt-bytes/text.txt"
    model, corpus = make_model(work / "model", text), make_corpus(work / "corpus.jsonl", text, 85)
    check_plan(checks, model, corpus, work)
    whole = check_run(checks, model, corpus, work)
    check_full(checks, model, corpus, work)
    check_split(checks, whole)
    check_interruptions(checks, model, corpus, work, whole)
    check_packing(checks, model, text, work)
    check_ways(checks, model, corpus, work, whole)
    check_best(checks, model, corpus, work)
    check_methods(checks, model, corpus, work)
    check_errors(checks, model, corpus, work)
    checks.finish()


if __name__ == "__main__":
    main()
