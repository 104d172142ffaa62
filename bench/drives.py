"""Plans of models larger than the memory of a desktop: one GPU of 24 GB, 32 GB of host, and drives.

zeroc plans each case without weights, from a folder with a config.json, and zero-sim simulates the
step on the preset rtx4090 with the constants below. Nothing runs. The aims are 6 bytes read and 4
written for each parameter, and a step of at most 1.15 times the longer of computing and of the
drives. A drive reads or writes at a time, so the seconds of the drives are those of both.
"""

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import ROOT, Failure, parser, run, say, select, start, table, write_json

PRESET = ROOT / "lib/Machine/presets/rtx4090.json"
SEQUENCE = 1024
#: Two channels of DDR5-4800 reach about 60 GB/s. Endurance: a write of the whole drive a day for
#: five years.
HOST = {"memory_bytes": 32e9, "memory_bandwidth": 60e9}
DAYS = 5 * 365
MODELS = {
    "llama-70b": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8192,
                  "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
                  "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 4096,
                  "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": False},
    "mistral-123b": {"architectures": ["MistralForCausalLM"], "model_type": "mistral",
                     "hidden_size": 12288, "intermediate_size": 28672, "num_hidden_layers": 88,
                     "num_attention_heads": 96, "num_key_value_heads": 8, "vocab_size": 32768,
                     "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "hidden_act": "silu",
                     "sliding_window": None, "tie_word_embeddings": False},
}
FLAGS = ["--device=cuda", "--ranks=1", "--zero-stage=3", "--precision=bf16", "--optimizer=adamw",
         "--master-weights=none", "--state-precision=8bit", "--offload-params=auto",
         "--offload-optimizer=auto", "--offload-gradients=host", "--offload-activations=auto",
         "--checkpoint=layer", "--memory-budget=24GB", "--host-budget=32GB"]


@dataclass
class Case:
    model: str
    drives: int
    batch: int


CASES = {f"{model}-{drives}-b{batch}": Case(model, drives, batch)
         for model, drives, batches in (("llama-70b", 1, (1, 16, 32, 48)),
                                        ("llama-70b", 2, (8, 16, 24, 32)),
                                        ("mistral-123b", 1, (1, 16, 24)),
                                        ("mistral-123b", 2, (8, 16, 24)))
         for batch in batches}
TITLES = ["case", "device", "host", "drives", "read/P", "written/P", "compute", "of drives", "step",
          "by the longer", "TB/day", "years", "plan"]


def write_machine(case, folder):
    machine = json.loads(PRESET.read_text())
    machine["host"] |= HOST
    machine["disk"] |= {"count": case.drives, "endurance": machine["disk"]["bytes"] * DAYS}
    path = folder / "machine.json"
    path.write_text(json.dumps(machine))
    return path, machine["disk"]


def plan(case, folder, options):
    """The figures of a case."""
    model = folder / case.model
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(MODELS[case.model]))
    path, disk = write_machine(case, folder)
    program, report, machine = folder / "step.zexe", folder / "plan.json", f"--machine={path}"
    began = time.monotonic()
    run([options.build / "bin/zeroc", model, f"--shape={case.batch}x{SEQUENCE}", "-o", program,
         f"--report={report}", "--no-cache", machine, *FLAGS], options.timeout)
    planning = time.monotonic() - began
    planned = json.loads(report.read_text())
    step = json.loads(run([options.build / "bin/zero-sim", program, machine, "--json"],
                          options.timeout).output)
    drives, tiers = step["drives"], {tier["name"]: tier for tier in planned["tiers"]}
    moved = drives["read_per_step"], drives["written_per_step"]
    rates = [case.drives * disk[f"{way}_bandwidth"] for way in ("read", "write")]
    return {"parameters": planned["parameters"], "device": planned["arena_bytes"],
            **{name: tiers[name]["arena_bytes"] for name in ("host", "nvme")},
            "read": moved[0], "written": moved[1], "compute": step["lanes"]["compute"],
            "drives": sum(size / rate for size, rate in zip(moved, rates)),
            "step": step["seconds"], "written_per_day": drives["written_per_day"],
            "years": drives["years"], "planning": planning}


def line(name, found):
    longer = max(found["compute"], found["drives"])
    return [name, *(f"{found[tier] / 1e9:.1f} GB" for tier in ("device", "host", "nvme")),
            *(f"{found[way] / found['parameters']:.2f}" for way in ("read", "written")),
            *(f"{found[part]:.1f} s" for part in ("compute", "drives", "step")),
            f"{found['step'] / longer:.2f}", f"{found['written_per_day'] / 1e12:.0f}",
            f"{found['years']:.2f}", f"{found['planning']:.0f} s"]


def main():
    options = parser(__doc__, list(CASES), [], rounds=1).parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for name, case in zip(options.cases, select(options.cases, CASES, "cases")):
            try:
                results[name] = plan(case, Path(work), options)
            except Failure as failure:
                say(f"{name}: {failure}")
                continue
            say(f"{name}: {results[name]['step']:.1f} s a step")
    print(table(TITLES, [line(name, found) for name, found in results.items()]))
    write_json(options, results)


if __name__ == "__main__":
    start(main)
