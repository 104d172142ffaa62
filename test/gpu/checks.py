"""Checks of numbers, memory and errors on a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from machine import find_tool
from report import Missing
from zero_test import Graph, run_tool

TEST = Path(__file__).resolve().parent.parent
# Tools of NVIDIA's report errors of programs that they run with this code.
SANITIZER_CODE = 86


class Context:
    """What all checks know."""

    def __init__(self, args, work, machine):
        self.tools, self.quick, self.work, self.machine = args.tools, args.quick, work, machine
        self.jobs = args.jobs
        self.gpus = max(1, machine["GPU"].count(";") + 1)

    def graph(self, name, use):
        """A graph in a folder for this use: checks run side by side."""
        return Graph(TEST / "data", name, self.work / use)

    def run(self, *command, timeout=1200, **environment):
        """Runs a program; an assertion fails with the end of its output."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, **environment})
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout.strip().splitlines()[-1]


def first_step(context, name):
    """The loss of one step of the smallest graph."""
    graph = context.graph("mlp", name)
    return f"loss {graph.run(graph.compile(0, 1, '--device=cuda'), 1).losses[0]:.6f}"


def first_step_of_ptx(context):
    """The same from PTX, which the driver assembles."""
    os.environ["CUDA_HOME"] = "/nonexistent"  # of this process; zeroc finds no ptxas
    return first_step(context, "first-ptx")


def first_steps(context):
    """Without them the rest is of no use."""
    return [("a first step", lambda: first_step(context, "first"), 60),
            ("a first step of PTX", lambda: first_step_of_ptx(context), 60)]


def communicator(context):
    """Runs the conformance suite of communicators with the communicator of the GPU."""
    program = context.tools / "unit/runtime-communicator-test"
    if not program.exists():
        raise Missing(f"{program.name}: not found")
    return context.run(program, "--gtest_brief=1", "--gtest_filter=*gpu*", ZERO_TEST_GPU="1")


def ground_truth(context, graph, use, *flags):
    """Compares with PyTorch's losses and gradients; stages must be bitwise identical, and so must
    programs that offload."""
    return context.run(sys.executable, TEST / "execute/check_groundtruth.py", TEST / "data",
                       context.work / use, graph, "--device=cuda", "--optimizers=adamw", *flags)


def certificate(context, name, ranks):
    """Each rank allocates the memory that was printed before."""
    graph, details = context.graph(name, f"certificate-{name}"), []
    for stage in (0, 3):
        report = graph.run(graph.compile(stage, ranks, "--device=cuda"), 3).report
        peak = report["memory"]["device"]["peak"]
        taken = {rank["arena_bytes"] for rank in report["per_rank"]}
        assert taken == {peak}, f"stage {stage}: {peak} bytes were certified, {taken} allocated"
        details.append(f"stage {stage}: {peak}")
    return "bytes of a rank, " + ", ".join(details)


def cuda_graphs(context, name, *flags):
    """A session with CUDA graphs has the bits of one without."""
    graph = context.graph(name, f"graphs-{name}")
    executable = graph.compile(3, 2, "--device=cuda", "--optimizer=adamw", *flags)
    results = [graph.run(executable, 5, f"--gpu-graphs={mode}") for mode in ("off", "on")]
    assert results[0].same_bits(results[1]), "bits differ with CUDA graphs"
    return "5 steps on 2 ranks, same bits"


def algorithms(context, name, *flags):
    """With one file of algorithms, all stages have the same bits, and only the first session times."""
    graph = context.graph(name, f"algorithms-{name}")
    file, results = graph.work / "algorithms.json", []
    for stage in (0, 3, 0):
        executable = graph.compile(stage, 2, "--device=cuda", "--optimizer=adamw", *flags)
        results.append(graph.run(executable, 5, f"--gpu-algorithms={file}", has_gradients=False))
        text = text if len(results) > 1 else file.read_text()
        assert file.read_text() == text, f"session {len(results)}, of stage {stage}, times products again"
        assert results[-1].same_bits(results[0]), f"stage {stage} has other bits than stage 0"
    products = json.loads(text)["products"]
    first, least = (sum(each[key] for each in products) / 1e3 for key in ("first_nanoseconds", "nanoseconds"))
    return f"{len(products)} products in {least:.1f} us, with cuBLASLt's first choices {first:.1f} us"


def processes(context, name):
    """One process for each of up to two GPUs, joined by NCCL, has the losses of ranks that share a
    GPU, but for the order of sums."""
    graph, gpus = context.graph(name, "processes"), min(2, context.gpus)
    executable, log = graph.compile(3, gpus, "--device=cuda"), graph.work / "processes.jsonl"
    expected = graph.run(executable, 5).losses
    running = [subprocess.Popen(["zero-run", executable, graph.data_flag, "--steps=5", "--quiet",
                                 f"--log={log}", f"--join={graph.work / 'join'}", f"--rank={rank}",
                                 f"--gpus={rank}"], stderr=subprocess.PIPE, text=True)
               for rank in range(gpus)]
    errors = "".join(process.communicate(timeout=300)[1] for process in running)
    if "NCCL was not found" in errors:
        raise Missing(errors.strip().splitlines()[0])
    assert all(process.returncode == 0 for process in running), errors
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    assert np.allclose(losses, expected, rtol=1e-5), f"losses {losses}, expected {expected}"
    return f"{len(losses)} steps on {gpus} GPU{'s' if gpus > 1 else ''}"


def sanitizer(context, tool, name, *flags):
    """A step under one of the sanitizer's tools."""
    program = find_tool("compute-sanitizer")
    if not program:
        raise Missing("compute-sanitizer: not found")
    graph = context.graph(name, f"{tool}-{name}")
    executable = graph.compile(0, 1, "--device=cuda", *flags)
    # The runtime asks for events that are not ready, which is no error.
    options = ["--report-api-errors", "no"] if tool == "memcheck" else []
    done = subprocess.run([program, "--tool", tool, *options, "--error-exitcode", str(SANITIZER_CODE), "zero-run",
                           executable, graph.data_flag, "--steps=1", "--quiet", "--timeout=600"],
                          capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode} {(done.stdout + done.stderr)[-3000:]}"
    summary = [line for line in (done.stdout + done.stderr).splitlines() if "SUMMARY" in line]
    return summary[-1].strip("= ") if summary else "no errors"


# Models whose numbers 16 bits change more have limits of their own, as in
# test/execute/groundtruth-gpu-16bit*.test.
SIXTEEN_BITS = (("llama-tiny", "bf16"), ("llama-tiny", "fp16"), ("bert-tiny", "bf16"), ("bert-tiny", "fp16"),
                ("mlp", "bf16", "--limits=1e-3,4e-2,2e-3,0"), ("mlp", "fp16", "--limits=1e-4,1e-2,1e-3,0"),
                ("resnet-tiny", "bf16", "--limits=2e-3,0.25,1e-2,4e-3"),
                ("resnet-tiny", "fp16", "--limits=1e-3,0.15,5e-3,1e-3"))
TIERS = ("--stages=3", "--steps=4", "--offload")


def numbers(context):
    """Name, body and limit in seconds of each check of numbers, the most important first."""
    def truth(name, graph, *flags, limit=240):
        use = name.replace(" ", "-").replace(":", "").replace(",", "")
        return name, lambda: ground_truth(context, graph, use, *flags), limit

    yield "communicator between ranks on one GPU", lambda: communicator(context), 120
    few = ["--ranks=1,2", "--steps=6"] if context.quick else ["--ranks=1,2,4"]
    yield truth("mlp: fp32, PyTorch's numbers, equal stages", "mlp", *few)
    if not context.quick:
        yield truth("gpt2-tiny: fp32, PyTorch's numbers, equal stages", "gpt2-tiny", "--ranks=1,2,4")
        for name in ("llama-tiny", "bert-tiny"):
            yield truth(f"{name}: fp32, PyTorch's numbers", name, "--ranks=2", "--stages=0,3")
        yield truth("resnet-tiny: fp32, PyTorch's numbers", "resnet-tiny", "--ranks=1", "--stages=0,3")
    steps, stages = ("--steps=2", "--stages=0,3") if context.quick else ("--steps=11", "--stages=0,1,2,3")
    for precision in ("bf16", "fp16"):
        yield truth(f"gpt2-tiny: {precision}, PyTorch's numbers, equal stages", "gpt2-tiny", "--ranks=2",
                    f"--precision={precision}", steps, stages)
    yield truth("mlp: micro-batches, PyTorch's numbers, equal stages", "mlp", "--ranks=2", steps, stages,
                "--flags=--micro-batches=2")
    if not context.quick:
        yield truth("gpt2-tiny: recomputation and micro-batches, PyTorch's numbers, equal stages", "gpt2-tiny",
                    "--ranks=2", "--flags=--checkpoint=layer,--micro-batches=2")
        for name, precision, *limits in SIXTEEN_BITS:
            yield truth(f"{name}: {precision}, PyTorch's numbers", name, "--ranks=1", "--stages=0,3", "--steps=4",
                        f"--precision={precision}", *limits)
    yield truth("mlp: state on the host, same bits", "mlp", "--ranks=2", *TIERS, "params=host,optimizer=host")
    yield truth("mlp: state on disk, same bits", "mlp", "--ranks=2", *TIERS,
                "params=nvme,optimizer=nvme,gradients=host,activations=host")
    if not context.quick:
        yield truth("gpt2-tiny: bf16, state on host and disk, same bits", "gpt2-tiny", "--ranks=2", *TIERS,
                    "params=host,optimizer=nvme,activations=host", "--precision=bf16")
    yield "mlp: CUDA graphs, same bits", lambda: cuda_graphs(context, "mlp"), 120
    if not context.quick:
        yield ("gpt2-tiny: bf16, CUDA graphs, same bits",
               lambda: cuda_graphs(context, "gpt2-tiny", "--precision=bf16"), 120)
    yield "mlp: timed algorithms, equal stages", lambda: algorithms(context, "mlp"), 120
    if not context.quick:
        yield ("gpt2-tiny: bf16, timed algorithms, equal stages",
               lambda: algorithms(context, "gpt2-tiny", "--precision=bf16"), 120)
    yield "mlp: certificate", lambda: certificate(context, "mlp", 2), 120
    if not context.quick:
        yield "gpt2-tiny: certificate", lambda: certificate(context, "gpt2-tiny", 4), 120
    yield "mlp: a process for each GPU", lambda: processes(context, "mlp"), 120


def sanitizers(context):
    """The same of NVIDIA's tools that look for errors."""
    for tool in ("memcheck", "racecheck"):
        graph, *flags = ("mlp",) if context.quick else ("gpt2-tiny", "--precision=bf16")
        yield (f"{graph}: {tool}", lambda tool=tool, graph=graph, flags=flags: sanitizer(context, tool, graph, *flags),
               300)
