"""No tool prints a control character that a name contains, nor a line that a name made up.

usage: check_names.py WORK
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks

# Escape sequences, a carriage return, a line that looks like a message, C1 in UTF-8, DEL.
EVIL = "\x1b[2J\x1b]0;title\x07\r\nzeroc: error: forged\nzero-run: error: forged\n\u009b31m\x7f"
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def evil(name):
    return name + EVIL


def write_model(path, node="Gemm", **replaced):
    """A linear layer and its mean, with names that contain EVIL."""
    names = {key: evil(key) for key in ("x", "weight", "bias", "y", "squares", "loss")} | replaced
    nodes = [helper.make_node(node, [names["x"], names["weight"], names["bias"]], [names["y"]], name=evil("layer")),
             helper.make_node("Mul", [names["y"], names["y"]], [names["squares"]], name=evil("square")),
             helper.make_node("ReduceMean", [names["squares"]], [names["loss"]], name=evil("mean"), keepdims=0)]
    weights = [numpy_helper.from_array(np.full(shape, 0.5, np.float32), names[key])
               for key, shape in (("weight", (4, 3)), ("bias", (3,)))]
    graph = helper.make_graph(nodes, evil("graph"), [helper.make_tensor_value_info(names["x"], TensorProto.FLOAT, [2, 4])],
                              [helper.make_tensor_value_info(names["loss"], TensorProto.FLOAT, [])], weights)
    onnx.save(helper.make_model(graph, producer_name=evil("producer"),
                                opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return names


class Tools:
    def __init__(self, checks, work):
        self.checks, self.work = checks, work

    def run(self, *words, status=None):
        """Runs a tool, and looks at what it prints. Returns that."""
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, cwd=self.work,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        label = " ".join(map(str, words))[:100]
        found = CONTROL.search(done.stdout)
        self.checks.that(not found, f"{label!r} prints {done.stdout[max(0, found.start() - 80):found.end() + 20]!r}"
                         if found else "")
        forged = [line for line in done.stdout.split(b"\n") if re.match(rb"(zeroc|zero-run): error: forged", line)]
        self.checks.that(not forged, f"{label!r} prints a line that a name made up: {done.stdout!r}")
        if status is not None:
            self.checks.that(done.returncode == status, f"{label!r}: status {done.returncode}: {done.stdout!r}")
        return done.stdout


def check_working(tools, work):
    """A model that trains, whatever its names are."""
    names = write_model(work / "good.onnx")
    np.savez(work / "data.npz", **{names["x"]: np.ones((8, 4), np.float32)})
    (work / "all.txt").write_text("weight*\nbias*\n")
    tools.run("zeroc", "good.onnx", "-o", "good.zexe", status=1)  # it is unknown which are weights
    train = ["good.onnx", "--trainable=all.txt", "--optimizer=adamw", "--lr=0.1", "--verbose"]
    tools.run("zeroc", *train, "-o", "good.zexe", status=0)
    tools.run("zeroc", *train, "--zero-stage=3", "--ranks=2", "--plan-only", status=0)
    tools.run("zero-run", "good.zexe", "--data=data.npz", "--steps=3", "--profile", "--save-state=state",
              "--save=good.safetensors", status=0)
    tools.run("zero-run", "good.zexe", "--data=data.npz", "--steps=4", "--resume=state", status=0)
    tools.run("zero-sim", "good.zexe", status=0)
    tools.run("zero-translate", "--import-onnx", "good.onnx", "-o", "good.mlir", status=0)
    tools.run("zero-run", "good.zexe", "--data=none.npz", status=1)
    tools.run("zero-run", "good.zexe", "--data=data.npz", "--weights=other.safetensors", status=1)


def check_lists(tools, work):
    """Lists of names and patterns that match nothing, and budgets that are too small."""
    (work / "list.txt").write_text(evil("other").replace("\n", "") + "\n")
    tools.run("zeroc", "good.onnx", "--trainable=list.txt", "-o", "x.zexe", status=1)
    trained = ["zeroc", "good.onnx", "--trainable=all.txt", "-o", "x.zexe"]
    tools.run(*trained, "--memory-budget=1", "--zero-stage=3", "--ranks=2", status=1)
    (work / "plan.txt").write_text(evil("other").replace("\n", "") + ": colwise\n")
    tools.run(*trained, "--mesh=data=1,tensor=2", "--tensor-plan=plan.txt", status=1)
    (work / "machine.json").write_text('{"name": "' + "\\u001b[2J" + '"}')
    tools.run(*trained, "--machine=machine.json", status=1)


def check_broken(tools, work):
    """Models that are refused with the name of a node or tensor."""
    write_model(work / "operator.onnx", node=evil("Gemm"))
    write_model(work / "undefined.onnx", squares="y2", y="y1")
    model = onnx.load(work / "good.onnx")
    model.graph.node[1].input[0] = evil("nowhere")
    onnx.save(model, work / "undefined.onnx")
    model = onnx.load(work / "good.onnx")
    model.graph.initializer[0].dims[0] = 5
    onnx.save(model, work / "shape.onnx")
    model = onnx.load(work / "good.onnx")
    model.graph.node[0].attribute.append(helper.make_attribute(evil("unknown"), 1))
    onnx.save(model, work / "attribute.onnx")
    for name in ("operator", "undefined", "shape", "attribute"):
        tools.run("zeroc", f"{name}.onnx", "-o", "x.zexe", status=1)
        tools.run("zero-translate", "--import-onnx", f"{name}.onnx", "-o", "x.mlir")
        tools.run("zero-run", f"{name}.onnx", "--data=data.npz", status=1)
    for tool in ("zeroc", "zero-run", "zero-sim"):
        tools.run(tool, evil("missing") + ".zexe", status=1)
        tools.run(tool, "good.zexe", "--" + evil("flag"))


def main():
    work, checks = Path(sys.argv[1]), Checks()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tools = Tools(checks, work)
    check_working(tools, work)
    check_lists(tools, work)
    check_broken(tools, work)
    checks.finish()


if __name__ == "__main__":
    main()
