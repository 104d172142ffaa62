"""Cases of generated shapes: broadcast, dimensions of 1 and 0, negative axes."""

import numpy as np

from harness import Case

rng = np.random.default_rng(23)


def f(shape):
    """Numbers that differ from each other and from 0, so that no maximum has a tie."""
    count = int(np.prod(shape))
    values = rng.permutation(count) * 0.37 + 0.25
    return (values * rng.choice([-1, 1], count)).reshape(shape) / max(1, count / 8)


def shape(rank, empty=False):
    dims = rng.integers(1, 5, rank)
    if empty and rank:
        dims[rng.integers(rank)] = 0
    return tuple(int(d) for d in dims)


def broadcast(full):
    """A shape that broadcasts to `full`."""
    cut = full[rng.integers(len(full) + 1):]
    return tuple(1 if rng.random() < 0.3 else d for d in cut)


def negative(axis, rank):
    return int(axis - rank) if rng.random() < 0.5 else int(axis)


def binaries():
    for number in range(24):
        full = shape(1 + number % 4, empty=number % 6 == 5)
        a, b = f(full), f(broadcast(full))
        for op in ("Add", "Sub", "Mul", "Max", "Min"):
            pair = (a, b) if number % 2 else (b, a)
            yield Case(op, pair, grad=[0, 1], note="generated")
        yield Case("Div", [a, np.abs(b) + 0.5], grad=[0, 1], note="generated")
        yield Case("Pow", [np.abs(b) + 0.5, a], grad=[0, 1], note="generated")
        yield Case("Where", [a > 0, f(broadcast(full)), b], grad=[1, 2], note="generated")


def reductions():
    for number in range(20):
        rank = 1 + number % 4
        full = shape(rank, empty=number % 7 == 6)
        axes = rng.permutation(rank)[:1 + rng.integers(rank)]
        axes = np.array([negative(axis, rank) for axis in axes])
        for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                   "ReduceSumSquare", "ReduceProd", "ReduceLogSumExp"):
            if 0 in full and op not in ("ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceProd"):
                continue  # the mean and the maximum of an empty tensor
            yield Case(op, [f(full), axes], {"keepdims": int(rng.integers(2))}, constants=[1],
                       grad=[0], note="generated")


def rows():
    for number in range(10):
        rank = 1 + number % 4
        full = shape(rank, empty=number == 9)
        axis = negative(rng.integers(rank), rank)
        for op in ("Softmax", "LogSoftmax"):
            if 0 not in full:
                yield Case(op, [f(full)], {"axis": axis}, grad=[0], note="generated")
        yield Case("CumSum", [f(full), np.array(axis)], constants=[1], grad=[0], note="generated")
        yield Case("Concat", [f(full), f(full)], {"axis": axis}, grad=[0, 1], note="generated")
        yield Case("Split", [f(full)], {"axis": axis, "num_outputs": 1}, grad=[0],
                   note="generated")


def movements():
    for number in range(12):
        rank = 1 + number % 4
        full = shape(rank, empty=number % 6 == 5)
        x = f(full)
        order = [int(d) for d in rng.permutation(rank)]
        yield Case("Transpose", [x], {"perm": order}, grad=[0], note="generated")
        target = np.array((2, *full))
        yield Case("Expand", [f(broadcast(full)), target], constants=[1], grad=[0],
                   note="generated")
        yield Case("Tile", [x, rng.integers(1, 3, rank)], constants=[1], grad=[0],
                   note="generated")
        yield Case("Reshape", [x, np.array(full[::-1])], {"allowzero": 1}, constants=[1], grad=[0],
                   note="generated")
        axis = int(rng.integers(rank))
        if full[axis] == 0:
            continue
        index = rng.integers(-full[axis], full[axis], shape(int(rng.integers(3))))
        yield Case("Gather", [x, index], {"axis": negative(axis, rank)}, grad=[0],
                   note="generated")
        begin, end = sorted(rng.integers(0, full[axis] + 1, 2))
        yield Case("Slice", [x, np.array([begin]), np.array([end]),
                             np.array([negative(axis, rank)])], constants=[1, 2, 3], grad=[0],
                   note="generated")


def products():
    for number in range(12):
        batch = shape(number % 3, empty=number == 11)
        m, k, n = (int(d) for d in rng.integers(1, 5, 3))
        a, b = f((*batch, m, k)), f((*broadcast(batch), k, n))
        yield Case("MatMul", [a, b], grad=[0, 1], tol=1e-5, note="generated")


def cases():
    for group in (binaries, reductions, rows, movements, products):
        yield from group()
