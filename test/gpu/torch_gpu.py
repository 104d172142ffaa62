"""What the scripts for the interpreter with PyTorch share.

As a program it prints the version of PyTorch and its GPU, as JSON.
"""

import json
import os
import sys
import time


def import_torch():
    """PyTorch, and the name of the device it computes on: a GPU, or what ZERO_TORCH_DEVICE names, for
    tests. Exits with 3 and says why where there is none."""
    try:
        import torch
    except ImportError:
        print("PyTorch: not found")
        sys.exit(3)
    device = os.environ.get("ZERO_TORCH_DEVICE", "cuda")
    if device == "cuda" and not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} finds no GPU")
        sys.exit(3)
    return torch, device


def finish(torch, device):
    """Waits for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_of(torch, device, body, times=10):
    """Of one call: on a GPU by events around several."""
    for _ in range(3 if device == "cuda" else 1):
        body()
    if device != "cuda":
        begin = time.perf_counter()
        body()
        return time.perf_counter() - begin
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(times):
        body()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / times / 1e3


def main():
    torch, device = import_torch()
    total = float(torch.ones(1000, device=device).sum())
    assert total == 1000, total
    print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda,
                      "device": torch.cuda.get_device_name() if device == "cuda" else device}))


if __name__ == "__main__":
    main()
