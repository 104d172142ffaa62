"""Selections of combinations that cover every pair of values."""

import itertools


def combinations(factors):
    """All combinations of a value of each of `factors`."""
    return [dict(zip(factors, values)) for values in itertools.product(*factors.values())]


def pairs(combination):
    return set(itertools.combinations(combination.items(), 2))


def pairwise(candidates):
    """Repeatedly selects the first combination that has the most uncovered pairs of values."""
    missing = set().union(*map(pairs, candidates))
    selection = []
    while missing:
        best = max(candidates, key=lambda c: len(pairs(c) & missing))
        missing -= pairs(best)
        selection.append(best)
    return selection
