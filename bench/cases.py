"""The measured models: sizes, inputs, graphs, and amount of computation."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper

from common import PEERS, ROOT, python_of, run

CLASSES = 4  # of the BERT classifier
# The names of the weights in the GPT-2 graph and in the peers.
PEER_NAMES = {"model.": "", "transformer.": "", "h.": "layers.", "lm_head.weight": "tokens",
              "wpe.weight": "positions", "attn.c_attn": "packed", "attn.c_proj": "mixed",
              "mlp.c_fc": "grow", "mlp.c_proj": "shrink", "ln_1": "norm1", "ln_2": "norm2",
              "ln_f": "norm"}


@dataclass(frozen=True)
class Case:
    """Sizes of a model and of the batch of one rank."""
    name: str
    layers: int
    width: int
    vocabulary: int
    sequence: int
    batch: int
    family: str = "gpt2"  # or bert, llama
    ranks: int = 2
    threads: int = 1  # of a rank
    hidden: int = 0  # of the MLP: 4 widths unless given
    kv_heads: int = 0  # as many as heads unless given

    @property
    def heads(self):
        return max(self.width // 64, 1)

    def sizes(self):
        """The data that peers read, with all defaults resolved."""
        return {**dataclasses.asdict(self), "heads": self.heads, "classes": CLASSES,
                "hidden": self.hidden or 4 * self.width, "kv_heads": self.kv_heads or self.heads}

    @property
    def cores(self):
        return self.ranks * self.threads

    @property
    def tokens(self):
        """Tokens of all ranks in a step."""
        return self.ranks * self.batch * self.sequence


CASES = {case.name: case for case in (
    Case("tiny", 2, 64, 512, 32, 2),
    Case("A", 4, 256, 8192, 128, 4),
    Case("B", 6, 512, 8192, 256, 4),
    Case("gpt2-124m", 12, 768, 50304, 512, 1),
    Case("bert", 6, 512, 8192, 256, 4, family="bert"),
    Case("llama", 6, 512, 8192, 256, 4, family="llama", hidden=1408, kv_heads=4),
)}


def matmul_parameters(case):
    """(parameters that multiply every token, parameters that multiply one token of a sample)."""
    sizes = case.sizes()
    width, hidden = sizes["width"], sizes["hidden"]
    keys = width * sizes["kv_heads"] // sizes["heads"]
    mlp = (3 if case.family == "llama" else 2) * width * hidden
    layers = case.layers * (2 * width * width + 2 * width * keys + mlp)
    if case.family == "bert":  # pooler and classifier read the first token
        return layers, width * width + CLASSES * width
    return layers + case.vocabulary * width, 0


def flops(case):
    """FLOPs of a step on all ranks: 6 for each matmul parameter and token, and attention's.

    Attention is two products of sequence x width for each token and layer, 12 x sequence x width
    with their gradients. Causal attention needs half of that, and half is counted, whatever a side
    computes.
    """
    each, first = matmul_parameters(case)
    attention = 12 * case.layers * case.sequence * case.width
    if case.family != "bert":
        attention //= 2
    return case.tokens * (6 * each + attention) + 6 * first * case.ranks * case.batch


def make_inputs(case):
    """The fixed batch of all ranks, by input name."""
    random = np.random.default_rng(0)
    samples = case.ranks * case.batch
    tokens = random.integers(0, case.vocabulary, (samples, case.sequence))
    if case.family != "bert":
        return {"input_ids": tokens, "labels": tokens}
    lengths = random.integers(case.sequence // 2, case.sequence + 1, samples)
    mask = np.arange(case.sequence) < lengths[:, None]
    return {"input_ids": tokens, "attention_mask": mask.astype(np.int64),
            "labels": random.integers(0, CLASSES, samples)}


def write_case(case, folder):
    """Writes case.json and one .npy for each input into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = make_inputs(case)
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "case.json").write_text(json.dumps({**case.sizes(), "inputs": list(inputs)}))


def write_weights(folder):
    """Writes the initial weights of the GPT-2 graph into weights.npz, under the peers' names."""
    path = folder / "model.onnx"
    weights = {}
    for tensor in onnx.load(path).graph.initializer:
        if tensor.name.startswith("model."):
            name = tensor.name
            for ours, theirs in PEER_NAMES.items():
                name = name.replace(ours, theirs)
            weights[name] = onnx.numpy_helper.to_array(tensor)
    np.savez(folder / "weights.npz", **weights)


def write_graph(case, folder, sparse=False):
    """Writes model.onnx and the files from which peers start with the same weights.

    The generator creates GPT-2. Its weights are written separately or, if sparse, to files that
    have their full length but take no space. Other models are exported from the peers' PyTorch
    model, whose weights depend on its seed.
    """
    if case.family != "gpt2":
        run([python_of("torch"), PEERS / "export.py", folder])
        return
    sizes = [f"--{key}={getattr(case, key)}"
             for key in ("layers", "width", "vocabulary", "sequence", "batch")]
    run([sys.executable, ROOT / "test/support/make_gpt2.py", folder / "model.onnx", *sizes,
         *["--sparse"] * sparse])
    if not sparse:
        # In another process: the largest memory of a program that this one starts includes its own.
        run([sys.executable, __file__, folder])


if __name__ == "__main__":
    write_weights(Path(sys.argv[1]))
