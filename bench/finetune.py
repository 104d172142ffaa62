"""Fine-tuning by one command beside the Trainer of transformers: losses, time and memory.

A Llama with random weights and a tokenizer that is trained on sources of Python's library, both
made here. `python -m zero finetune` trains it whole; the Trainer trains the same documents in the
same order, in fp32 on the same cores, and loads what Zero has written. Then both train a few steps
in turn, so that other programs on the machine slow down both. docs/guides/finetune.md has the
figures.
"""

import json
import os
import statistics
import sys
import sysconfig
import tempfile
from pathlib import Path

from common import PEERS, ROOT, Failure, mib, parser, python_of, run, say, start, table, write_json

sys.path.insert(0, str(ROOT / "test/support"))
sys.path.insert(0, str(ROOT / "python"))
from finetune_cases import CONFIG, make_model  # noqa: E402

CASES = {
    "llama-20m": {"vocab_size": 8192, "hidden_size": 384, "intermediate_size": 1024,
                  "num_hidden_layers": 11, "num_attention_heads": 6, "num_key_value_heads": 2},
}
SIDES = ["zero", "trainer"]
TEXT_BYTES = 4 << 20
WARM_UP = 2  # steps of a round that are not timed


def write_text(folder, separator="\n\n\n"):
    """Sources of Python's library: a text for the tokenizer, and a corpus of their parts."""
    text, parts = "", []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        source = path.read_text(encoding="utf-8", errors="replace")
        text += source
        parts += [part for part in source.split(separator) if len(part) > 200]
        if len(text) > TEXT_BYTES:
            break
    (folder / "text.txt").write_text(text)
    (folder / "corpus.jsonl").write_text("".join(json.dumps({"text": part}) + "\n"
                                                 for part in parts))


class Case:
    """A model and its run, which other steps begin from."""

    def __init__(self, name, folder, options):
        self.folder, self.options = folder, options
        self.model, self.out = folder / "model", folder / "out"
        write_text(folder)
        make_model(self.model, folder / "text.txt", {
            **CONFIG, "max_position_embeddings": 2048, **CASES[name]},
            vocabulary=CASES[name]["vocab_size"])

    def finetune(self):
        """The whole run by Zero; its Usage."""
        flags = [f"--steps={self.options.steps}", "--method=full", "--in-order", "--batch=8",
                 f"--length={self.options.length}", f"--lr={self.options.lr}"]
        return run([sys.executable, "-m", "zero", "finetune", self.model,
                    self.folder / "corpus.jsonl", f"--out={self.out}", *flags],
                   self.options.timeout,
                   {"PYTHONPATH": str(self.options.build / "python")})

    def log(self):
        lines = (self.out / "training/log.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def trainer(self, *flags):
        """What peers/trainer.py has measured."""
        result = self.folder / "trainer.json"
        run([self.options.python, PEERS / "trainer.py", self.out, result, *flags],
            self.options.timeout, {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""})
        return json.loads(result.read_text())

    def zero_seconds(self, steps):
        """Of the steps of a short run of the same program."""
        report = self.folder / "report.json"
        training = self.out / "training"
        run([self.options.build / "bin/zero-run", training / "model.zexe", "--quiet",
             f"--data={training / 'tokens/train'}", f"--steps={steps}",
             f"--report-json={report}"], self.options.timeout)
        return json.loads(report.read_text())["seconds"]


def play(case, options):
    """Median seconds of a step of both sides in each round."""
    steps = WARM_UP + options.timed
    rounds = []
    for number in range(options.rounds):
        mine = statistics.median(case.zero_seconds(steps)[WARM_UP:])
        other = statistics.median(case.trainer(f"--steps={steps}")["seconds"][WARM_UP:])
        rounds.append({"zero": mine, "trainer": other})
        say(f"round {number}: {mine:.3f} s, {other:.3f} s")
    return rounds


def farthest(left, right):
    """The largest difference between losses of the same step."""
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


def measure(name, folder, options):
    case = Case(name, folder, options)
    usage = case.finetune()
    print(usage.output, flush=True)
    mine = [line["loss"] for line in case.log() if "loss" in line]
    peer = case.trainer()
    alone = case.trainer("--threads=1")["losses"] if options.noise else None
    loaded = run([options.python, ROOT / "test/python/Inputs/load_finetuned.py", case.out],
                 options.timeout, {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}).output
    loaded = json.loads(loaded.splitlines()[-1])
    evaluation = [line["eval_loss"] for line in case.log() if "eval_loss" in line]
    return {"case": name, "steps": len(mine), "first": mine[0], "last": mine[-1],
            "difference": farthest(mine, peer["losses"]), "evaluation": evaluation,
            "noise": alone and farthest(alone, peer["losses"]),
            "loaded": loaded, "seconds": usage.seconds, "resident": usage.resident,
            "trainer_resident": peer["resident"], "rounds": play(case, options)}


def show(figures):
    ratio = statistics.median(each["trainer"] / each["zero"] for each in figures["rounds"])
    rows = [[side, f"{statistics.median(each[side] for each in figures['rounds']):.3f} s",
             mib(figures[key])] for side, key in (("zero", "resident"),
                                                  ("trainer", "trainer_resident"))]
    print(table(["side", "a step", "resident memory"], rows))
    print(f"\nTrainer / Zero: {ratio:.2f} of the time, "
          f"{figures['trainer_resident'] / figures['resident']:.2f} of the memory")
    print(f"losses of {figures['steps']} steps, {figures['first']:.4f} to {figures['last']:.4f}: "
          f"at most {figures['difference']:.1e} apart")
    if figures["noise"] is not None:
        print(f"the Trainer on one thread: at most {figures['noise']:.1e} from itself on all")
    print(f"evaluation {figures['evaluation'][0]:.4f} to {figures['evaluation'][-1]:.4f}; by "
          f"transformers {figures['loaded']['loss']:.4f}")
    print(f"generated: {figures['loaded']['text']!r}")


def main():
    arguments = parser(__doc__, ["llama-20m"], SIDES, rounds=3, steps=500)
    arguments.add_argument("--length", type=int, default=128, help="tokens of a document")
    arguments.add_argument("--lr", default="1e-4", help="learning rate, default 1e-4")
    arguments.add_argument("--noise", action="store_true",
                           help="train by the Trainer on one thread, too: what rounding alone does")
    arguments.add_argument("--timed", type=int, default=8, help="timed steps of a round, default 8")
    arguments.add_argument("--python", type=Path, default=os.environ.get("ZERO_TORCH_PYTHON"),
                           help="with transformers and accelerate (ZERO_TORCH_PYTHON)")
    options = arguments.parse_args()
    options.python = options.python or python_of("torch")
    if sorted(options.sides) != sorted(SIDES):
        raise Failure("expected both sides, which are compared")
    for name in options.cases:
        if name not in CASES:
            raise Failure(f"expected cases of {', '.join(CASES)}, got '{name}'")
        with tempfile.TemporaryDirectory(prefix="bench-") as work:
            figures = measure(name, Path(work), options)
        show(figures)
        write_json(options, figures)


if __name__ == "__main__":
    start(main)
