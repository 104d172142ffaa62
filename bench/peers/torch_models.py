"""The models as PyTorch users write them; forward(**inputs) returns the mean loss."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class GptBlock(nn.Module):
    """Attention and MLP with norms before them; the attention is PyTorch's fused attention."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.packed, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, sequence, width = x.shape
        query, key, value = (part.view(batch, sequence, self.heads, -1).transpose(1, 2)
                             for part in self.packed(self.norm1(x)).split(width, -1))
        heads = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.mixed(heads.transpose(1, 2).reshape(batch, sequence, width))
        grown = functional.gelu(self.grow(self.norm2(x)), approximate="tanh")
        return x + self.shrink(grown)


class Gpt(nn.Module):
    """GPT-2 with its tied head: less overhead than Transformers' module of the same model."""

    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        self.tokens = nn.Parameter(torch.empty(sizes["vocabulary"], width))
        self.positions = nn.Parameter(torch.empty(sizes["sequence"], width))
        self.layers = nn.ModuleList(GptBlock(width, sizes["heads"])
                                    for _ in range(sizes["layers"]))
        self.norm = nn.LayerNorm(width)

    @torch.no_grad()
    def load(self, weights):
        """Loads the weights of the graph, whose matrices have inputs as rows; PyTorch's have
        outputs."""
        for name, parameter in self.named_parameters():
            matrix = "." in name and parameter.dim() == 2
            array = weights[name].T if matrix else weights[name]
            parameter.copy_(torch.from_numpy(array.copy()))

    def forward(self, input_ids, labels):
        x = functional.embedding(input_ids, self.tokens) + self.positions
        for layer in self.layers:
            x = layer(x)
        logits = functional.linear(self.norm(x), self.tokens)
        following = functional.pad(labels[:, 1:], (0, 1), value=-100)
        return functional.cross_entropy(logits.flatten(0, 1), following.flatten())


class WithLoss(nn.Module):
    """A Transformers model reduced to its loss."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, labels, attention_mask=None):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, labels=labels).loss


def make_bert(sizes):
    from transformers import BertConfig, BertForSequenceClassification
    return BertForSequenceClassification(BertConfig(
        vocab_size=sizes["vocabulary"], hidden_size=sizes["width"],
        num_hidden_layers=sizes["layers"], num_attention_heads=sizes["heads"],
        intermediate_size=sizes["hidden"], max_position_embeddings=sizes["sequence"],
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        num_labels=sizes["classes"], attn_implementation="sdpa"))


def make_llama(sizes):
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=sizes["vocabulary"], hidden_size=sizes["width"],
        intermediate_size=sizes["hidden"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], num_key_value_heads=sizes["kv_heads"],
        max_position_embeddings=sizes["sequence"], use_cache=False, attn_implementation="sdpa"))


def build(sizes, folder):
    """The model of a case with its initial weights, and the list of its layers."""
    torch.manual_seed(0)
    if sizes["family"] == "gpt2":
        model = Gpt(sizes)
        model.load(np.load(folder / "weights.npz"))
        return model, model.layers
    if sizes["family"] == "bert":
        model = WithLoss(make_bert(sizes))
        return model, model.model.bert.encoder.layer
    model = WithLoss(make_llama(sizes))
    return model, model.model.model.layers
