"""zero-run reads a folder of tokens in place: bitwise identical to the same rows as .npy.

usage: check_tokenize_run.py DATA WORK
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from make_tokenizer import CHATML, make_folder

from zero import tokenize
from zero_test import Checks, Graph, check_refused, run_tool

STEPS, LENGTH, MODEL_IDS = 4, 32, 512


def rows(folder, length, shift):
    """What documents are as rows: ids, labels, mask and positions."""
    manifest = json.loads((folder / "tokens.json").read_text())
    ids = np.fromfile(folder / "ids.bin", manifest["id_type"]).astype(np.int64)
    mask = np.fromfile(folder / "mask.bin", np.uint8)
    starts = np.fromfile(folder / "starts.bin", np.uint64).astype(int)
    count = manifest["documents"]
    row = {"ids": np.full((count, length), manifest["pad_id"]),
           "labels": np.full((count, length), -100), "mask": np.zeros((count, length), np.int64),
           "positions": np.tile(np.arange(length), (count, 1))}
    for i, (begin, end) in enumerate(zip(starts, starts[1:])):
        read = min(end - begin, length)
        row["ids"][i, :read] = ids[begin:begin + read]
        row["mask"][i, :read] = 1
        labels = np.where(mask[begin:end] == 1, ids[begin:end], -100)[shift:shift + length]
        row["labels"][i, :len(labels)] = labels
    return row


def losses(graph, executable, data, *flags):
    log, weights = graph.work / "run.jsonl", graph.work / "run.safetensors"
    text = run_tool("zero-run", executable, *data, f"--steps={STEPS}", f"--log={log}",
                    f"--save={weights}", *flags)
    return log.read_bytes() + weights.read_bytes(), text


def make_tokens(work, model, labels):
    """Conversations and texts, some of which are longer than a row."""
    samples = []
    for i in range(13):
        samples += [{"messages": [{"role": "user", "content": f"Question {i}"},
                                  {"role": "assistant", "content": "word " * (i % 5)}]},
                    {"text": "all the world's a stage " * (i % 4 + 1)},
                    {"prompt": "say: ", "completion": f"yes {i}"}]
    corpus = work / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, samples)))
    folder = work / f"tokens {labels}"
    tokenize(model, corpus, folder, labels=labels)
    return folder


def check_arrays(checks, graph, executable, folders):
    """Each way to give a folder, compared with arrays, for one and two ranks."""
    for labels, folder in folders.items():
        shift = int(labels == "shifted")
        row = rows(folder, LENGTH, shift)
        for name in row:
            np.save(graph.work / f"{name}.npy", row[name])
        arrays = f"--data=input_ids={graph.work}/ids.npy,labels={graph.work}/labels.npy"
        for flags in ((), ("--shuffle=7",)):
            expected, _ = losses(graph, executable, [arrays], *flags)
            suffix = "labels+1" if shift else "labels"
            forms = [[f"--data={folder}/"],
                     [f"--data=labels={folder}/:{suffix}", f"--data=input_ids={folder}:ids"]]
            if shift and not flags:
                forms += [[f"--data={folder}"], [f"--data=tokens={folder}"],
                          [f"--data=input_ids={folder},labels={folder}"],
                          [f"--data=labels={graph.work}/labels.npy,{folder}"]]
            for data in forms:
                got, text = losses(graph, executable, data, *flags)
                checks.that(got == expected, f"{labels}, {data} {flags} differs")
                if data[0].endswith("/") and not flags:
                    check_remarks(checks, text, row, folder, suffix)
        log = (graph.work / "run.jsonl").read_text().splitlines()
        numbers = [json.loads(line)["loss"] for line in log]
        checks.that(np.isfinite(numbers).all() and len(set(numbers)) == STEPS, f"losses {numbers}")


def check_remarks(checks, text, row, folder, suffix):
    """What each input reads, and how many documents are cut, are said."""
    starts = np.fromfile(folder / "starts.bin", np.uint64).astype(int)
    longer = int((np.diff(starts) > LENGTH + (suffix == "labels+1")).sum())
    checks.that(longer > 0 and f"{longer} of {len(starts) - 1} documents" in text, f"{text}")
    checks.that(f"'input_ids' = {folder}/:ids, 'labels' = {folder}/:{suffix}" in text, f"{text}")


def check_labels_unread(checks, graph, executable, folder):
    """Masks have no effect if no input reads labels. Labels from elsewhere have their own."""
    words = "no input reads the labels"
    for labels, warns in ((f"{folder}:ids", True), (f"{graph.work}/labels.npy", False)):
        _, text = losses(graph, executable, [f"--data=input_ids={folder},labels={labels}"])
        checks.that((words in text) == warns, f"labels={labels}: {text}")


def check_mask(checks, data, work, folder):
    """Inputs that are called mask read where tokens are."""
    graph = Graph(data, "llama-tiny-mask", work / "mask")
    executable = graph.compile(2, 2, "--optimizer=adamw")
    row = rows(folder, LENGTH, 1)
    for name in row:
        np.save(graph.work / f"{name}.npy", row[name])
    arrays = ",".join(f"{name}={graph.work}/{part}.npy" for name, part in (
        ("input_ids", "ids"), ("attention_mask", "mask"), ("labels", "labels")))
    expected, _ = losses(graph, executable, [f"--data={arrays}"])
    checks.that(losses(graph, executable, [f"--data={folder}"])[0] == expected, "mask differs")
    # Positions in place of ids are another known input.
    given = f"--data=input_ids={graph.work}/positions.npy"
    expected, _ = losses(graph, executable, [given, f"--data={folder}"])
    got, _ = losses(graph, executable, [f"--data=input_ids={folder}:positions", f"--data={folder}"])
    checks.that(got == expected, "positions differ")


def check_errors(checks, executable, folder, work):
    broken = work / "broken"

    def refuse(label, words, data="{}", change=None):
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(folder, broken)
        if change:
            change()
        check_refused(checks, label, words, "zero-run", executable, "--steps=1",
                      "--data=" + data.replace("{}", str(broken)))

    def edit(**entries):
        path = broken / "tokens.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))

    def swap():
        starts = np.fromfile(broken / "starts.bin", np.uint64)
        starts[[1, 2]] = starts[[2, 1]]
        starts.tofile(broken / "starts.bin")

    refuse("unfinished", ["tokens.json", "python -m zero tokenize", "same command"],
           change=lambda: (broken / "tokens.json").unlink())
    refuse("no JSON", ["tokens.json", "no manifest"],
           change=lambda: (broken / "tokens.json").write_text("{"))
    refuse("version", ["version 2, expected 1"], change=lambda: edit(version=2))
    refuse("type", ["tokens.json", "damaged"], change=lambda: edit(id_type="int8"))
    refuse("labels", ["tokens.json", "damaged"], change=lambda: edit(labels="other"))
    refuse("count", ["starts.bin", "bytes, expected"], change=lambda: edit(documents=1))
    refuse("huge count", ["tokens.json", "damaged"], change=lambda: edit(documents=1 << 63))
    refuse("ids", ["ids.bin", "bytes, expected"],
           change=lambda: (broken / "ids.bin").write_bytes(b"12"))
    refuse("starts", ["starts.bin", "out of order"], change=swap)
    refuse("vocabulary", [f"{MODEL_IDS} token ids", "the id 512", "tokenizer"],
           change=lambda: edit(largest_id=512))
    refuse("padding", ["the id 600"], change=lambda: edit(pad_id=600))
    refuse("part", ["expected ids, labels, mask or positions", "'words'"],
           data="input_ids={}:words,labels={}")
    refuse("skip", [":labels+1'", "got +2"], data="input_ids={},labels={}:labels+2")
    refuse("skip of ids", [":labels+1'", "got +1"], data="input_ids={}:ids+1,labels={}")
    refuse("twice", ["other data"], data="input_ids={},labels={},{}")
    refuse("no folder", ["a folder of tokens"], data="{}-not")


def main():
    data, work = map(Path, sys.argv[1:])
    checks = Checks()
    model = work / "model"
    make_folder(model, data / "gpt-bytes" / "text.txt", CHATML)
    folders = {labels: make_tokens(work, model, labels) for labels in ("shifted", "same")}
    graph = Graph(data, "gpt2-tiny", work / "gpt2")
    executable = graph.compile(3, 2, "--optimizer=adamw")
    check_arrays(checks, graph, executable, folders)
    check_labels_unread(checks, graph, executable, folders["same"])
    check_mask(checks, data, work, folders["shifted"])
    check_errors(checks, executable, folders["shifted"], work)
    checks.finish()


if __name__ == "__main__":
    main()
