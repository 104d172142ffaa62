"""PyTorch's attention in bf16, beside results that were computed elsewhere. Prints JSON.

usage: torch_attention.py ARRAYS.npz

The arrays: query, key, value and w of [batch, heads, length, width], and grad.query, grad.key,
grad.value and grad.w of mean(attention * w), causal. Errors are those of attention, and of the
gradients of query, key and value together, relative to float32. The same of cuDNN's attention, or
why PyTorch does not run it; PyTorch does not ask cuDNN for a deterministic gradient. Exits with 3 where PyTorch or
a GPU is missing.
"""

import json
import sys

from torch_gpu import import_torch, seconds_of


def main():
    torch, device = import_torch()
    import numpy as np
    arrays = {name: torch.tensor(value, device=device) for name, value in np.load(sys.argv[1]).items()}
    attend = torch.nn.functional.scaled_dot_product_attention
    names = ("query", "key", "value")

    def compute(dtype):
        inputs = [arrays[name].to(torch.bfloat16).to(dtype).requires_grad_() for name in names]
        out = attend(*inputs, is_causal=True)
        upstream = (arrays["w"].to(torch.bfloat16).float() / out.numel()).to(dtype)
        return inputs, out, upstream, torch.autograd.grad(out, inputs, upstream, retain_graph=True)

    def results(out, gradients):
        return {"forward": out.detach().float().flatten(),
                "backward": torch.cat([each.float().flatten() for each in gradients])}

    def errors(found):
        return {each: float((found[each] - exact[each]).norm() / exact[each].norm()) for each in exact}

    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        exact = results(*compute(torch.float32)[1::2])

    def measure():
        inputs, out, upstream, gradients = compute(torch.bfloat16)
        both = seconds_of(torch, device, lambda: torch.autograd.grad(out, inputs, upstream, retain_graph=True))
        with torch.no_grad():
            forward = seconds_of(torch, device, lambda: attend(*inputs, is_causal=True))
        return {"seconds": {"forward": forward, "backward": both}, "errors": errors(results(out, gradients))}

    def measure_cudnn():
        try:
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
                return measure()
        except Exception as error:  # of PyTorch, cuDNN or the driver: there is no type for all
            return {"refused": str(error).splitlines()[0] if str(error) else type(error).__name__}

    ours = results(arrays["grad.w"].float() * arrays["w"].numel(), [arrays[f"grad.{name}"] for name in names])
    # cuDNN last: what it leaves behind after an error could change the other's times.
    print(json.dumps({"ours": errors(ours), "PyTorch": measure(), "cuDNN": measure_cudnn()}))


if __name__ == "__main__":
    main()
