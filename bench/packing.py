"""Documents packed into rows beside padded ones: real tokens per second, of Zero and of PyTorch.

A Llama with random weights (6 layers, 512 wide) trains on methods of Python's library, cut after
1,024 tokens, in rows of 1,024, in fp32 with AdamW. Forms: `padded`, a document in each row;
`longest`, the same with rows as long as the longest document of the batch (PyTorch, as a collator
does it); `shapes`, the same with rows of the smallest of six lengths (Zero); `packed`, whole
documents that share a row and do not see each other. PyTorch multiplies a packed row by SDPA with a
mask. The time of a padded row does not depend on its document: it counts as one of mean length.
docs/guides/data.md has the figures.
"""

import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import PEERS, ROOT, Failure, mib, parser, processor, python_of, run, say, start
from common import table, write_json
from finetune import write_text

sys.path.insert(0, str(ROOT / "test/support"))
sys.path.insert(0, str(ROOT / "python"))
from finetune_cases import CONFIG, make_model  # noqa: E402

MODEL = {**CONFIG, "vocab_size": 4096, "hidden_size": 512, "intermediate_size": 1408,
         "num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 4,
         "max_position_embeddings": 1024}
ROWS, SEQUENCE = 4, 1024
LENGTHS = [1024, 768, 512, 384, 256, 128]  # of rows in the form `shapes`
FORMS = ["zero:padded", "zero:shapes", "zero:packed", "torch:padded", "torch:longest",
         "torch:packed"]
WARM_UP = 2  # steps of a run that are not timed


class Folder:
    """The model, its tokens, and the programs of Zero."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        write_text(folder, "\n    def ")  # mostly methods
        make_model(folder / "model", folder / "text.txt", MODEL, vocabulary=MODEL["vocab_size"])
        self.tool("-m", "zero", "tokenize", folder / "model", folder / "corpus.jsonl", "-o",
                  folder / "tokens", f"--max-length={SEQUENCE}", "--overlong=truncate")
        one, all_lengths = [f"--shape={ROWS}x{SEQUENCE}"], [f"--shape={ROWS}x{n}" for n in LENGTHS]
        for name, flags in (("padded", one), ("shapes", all_lengths),
                            ("packed", [*one, "--documents"])):
            run([options.build / "bin/zeroc", folder / "model", "--optimizer=adamw",
                 f"--threads-per-rank={os.cpu_count()}", *flags, "-o", folder / f"{name}.zexe"],
                options.timeout)

    def tool(self, *words):
        return run([sys.executable, *words], self.options.timeout,
                   {"PYTHONPATH": str(self.options.build / "python")})

    def lengths(self):
        return np.diff(np.fromfile(self.folder / "tokens/starts.bin", np.uint64).astype(np.int64))

    def zero(self, form):
        """The seconds of steps, their real tokens, and the resident bytes, by Zero."""
        report, steps = self.folder / "report.json", WARM_UP + self.options.steps
        pack = "documents" if form == "packed" else "off"
        usage = run([self.options.build / "bin/zero-run", self.folder / f"{form}.zexe",
                     f"--data={self.folder / 'tokens'}", f"--pack={pack}", f"--steps={steps}",
                     f"--report-json={report}"], self.options.timeout)
        seconds = json.loads(report.read_text())["seconds"]
        if form == "packed":
            used = re.search(r"([\d.]+) % full", usage.output)
            tokens = [ROWS * SEQUENCE * float(used[1]) / 100] * steps
        elif form == "shapes":
            tokens = self.lengths()[:steps * ROWS].reshape(steps, ROWS).sum(1).tolist()
        else:
            tokens = [ROWS * float(self.lengths().mean())] * steps  # the time is that of any row
        return {"seconds": seconds, "tokens": tokens, "resident": usage.resident}

    def torch(self, form):
        """The same by peers/packing.py."""
        result = self.folder / "torch.json"
        run([self.options.python, PEERS / "packing.py", self.folder / "model",
             self.folder / "tokens", result, form, f"--rows={ROWS}", f"--sequence={SEQUENCE}",
             f"--steps={WARM_UP + self.options.steps}"], self.options.timeout,
            {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""})
        return json.loads(result.read_text())

    def rate(self, side):
        """Real tokens per second of the timed steps of one run, and the resident bytes."""
        name, form = side.split(":")
        figures = getattr(self, name)(form)
        timed = slice(WARM_UP, None)
        return sum(figures["tokens"][timed]) / sum(figures["seconds"][timed]), figures["resident"]


def measure(folder, options):
    """Rates and resident bytes of each side in each round."""
    rates = {side: [] for side in options.sides}
    resident = {}
    for number in range(options.rounds):
        for side in options.sides:
            rate, resident[side] = folder.rate(side)
            rates[side].append(rate)
        say(f"round {number}: " + ", ".join(f"{side} {rates[side][-1]:,.0f}" for side in rates))
    return rates, resident


def show(lengths, rates, resident):
    print(f"{processor()}, {os.cpu_count()} cores")
    print(f"{len(lengths)} documents of {lengths.min()} to {lengths.max()} tokens, mean "
          f"{lengths.mean():.0f}, quartiles {np.percentile(lengths, (25, 50, 75)).round()}\n")
    base = rates.get("zero:packed") or next(iter(rates.values()))
    print(table(["side", "tokens/s", "packed Zero / side", "resident"],
                [[side, f"{statistics.median(each):,.0f}",
                  f"{statistics.median(a / b for a, b in zip(base, each)):.2f}",
                  mib(resident[side])] for side, each in rates.items()]))


def main():
    arguments = parser(__doc__, ["llama"], FORMS, rounds=3, steps=4)
    arguments.add_argument("--python", type=Path, default=os.environ.get("ZERO_TORCH_PYTHON"),
                           help="with transformers (ZERO_TORCH_PYTHON)")
    options = arguments.parse_args()
    if set(options.sides) - set(FORMS):
        raise Failure(f"expected sides of {', '.join(FORMS)}")
    options.python = options.python or python_of("torch")
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        folder = Folder(Path(work), options)
        rates, resident = measure(folder, options)
        lengths = folder.lengths()
    show(lengths, rates, resident)
    write_json(options, {"rates": rates, "resident": resident, "documents": len(lengths),
                         "mean": float(lengths.mean())})


if __name__ == "__main__":
    start(main)
