"""One rank of a PyTorch peer: torch_train.py CASE SYSTEM STEPS REPORT

SYSTEM is fsdp2, fsdp2-keep, fsdp2-compile, deepspeed-1, deepspeed-3 or deepspeed-3-nvme, or, for
one process alone, eager or compile. deepspeed-3-nvme stores parameters and optimizer state in files
beside the case. All but that one also exist with -bf16 at the end: parameters, activations and
gradients in bf16, master and optimizer state in fp32, gradients summed over ranks in fp32. The rank
and the number of ranks come from the environment, as torchrun sets it.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from measure import measure
from torch_models import build

LEARNING_RATE, WEIGHT_DECAY = 1e-4, 0.01


def load_case(folder, rank):
    """The sizes of a case, and this rank's part of its batch."""
    sizes = json.loads((folder / "case.json").read_text())
    mine = slice(rank * sizes["batch"], (rank + 1) * sizes["batch"])
    return sizes, {name: torch.from_numpy(np.load(folder / f"{name}.npy")[mine])
                   for name in sizes["inputs"]}


def make_optimizer(parameters):
    """The fused form is the fastest of PyTorch's three."""
    return torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)


def make_step(model, inputs, optimizer):
    def step():
        loss = model(**inputs)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()
    return step


def prepare_alone(model, inputs, compiled, halves):
    """Autocast would convert the weights in every step, which takes longer than the copies here."""
    masters = [parameter.detach().clone() for parameter in model.parameters()] if halves else []
    trained = list((model.bfloat16() if halves else model).parameters())
    if compiled:
        model = torch.compile(model)
    if not halves:
        return make_step(model, inputs, make_optimizer(trained))
    optimizer = make_optimizer(masters)

    def step():
        loss = model(**inputs)
        loss.backward()
        for master, parameter in zip(masters, trained):
            master.grad, parameter.grad = parameter.grad.float(), None
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(trained, masters)
        return loss.item()
    return step


def prepare_fsdp(model, layers, inputs, keep, compiled, halves):
    """`keep`: parameters remain gathered from forward to backward, as in ZeRO-2."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16,
                                  reduce_dtype=torch.float32) if halves else MixedPrecisionPolicy()
    for layer in layers:
        fully_shard(layer, mesh=mesh, reshard_after_forward=not keep, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    if compiled:
        model = torch.compile(model)
    return make_step(model, inputs, make_optimizer(model.parameters()))


def prepare_deepspeed(model, batch, inputs, stage, disk, halves):
    """`disk`: the folder of the files of parameters and optimizer state, or None."""
    import deepspeed
    # Without the 0, gradients are clipped to a norm of 1, unlike on all other sides.
    settings = {
        "gradient_clipping": 0.0,
        "train_micro_batch_size_per_gpu": batch, "gradient_accumulation_steps": 1,
        "zero_optimization": {"stage": stage}, "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False, "steps_per_print": 10**9}
    if halves:
        settings |= {"bf16": {"enabled": True}, "communication_data_type": "fp32"}
    if disk:
        # A buffer stores the largest parameter, with four bytes per element.
        largest = max(parameter.numel() for parameter in model.parameters())
        place = {"device": "nvme", "nvme_path": str(disk), "pin_memory": False}
        settings["zero_optimization"] |= {
            "offload_optimizer": {**place, "buffer_count": 4},
            "offload_param": {**place, "buffer_count": 5, "buffer_size": largest + 4096}}
        settings["aio"] = {"block_size": 2**20, "queue_depth": 8, "single_submit": False,
                           "overlap_events": True}
        # DeepSpeed updates state on disk only with its CPU optimizer.
        settings["optimizer"] = {"type": "AdamW", "params": {
            "lr": LEARNING_RATE, "weight_decay": WEIGHT_DECAY}}
    optimizer = None if disk else make_optimizer(model.parameters())
    engine, *_ = deepspeed.initialize(model=model, config=settings, optimizer=optimizer,
                                      model_parameters=model.parameters())

    def step():
        loss = engine(**inputs)
        engine.backward(loss)
        engine.step()
        return loss.item()
    return step


def prepare(system, folder, sizes, inputs):
    """The step of `system`."""
    model, layers = build(sizes, folder)
    halves = system.endswith("-bf16")
    system = system.removesuffix("-bf16")
    if system in ("eager", "compile"):
        return prepare_alone(model, inputs, system == "compile", halves)
    dist.init_process_group("gloo")
    if system.startswith("deepspeed"):
        disk = folder / "deepspeed" if system.endswith("nvme") else None
        return prepare_deepspeed(model, sizes["batch"], inputs, int(system.split("-")[1]), disk,
                                 halves)
    return prepare_fsdp(model, layers, inputs, keep=system.endswith("keep"),
                        compiled=system.endswith("compile"), halves=halves)


def main():
    folder, system, steps, report = Path(sys.argv[1]), *sys.argv[2:5]
    rank = int(os.environ["RANK"])
    sizes, inputs = load_case(folder, rank)
    torch.set_num_threads(sizes["threads"])
    measure(prepare(system, folder, sizes, inputs), int(steps), f"{report}.{rank}")
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
