"""The cases of clipped AdamW that PyTorch and Zero both train. test/reference creates the figures,
and test/execute compares with them. NumPy's RandomState creates the samples here, because its
numbers never change."""

import zlib
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

STEPS = 10
LEARNING_RATE = 2e-3
IGNORED = -100


@dataclass(frozen=True)
class Model:
    graph: str        # a folder of test/data
    batch: int        # of one rank, or 0 where the graph's is symbolic
    no_decay: tuple   # globs


MODELS = {
    "mlp": Model("mlp-dynbatch", 0, ("*.bias",)),
    "gpt2": Model("gpt2-tiny-dyn", 0, ("*.bias", "*.ln_*.weight")),
    "llama": Model("llama-tiny", 4, ("*norm.weight",)),
    "bert": Model("bert-tiny", 8, ("*.bias", "*.LayerNorm.weight")),
}


@dataclass(frozen=True)
class Case:
    model: str
    micro_batches: int
    rows: int            # samples of a step
    schedule: str        # linear or cosine
    warmup: int
    clip: float
    decay: float
    ignore: bool = False   # a different number of labels in each row
    weights: bool = False  # the trained weights are stored, too

    @property
    def name(self):
        return f"{self.model}-{self.schedule}-{self.micro_batches}"

    def flags(self):
        """The same as flags of zeroc."""
        return ["--optimizer=adamw", f"--lr={LEARNING_RATE}", f"--weight-decay={self.decay}",
                "--no-decay=" + ",".join(MODELS[self.model].no_decay),
                f"--clip-norm={self.clip}", f"--lr-schedule={self.schedule}",
                f"--warmup-steps={self.warmup}", f"--total-steps={STEPS}",
                f"--micro-batches={self.micro_batches}"]

    def decays(self, parameter):
        return not any(fnmatchcase(parameter, glob) for glob in MODELS[self.model].no_decay)


CASES = [
    Case("mlp", 1, 8, "cosine", 2, 1.5, 0.01),
    Case("mlp", 4, 16, "linear", 3, 1.0, 0.1, weights=True),
    Case("gpt2", 1, 4, "cosine", 2, 0.85, 0.1),
    Case("gpt2", 4, 16, "linear", 3, 0.7, 0.01, ignore=True, weights=True),
    Case("llama", 1, 4, "linear", 2, 1.25, 0.01),
    Case("llama", 4, 16, "cosine", 3, 1.1, 0.1, ignore=True, weights=True),
    Case("bert", 1, 8, "linear", 2, 0.7, 0.1, weights=True),
    Case("bert", 4, 32, "cosine", 3, 0.3, 0.01),
]


def ignore_unevenly(labels):
    """Row r keeps its first 2, 3, 5, 8, .. or all labels, and loses every seventh."""
    kept = np.array([2, 3, 5, 8, 13, 21, 32])
    lengths = kept[np.arange(len(labels)) % len(kept)]
    labels = np.where(np.arange(labels.shape[1]) <= lengths[:, None], labels, IGNORED)
    labels[:, 7::7] = IGNORED
    return labels


def samples(case):
    """The inputs of all steps, in order. Every third step has few different tokens (for the mlp:
    larger numbers), so that the norms of gradients vary. Clipping then changes the weights,
    although AdamW is invariant to a constant factor."""
    random = np.random.RandomState(zlib.crc32(case.name.encode()))
    count = STEPS * case.rows
    step = np.arange(count)[:, None] // case.rows
    if case.model == "mlp":
        scale = np.array([1.0, 0.5, 3.0])[step % 3]
        x = random.standard_normal((count, 784)) * scale
        return {"x": x.astype(np.float32), "labels": random.randint(0, 10, count)}
    vocabulary = np.array([512, 256, 8])[step % 3]
    tokens = random.randint(0, 1 << 20, (count, 32)) % vocabulary
    if case.model == "bert":
        tokens = np.maximum(tokens, 1)  # PyTorch gives no gradient to token 0, which is padding
        mask = np.arange(32) < random.randint(8, 33, (count, 1))
        return {"input_ids": tokens, "attention_mask": mask.astype(np.int64),
                "labels": random.randint(0, 4, count)}
    return {"input_ids": tokens,
            "labels": ignore_unevenly(tokens) if case.ignore else tokens.copy()}


def checksum(inputs):
    """A hash that distinguishes the samples of two runs."""
    return zlib.crc32(b"".join(np.ascontiguousarray(v).tobytes() for v in inputs.values()))
