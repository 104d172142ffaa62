"""What the scripts for the interpreter with PyTorch share."""

import sys


def import_torch():
    """PyTorch with a GPU; exits with 3 and says why where there is none."""
    try:
        import torch
    except ImportError:
        print("PyTorch: not found")
        sys.exit(3)
    if not torch.cuda.is_available():
        print("PyTorch has no GPU")
        sys.exit(3)
    return torch


def seconds_of(torch, body, times=10):
    """Of one call, by events around several."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        body()
    begin.record()
    for _ in range(times):
        body()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / times / 1e3
