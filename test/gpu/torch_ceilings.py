"""Times copies and products of bf16 matrices in PyTorch, and prints rows as JSON.

usage: torch_ceilings.py BYTES ROWSxCOLUMNSxDEPTH...

BYTES: how many are copied.

Exits with 3 where PyTorch or a GPU is missing.
"""

import json
import sys

from torch_gpu import import_torch, seconds_of


def main():
    torch, device = import_torch()
    count = int(sys.argv[1])
    source = torch.randint(256, (count,), device=device, dtype=torch.uint8)
    target = torch.empty_like(source)
    copied = seconds_of(torch, device, lambda: target.copy_(source))
    rows = [{"what": f"copy of {count >> 20} MiB, read and written", "ms": f"{1e3 * copied:.3f}",
             "rate": f"{2 * count / copied / 1e9:.0f} GB/s"}]
    del source, target
    for text in sys.argv[2:]:
        m, n, k = map(int, text.split("x"))
        a, b = (torch.randn(*shape, device=device, dtype=torch.bfloat16) for shape in ((m, k), (k, n)))
        out = torch.empty(m, n, device=device, dtype=torch.bfloat16)
        taken = seconds_of(torch, device, lambda: torch.matmul(a, b, out=out))
        rows.append({"what": f"product {text} in bf16", "ms": f"{1e3 * taken:.3f}",
                     "rate": f"{2 * m * n * k / taken / 1e12:.0f} TFLOP/s"})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
