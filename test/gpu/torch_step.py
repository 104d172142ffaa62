"""Times a step of a GPT-2 or a Llama in PyTorch on its GPU, for comparison, and prints the result as
JSON.

float32 without TF32, or bf16 by autocast; fused AdamW; the median of the steps after the first five.
The weights differ from those of Zero's graphs, so only time and memory are comparable. `compiled` is
torch.compile of each layer, which compiles the first one only, and of the loss: to compile a whole
model of 48 layers takes minutes. Exits with 3 where PyTorch or a GPU is missing.
"""

import argparse
import json
import time

from torch_gpu import finish, import_torch


def make_gpt2(torch, size):
    """A GPT-2 with PyTorch's fused attention and one matrix for tokens and classes."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
            self.attend, self.project = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
            self.up, self.down = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)

        def forward(self, x):
            batch, length, width = x.shape
            heads = self.attend(self.norm1(x)).view(batch, length, 3, size.heads, -1).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(size.vocabulary, size.width)
            self.positions = nn.Embedding(size.sequence, size.width)
            nn.init.normal_(self.tokens.weight, std=0.02)
            self.blocks = nn.ModuleList([Block() for _ in range(size.layers)])
            self.norm = nn.LayerNorm(size.width)

        def loss(self, x, ids):
            logits = self.norm(x) @ self.tokens.weight.T
            return functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

        def forward(self, ids):
            x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
            for block in self.blocks:
                x = block(x)
            return self.loss(x, ids)

    return Gpt2()


def make_llama(torch, size):
    """A Llama: rotated and grouped heads, SwiGLU, an own matrix of classes."""
    nn, functional = torch.nn, torch.nn.functional
    depth = size.width // size.heads

    def linear(inputs, outputs):
        return nn.Linear(inputs, outputs, bias=False)

    def rotate(x, cosines, sines):
        low, high = x.chunk(2, -1)
        return x * cosines + torch.cat((-high, low), -1) * sines

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(size.width), nn.RMSNorm(size.width)
            self.query, self.project = linear(size.width, size.width), linear(size.width, size.width)
            self.key, self.value = (linear(size.width, size.groups * depth) for _ in range(2))
            self.gate, self.up = linear(size.width, size.hidden), linear(size.width, size.hidden)
            self.down = linear(size.hidden, size.width)

        def forward(self, x, cosines, sines):
            batch, length, width = x.shape
            y = self.norm1(x)
            query, key, value = (part(y).view(batch, length, -1, depth).transpose(1, 2)
                                 for part in (self.query, self.key, self.value))
            mixed = functional.scaled_dot_product_attention(rotate(query, cosines, sines), rotate(key, cosines, sines),
                                                            value, is_causal=True, enable_gqa=True)
            x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
            y = self.norm2(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.classes = nn.Embedding(size.vocabulary, size.width), linear(size.width, size.vocabulary)
            nn.init.normal_(self.tokens.weight, std=0.02)
            self.blocks = nn.ModuleList([Block() for _ in range(size.layers)])
            self.norm = nn.RMSNorm(size.width)
            angles = torch.outer(torch.arange(size.sequence), 5e5 ** (-torch.arange(0, depth, 2) / depth)).repeat(1, 2)
            self.register_buffer("cosines", angles.cos())
            self.register_buffer("sines", angles.sin())

        def loss(self, x, ids):
            logits = self.classes(self.norm(x))
            return functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

        def forward(self, ids):
            x, length = self.tokens(ids), ids.shape[1]
            for block in self.blocks:
                x = block(x, self.cosines[:length], self.sines[:length])
            return self.loss(x, ids)

    return Llama()


def measure(torch, device, size):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    with torch.device(device):  # weights are drawn there
        model = (make_llama if size.groups else make_gpt2)(torch, size)
        ids = torch.randint(size.vocabulary, (size.batch, size.sequence))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    if size.mode == "compiled":
        backend = "inductor" if device == "cuda" else "aot_eager"  # a test needs no C++ compiler
        model.loss = torch.compile(model.loss, backend=backend)
        for block in model.blocks:
            block.compile(backend=backend)
    seconds = []
    for _ in range(size.steps + 5):
        finish(torch, device)
        begin = time.perf_counter()
        with torch.autocast(device, torch.bfloat16, enabled=size.precision == "bf16"):
            loss = model(ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        finish(torch, device)
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds[5:])[size.steps // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("layers", "width", "heads", "vocabulary", "sequence", "batch", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--groups", type=int, default=0, help="heads of keys of a Llama")
    parser.add_argument("--hidden", type=int, help="width of a Llama's gated layers")
    parser.add_argument("--precision", choices=("fp32", "bf16"), required=True)
    parser.add_argument("--mode", choices=("eager", "compiled"), required=True)
    size = parser.parse_args()
    torch, device = import_torch()
    seconds = measure(torch, device, size)
    allocated = torch.cuda.max_memory_allocated() if device == "cuda" else 0
    print(json.dumps({"seconds": seconds, "bytes": allocated, "version": torch.__version__}))


if __name__ == "__main__":
    main()
