"""Simulated throughput beside what papers measured.

zeroc plans each row without weights (zero-translate --make-gpt), for a preset of the machine with the
constants below, and its seconds of a step are simulated (docs/design/planning.md). Nothing runs.
TFLOPS count 8 operations for each parameter and token, as the papers do, whatever is recomputed.
Rows without a figure of a paper say what a plan needs, or are compared with each other.
"""

import json
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import ROOT, Failure, arenas, parser, run, say, select, start, table, write_json

PRESETS = ROOT / "lib/Machine/presets"
#: bf16, whose updates do not wait until all gradients are known to be finite.
RATEL = ["--ranks=1", "--zero-stage=3", "--precision=bf16", "--offload-params=nvme",
         "--offload-optimizer=nvme", "--offload-gradients=host", "--offload-activations=auto",
         "--checkpoint=auto", "--memory-budget=24GB", "--host-budget=700GB"]
#: All state on the host and each layer recomputed, as SlideFormer has it.
SLIDEFORMER = ["--ranks=1", "--zero-stage=3", "--precision=bf16", "--offload-params=host",
               "--offload-optimizer=host", "--offload-gradients=host", "--offload-activations=host",
               "--checkpoint=layer", "--memory-budget=24GB"]
GREEDYSNAKE = ["--ranks=1", "--zero-stage=3", "--precision=bf16", "--offload-params=nvme",
               "--offload-optimizer=nvme", "--offload-gradients=host", "--offload-activations=host",
               "--checkpoint=layer", "--memory-budget=80GB"]
INFINITY = ["--zero-stage=3", "--precision=fp16", "--memory-budget=32GB", "--checkpoint=layer"]
ON_DEVICE = [*INFINITY, "--offload-activations=host", "--partition-activations"]
ON_NVME = [*ON_DEVICE, "--offload-params=nvme", "--offload-optimizer=nvme",
           "--offload-gradients=host"]
#: State on the device as the paper has it needs 43 GB of 32 GB here.
ON_HOST = [*ON_DEVICE, "--offload-optimizer=host", "--offload-gradients=host"]
#: A layer of all parameters and the gradients of one need more than a V100 has.
RESHARDED = [*ON_NVME, "--reshard-recomputed"]
#: Attention in one kernel is younger than these papers.
MEGATRON = ["--zero-stage=0", "--precision=fp16", "--checkpoint=layer", "--memory-budget=32GB",
            "--attention=products"]
ZERO = ["--zero-stage=2", "--precision=fp16", "--checkpoint=layer", "--memory-budget=32GB",
        "--attention=products"]
#: Of each system: the preset of its machine, and constants that replace those of the preset. The
#: rows that they are fitted on say so.
SYSTEMS = {
    "ratel": ("rtx4090", {"half_flops": 160e12, "disk.bus_bandwidth": 20.5e9,
                          "disk.write_bandwidth": 3.1e9}),
    "slideformer": ("rtx4090", {"host.memory_bandwidth": 118e9}),
    "greedysnake": ("a100", {}),
    "infinity": ("dgx2", {"half_flops": 45.4e12}),
    "recomputation": ("a100", {"half_flops": 157e12}),
    "zero": ("dgx2", {"half_flops": 50e12, "memory_bandwidth": 400e9, "network.bandwidth": 25e9}),
}


@dataclass
class Row:
    system: str
    layers: int
    width: int
    heads: int
    batch: int       # of a device, or of a group of devices along tensor
    flags: list
    tflops: float    # of a device, that the paper reports; None: it reports none
    drives: int = 0  # 0: as the preset says
    sequence: int = 1024
    config: dict = None  # a config.json; None: a GPT-2 of these layers and this width

    def parameters(self):
        """Those that multiply: of a config without the embedding, unless it is also the head."""
        if not self.config:
            return 12 * self.layers * self.width**2
        keys = self.config
        queries, pairs = (keys[f"num_{kind}_heads"] * keys["head_dim"]
                          for kind in ("attention", "key_value"))
        attention = self.width * (2 * queries + 2 * pairs)
        return (self.layers * (attention + 3 * self.width * keys["intermediate_size"]) +
                keys["vocab_size"] * self.width)

    def tokens(self):
        """Of a device in a step."""
        values = dict(flag.split("=", 1) for flag in self.flags if "=" in flag)
        tensor = int(re.search(r"tensor=(\d+)|$", values.get("--mesh", ""))[1] or 1)
        return self.batch * self.sequence * int(values.get("--micro-batches", 1)) / tensor


def ratel(layers, width, batch, drives, tflops):
    return Row("ratel", layers, width, width // 128, batch, RATEL, tflops, drives)


def slideformer(width, inner, layers, heads, tied, batch, tokens_per_second):
    """A Qwen3 on a GPU, from its tokens per second."""
    config = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": width,
              "intermediate_size": inner, "num_hidden_layers": layers, "head_dim": 128,
              "num_attention_heads": heads, "num_key_value_heads": 8, "vocab_size": 151936,
              "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000,
              "hidden_act": "silu", "tie_word_embeddings": tied}
    row = Row("slideformer", layers, width, heads, batch, SLIDEFORMER, None, config=config)
    row.tflops = 8 * row.parameters() * tokens_per_second * 1e-12
    return row


def greedysnake(layers, width, drives, order):
    """16 micro-batches of 8 sequences, each as a whole or each layer for all of them."""
    return Row("greedysnake", layers, width, width // 128, 8,
               [*GREEDYSNAKE, "--micro-batches=16", f"--micro-batch-order={order}"], None, drives)


def mesh(ranks, tensor):
    return [f"--mesh=data={ranks // tensor},tensor={tensor}"] if tensor > 1 else [f"--ranks={ranks}"]


def infinity(layers, width, tensor, batch, ranks, flags, tflops):
    return Row("infinity", layers, width, width // 128, round(batch * tensor),
               [*flags, *mesh(ranks, tensor)], tflops)


def zero(layers, width, heads, tensor, batch, ranks, tflops):
    divided = ["--partition-activations"] if tensor > 1 else []
    return Row("zero", layers, width, heads, batch, [*ZERO, *divided, *mesh(ranks, tensor)], tflops)


def configuration(stage, batch, tflops, *flags):
    """60B in one of the configurations C1 to C5 of ZeRO, on 128 GPUs."""
    return Row("zero", 75, 8192, 32, batch,
               [f"--zero-stage={stage}", *ZERO[1:], *flags, *mesh(128, 16)], tflops)


def recomputation(seconds, flags):
    """22B of Megatron's paper on recomputation, 8 ranks along tensor, from its seconds a step."""
    layers, width, batch, sequence, ranks = 48, 6144, 4, 2048, 8
    tflops = 8 * 12 * layers * width**2 * batch * sequence / ranks / seconds * 1e-12
    return Row("recomputation", layers, width, 64, batch,
               ["--precision=bf16", "--memory-budget=80GB", *flags, *mesh(ranks, ranks)], tflops,
               sequence=sequence)


def megatron(layers, width, tensor, batch, ranks, tflops):
    """The paper's baseline. It does not say the heads: as many as divide over the ranks."""
    heads = next(count for count in range(tensor, width + 1, tensor)
                 if count >= width // 128 and width % count == 0)
    return Row("zero", layers, width, heads, batch,
               [*MEGATRON, *mesh(ranks, tensor)], tflops)


ROWS = {
    **{f"zero-{name}": zero(layers, width, heads, tensor, batch, 400, tflops)
       for name, tensor, layers, width, heads, batch, tflops in (
           ("1.5b", 1, 48, 1600, 16, 24, 30.3), ("8b", 4, 72, 3072, 24, 64, 36.9),
           ("40b", 4, 88, 6144, 32, 12, 35.9), ("60b", 16, 132, 6144, 32, 64, 36.5),
           ("80b", 16, 100, 8192, 64, 32, 37.6), ("100b", 16, 125, 8192, 64, 32, 38.7),
           ("120b", 16, 150, 8192, 64, 24, 28.2), ("140b", 16, 175, 8192, 64, 16, 26.9),
           ("170b", 16, 212, 8192, 64, 12, 21.0))},
    **{f"zero-60b-{ranks}": zero(75, 8192, 32, 16, batch, ranks, tflops)
       for ranks, batch, tflops in ((64, 16, 25.7), (128, 48, 37.6), (256, 48, 39.1),
                                    (400, 64, 36.7))},
    **{f"megatron-{name}": megatron(layers, width, tensor, batch, ranks, tflops)
       for name, ranks, tensor, layers, width, batch, tflops in (
           ("1.5b", 400, 2, 48, 1600, 16, 26.3), ("8b", 400, 8, 72, 3072, 8, 23.1),
           ("40b", 384, 32, 88, 6144, 4, 5.0), ("60b", 384, 64, 132, 6144, 4, 6.3),
           ("80b", 384, 128, 100, 8192, 4, 5.2), ("100b", 384, 128, 125, 8192, 2, 3.8),
           ("120b", 384, 128, 150, 8192, 2, 3.8), ("140b", 384, 128, 175, 8192, 2, 3.9),
           ("170b", 256, 256, 212, 8192, 2, 2.2))},
    "megatron-22b-full": recomputation(1.42, ["--checkpoint=layer", "--attention=products"]),
    "megatron-22b-selective": recomputation(1.10, ["--checkpoint=none", "--sequence-parallel"]),
    **{f"ratel-13b-b{batch}": ratel(40, 5120, batch, 12, tflops)
       for batch, tflops in ((8, 42.8), (16, 84.3), (32, 143.1), (64, 155.8), (128, 153.8))},
    **{f"ratel-13b-b{batch}-{drives}ssd": ratel(40, 5120, batch, drives, tflops)
       for batch, each in ((32, (37.5, 64.3, 81.1, 121.7, 142.0)),
                           (48, (53.1, 89.7, 121.7, 146.3, 153.9)),
                           (64, (70.3, 111.7, 136.3, 151.5, 148.2)))
       for drives, tflops in zip((1, 2, 3, 6, 12), each)},
    "ratel-175b-b8": ratel(96, 12288, 8, 12, 52.6),
    "ratel-175b-b16": ratel(96, 12288, 16, 12, 86.9),
    **{f"ratel-{name}-b{batch}": ratel(layers, width, batch, 12, None)
       for name, layers, width, batches in (("175b", 96, 12288, (32,)),
                                            ("276b", 112, 14336, (8, 16)),
                                            ("412b", 128, 16384, (8,)))
       for batch in batches},
    **{f"slideformer-{name}-b{batch}": slideformer(*shape, batch, rate)
       for name, shape, rates in (
           ("4b", (2560, 9728, 36, 32, True),
            (510.5, 1020.7, 2041.2, 3548.9, 4192.4, 4421.5, 4545.9)),
           ("8b", (4096, 12288, 36, 32, False),
            (291.6, 583.0, 1149.6, 2148.4, 2440.2, 2536.4, 2570.4)),
           ("14b", (5120, 17408, 40, 40, False),
            (164.6, 329.0, 658.5, 1256.4, 1362.7, 1386.6, 1405.3)))
       for batch, rate in zip((1, 2, 4, 8, 16, 32, 64), rates)},
    **{f"greedysnake-{name}-{drives}ssd-{order}": greedysnake(layers, width, drives, order)
       for name, layers, width in (("65b", 80, 8192), ("175b", 96, 12288)) for drives in (1, 2, 4)
       for order in ("horizontal", "vertical")},
    "zero-c1": configuration(1, 2, 11.9),
    "zero-c2": configuration(1, 4, 12.3, "--partition-activations"),
    "zero-c3": configuration(2, 8, 17.0),
    "zero-c4": configuration(2, 32, 35.2, "--partition-activations"),
    "zero-c5": configuration(2, 32, 32.0, "--partition-activations", "--offload-activations=host"),
    "zero-13b-dp": zero(62, 4096, 32, 1, 2, 128, 21.0),
    "infinity-0.5t": infinity(124, 18432, 4, 7, 512, ON_DEVICE, 46.3),
    **{f"infinity-1t-{ranks}": infinity(128, 25600, 4, 5, ranks, ON_HOST, tflops)
       for ranks, tflops in ((128, 48.9), (256, 46.0), (512, 48.8))},
    "infinity-1t-64": infinity(128, 25600, 4, 5, 64, ON_NVME, 44.5),
    "infinity-5t": infinity(174, 49152, 4, 3, 512, ON_NVME, 44.0),
    "infinity-10t": infinity(200, 65536, 4, 2, 512, RESHARDED, 42.8),
    "infinity-20t": infinity(205, 90112, 8, 1.25, 512, RESHARDED, 37.2),
}
#: The rows that constants are fitted on, and those that were kept to judge the model.
FITTED = {"zero-1.5b", "zero-60b-64", "zero-60b-400", "megatron-22b-full", "ratel-13b-b8",
          "ratel-13b-b64", "ratel-13b-b32-1ssd", "slideformer-8b-b1", "infinity-0.5t"}
HELD_BACK = {"zero-c1", "zero-c2", "zero-c3", "zero-c4", "zero-c5", "zero-13b-dp"}
TITLES = ["row", "paper", "simulated", "error", "", "device", "host", "plan"]


def machine_of(row, folder):
    """The path of a description of the row's machine."""
    preset, fitted = SYSTEMS[row.system]
    machine = json.loads((PRESETS / f"{preset}.json").read_text())
    for name, value in fitted.items():
        *outer, last = name.split(".")
        place = machine
        for each in outer:
            place = place[each]
        place[last] = value
    if row.drives:
        machine["disk"]["count"] = row.drives
    path = folder / "machine.json"
    path.write_text(json.dumps(machine))
    return path


def write_model(row, folder, options):
    """The path of the model, and flags for it."""
    if row.config:
        (folder / "config.json").write_text(json.dumps(row.config))
        return folder / "config.json", [f"--shape={row.batch}x{row.sequence}"]
    model = folder / "gpt.onnx"
    run([options.build / "bin/zero-translate", "-o", model,
         f"--make-gpt=layers={row.layers},width={row.width},heads={row.heads},vocabulary=50304,"
         f"sequence={row.sequence},batch={row.batch}"])
    return model, []


def simulate(row, folder, options):
    """TFLOPS of a device, bytes of a rank on it and on the host, and the seconds of planning."""
    model, flags = write_model(row, folder, options)
    begin = time.monotonic()
    text = run([options.build / "bin/zeroc", model, "--plan-only", "--no-cache", "--optimizer=adam",
                "--device=cuda", f"--machine={machine_of(row, folder)}", *flags, *row.flags],
               options.timeout).output
    planning = time.monotonic() - begin
    seconds = float(re.search(r"^plan: .* ([\d.e+-]+) s a step", text, re.MULTILINE)[1])
    tiers = arenas(text)
    return (8 * row.parameters() * row.tokens() / seconds * 1e-12, tiers["memory"], tiers["host"],
            planning)


def use_of(name):
    """What a row is for; otherwise it is predicted."""
    return "fitted" if name in FITTED else "held back" if name in HELD_BACK else ""


def line(name, row, tflops, device, host, planning):
    paper, error = (f"{row.tflops:.1f}", f"{tflops / row.tflops - 1:+.0%}") if row.tflops else "--"
    return [name, paper, f"{tflops:.1f}", error, use_of(name), f"{device / 1e9:.1f} GB", f"{host / 1e9:.0f} GB",
            f"{planning:.1f} s"]


def print_errors(results):
    for use in ("fitted", "", "held back"):
        errors = [abs(result[0] / ROWS[name].tflops - 1) for name, result in results.items()
                  if use_of(name) == use and ROWS[name].tflops]
        if errors:
            print(f"{use or 'predicted'}: {len(errors)} rows, mean error "
                  f"{statistics.mean(errors):.1%}, worst {max(errors):.1%}")


def print_ratios(results):
    """How much faster the vertical order of micro-batches is than the horizontal one."""
    for name, result in results.items():
        if name.endswith("-vertical") and (other := results.get(
                name.replace("-vertical", "-horizontal"))):
            print(f"{name}: {result[0] / other[0]:.2f} times as fast as horizontal")


def main():
    options = parser(__doc__, list(ROWS), [], rounds=1, steps=1).parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for name, row in zip(options.cases, select(options.cases, ROWS, "cases")):
            try:
                results[name] = simulate(row, Path(work), options)
            except Failure as failure:
                say(f"{name}: {failure}")
                continue
            say(f"{name}: {results[name][0]:.1f} TFLOPS simulated")
    print(table(TITLES, [line(name, ROWS[name], *result) for name, result in results.items()]))
    print_errors(results)
    print_ratios(results)
    write_json(options, results)


if __name__ == "__main__":
    start(main)
