"""The models of test/data in PyTorch, with the weights of their .onnx files."""

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import transformers
from onnx import numpy_helper

DATA = Path(__file__).resolve().parent.parent / "data"
IGNORED = -100


class Mlp(torch.nn.Module):
    """784-128-64-10."""

    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(784, 128)
        self.fc2 = torch.nn.Linear(128, 64)
        self.fc3 = torch.nn.Linear(64, 10)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def gpt2(width=64, layers=2, heads=4, vocabulary=512, sequence=32):
    config = transformers.GPT2Config(
        vocab_size=vocabulary, n_positions=sequence, n_embd=width, n_layer=layers, n_head=heads,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
        bos_token_id=0, eos_token_id=0)
    return transformers.GPT2LMHeadModel(config)


def llama():
    config = transformers.LlamaConfig(
        vocab_size=512, hidden_size=64, intermediate_size=176, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
        rms_norm_eps=1e-6, attention_dropout=0.0, use_cache=False, tie_word_embeddings=False)
    return transformers.LlamaForCausalLM(config)


def bert():
    config = transformers.BertConfig(
        vocab_size=512, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, num_labels=4,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return transformers.BertForSequenceClassification(config)


MAKERS = {"mlp": Mlp, "gpt2": gpt2, "llama": llama, "bert": bert}


def sum_of_losses(model, inputs):
    """The sum of the cross-entropies of all valid labels, and their number."""
    inputs = dict(inputs)
    labels = inputs.pop("labels")
    output = model(**inputs)
    logits = output if isinstance(output, torch.Tensor) else output.logits
    if logits.dim() == 3:  # a language model: position i predicts token i + 1
        logits, labels = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
    total = torch.nn.functional.cross_entropy(logits.float() if logits.dtype.itemsize < 4 else
                                              logits, labels, ignore_index=IGNORED,
                                              reduction="sum")
    return total, int((labels != IGNORED).sum())


class Trained:
    """A model with the weights of a graph; parameters by their names in the graph."""

    def __init__(self, kind, graph, dtype=torch.float32, **size):
        self.kind = kind
        self.model = MAKERS[kind](**size).to(dtype).train()
        initializers = {t.name: t for t in onnx.load(DATA / graph / "model.onnx").graph.initializer}
        self.parameters = {}
        for name in self.names(initializers):
            parameter = self.model.get_parameter(name.removeprefix("model."))
            value = numpy_helper.to_array(initializers[name])
            assert parameter.shape == value.shape, f"{name}: {parameter.shape} {value.shape}"
            parameter.data.copy_(torch.from_numpy(value.copy()))
            self.parameters[name] = parameter
        missing = {id(p) for p in self.model.parameters()}
        missing -= {id(p) for p in self.parameters.values()}
        assert not missing, f"{graph}: {len(missing)} parameters have no initializer"

    def names(self, initializers):
        """The tensors that are in the model; the others are constants."""
        known = dict(self.model.named_parameters(remove_duplicate=False))
        return sorted(n for n in initializers if n.removeprefix("model.") in known)

    def cast(self, array):
        """A batch's array as a tensor, floats in the model's type."""
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if tensor.is_floating_point():
            return tensor.to(next(self.model.parameters()).dtype)
        return tensor

    def mean_loss(self, inputs):
        total, valid = sum_of_losses(self.model, {k: self.cast(v) for k, v in inputs.items()})
        return total / valid


def check_ground_truth(kind, graph):
    """Checks first that these are the models of test/data: compares the loss, the gradients and ten
    updates with the values that were written when the graphs were exported."""
    truth = np.load(DATA / graph / "groundtruth.npz")
    trained = Trained(kind, graph)
    assert sorted(trained.parameters) == list(truth["parameters"]), graph
    inputs = {k[len("input."):]: truth[k] for k in truth if k.startswith("input.")}
    optimizer = torch.optim.AdamW(trained.parameters.values(), lr=1e-3, weight_decay=0.01)
    for step, expected in enumerate(truth["adamw_losses"]):
        loss = trained.mean_loss(inputs)
        optimizer.zero_grad()
        loss.backward()
        assert abs(loss.item() - expected) <= 2e-6 * expected, f"{graph} {step}: {loss} {expected}"
        if step == 0:
            for name, parameter in trained.parameters.items():
                gradient = torch.from_numpy(truth[f"grad.{name}"])
                off = (parameter.grad - gradient).norm() / gradient.norm()
                assert off <= 1e-5 or is_noise(name), f"{graph}: gradient of {name} off by {off}"
        optimizer.step()
    print(f"{graph}: loss, gradients and ten updates are those of the export", file=sys.stderr)


def is_noise(name):
    """The gradient of a key's bias is zero except for rounding."""
    return name.endswith(("attn.c_attn.bias", "attention.self.key.bias"))
