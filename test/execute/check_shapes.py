"""One executable with programs for several shapes: each step is, bit for bit, that of an executable
for its shape alone, and checkpoints go from one to the other.

usage: check_shapes.py DATA WORK [cuda]
"""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import CASES
from zero_test import Checks, check_refused, run_tool

LONG, SHORT, ROWS, BATCHES = 32, 16, 2, 2


class Model:
    """A model with flags and the number of its ranks, and executables of it by their shapes."""

    def __init__(self, model, work, ranks, flags, named):
        self.model, self.work, self.ranks, self.flags, self.named = model, work, ranks, flags, named
        self.work.mkdir(parents=True, exist_ok=True)

    def shape(self, rows, columns):
        if not self.named:
            return f"--shape={rows}x{columns}"
        return f"--shape={self.shape_name(rows, columns)}"

    def shape_name(self, rows, columns):
        """As profiles have it."""
        return f"input_ids={rows}x{columns},labels={rows}x{columns}"

    def compile(self, name, *shapes):
        path = self.work / f"{name}.zexe"
        report = run_tool("zeroc", self.model, "-o", path, f"--ranks={self.ranks}", *self.flags,
                          *(self.shape(*shape) for shape in shapes))
        return path, report

    def run(self, executable, data, steps, load=None, save=None, flags=()):
        """The losses and the weights of a run up to step `steps`, these as bytes."""
        log, weights = self.work / "log.jsonl", self.work / "weights.safetensors"
        log.unlink(missing_ok=True)  # a resumed run adds to it
        if save:
            shutil.rmtree(save, ignore_errors=True)
        run_tool("zero-run", executable, *data, f"--steps={steps}", "--quiet", f"--log={log}",
                 f"--save={weights}", *flags, *([f"--resume={load}"] if load else []),
                 *([f"--save-state={save}"] if save else []))
        losses = [line["loss"] for line in self.logged() if "loss" in line]
        return losses, weights.read_bytes()

    def logged(self):
        return list(map(json.loads, (self.work / "log.jsonl").read_text().splitlines()))

    def evaluated(self):
        """The losses of evaluations in the last run."""
        return [line["eval_loss"] for line in self.logged() if "eval_loss" in line]


def write_batch(folder, name, rows, columns, seed):
    """Data of some global batches, as the flag."""
    ids = np.random.default_rng(seed).integers(4, 40, (rows, columns))
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.npy", ids)
    return [f"--data=input_ids={folder}/{name}.npy,labels={folder}/{name}.npy"]


def write_documents(folder, lengths, seed):
    """A folder of tokenized documents."""
    folder.mkdir(parents=True, exist_ok=True)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype("<u8")
    ids = np.random.default_rng(seed).integers(4, 40, starts[-1]).astype("<u2")
    mask = np.ones(len(ids), np.uint8)
    mask[starts[:-1].astype(np.int64)] = 0
    ids.tofile(folder / "ids.bin")
    starts.tofile(folder / "starts.bin")
    mask.tofile(folder / "mask.bin")
    manifest = {"format": "zero-tokens", "version": 1, "documents": len(lengths),
                "tokens": len(ids), "trained_tokens": int(mask.sum()), "longest": max(lengths),
                "id_type": "uint16", "vocabulary": 40, "largest_id": 39, "pad_id": 0,
                "eos_id": 2, "labels": "same", "counts": {}, "arguments": {}}
    (folder / "tokens.json").write_text(json.dumps(manifest))
    return ids, starts.astype(np.int64)


def check_bits(checks, model, name, checking=("--check-memory",)):
    """Steps with long rows, then steps with short ones, each after the other's checkpoint."""
    work, rows = model.work, ROWS * model.ranks
    both, report = model.compile("both", (ROWS, SHORT), (ROWS, LONG))
    checks.that("arena of each rank by shape" in report, f"{name}: the report has no shapes")
    long, _ = model.compile("long", (ROWS, LONG))
    short, _ = model.compile("short", (ROWS, SHORT))
    of_long = write_batch(work, "long", rows * BATCHES, LONG, 1)
    of_short = write_batch(work, "short", rows * BATCHES, SHORT, 2)
    for first, then, data, later in ((long, short, of_long, of_short),
                                     (short, long, of_short, of_long)):
        expected = model.run(first, data, BATCHES, save=work / "alone")
        found = model.run(both, data, BATCHES, save=work / "shared", flags=checking)
        checks.that(found == expected, f"{name}: steps of {first.stem} rows differ")
        resumed = model.run(then, later, 2 * BATCHES, load=work / "shared")
        crossed = model.run(both, later, 2 * BATCHES, load=work / "alone")
        checks.that(resumed == crossed, f"{name}: steps of {then.stem} rows after others differ")


def check_documents(checks, model):
    """Each step runs the smallest shape that holds its documents."""
    work = model.work
    lengths = [9, 16, 5, 3, 30, 2, 7, 11, 16, 17, 4, 4]  # two in each batch
    ids, starts = write_documents(work / "tokens", lengths, 3)
    both, _ = model.compile("both", (ROWS, LONG), (ROWS, SHORT))
    alone = {columns: model.compile(f"at{columns}", (ROWS, columns))[0]
             for columns in (LONG, SHORT)}
    found = model.run(both, [f"--data={work}/tokens"], len(lengths) // ROWS)
    losses, checkpoint = [], None
    for batch in range(len(lengths) // ROWS):
        documents = range(batch * ROWS, (batch + 1) * ROWS)
        columns = SHORT if max(lengths[i] for i in documents) <= SHORT else LONG
        arrays = {"input_ids": np.zeros((ROWS, columns), np.int64),
                  "labels": np.full((ROWS, columns), -100)}
        for row, i in enumerate(documents):
            text = ids[starts[i]:starts[i + 1]]
            arrays["input_ids"][row, :len(text)] = text
            arrays["labels"][row, 1:len(text)] = text[1:]
        for key, values in arrays.items():
            np.save(work / f"{key}.npy", values)
        data = [f"--data=input_ids={work}/input_ids.npy,labels={work}/labels.npy"]
        loss, weights = model.run(alone[columns], data, batch + 1, load=checkpoint,
                                  save=work / f"after{batch}")
        losses += loss
        checkpoint = work / f"after{batch}"
    checks.that(found == (losses, weights), f"documents: {found[0]} instead of {losses}")


def check_recorded(checks, model):
    """A profile of each shape's steps; the trace has the last one of each."""
    work = model.work
    lengths = [9, 16, 5, 3, 30, 2, 7, 11, 16, 17, 4, 4]  # two in each batch
    write_documents(work / "recorded", lengths, 3)
    both, _ = model.compile("both", (ROWS, LONG), (ROWS, SHORT))
    trace, report = work / "trace.json", work / "report.json"
    data, steps = [f"--data={work}/recorded"], len(lengths) // ROWS
    plain = model.run(both, data, steps)
    text = run_tool("zero-run", both, *data, f"--steps={steps}", f"--trace={trace}", "--profile",
                    f"--report-json={report}")
    found = json.loads(report.read_text())
    checks.that(found["losses"] == plain[0], f"losses of recorded steps: {found['losses']}")
    profiles = {each["shape"]: each for each in [found["profile"], *found["other_profiles"]]}
    names = [model.shape_name(ROWS, columns) for columns in (LONG, SHORT)]
    checks.that(list(profiles) == names, f"profiles of {list(profiles)}")
    recorded = {name: len(profile["steps"]) for name, profile in profiles.items()}
    checks.that(list(recorded.values()) == [2, 2], f"recorded steps: {recorded}")
    long, short = (profiles[name]["flops"] for name in names)
    checks.that(1.8 < long / short < 2.5, f"operations of a step: {long} and {short}")
    checks.that(all(f"profile of 2 steps of {name}" in text for name in names), text)
    events = json.loads(trace.read_text())["traceEvents"]
    drawn = sorted(event["name"] for event in events if event["name"].startswith("step "))
    checks.that(drawn == ["step 4", "step 5"], f"steps in the trace: {drawn}")
    slices = [event for event in events if event.get("ph") == "X"]
    steps = {event["name"]: (event["ts"], event["ts"] + event["dur"]) for event in slices
             if event["name"] in drawn}
    kernels = [event for event in slices if "kernel" in event["args"]]
    for begin, end in steps.values():
        inside = sum(begin <= event["ts"] <= end for event in kernels)
        checks.that(inside > 20, f"{inside} commands in a step of the trace")


def check_last_batch(checks, model):
    """The last batch of an epoch runs with fewer rows."""
    work = model.work
    both, _ = model.compile("rows", (4, SHORT), (1, SHORT))
    four, _ = model.compile("four", (4, SHORT))
    one, _ = model.compile("one", (1, SHORT))
    everything = write_batch(work, "all", 5, SHORT, 4)
    ids = np.load(work / "all.npy")
    parts = []
    for name, part in (("head", ids[:4]), ("tail", ids[4:])):
        np.save(work / f"{name}.npy", part)
        parts.append([f"--data=input_ids={work}/{name}.npy,labels={work}/{name}.npy"])
    begin = model.run(four, parts[0], 1, save=work / "head-done")
    end = model.run(one, parts[1], 2, load=work / "head-done", flags=["--restart-data"])
    found = model.run(both, everything, 2)
    checks.that(found == (begin[0] + end[0], end[1]), "the last batch of an epoch differs")


def check_evaluation(checks, model):
    """Evaluations of rows of another length change nothing and equal those of their own program."""
    work = model.work
    both, _ = model.compile("eval", (ROWS, LONG), (ROWS, SHORT))
    short, _ = model.compile("eval-short", (ROWS, SHORT))
    data = write_batch(work, "train", ROWS * BATCHES, LONG, 5)
    held = [write_batch(work, "held", ROWS * BATCHES, SHORT, 6)[0].replace("data", "eval-data", 1)]
    plain = model.run(both, data, BATCHES, save=work / "plain")
    mixed = model.run(both, [*data, *held], BATCHES)
    checks.that(plain[1] == mixed[1], "an evaluation of another length changes weights")
    found = model.evaluated()
    again = write_batch(work, "again", ROWS * BATCHES, SHORT, 8)
    model.run(short, [*again, *held], BATCHES + 1, load=work / "plain", flags=["--lr=0"])
    expected = model.evaluated()
    checks.that(found == expected, f"evaluation: {found} instead of {expected}")


def check_arenas(checks, gpt2):
    """A further program is packed into the arenas of the first."""
    text = run_tool("zeroc", gpt2, "--plan-only", "--dump-after=pack", "--shape=input_ids=64x{32,8}")
    peaks = {name: [int(peak) for peak in re.findall(rf"{name} = \[#zero.arena<tier = device, "
                                                     r"peak = (\d+)", text)]
             for name in ("zero.certificate", "zero.first_arenas")}
    own, given = peaks["zero.certificate"], peaks["zero.first_arenas"]
    checks.that(len(own) == 2 and given == own[:1], f"arenas: {own}, of the first: {given}")
    checks.that(own[1] <= own[0], f"the smaller shape has the larger arena: {own}")


def check_emitted(checks, model):
    """A file in ONNX operators for each shape, which is that of the shape alone."""
    work, emit = model.work, ["zeroc", model.model, "--optimizer=adamw"]
    long, short = (model.shape(ROWS, columns) for columns in (LONG, SHORT))
    text = run_tool(*emit, f"--emit-onnx={work}/step.onnx", short, long)
    for name, shape in (("step.onnx", long), ("step-2.onnx", short)):
        checks.that(f"{shape}: wrote the training step to {work / name}" in text, text)
        run_tool(*emit, f"--emit-onnx={work}/alone.onnx", shape)
        same = (work / name).read_bytes() == (work / "alone.onnx").read_bytes()
        checks.that(same, f"{name} is not the step with {shape} alone")


def check_errors(checks, model, gpt2):
    work, folder = model.work, model.model
    for shape, *words in (("{2,4}x{8,16,32}", "lists in braces of equal lengths", "2 and 3"),
                          ("2x{8", "expected '}' after '{8'"), ("2x{8,8}", "'2x8' is given twice")):
        check_refused(checks, shape, words, "zeroc", folder, "-o", work / "x.zexe",
                      f"--shape={shape}")
    check_refused(checks, "too long", ["in the program for --shape=input_ids=2x64"], "zeroc", gpt2,
                  "-o", work / "x.zexe", "--shape=input_ids=2x{32,64}", notes=True)
    check_refused(checks, "outputs", ["output 'logits' is", "have outputs of one shape"], "zeroc",
                  folder, "--plan-only", "--forward-only", "--shape=2x{8,16}", notes=True)
    both, _ = model.compile("errors", (ROWS, LONG), (ROWS, SHORT))
    odd = write_batch(work, "odd", ROWS, 24, 7)
    check_refused(checks, "rows of no shape", [f"int64 [*, {LONG}] or [*, {SHORT}]", "[2, 24]"],
                  "zero-run", both, *odd, "--steps=1")


def main():
    data, work = map(Path, sys.argv[1:3])
    checks = Checks()
    flags = ["--optimizer=adamw", "--lr=0.01"]
    gpt2 = data / "gpt2-tiny-dyn" / "model.onnx"
    if sys.argv[3:] == ["cuda"]:
        model = Model(gpt2, work / "cuda", 2, ["--zero-stage=2", "--device=cuda", *flags], True)
        check_bits(checks, model, "cuda", checking=())
        return checks.finish()
    for stage, ranks, *more in ((0, 1), (1, 2), (2, 3, "--micro-batches=2"), (3, 2),
                                (3, 3, "--offload-optimizer=host", "--offload-params=host"),
                                (3, 2, "--checkpoint=layer"),
                                (3, 2, "--memory-budget=1300KiB", "--checkpoint=auto",
                                 "--offload=auto", "--clip-norm=0.5"),
                                (1, 2, "--precision=bf16")):
        name = f"stage {stage}, {ranks} ranks {more}"
        model = Model(gpt2, work / f"s{stage}r{ranks}{len(more)}", ranks,
                      [f"--zero-stage={stage}", *flags, *more], named=True)
        check_bits(checks, model, name)
    folder = work / "folder"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CASES["llama"]))
    llama = Model(folder, work / "llama", 1, ["--init=normal:0.2", *flags], named=False)
    check_documents(checks, llama)
    check_recorded(checks, llama)
    check_last_batch(checks, llama)
    check_evaluation(checks, llama)
    check_emitted(checks, Model(gpt2, work / "emitted", 1, flags, named=True))
    check_arenas(checks, gpt2)
    check_errors(checks, llama, gpt2)
    checks.finish()


if __name__ == "__main__":
    main()
