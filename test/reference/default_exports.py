"""Exports small models with torch.onnx.export's default flags, as new users do, and writes the
results of training them in PyTorch: test/data/*-default and bert-legacy.

usage: default_exports.py [NAME ...]

The models are freshly initialized: norms have ones and zeros and biases have zeros, which the
exporter merges or drops.
"""

import sys
import warnings

import numpy as np
import onnx
import torch
import transformers

from models import DATA

STEPS = 11
IGNORED_METADATA = ("pkg.torch.onnx.stack_trace", "namespace")
CLASSES, RULE = "pkg.torch.onnx.class_hierarchy", "pkg.onnxscript.rewriter.rule_name"


class Mixer(torch.nn.Module):
    """The effects of the exporter's optimizer on parameters, in one model: weights of linear layers
    are transposed, the norm of a group gets dimensions, equal tensors are merged with each other
    and with constants (`plain`), and zero biases of a matrix product and a convolution are dropped.
    The small tied table is used in a lookup and, as a copy, in a product."""

    def __init__(self, width=16, vocabulary=40, sequence=8):
        super().__init__()
        self.table = torch.nn.Embedding(vocabulary, width)
        self.positions = torch.nn.Parameter(0.1 * torch.randn(sequence, width))
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.plain = torch.nn.LayerNorm(width, elementwise_affine=False)
        self.query, self.value = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, width, bias=False)
        self.conv = torch.nn.Conv1d(width, width, 3, padding=1)
        self.group = torch.nn.GroupNorm(4, width)
        self.pool = torch.nn.Linear(width, width)
        self.gate = torch.nn.Parameter(torch.ones(width))
        self.head = torch.nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.table.weight
        for module in (self.query, self.value, self.conv, self.pool):
            torch.nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.table(tokens) + self.positions
        y = self.norm1(x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / 4
        x = x + torch.softmax(scores, -1) @ self.value(y)
        x = x + torch.relu(self.group(self.conv(self.norm2(x).transpose(1, 2)))).transpose(1, 2)
        x = self.plain(x) * self.gate + torch.tanh(self.pool(x.mean(1))).unsqueeze(1)
        return self.head(x)


class WithLoss(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, labels):
        output = self.model(x)
        logits = output if isinstance(output, torch.Tensor) else output.logits
        if logits.dim() == 3:
            logits, labels = logits.flatten(0, 1), labels.flatten()
        return torch.nn.functional.cross_entropy(logits, labels)


def gpt2():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=64, n_positions=1040, n_embd=8, n_layer=1, n_head=2, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=0, eos_token_id=0))


def bert(positions=1040):
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=64, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=positions, num_labels=4,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def vit():
    return transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
        image_size=16, patch_size=8, num_labels=4, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0))


def neox():
    return transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=16, use_cache=False, hidden_dropout=0.0,
        attention_dropout=0.0))


def tokens(vocabulary, labels=None):
    x = torch.randint(1, vocabulary, (4, 8))
    return x, torch.randint(0, labels, (4,)) if labels else torch.randint(0, vocabulary, (4, 8))


def images():
    return torch.randn(4, 3, 16, 16), torch.randint(0, 4, (4,))


BATCH = torch.export.Dim("batch")
SYMBOLIC = {"dynamic_shapes": {"x": {0: BATCH}, "labels": {0: BATCH}}}
LEGACY = {"dynamo": False, "do_constant_folding": False}
CASES = {  # name: (model, inputs, flags, whether it is trained)
    "mixer-default": (Mixer, lambda: tokens(40), {}, True),
    "gpt2-default": (gpt2, lambda: tokens(64), {}, True),
    "bert-default": (bert, lambda: tokens(64, 4), {}, True),
    "vit-default": (vit, images, SYMBOLIC, True),
    "vit-fixed-default": (vit, images, {}, False),  # its class token is expanded and folded
    "gptneox-default": (neox, lambda: tokens(64), {}, False),  # equal calls are merged
    "bert-legacy": (lambda: bert(16), lambda: tokens(64, 4), LEGACY, True),
}


def names_of(module):
    """The name that the exporter uses for each parameter: the last of several names or, in the
    legacy exporter, the first."""
    return {id(p): (name, p) for name, p in module.named_parameters(remove_duplicate=False)}


def export(module, inputs, flags, path):
    torch.onnx.export(module, inputs, path, input_names=["x", "labels"], output_names=["loss"],
                      external_data=False, **{"dynamo": True, "verbose": False, **flags})
    model = onnx.load(path)
    for node in model.graph.node:  # unread metadata is most of the file
        is_rewritten = any(p.key == RULE for p in node.metadata_props)
        kept = [p for p in node.metadata_props if p.key not in IGNORED_METADATA
                and (is_rewritten or p.key != CLASSES)]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def train(module, inputs):
    parameters = dict(names_of(module).values())
    optimizer = torch.optim.AdamW(parameters.values(), lr=1e-3, weight_decay=0.01)
    truth = {f"input.{k}": v.numpy() for k, v in zip(("x", "labels"), inputs)}
    losses = []
    for step in range(STEPS):
        loss = module(*inputs)
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            unused = [n for n, p in parameters.items() if p.grad is None]
            assert not unused, unused
            truth |= {f"grad.{n}": p.grad.numpy().copy() for n, p in parameters.items()}
        optimizer.step()
    return truth | {"parameters": np.array(sorted(parameters)), "loss": np.float32(losses[0]),
                    "adamw_losses": np.array(losses)}


def main():
    warnings.filterwarnings("ignore")
    for name in sys.argv[1:] or CASES:
        make, draw, flags, is_trained = CASES[name]
        torch.manual_seed(0)
        module, inputs = WithLoss(make()).train(), draw()
        folder = DATA / name
        folder.mkdir(exist_ok=True)
        export(module, inputs, flags, str(folder / "model.onnx"))
        if is_trained:
            np.savez_compressed(folder / "groundtruth.npz", **train(module, inputs))
        print(name, sum(f.stat().st_size for f in folder.iterdir()) // 1024, "KiB")


if __name__ == "__main__":
    main()
