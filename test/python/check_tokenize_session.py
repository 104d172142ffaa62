"""Sessions read a folder of tokens: losses as of the same rows as arrays.

usage: check_tokenize_session.py DATA WORK
"""

import sys
from pathlib import Path

import zero
from check_tokenize_run import LENGTH, make_tokens, rows
from make_tokenizer import CHATML, make_folder
from zero_test import Checks

STEPS = 3


def main():
    data, work = map(Path, sys.argv[1:])
    checks = Checks()
    make_folder(work / "model", data / "gpt-bytes" / "text.txt", CHATML)
    folder = make_tokens(work, work / "model", "shifted")
    row = rows(folder, LENGTH, 1)
    program = zero.compile(data / "gpt2-tiny" / "model.onnx", ranks=2, optimizer="adamw",
                           output=work / "gpt2.zexe")
    losses = []
    for source in ({"input_ids": row["ids"], "labels": row["labels"]}, folder, str(folder) + "/",
                   {"input_ids": folder, "labels": folder}, {"input_ids": folder,
                                                             "labels": row["labels"]}):
        with program.session() as session:
            losses.append(session.train(source, steps=STEPS, progress=False).losses)
    checks.that(len(losses[0]) == STEPS and all(each == losses[0] for each in losses), f"{losses}")
    try:
        zero.Dataset(program, {"input_ids": work, "labels": row["labels"]})
    except zero.ZeroError as error:
        checks.that("tokens.json" in str(error) and "tokenize" in str(error), f"{error}")
    else:
        checks.that(False, "a folder without tokens is accepted")
    checks.finish()


if __name__ == "__main__":
    main()
