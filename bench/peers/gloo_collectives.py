"""Measures Gloo's collectives, as bench/collectives.cpp measures those of the runtime.

usage: torchrun --nproc-per-node=RANKS gloo_collectives.py [ROUNDS]
"""

import json
import sys
import time

import torch
import torch.distributed as dist


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    ranks = dist.get_world_size()
    for size in (1 << 20, 16 << 20, 128 << 20):
        whole, slice_ = torch.zeros(size // 4), torch.zeros(size // 4 // ranks)
        for name, call in (
                ("reduce-scatter", lambda: dist.reduce_scatter_tensor(slice_, whole)),
                ("all-gather", lambda: dist.all_gather_into_tensor(whole, slice_))):
            seconds = []
            for round_ in range(rounds + 2):
                dist.barrier()
                begin = time.perf_counter()
                call()
                if round_ >= 2:
                    seconds.append(time.perf_counter() - begin)
            seconds.sort()
            if dist.get_rank() == 0:
                print(json.dumps({"collective": name, "bytes": size, "best": seconds[0],
                                  "median": seconds[rounds // 2]}), flush=True)
    dist.destroy_process_group()


main()
