"""Parameters that are sharded within nodes (--shard-params=node), beside those of stage 3.

usage: check_shard_params.py DATA WORK features|bytes|checkpoints|planned|gpus

With the same order of sums the bits are those of parameters that are sharded over all ranks, in every
combination. What ranks receive is what closed forms say and what communicators counted. Checkpoints load
in any other layout.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np

from check_volume import gathered
from zero_test import Checks, Graph, Plan, check_received, read_safetensors, run_tool

STEPS = 3
ADAMW = ["--optimizer=adamw", "--lr=1e-3"]
FEATURES = [
    ADAMW, ["--optimizer=lamb", "--lr=1e-3"], ["--optimizer=sgd", "--lr=0.05"], ["--optimizer=adafactor"],
    [*ADAMW, "--clip-norm=0.5"], [*ADAMW, "--precision=bf16", "--clip-norm=0.5"],
    [*ADAMW, "--precision=bf16", "--reduce-dtype=bf16"], [*ADAMW, "--precision=fp16"],
    [*ADAMW, "--micro-batches=2"], [*ADAMW, "--micro-batches=2", "--micro-batch-order=vertical"],
    [*ADAMW, "--checkpoint=layer"], [*ADAMW, "--tile-params-over=16KiB"], [*ADAMW, "--persist-under=1KiB"],
    [*ADAMW, "--prefetch-bytes=1MB", "--bucket-bytes=20KB"], [*ADAMW, "--freeze=*.h.0.*"],
    [*ADAMW, "--offload-optimizer=host", "--offload-gradients=host"],
    [*ADAMW, "--offload-optimizer=nvme", "--offload-activations=host", "--clip-norm=0.5"]]
# Ranks and ranks of a node.
NODES = [(4, 4), (4, 1), (8, 4), (8, 2)]


class Job:
    def __init__(self, data, work, ranks):
        self.graph = Graph(data, "gpt2-tiny", work)
        draw = np.random.default_rng(0).integers(0, 512, (8 * ranks, 32))
        for name in self.graph.inputs:
            self.graph.set_input(name, draw)

    def compile(self, name, *flags):
        path = self.graph.work / f"{name}.zexe"
        self.graph.report = self.graph.compile_to(path, "--zero-stage=3", *flags)
        return path

    def run(self, executable, *flags, steps=STEPS, gradients=False):
        return self.graph.run(executable, steps, f"--nvme-dir={self.graph.work}", *flags, has_gradients=gradients)


def check_same(checks, job, label, ranks, *flags, mesh=None):
    """The same bits, also of gradients, within the memory of the certificate."""
    flags = [mesh or f"--ranks={ranks}", *flags]
    gradients = not any("--offload" in flag for flag in flags)
    spread = job.run(job.compile("all", *flags), gradients=gradients)
    within = job.run(job.compile("node", *flags, "--shard-params=node"), "--check-memory", gradients=gradients)
    checks.that(within.same_bits(spread), f"{label}: other bits")
    checks.that(all(within.gradients[name].tobytes() == value.tobytes()
                    for name, value in spread.gradients.items()), f"{label}: other gradients")
    checks.that(len(set(spread.losses)) == STEPS, f"{label}: losses {spread.losses}")


def check_features(checks, data, work):
    job = Job(data, work, 4)
    for flags in FEATURES:
        check_same(checks, job, " ".join(flags), 4, "--ranks-per-node=2", *flags)
    for ranks, each in NODES:
        job = Job(data, work, ranks)
        check_same(checks, job, f"{ranks} ranks, {each} a node", ranks, f"--ranks-per-node={each}", *ADAMW,
                   "--clip-norm=0.5")
    check_same(checks, job, "a mesh", 8, "--ranks-per-node=4", *ADAMW, "--clip-norm=0.5",
               mesh="--mesh=data=4,tensor=2")


def certified(text):
    """Of the certificate: what a rank receives within its node, across nodes and among all ranks, and the
    bytes that a node receives."""
    parts = re.search(r"elements per step, (\d+) within its node, (\d+) across nodes and (\d+) among", text)
    bytes = re.search(r"each node of \d+ ranks? receives (\d+) bytes", text)
    return [int(part) for part in parts.groups()], int(bytes.group(1))


def check_bytes(checks, data, work):
    """Gathers within nodes, reductions among all ranks, and a gather across nodes after the update."""
    for ranks, each in [(4, 2), (8, 4), (8, 2)]:
        label, nodes = f"{ranks} ranks, {each} a node", ranks // each
        job = Job(data, work, ranks)
        flags = ["--optimizer=adamw", "--recompute=none", f"--ranks-per-node={each}"]
        whole = Plan(job.graph, 3, ranks, *flags)
        plan = Plan(job.graph, 3, ranks, *flags, "--shard-params=node")
        padded = sum(plan.buckets)
        fetched, _ = gathered(checks, label, job.graph, plan)
        expected = {"local": fetched * (each - 1) // each, "node": padded // each * (nodes - 1) // nodes,
                    "node,local": padded * (ranks - 1) // ranks}
        report = job.run(job.compile("bytes", f"--ranks={ranks}", *flags, "--shard-params=node")).report
        checks.that(report["planned_elements_along"] == expected,
                    f"{label}: planned {report['planned_elements_along']}, expected {expected}")
        check_received(checks, label, report, STEPS)
        parts, bytes = certified(job.graph.report)
        checks.that(parts == list(expected.values()), f"{label}: certified {parts}")
        # One sum for each other node, and one slice from each of its ranks.
        crossing = 2 * 4 * padded * (nodes - 1) // nodes
        checks.that(bytes == crossing, f"{label}: {bytes} bytes between nodes, expected {crossing}")
        more = 4 * (padded // each - padded // ranks)
        checks.that(plan.certificate["parameters"] == whole.certificate["parameters"] + more == 4 * padded // each,
                    f"{label}: parameters {plan.certificate} beside {whole.certificate}")
        checks.that(plan.certificate["optimizer state"] == whole.certificate["optimizer state"],
                    f"{label}: optimizer state {plan.certificate} beside {whole.certificate}")


def resume(job, executable, state):
    """The weights of a checkpoint whose steps are done."""
    weights = job.graph.work / "loaded.safetensors"
    run_tool("zero-run", executable, job.graph.data_flag, f"--steps={STEPS}", "--quiet", f"--resume={state}",
             f"--save={weights}")
    return weights


def check_checkpoints(checks, data, work):
    """Layouts go on from each other with the bits of one that was not interrupted."""
    job = Job(data, work, 4)
    flags = [*ADAMW, "--precision=bf16"]
    layouts = {"node": ["--ranks=4", "--ranks-per-node=2", "--shard-params=node"],
               "all": ["--ranks=4", "--ranks-per-node=2"],
               "larger": ["--ranks=8", "--ranks-per-node=4", "--shard-params=node"]}
    paths = {name: job.compile(name, *flags, *layout) for name, layout in layouts.items()}
    paths["stage 1"] = job.graph.work / "stage1.zexe"
    job.graph.compile_to(paths["stage 1"], "--zero-stage=1", *flags, *layouts["all"])
    state = job.graph.work / "state"
    whole = job.run(paths["all"], steps=6)
    for first, second in [("node", "all"), ("all", "node"), ("stage 1", "node"), ("node", "node")]:
        label = f"{first}, then {second}"
        shutil.rmtree(state, ignore_errors=True)
        job.run(paths[first], f"--save-state={state}", steps=3)
        ended = job.run(paths[second], f"--resume={state}", steps=6)
        checks.that(ended.report["first_step"] == 3, f"{label}: resumed at {ended.report['first_step']}")
        checks.that(all(ended.weights[name].tobytes() == value.tobytes()
                        for name, value in whole.weights.items()), f"{label}: other weights")
    # On other ranks sums are other ones, but what was saved is what is loaded.
    trained = job.run(paths["node"], steps=STEPS).weights
    shutil.rmtree(state, ignore_errors=True)
    job.run(paths["node"], f"--save-state={state}", steps=STEPS)
    loaded = read_safetensors(resume(job, paths["larger"], state))
    checks.that(all(loaded[name].tobytes() == value.tobytes() for name, value in trained.items()),
                "larger nodes: other weights")


def check_planned(checks, data, work):
    """A planner chooses it on a machine with nodes. Without --ranks-per-node sums are in the order of ranks."""
    job = Job(data, work, 8)
    machine = json.loads((Path(__file__).parents[2] / "lib/Machine/presets/h100.json").read_text())
    machine["network"] = {"ranks_per_node": 4, "bandwidth": 1e9, "latency": 1e-5}
    path = job.graph.work / "machine.json"
    path.write_text(json.dumps(machine))
    planned = job.graph.work / "planned.zexe"
    report = job.graph.compile_to(planned, "--zero=auto", "--ranks=8", *ADAMW, "--memory-budget=1600KB",
                                  f"--machine={path}")
    checks.that("parameters sharded within nodes of 4 data-parallel ranks" in report, f"planned: {report}")
    spread = job.run(job.compile("all", "--ranks=8", *ADAMW))
    checks.that(job.run(planned, "--check-memory").same_bits(spread), "planned: other bits")


def check_gpus(checks, data, work):
    """Four ranks that share a GPU, and ranks with a GPU each, whose sums are in the order of NCCL."""
    job = Job(data, work, 4)
    flags = ["--device=cuda", "--ranks=4", "--ranks-per-node=2", *ADAMW, "--clip-norm=0.5"]
    spread = job.run(job.compile("all", *flags), "--gpus=0")
    within = job.compile("node", *flags, "--shard-params=node")
    checks.that(job.run(within, "--gpus=0").same_bits(spread), "one GPU: other bits")
    losses = job.run(within, "--gpus=0,1,2,3").losses
    checks.that(np.allclose(losses, spread.losses, rtol=1e-5, atol=0), f"four GPUs: {losses}, not {spread.losses}")


def main():
    data, work, which = sys.argv[1:]
    checks = Checks()
    parts = {"features": check_features, "bytes": check_bytes, "checkpoints": check_checkpoints,
             "planned": check_planned, "gpus": check_gpus}
    parts[which](checks, data, f"{work}/{which}")
    checks.finish()


if __name__ == "__main__":
    main()
