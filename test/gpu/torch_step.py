"""A step of the test's GPT-2 in PyTorch, for comparison."""

import time

import numpy as np


def torch_step(graph, steps):
    """Seconds of a step of a model with the graph's sizes on PyTorch's GPU: float32 without TF32,
    fused AdamW, the median of `steps`. None without PyTorch or a GPU. The weights differ from the
    graph's, so only the time is comparable."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    model = make_model(torch, graph).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    ids = torch.from_numpy(graph.inputs["input_ids"]).cuda()
    labels = torch.from_numpy(graph.inputs["labels"]).cuda()
    seconds = []
    for _ in range(steps + 5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        logits = model(ids)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds[5:]))


def make_model(torch, graph):
    """A GPT-2 whose layers, heads and classes are derived from the gradients of the ground truth.
    """
    shapes = {name[len("grad."):]: value.shape for name, value in graph.truth.items() if name.startswith("grad.")}
    vocabulary, width = next(shape for name, shape in shapes.items() if name.endswith("wte.weight"))
    positions = next(shape[0] for name, shape in shapes.items() if name.endswith("wpe.weight"))
    layers = sum(name.endswith("attn.c_attn.weight") for name in shapes)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = torch.nn.Embedding(vocabulary, width)
            self.positions = torch.nn.Embedding(positions, width)
            self.layers = torch.nn.ModuleList([
                torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation="gelu",
                                                 batch_first=True, norm_first=True) for _ in range(layers)])
            self.norm = torch.nn.LayerNorm(width)

        def forward(self, ids):
            length = ids.shape[1]
            x = self.tokens(ids) + self.positions(torch.arange(length, device=ids.device))
            mask = torch.nn.Transformer.generate_square_subsequent_mask(length, device=ids.device)
            for layer in self.layers:
                x = layer(x, src_mask=mask, is_causal=True)
            return self.norm(x) @ self.tokens.weight.T

    return Model()
