#!/usr/bin/env python3
"""Ten steps of AdamW by PyTorch, with clipping by global norm, warm-up and decay of the learning
rate, parameter groups, accumulation and ignored labels. test/execute/check_clipped_adamw.py
compares with the results.

usage: clipped_adamw.py     (needs torch, transformers, numpy, onnx; see README.md)

Writes test/data/clipped-adamw/CASE.npz. Each case is computed in fp32, and in fp64 to measure the
effect of rounding: a figure that rounding alone changes is no reference. It is also computed with
one feature omitted at a time, which must change the result.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from adamw_cases import CASES, LEARNING_RATE, MODELS, STEPS, Case, checksum, samples  # noqa: E402
from models import DATA, IGNORED, Trained, check_ground_truth, is_noise, sum_of_losses  # noqa: E402

SCHEDULES = {"linear": transformers.get_linear_schedule_with_warmup,
             "cosine": transformers.get_cosine_schedule_with_warmup}


def count_valid(labels):
    return int((labels[:, 1:] if labels.dim() == 2 else labels).ne(IGNORED).sum())


def groups(case, trained):
    for decays in (True, False):
        members = [p for name, p in trained.parameters.items() if case.decays(name) == decays]
        yield {"params": members, "weight_decay": case.decay if decays else 0.0}


def accumulate(case, trained, inputs):
    """Gradients of the mean over all valid labels of the step; returns that mean."""
    valid = count_valid(inputs["labels"])
    size = case.rows // case.micro_batches
    total = 0.0
    for begin in range(0, case.rows, size):
        part = {k: v[begin:begin + size] for k, v in inputs.items()}
        loss = sum_of_losses(trained.model, part)[0] / valid
        loss.backward()
        total += loss.item()
    return total


def train(case, dtype):
    """Losses, norms and rates of each step, weights before and after."""
    torch.manual_seed(0)
    trained = Trained(case.model, MODELS[case.model].graph, dtype)
    inputs = {k: trained.cast(v) for k, v in samples(case).items()}
    start = {n: p.detach().numpy().copy() for n, p in trained.parameters.items()}
    optimizer = torch.optim.AdamW(groups(case, trained), lr=LEARNING_RATE)
    schedule = SCHEDULES[case.schedule](optimizer, case.warmup, STEPS)
    rows = []
    for step in range(STEPS):
        optimizer.zero_grad()
        batch = {k: v[step * case.rows:(step + 1) * case.rows] for k, v in inputs.items()}
        loss = accumulate(case, trained, batch)
        norm = torch.nn.utils.clip_grad_norm_(trained.parameters.values(), case.clip)
        rows.append((loss, norm.item(), schedule.get_last_lr()[0]))
        optimizer.step()
        schedule.step()
    final = {n: p.detach().numpy().copy() for n, p in trained.parameters.items()}
    return np.array(rows).T, start, final


def moved(start, final):
    """The move of each parameter, except those whose gradient is noise."""
    return {n: final[n].astype(np.float64) - start[n] for n in final if not is_noise(n)}


def worst(moves, expected):
    return max(np.linalg.norm(moves[n] - expected[n]) / np.linalg.norm(expected[n])
               for n in expected)


class WithoutGroups(Case):
    def decays(self, parameter):
        return True


def variants(case):
    """The case with one feature omitted, which must change the weights."""
    yield "clipping", dataclasses.replace(case, clip=1e9)
    yield "warm-up", dataclasses.replace(case, warmup=0)
    yield "decay", dataclasses.replace(case, decay=0.0)
    yield "groups", WithoutGroups(**dataclasses.asdict(case))


def check_case(case, figures, start, final):
    exact, _, exact_final = train(case, torch.float64)
    expected = moved(start, final)
    rounding = worst(moved(start, exact_final), expected)
    clipped = int((figures[1] > case.clip).sum())
    off = np.abs(figures[:2] / exact[:2] - 1).max()
    print(f"{case.name}: {clipped} of {STEPS} steps clipped; fp64: losses and norms {off:.1e}, "
          f"moves {rounding:.1e} off", end="", file=sys.stderr)
    assert STEPS / 2 < clipped < STEPS, "clipping should matter in most steps, and not in all"
    for name, other in variants(case):
        off = worst(moved(*train(other, torch.float32)[1:]), expected)
        print(f"; without {name} {off:.1e}", end="", file=sys.stderr)
        assert off > 5 * rounding, f"{case.name} does not show {name}"
    print(file=sys.stderr)


def main():
    torch.set_num_threads(1)
    folder = DATA / "clipped-adamw"
    folder.mkdir(exist_ok=True)
    for kind, model in MODELS.items():
        check_ground_truth(kind, model.graph)
    for case in CASES:
        figures, start, final = train(case, torch.float32)
        check_case(case, figures, start, final)
        arrays = dict(zip(("losses", "norms", "rates"), figures))
        arrays["samples"] = np.uint32(checksum(samples(case)))
        if case.weights:
            arrays.update({f"final.{n}": w for n, w in final.items()})
        np.savez_compressed(folder / f"{case.name}.npz", **arrays)


if __name__ == "__main__":
    main()
