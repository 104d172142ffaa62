"""python -m zero check-model: loss and gradients of programs against their ONNX models, and faults.

usage: check_model.py DATA WORK
"""

import subprocess
import sys
from pathlib import Path

import onnx

from executables import read_executable, write_executable
from zero_test import Checks, check_refused, run_tool

COMMAND = (sys.executable, "-m", "zero", "check-model")
# Model, flags, and what the output has to say.
EQUAL = [
    ("mlp", [], "6 parameters, 2 random directions each, by an update of SGD"),
    ("mlp", ["--freeze=fc1.*", "--seed=3"], "not compared: fc1.weight, fc1.bias"),
    ("gpt2-tiny", ["--shrink"], "512 to 8"),
    ("gpt2-tiny-dyn", ["--shrink", "--shape=input_ids=2x8,labels=2x8", "--directions=1"],
     "28 parameters"),
    ("llama-tiny", ["--shrink", "--directions=1"], "model.model.rotary_emb.inv_freq"),
    ("bert-tiny", ["--shrink", "--directions=1"], "row 0 of model.bert.embeddings.word_embeddings"),
    ("lstm-tiny", ["--directions=1"], "19 parameters"),
    ("resnet-tiny", ["--shrink", "--directions=1"], "running_var and 14 more"),
    ("gpt2-tiny", ["--mesh=context=2,tensor=2", "--directions=1"], "28 parameters"),
    ("mlp", ["--tile-params-over=100KB", "--directions=1"], "6 parameters"),
]


def check_equal(checks, data):
    for name, flags, words in EQUAL:
        label = f"{name} {' '.join(flags)}"
        done = subprocess.run([*COMMAND, data / name / "model.onnx", *flags], capture_output=True,
                              text=True)
        checks.that(done.returncode == 0, f"{label}: {done.stderr}")
        checks.that(words in done.stdout and "not a proof" in done.stdout,
                    f"{label}: {done.stdout}")


def check_small(checks, data, work):
    """The smaller model is kept: it is one to compile and to check again, with the same loss."""
    small, shapes = work / "small.onnx", {}
    first = subprocess.run([*COMMAND, data / "gpt2-tiny/model.onnx", "--shrink", f"--save={small}",
                            "--directions=1"], capture_output=True, text=True)
    again = subprocess.run([*COMMAND, small, "--directions=1"], capture_output=True, text=True)
    losses = [line for done in (first, again) for line in done.stdout.splitlines()
              if line.startswith("loss: ")]
    checks.that(len(losses) == 2 and losses[0] == losses[1], f"small: {first} {again}")
    graphs = [onnx.load(path).graph for path in (data / "gpt2-tiny/model.onnx", small)]
    checks.that([n.op_type for n in graphs[0].node if n.op_type != "Constant"] ==
                [n.op_type for n in graphs[1].node], "small: other nodes")
    for graph in graphs:
        for tensor in graph.initializer:
            shapes.setdefault(tensor.name, []).append(tuple(tensor.dims))
    checks.that(shapes["model.transformer.h.0.attn.c_attn.weight"] == [(64, 192), (28, 84)],
                f"small: {shapes}")


def check_kept(checks, data, work):
    """Gradients of a program with another optimizer are those that a run keeps."""
    model, path = data / "mlp/model.onnx", work / "adamw.zexe"
    run_tool("zeroc", model, "--optimizer=adamw", "-o", path)
    done = subprocess.run([*COMMAND, model, path, "--directions=1"], capture_output=True, text=True)
    checks.that(done.returncode == 0 and "that a run keeps" in done.stdout, f"adamw: {done}")


def check_faults(checks, data, work):
    """Each matrix product with results that are wrong by a percent is found."""
    model, path, faulty = data / "mlp/model.onnx", work / "sgd.zexe", work / "faulty.zexe"
    run_tool("zeroc", model, "--optimizer=sgd", "-o", path)
    products = [i for i, kernel in enumerate(read_executable(path)[0].kernels)
                if kernel.HasField("matmul")]
    checks.that(len(products) >= 6, f"products: {products}")
    for number in products:
        tables, _ = read_executable(path)
        tables.kernels[number].matmul.alpha *= 1.01
        write_executable(faulty, path, tables)
        done = subprocess.run([*COMMAND, model, faulty], capture_output=True, text=True)
        label = f"{tables.kernels[number].name}: {done.stdout}{done.stderr}"
        checks.that(done.returncode == 1, label)
        checks.that("weight', direction 0: the derivative is" in done.stderr and
                    "by differences of the loss" in done.stderr, label)


def check_divided(checks, data, work):
    """A program whose ranks add parts of a product: of some elements only, or their mean."""
    model, path, faulty = data / "mlp/model.onnx", work / "tensor.zexe", work / "faulty.zexe"
    run_tool("zeroc", model, "--optimizer=sgd", "--mesh=tensor=2", "-o", path)

    def sum_of(tables):
        return next(command.collective for segment in tables.segments
                    for command in segment.commands if command.HasField("collective"))

    def add_some(tables):
        sum_of(tables).elements = 32

    def average(tables):
        sum_of(tables).mean = True

    for fault in (add_some, average):
        tables, _ = read_executable(path)
        fault(tables)
        write_executable(faulty, path, tables)
        done = subprocess.run([*COMMAND, model, faulty], capture_output=True, text=True)
        checks.that(done.returncode == 1 and "by nodes" in done.stderr,
                    f"{fault.__name__}: {done.stdout}{done.stderr}")


def check_errors(checks, data, work):
    mlp, path = data / "mlp/model.onnx", work / "two.zexe"
    run_tool("zeroc", mlp, "--ranks=2", "--optimizer=sgd", "-o", path)
    for label, words, arguments in [
            ("ranks", ["expected a program of one rank along data", "got 2 and 1"], [mlp, path]),
            ("random", ["Dropout", "draws random numbers"], [data / "mlp-dropout/model.onnx"]),
            ("bf16", ["expected parameters of float32, got BFLOAT16"],
             [data / "gpt2-tiny-bf16/model.onnx"]),
            ("evaluator", ["onnx's reference evaluator cannot evaluate", "Relu"],
             [data / "rnn-tiny/model.onnx"]),
            ("loss", ["to be an output of the model, one of loss, got 'x'"], [mlp, "--loss=x"]),
            ("restored", ["export with optimize=False"], [data / "bert-default/model.onnx"]),
            ("no file", ["missing.onnx"], [work / "missing.onnx"]),
            ("no model", ["expected an ONNX model"], [__file__])]:
        # The graph of rnn-tiny has no record of its module, which is a warning of its own.
        check_refused(checks, label, words, COMMAND[0], "-Wignore", *COMMAND[1:], *arguments)
    other = work / "other.zexe"
    run_tool("zeroc", data / "lstm-tiny/model.onnx", "--optimizer=sgd", "-o", other)
    check_refused(checks, "another model", ["'embedding.weight', which is no initializer"],
                  *COMMAND, mlp, other)
    for flags in (["--shrink"], ["--freeze=x"]):
        done = subprocess.run([*COMMAND, mlp, other, *flags], capture_output=True, text=True)
        checks.that(done.returncode == 2 and "changes the program that is compiled" in done.stderr,
                    f"{flags}: {done}")


def main():
    data, work = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_equal(checks, data)
    check_small(checks, data, work)
    check_kept(checks, data, work)
    check_faults(checks, data, work)
    check_divided(checks, data, work)
    check_errors(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
