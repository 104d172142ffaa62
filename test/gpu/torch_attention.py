"""PyTorch's attention in bf16, beside gradients that were computed elsewhere. Prints JSON.

usage: torch_attention.py ARRAYS.npz

The arrays: query, key, value and w of [batch, heads, length, width], and grad.query, grad.key and
grad.value of mean(attention * w), causal. Errors are those of all gradients, relative to gradients
in float32. Exits with 3 where PyTorch or a GPU is missing.
"""

import json
import sys

from torch_gpu import import_torch, seconds_of


def main():
    torch = import_torch()
    import numpy as np
    arrays = {name: torch.tensor(value, device="cuda") for name, value in np.load(sys.argv[1]).items()}
    attend = torch.nn.functional.scaled_dot_product_attention
    names = ("query", "key", "value")

    def gradients(dtype):
        inputs = [arrays[name].to(torch.bfloat16).to(dtype).requires_grad_() for name in names]
        out = attend(*inputs, is_causal=True)
        upstream = (arrays["w"] / arrays["w"].numel()).to(dtype)
        return inputs, out, upstream, torch.autograd.grad(out, inputs, upstream, retain_graph=True)

    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        exact = torch.cat([each.float().flatten() for each in gradients(torch.float32)[3]])
    inputs, out, upstream, theirs = gradients(torch.bfloat16)
    ours = torch.cat([arrays[f"grad.{name}"].float().flatten() for name in names])
    theirs = torch.cat([each.float().flatten() for each in theirs])
    both = seconds_of(torch, lambda: torch.autograd.grad(out, inputs, upstream, retain_graph=True))
    with torch.no_grad():
        forward = seconds_of(torch, lambda: attend(*inputs, is_causal=True))
    print(json.dumps({"seconds": {"forward": forward, "backward": both},
                      "ours": float((ours - exact).norm() / exact.norm()),
                      "theirs": float((theirs - exact).norm() / exact.norm())}))


if __name__ == "__main__":
    main()
