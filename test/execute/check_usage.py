"""An invalid command line is one clear error, and nothing is written.

usage: check_usage.py DATA WORK
"""

import shutil
import sys
from pathlib import Path

from zero_test import Checks, check_refused

# Flags after the model and -o, and the expected error.
ZEROC = [
    (["--frobnicate"], ["unknown option '--frobnicate'; see"]),
    (["--optimzer=sgd"], ["unknown option '--optimzer=sgd': did you mean '--optimizer'?"]),
    (["--stage=3"], ["unknown option '--stage=3': did you mean '--zero-stage'?"]),
    (["--zero-stage=4"], ["--zero-stage", "0, 1, 2 or 3", "got 4"]),
    (["--ranks=0"], ["--ranks", "1 to 4096", "got 0"]),
    (["--ranks=4097"], ["--ranks", "1 to 4096", "got 4097"]),
    (["--micro-batches=9223372036854775808"], ["--micro-batches", "1 to 1000000"]),
    (["--checkpoint-slots=9223372036854775808"], ["--checkpoint-slots", "1 to 1000000"]),
    (["--forward-only=0"], ["'--forward-only' takes no value, got '0'"]),
    (["--no-cache=nan"], ["'--no-cache' takes no value, got 'nan'"]),
    (["--allow-symlinks=0"], ["'--allow-symlinks' takes no value, got '0'"]),
    (["--nesterov="], ["'--nesterov' takes no value"]),
    (["--lr=-1"], ["--lr", "a finite number >= 0", "got -1"]),
    (["--lr=1e39"], ["--lr", "a finite number >= 0"]),
    (["--betas=0.9"], ["--betas", "two numbers"]),
    (["--betas=1.5,0.9", "--optimizer=adam"], ["betas", "1.5"]),
    (["--eps=-1", "--optimizer=adam"], ["eps", "-1"]),
    (["--weight-decay=-1"], ["--weight-decay", "-1"]),
    (["--lr=abc"], ["--lr", "abc"]),
    (["--optimizer=foo"], ["unknown optimizer 'foo'", "adam, adamw, "]),
    (["--optimizer=adam", "--momentum=0.9"], ["--momentum=0.9", "--optimizer=adam"]),
    (["--optimizer=sgd", "--nesterov"], ["nesterov"]),
    (["--loss-mean=median"], ["--loss-mean", "global or local", "'median'"]),
    (["--dump-after=lunch"], ["--dump-after", "unknown phase 'lunch'"]),
    (["--freeze=nothing*"], ["freeze pattern 'nothing*'"]),
    (["--freeze=*"], ["nothing to train"]),
    (["--trainable=nofile"], ["'nofile'", "No such file"]),
    (["--shape=x=32x784,y=3"], ["'y'"]),
    (["--shape=x=16x784"], ["'x'", "16"]),
    (["another.onnx"], ["expected one model", "another.onnx"]),
    (["--threads=0"], ["--threads", "'0'"]),
    (["--zero-stage=abc"], ["--zero-stage", "'abc'"]),
    (["--betas=0.9,x"], ["--betas", "'0.9,x'"]),
    (["--lr=nan"], ["--lr", "'nan'"]),
    (["--bucket-bytes=0"], ["--bucket-bytes", "at least 1"]),
    (["--optimizer=sgd", "--betas=0.9,0.99"], ["--betas", "no effect"]),
    (["--plan-only"], ["--plan-only", "no effect"]),
    (["--ranks=2", "--ranks", "2"], ["option '--ranks' is given twice"]),
    (["--lr=1", "--lr=2"], ["option '--lr' is given twice"]),
    (["--data-root=/nope"], ["--data-root", "'/nope'"]),
]

# Full command lines of zero-run.
ZERO_RUN = [
    ([], ["no model"]),
    (["model.zexe", "--frobnicate"], ["unknown option '--frobnicate'"]),
    (["model.zexe", "--zero-stage=3"], ["unknown option '--zero-stage=3'"]),
    (["model.zexe", "other.zexe"], ["expected one model", "other.zexe"]),
    (["model.zexe", "--steps=-1"], ["--steps", "'-1'"]),
    (["model.zexe", "--steps=two"], ["--steps", "'two'"]),
    (["model.zexe", "--steps"], ["--steps", "needs a value"]),
    (["model.zexe", "--lr=fast"], ["--lr", "'fast'"]),
    (["model.zexe", "--lr=-1"], ["--lr", "a finite number >= 0", "'-1'"]),
    (["model.zexe", "--steps=18446744073709551616"], ["--steps", "whole number"]),
    (["model.zexe", "--quiet=yes"], ["--quiet", "takes no value"]),
    (["model.zexe", "--data=x"], ["--data", "NAME=FILE, FILE.npz or a folder"]),
    (["model.zexe", "--data=x=a.bin:uint33"], ["--data", "element type", "'uint33'"]),
    (["model.zexe", "--data==a.npy"], ["--data", "name before '='"]),
    (["model.zexe", "--data=x=a.npz:"], ["--data", "a member after 'npz:'"]),
    (["model.zexe", "--data=a.npz+1"], ["--data", "NAME=FILE, FILE.npz or a folder"]),
    (["model.zexe", "--data="], ["--data", "NAME=FILE, FILE.npz or a folder", "''"]),
    (["model.zexe", "--shuffle=-3"], ["--shuffle", "'-3'"]),
    (["model.zexe", "--shuffle"], ["--shuffle", "needs a value: SEED"]),
    (["model.zexe", "--steps=1", "--epochs=1"], ["--steps or --epochs, got both"]),
    (["model.zexe", "--eval-every=3"], ["need --eval-data"]),
    (["model.zexe", "--eval-data=x=a.npy", "--eval-every=0"], ["at least 1"]),
    (["model.zexe", "--epochs=0", "--save-outputs=g.safetensors"], ["at least one step"]),
    (["model.zexe", "--stall=3"], ["--stall", "RANK:COLLECTIVE"]),
    (["model.zexe", "--steps=0", "--dump-gradients=g.safetensors"], ["--dump-gradients"]),
    (["model.onnx", "-o", "other.zexe"], ["'-o' belongs to zeroc"]),
    (["model.zexe", "--steps=1", "--steps", "1"], ["option '--steps' is given twice"]),
    (["model.zexe", "--weights-partial"], ["--weights-partial", "no effect"]),
    (["model.zexe", "--save-every=3"], ["--save-every", "no effect without --save-state"]),
    (["model.zexe", "--resume=s", "--steps=2", "--local-state"],
     ["--local-state", "no effect without --save-state"]),
    (["model.zexe", "--save-state=s", "--save-every=0"], ["--save-every of at least 1"]),
    (["model.zexe", "--save-state="], ["--save-state"]),
    (["model.zexe", "--resume=s"], ["--resume needs --steps or --epochs"]),
    (["model.zexe", "--resume=s", "--steps=2", "--weights=w.npz"], ["--resume or --weights", "both"]),
    (["model.zexe", "--resume=s", "--steps=2", "--dump-gradients=g"], ["gradients", "step 0"]),
    (["model.zexe", "--resume-if-any"], ["--resume-if-any", "no effect without --resume"]),
    (["model.zexe", "--restart-data"], ["--restart-data", "no effect without --resume"]),
    (["missing.zexe"], ["missing.zexe", "No such file"]),
]


def main():
    data, work = map(Path, sys.argv[1:])
    checks = Checks()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model, output = work / "model.onnx", work / "model.zexe"
    shutil.copyfile(data / "mlp" / "model.onnx", model)
    content = model.read_bytes()
    for flags, words in ZEROC:
        check_refused(checks, f"zeroc {flags}", words, "zeroc", model, "-o", output, *flags)
        checks.that(not output.exists(), f"zeroc {flags}: wrote an executable")
    check_refused(checks, "no output", ["expected -o"], "zeroc", model)
    check_refused(checks, "no folder", ["cannot write '/nonexistent/m.zexe'"],
                  "zeroc", model, "-o", "/nonexistent/m.zexe")
    check_refused(checks, "a folder", ["cannot write", "it is a folder"],
                  "zeroc", model, "-o", work)
    check_refused(checks, "the model itself", ["overwrite the input"], "zeroc", model, "-o", model)
    linked = work / "link.onnx"
    linked.hardlink_to(model)
    check_refused(checks, "the model by another name", ["overwrite the input"],
                  "zeroc", model, "-o", linked)
    linked.unlink()
    checks.that(model.read_bytes() == content, "the model was overwritten")
    mini = work / "mini"
    shutil.copytree(data / "gpt2-mini", mini)
    check_refused(checks, "the model's data", ["would overwrite", "model.onnx.data"],
                  "zeroc", mini / "model.onnx", "-o", mini / "model.onnx.data")
    checks.that((mini / "model.onnx.data").stat().st_size > 2**20, "weights were overwritten")
    shutil.rmtree(mini)
    for words_in, words_out in ZERO_RUN:
        check_refused(checks, f"zero-run {words_in}", words_out, "zero-run", *words_in)
    check_refused(checks, "zero-run passes errors of zeroc on", ["unknown optimizer 'foo'"],
                  "zero-run", model, "--optimizer=foo", "--zero-stage=1", "--ranks=2")
    checks.that([p.name for p in work.iterdir()] == ["model.onnx"], f"left: {list(work.iterdir())}")
    checks.finish()


if __name__ == "__main__":
    main()
