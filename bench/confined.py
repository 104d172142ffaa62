"""Trains a model that is larger than its memory: 1.1B parameters in a control group of 1.5 GiB.

The plans are those of bench/drives.py, for CPUs: weights in bf16 without f32 masters, moments of 8
bits, all of it in a file, gradients on the host. Each row calibrates the machine with its disk,
compiles for the memory of the group, simulates, and trains in the group. The kernel ends a process
that needs more. docs/benchmarks-capacity.md shows the table. Needs root, and 8 GB of disk.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import MIB, ROOT, Failure, parser, processor, run, say, select, start, table, write_json

sys.path.insert(0, str(ROOT / "test/support"))
import control_groups  # pylint: disable=wrong-import-position

LIMIT = 1536 * MIB
#: The runtime plans what its process takes; the kernel also counts pages of files and of tables.
BUDGET = LIMIT - 100 * MIB
#: The shape of TinyLlama (arXiv 2401.02385, table 1), drawn at random.
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
         "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32,
         "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 2048,
         "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": False}
FLAGS = ["--zero-stage=3", "--ranks=1", "--precision=bf16", "--optimizer=adamw", "--lr=1e-5",
         "--master-weights=none", "--state-precision=8bit", "--offload-params=nvme",
         "--offload-optimizer=nvme", "--offload-gradients=host", "--checkpoint=layer",
         f"--ram-budget={BUDGET}"]
WARM = 1


@dataclass
class Case:
    tokens: int
    flags: tuple = ()


CASES = {"128": Case(128), "512": Case(512), "1024": Case(1024)}
TITLES = ["tokens a step", "parameters", "file", "planned for a process", "peak of the group",
          "read", "written", "simulated", "measured", "error"]


def peak_of(group):
    for name in ("memory.max_usage_in_bytes", "memory.peak"):
        if (group.folder / name).exists():
            return int((group.folder / name).read_text())
    raise Failure("the control group does not tell its peak")


def train(program, data, folder, options):
    """The report of a run in a control group, and the largest memory of the group."""
    report = folder / "run.json"
    command = [options.build / "bin/zero-run", program, f"--data=input_ids={data},labels={data}",
               f"--steps={WARM + options.steps}", f"--nvme-dir={folder}", "--quiet",
               f"--report-json={report}", f"--threads-per-rank={options.threads}"]
    with control_groups.Group(LIMIT) as group:
        ran = subprocess.run([str(word) for word in command], preexec_fn=group.enter, text=True,
                             capture_output=True, timeout=options.timeout, check=False)
        peak = peak_of(group)
    if ran.returncode != 0:
        raise Failure(f"zero-run: exit status {ran.returncode}: {ran.stderr[-500:]}")
    return json.loads(report.read_text()), peak


def measure(case, folder, options):
    """The figures of a case."""
    tool = lambda name, *words: run([options.build / "bin" / name, *words], options.timeout).output
    model, machine = folder / "model", folder / "machine.json"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(MODEL))
    threads = f"--threads-per-rank={options.threads}"
    tool("zero-run", f"--calibrate={machine}", "--ranks=1", threads, f"--calibrate-disk={folder}")
    program, plan = folder / "step.zexe", folder / "plan.json"
    tool("zeroc", model, f"--shape=1x{case.tokens}", "-o", program, f"--report={plan}", "--no-cache",
         "--init=normal:0.02", f"--machine={machine}", threads, *FLAGS, *case.flags)
    data = folder / "tokens.npy"
    np.save(data, np.random.default_rng(0).integers(0, MODEL["vocab_size"], (8, case.tokens)))
    planned = json.loads(plan.read_text())
    simulated = json.loads(tool("zero-sim", program, f"--machine={machine}", "--json"))
    ran, peak = train(program, data, folder, options)
    memory = ran["process_memory"]
    return {"parameters": planned["parameters"],
            "nvme": sum(tier["arena_bytes"] for tier in planned["tiers"] if tier["name"] == "nvme"),
            "planned": memory["arenas"] + memory["beside"], "peak": peak,
            "moved": simulated["drives"], "simulated": simulated["seconds"],
            "measured": statistics.median(ran["seconds"][WARM:]), "losses": ran["losses"]}


def line(name, found):
    gb = lambda size: f"{size / 1e9:.2f} GB"
    error = found["simulated"] / found["measured"] - 1
    return [name, f"{found['parameters'] / 1e9:.2f}B", gb(found["nvme"]),
            f"{found['planned'] / MIB:,.0f} MiB", f"{found['peak'] / MIB:,.0f} MiB",
            gb(found["moved"]["read_per_step"]), gb(found["moved"]["written_per_step"]),
            f"{found['simulated']:.2f} s", f"{found['measured']:.2f} s", f"{error:+.0%}"]


def main():
    arguments = parser(__doc__, list(CASES), [], rounds=1, steps=4)
    arguments.add_argument("--folder", type=Path, help="on the disk to use; default: --build")
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()
    if reason := control_groups.missing():
        raise Failure(reason)
    results = {}
    for name, case in zip(options.cases, select(options.cases, CASES, "cases")):
        with tempfile.TemporaryDirectory(prefix="bench-", dir=options.folder or options.build) as work:
            results[name] = measure(case, Path(work), options)
        say(f"{name} tokens: {results[name]['measured']:.2f} s a step")
    print(f"{processor()}, {LIMIT // MIB} MiB, {options.threads} threads\n")
    print(table(TITLES, [line(name, found) for name, found in results.items()]))
    write_json(options, results)


if __name__ == "__main__":
    start(main)
