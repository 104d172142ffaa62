"""zero.compile(): every form of a model, keywords, errors; what a Program says of itself.

usage: check_compile.py DATA WORK
"""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx

import zero
from zero.exported import Export
from zero.flags import arguments_of
from zero.state import State
from zero.values import certificate_of_plan
from zero.warn import warnings_in
from zero_test import Checks, Graph, run_tool

ROOT = Path(__file__).resolve().parents[2]
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "weight_decay": 0.01}


def check_keywords(checks):
    for keywords, expected in (
            ({"stage": 3, "ranks": 4}, ["--zero-stage=3", "--ranks=4"]),
            ({"zero": "auto", "memory_budget": "60MiB"}, ["--zero=auto", "--memory-budget=60MiB"]),
            ({"plan_only": True, "nesterov": False, "lr": None}, ["--plan-only"]),
            ({"betas": (0.9, 0.99), "lr": 1e-3}, ["--betas=0.9,0.99", "--lr=0.001"]),
            ({"freeze": ["a.*", "b"], "no_decay": "*.bias"},
             ["--freeze=a.*,b", "--no-decay=*.bias"]),
            ({"shape": {"x": (4, 32), "y": [4]}}, ["--shape=x=4x32,y=4"]),
            ({"carry": {"*": "*.new"}}, ["--carry=*=*.new"]),
            ({"param_group": {"*.bias": {"weight_decay": 0, "lr_scale": 2}}},
             ["--param-group=*.bias:weight-decay=0:lr-scale=2"]),
            ({"config": Path("ds.json"), "memory_budget": 1 << 20},
             ["--config=ds.json", "--memory-budget=1048576"])):
        got = arguments_of(keywords)
        checks.that(got == expected, f"{keywords}: {got}, not {expected}")
    for keywords, words in (({"stag": 3}, "'stag': did you mean 'stage'?"),
                            ({"memory_bugdet": 1}, "did you mean 'memory_budget'?"),
                            ({"budget": 1}, "did you mean"),
                            ({"xyzzy": 1}, "no keyword 'xyzzy'"),
                            ({"nesterov": "yes"}, "expected True or False, got 'yes'"),
                            ({"ranks": True}, "ranks: expected a value (N), got True")):
        try:
            arguments_of(keywords)
            checks.that(False, f"{keywords}: no error")
        except TypeError as error:
            checks.that(words in str(error), f"{keywords}: '{words}' is not in '{error}'")


def check_errors(checks, data, work):
    model = Path(data) / "mlp/model.onnx"
    for source, keywords, words in (
            (model, {"stage": 7}, "--zero-stage: expected 0, 1, 2 or 3, got 7"),
            (model, {"memory_budget": "64k", "optimizer": "sgd"}, "--memory-budget=64KiB: no plan fits"),
            (model, {"auto": True, "no_cache": True}, "expected --machine or --cache-dir"),
            (work / "none.onnx", {}, "none.onnx"),
            (b"not a model", {}, "model.onnx")):
        try:
            zero.compile(source, **keywords)
            checks.that(False, f"{keywords}: no error")
        except zero.CompileError as error:
            checks.that(words in str(error) and "zeroc: error" not in str(error)
                        and str(error) in error.output.replace("zeroc: error: ", ""),
                        f"{keywords}: {error}")
            checks.that(error.code == 1, f"exit code {error.code}")
    for source, keywords, words in ((3, {}, "expected a path"), (model, {"lrr": 1}, "'lr'"),
                                    (model, {"example": 1}, "module of PyTorch")):
        try:
            zero.compile(source, **keywords)
            checks.that(False, f"{source}: no error")
        except TypeError as error:
            checks.that(words in str(error), f"'{words}' is not in '{error}'")


def first_loss(program, inputs):
    with program.session() as session:
        return session.step(inputs).loss


def check_forms(checks, graph, work):
    """A path, bytes and a ModelProto give the same program, and can be saved."""
    path = graph.folder / "model.onnx"
    expected = first_loss(zero.compile(path, **ADAMW), graph.inputs)
    checks.that(np.isclose(expected, graph.truth["loss"], rtol=1e-5), f"loss {expected}")
    for number, model in enumerate((str(path), path.read_bytes(), onnx.load(path))):
        program = zero.compile(model, **ADAMW)
        checks.that(first_loss(program, graph.inputs) == expected, f"form {number}")
        folder = work / f"form{number}"
        folder.mkdir()
        saved = program.save(folder / "saved.zexe")
        temporary = program.path.parent
        del program
        checks.that(not temporary.exists(), "the temporary directory stays")
        checks.that(first_loss(zero.load(saved), graph.inputs) == expected, f"form {number}, saved")
        expected_files = ["saved.onnx", "saved.zexe"] if number else ["saved.zexe"]
        checks.that(sorted(os.listdir(folder)) == expected_files, f"{os.listdir(folder)}")
        direct = zero.compile(model, output=folder / "direct.zexe", **ADAMW)
        checks.that(direct.path == folder / "direct.zexe" and len(direct.plan["commands"]) > 0
                    and first_loss(zero.load(direct.path), graph.inputs) == expected, "direct")


def frozen_of(program):
    return {value.name for value in program.parameters if value.frozen}


def check_exported(checks, data, work):
    """What zero.export knows is applied, and warnings of the compiler are Python's."""
    folder = Path(data) / "gpt2-lora"
    model, names = onnx.load(folder / "model.onnx"), (folder / "trainable.txt").read_text().split()
    program, caught = caught_in(lambda: zero.compile(folder / "model.onnx"))
    checks.that(not frozen_of(program) and len(caught) == 1 and caught[0].filename == __file__ and
                "4 parameters look like adapters" in str(caught[0].message), f"{caught}")
    tensors = {value.name: value for value in program.parameters}
    state = State({name: {"initializer": name, "shape": list(value.shape), "dtype": "bfloat16",
                          "role": "trained" if name in names else "frozen"}
                   for name, value in tensors.items()},
                  {name: ["batch", *value.shape[1:]]
                   for name, value in zip(("input_ids", "labels"), program.inputs)})
    export = Export(folder / "model.onnx", folder / "trainable.txt", state,
                    {value.name: value.shape for value in program.inputs})
    frozen = tensors.keys() - set(names)
    for keywords, expected, types in (
            ({}, frozen, {"float32", "bfloat16"}),
            ({"freeze": [names[0]]}, frozen | {names[0]}, {"float32"}),
            ({"frozen_precision": None}, frozen, {"float32"}),
            ({"freeze_all_but": "*"}, set(), {"float32"})):
        program, caught = caught_in(lambda: zero.compile(export, **keywords))
        checks.that(frozen_of(program) == expected and not caught, f"{keywords}: "
                    f"{frozen_of(program)}, {caught}")
        checks.that({value.dtype for value in program.parameters} == types, f"{keywords}: types")
    checks.that(export.flags(3) == [
        f"--trainable={folder / 'trainable.txt'}",
        f"--shape={','.join(f'{name}=3x8' for name in export.example)}",
        "--frozen-precision=bf16"], f"flags: {export.flags(3)}")
    # The graph itself says it, too.
    model.graph.metadata_props.add(key="zero.frozen", value="\n".join(frozen))
    program, caught = caught_in(lambda: zero.compile(model))
    checks.that(frozen_of(program) == frozen and not caught, f"record: {frozen_of(program)}")


def caught_in(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(), caught


def check_warnings(checks):
    text = ("model.onnx:0:0: warning: a tensor\nmodel.onnx:0:0: note: more\n"
            "zero-run: warning: threads\nzero-run: 3 steps\nnote: of nothing\n"
            "step.mlir:3:5: warning: a place\n  %0 = op\n  ^\nstep.mlir:3:5: remark: x\n")
    checks.that(warnings_in(text) == ["a tensor\nnote: more", "threads\nnote: of nothing",
                                      "step.mlir:3:5: a place"], f"{warnings_in(text)}")


def check_onnx(checks, graph, work):
    """The step in ONNX is that of the tool, from a path and from memory."""
    path = graph.folder / "model.onnx"
    run_tool("zeroc", path, f"--emit-onnx={work / 'tool.onnx'}", "--optimizer=sgd", "--lr=0.1")
    expected = onnx.load(work / "tool.onnx")
    for model in (path, path.read_bytes()):
        written = zero.emit_onnx(model, work / "step.onnx", optimizer="sgd", lr=0.1)
        got = onnx.load(written)
        checks.that([value.name for value in got.graph.output] == [
            value.name for value in expected.graph.output], "outputs of the step")
        checks.that([node.op_type for node in got.graph.node] == [
            node.op_type for node in expected.graph.node], "nodes of the step")
    for wrong, words in ((lambda: zero.compile(path, emit_onnx="x.onnx"), "zero.emit_onnx"),
                         (lambda: zero.compile(path, plan_only=True, output="x"), "--plan-only")):
        try:
            wrong()
            checks.that(False, f"'{words}': no error")
        except (TypeError, zero.CompileError) as error:
            checks.that(words in str(error), f"'{words}' is not in '{error}'")


def check_mlir(checks, data, work):
    """The text of a program with its roles; initial values go with it."""
    folder = Path(data) / "torch-guide"
    text = (folder / "joint.mlir").read_text()
    roles = json.loads((folder / "joint.json").read_text())
    batch = dict(np.load(folder / "batch.npz"))
    losses = []
    for model, given in ((folder / "joint.mlir", folder / "joint.json"), (text, roles)):
        program = zero.compile(model, roles=given, stage=3, ranks=2, **ADAMW)
        with program.session(weights=folder / "init.npz") as session:
            losses.append(session.train(batch, steps=3, progress=False).losses)
    output = run_tool("zero-run", folder / "joint.mlir", f"--roles={folder / 'joint.json'}",
                      f"--weights={folder / 'init.npz'}", f"--data={folder / 'batch.npz'}",
                      "--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01", "--zero-stage=3",
                      "--ranks=2", "--steps=3", f"--log={work / 'log.jsonl'}")
    expected = [json.loads(line)["loss"] for line in (work / "log.jsonl").read_text().splitlines()]
    checks.that(losses[0] == losses[1] and np.allclose(losses[0], expected, rtol=1e-7),
                f"{losses}, not {expected}\n{output}")
    try:
        first_loss(program, batch)
        checks.that(False, "no error without initial values")
    except zero.BadDataError as error:
        checks.that("without an initial value" in str(error), f"{error}")


def check_automatic(checks, graph, work):
    """What no keyword says is left to the planner, for this machine."""
    cache = work / "cache"
    program = zero.compile(graph.folder / "model.onnx", auto=True, optimizer="adamw", ranks=2,
                           cache_dir=cache)
    checks.that("plan: stage" in program.log and list(cache.glob("machine-*.json")), program.log)
    given = zero.compile(graph.folder / "model.onnx", auto=True, optimizer="adamw", ranks=2, stage=2,
                         plan_only=True, cache_dir=cache)
    checks.that("plan: stage 2" in given.log, given.log)


def check_mesh(checks, graph, work):
    """What ranks exchange along each axis is the same by plan, in the executable and in a run."""
    flags = {"mesh": "data=2,tensor=2", "stage": 2, "sequence_parallel": True, **ADAMW}
    program = zero.compile(graph.folder / "model.onnx", output=work / "mesh.zexe", **flags)
    only = zero.compile(graph.folder / "model.onnx", plan_only=True, **flags)
    checks.that(program.mesh == only.mesh == {"data": 2, "tensor": 2}, f"mesh {program.mesh}")
    checks.that((program.ranks, only.ranks) == (4, 4), f"ranks {program.ranks}, {only.ranks}")
    checks.that(program.volumes == only.volumes and set(only.volumes) == {"data", "tensor"},
                f"volumes {program.volumes}, {only.volumes}")
    with program.session() as session:
        session.train(graph.inputs, steps=3)
        for rank in range(program.ranks):
            received = session.stats(rank)["volumes"]
            checks.that(received == {axis: 3 * count for axis, count in program.volumes.items()},
                        f"rank {rank} received {received}, planned {program.volumes}")


def check_program(checks, graph, work):
    """Certificate, plan and report are those of the tool."""
    path, page = work / "plan.json", work / "plan.html"
    for flags in ({}, {"offload_optimizer": "nvme", "offload_params": "host"}):
        program = zero.compile(graph.folder / "model.onnx", stage=3, ranks=2, report=path,
                               output=work / "program.zexe", **flags, **ADAMW)
        plan = json.loads(path.read_text())
        checks.that(program.plan == plan, "plan")
        planned = certificate_of_plan(plan)
        checks.that(program.certificate.keys() == planned.keys(), f"tiers {planned.keys()}")
        for name, tier in program.certificate.items():
            other = planned[name]
            same = (tier.peak, tier.lower_bound, tier.most, tier.at_peak) == (
                other.peak, other.lower_bound, other.most, other.at_peak)
            checks.that(same and sum(tier.at_peak.values()) <= tier.lower_bound <= tier.peak,
                        f"{tier}, not {other}")
        only = zero.compile(graph.folder / "model.onnx", stage=3, ranks=2, plan_only=True, **flags,
                            **ADAMW)
        checks.that(only.certificate == planned and only.path is None, "plan_only")
        checks.that("ZeRO stage 3 on 2 ranks" in repr(only), repr(only))
        checks.that(program.mesh == only.mesh == {"data": 2}, f"{program.mesh}, {only.mesh}")
        checks.that(program.volumes == only.volumes == {"data": program.info["planned_elements"]},
                    f"{program.volumes}, {only.volumes}")
    checks.that(list(planned) == ["device", "host", "nvme"], f"tiers: {list(planned)}")
    program.report.save(page)
    run_tool("zeroc", graph.folder / "model.onnx", "--zero-stage=3", "--ranks=2", "--plan-only",
             "--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01", "--offload-optimizer=nvme",
             "--offload-params=host", f"--report={work / 'tool.html'}")
    checks.that(page.read_text() == (work / "tool.html").read_text(), "the page is not the tool's")
    shown = program.report._repr_html_()
    checks.that(shown.startswith("<iframe srcdoc=") and "<script>" not in shown, "notebooks")
    checks.that([value.name for value in program.inputs] == list(graph.inputs)
                and program.inputs[0].shape == graph.inputs["input_ids"].shape
                and program.inputs[0].dtype == "int64", f"{program.inputs}")
    names = {value.name: value.shape for value in program.parameters}
    checks.that(set(names) == set(graph.truth["parameters"]) and all(
        graph.truth[f"grad.{name}"].shape == shape for name, shape in names.items()), f"{names}")
    checks.that((program.stage, program.ranks) == (3, 2) and "adamw" in program.optimizer, "info")
    loaded = zero.load(program.path)
    checks.that(loaded.certificate == program.certificate, "certificate of a loaded program")
    for wrong, kind in ((lambda: loaded.plan, zero.NotFoundError),
                        (lambda: loaded.report, zero.NotFoundError),
                        (only.session, zero.InvalidArgumentError),
                        (lambda: only.save(work / "x.zexe"), zero.InvalidArgumentError)):
        try:
            wrong()
            checks.that(False, f"{kind.__name__}: no error")
        except kind:
            checks.that(True, "")
    batch = {name: np.tile(value, (2, 1)) for name, value in graph.inputs.items()}
    other = work / "other"
    other.mkdir(exist_ok=True)
    losses = []
    for folders in (work, [work, other]):
        with program.session(nvme_dir=folders) as session:
            losses.append(session.step(batch).loss)
            checks.that(session.stats()["nvme_read"] == program.info["nvme_read"] > 0, "nvme")
            checks.that(any(other.iterdir()) == (folders != work), f"{folders}")
    checks.that(losses[0] == losses[1], f"{losses}")


def check_simulate(checks, graph, work):
    program = zero.compile(graph.folder / "model.onnx", stage=3, ranks=2, **ADAMW)
    for machine in (None, "h100"):
        flags = [f"--machine={machine}"] if machine else []
        expected = json.loads(run_tool("zero-sim", program.path, "--json", *flags))
        got = program.simulate(machine)
        checks.that(got.data == expected and got.seconds == expected["seconds"] > 0, f"{got}")
    slow = program.simulate(slowest=2, trace=work / "trace.json")
    checks.that(slow.seconds > 1.5 * program.simulate().seconds, f"slowest: {slow}")
    checks.that(json.loads((work / "trace.json").read_text())["traceEvents"], "trace")
    checks.that(np.isclose(program.estimate["seconds"], program.simulate().seconds, rtol=0.05),
                f"estimate: {program.estimate}")
    try:
        program.simulate("nowhere")
        checks.that(False, "no error")
    except zero.ToolError as error:
        checks.that("cannot open 'nowhere'" in str(error), f"{error}")


def check_tools(checks, work):
    def run(*arguments, **environment):
        return subprocess.run([sys.executable, "-m", "zero", *arguments], capture_output=True,
                              text=True, env={**os.environ, **environment})

    for tool in ("zeroc", "zero-run", "zero-sim", "zero-opt", "zero-translate"):
        done = run(tool, "--version")
        checks.that(done.returncode == 0 and tool in done.stdout, f"{tool}: {done}")
    done = run("zero-fly")
    checks.that(done.returncode == 1 and "expected a tool, got 'zero-fly'" in done.stderr,
                f"{done}")
    checks.that(run("zeroc", "--nothing").returncode == 1, "exit codes are the tool's")
    (work / "zeroc").write_text("#!/bin/sh\necho a tool of the environment\n")
    (work / "zeroc").chmod(0o755)
    done = run("zeroc", ZERO_TOOLS=str(work))
    checks.that(done.stdout == "a tool of the environment\n", f"ZERO_TOOLS: {done}")
    done = run("zeroc", "--version", PATH=f"{work}:{os.environ['PATH']}")
    checks.that(done.stdout.startswith("zeroc "), f"a tool of the PATH comes before bin: {done}")
    check_console_script(checks, work)


def check_console_script(checks, work):
    """A console script that pip wrote, on the PATH and without bin/, does not start itself."""
    shutil.copytree(ROOT / "python/zero", work / "source/zero", ignore=shutil.ignore_patterns("bin"))
    script = work / "console/zeroc"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom zero.scripts import zeroc\nzeroc()\n")
    script.chmod(0o755)
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60,
                          env={"PATH": str(script.parent), "PYTHONPATH": str(work / "source")})
    checks.that(done.returncode == 1 and "zero: error: 'zeroc' was not found" in done.stderr,
                f"console script: {done}")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True)
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work / "graph")
    check_keywords(checks)
    check_errors(checks, data, work)
    check_forms(checks, graph, work)
    check_exported(checks, data, work)
    check_warnings(checks)
    check_onnx(checks, graph, work)
    check_mlir(checks, data, work)
    check_program(checks, graph, work)
    check_automatic(checks, graph, work)
    check_mesh(checks, graph, work)
    check_simulate(checks, graph, work)
    check_tools(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
