"""The random numbers of a program, in NumPy."""

import re

import numpy as np

LOW = np.uint64(0xFFFFFFFF)


def philox_words(counter, key):
    """The four words of Philox4x32-10 (Salmon et al., SC 2011), element by element."""
    c = list(np.broadcast_arrays(*(np.asarray(word, np.uint64) for word in counter)))
    k = [np.uint64(word) for word in key]
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k[0], p1 & LOW, (p0 >> np.uint64(32)) ^ c[3] ^ k[1],
             p0 & LOW]
        k = [(k[0] + np.uint64(0x9E3779B9)) & LOW, (k[1] + np.uint64(0xBB67AE85)) & LOW]
    return c


def draw(shape, node, step, seed=0, own_seed=0.0, row=0):
    """The words for a tensor of `shape`, whose first row is row `row` of the global batch.
    `own_seed` is the float of a node's seed attribute."""
    rows = shape[0] if shape else 1
    elements = int(np.prod(shape[1:]))
    at = np.meshgrid(np.arange(rows) + row, np.arange(elements), indexing="ij")
    own = int(np.float32(own_seed).view(np.uint32))
    words = philox_words((at[1], at[0], node, step), (seed, own))
    return [word.reshape(shape) for word in words]


def uniform(words, low=0.0, high=1.0):
    """float32 numbers of [low, high) from the first word."""
    low, high = np.float32(low), np.float32(high)
    unit = (words[0] >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)
    if (low, high) == (0, 1):
        return unit
    return np.minimum(unit * (high - low) + low, np.nextafter(high, -np.inf, dtype=np.float32))


def uniform64(words, low=0.0, high=1.0):
    """float64 numbers of [low, high) from the first two words."""
    unit = ((words[0] << np.uint64(32) | words[1]) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.minimum(unit * (high - low) + low, np.nextafter(high, -np.inf))


def normal(words, mean=0.0, scale=1.0):
    """Normal numbers in float64. The program's numbers are the nearest float32 numbers."""
    radius = np.sqrt(-2 * np.log((words[0].astype(np.float64) + 1) / 2**32))
    turn = (words[1] >> np.uint64(8)).astype(np.float64) / 2**24
    return mean + scale * radius * np.cos(2 * np.pi * turn)


def normal64(words, mean=0.0, scale=1.0):
    unit = ((words[0] << np.uint64(32) | words[1]) >> np.uint64(11)).astype(np.float64)
    turn = uniform64(words[2:])
    return mean + scale * np.sqrt(-2 * np.log((unit + 1) * 2.0**-53)) * np.cos(2 * np.pi * turn)


def node_numbers(text):
    """{node: its number} of all that draw, from a program as --dump-after=recognise prints it."""
    keys = [line for line in text.splitlines() if "RandomKey" in line]
    return {re.search(r' node "([^"]+)" :', line)[1]: int(re.search(r"op = (\d+)", line)[1])
            for line in keys}
