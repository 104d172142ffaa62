"""Runs the sides of each case alternately and collects the figures of all rounds."""

import statistics
from pathlib import Path

from cases import flops, write_case, write_graph
from common import Failure, median_ratio, processor, say, spread
from sides import SIDES, is_ours, precision_of


def prepare(case, sides, folder, build):
    """Writes the case and prepares the files that each side needs.

    Returns the sides that can run and a dictionary of why others cannot.
    """
    write_case(case, folder)
    failures, ready = {}, []
    try:
        write_graph(case, folder)
    except Failure as failure:
        failures = {side: str(failure) for side in sides}
    for side in sides:
        if side in failures:
            continue
        try:
            SIDES[side].prepare(case, folder, build)
            ready.append(side)
        except Failure as failure:
            failures[side] = str(failure)
    for side, reason in failures.items():
        say(f"{case.name}: {side} left out: {reason}")
    return ready, failures


def play(case, sides, folder, options, peak):
    """Runs each side once per round: lists by side, None where a run failed, and the peaks."""
    runs, peaks = {side: [] for side in sides}, []
    failures = {}
    for number in range(options.rounds):
        peaks.append(peak.measure(case.cores))
        for side in sides:
            if side in failures:
                continue
            try:
                result = SIDES[side].train(case, folder, options.steps, options.timeout)
                seconds = statistics.median(result["seconds"])
                say(f"{case.name} round {number + 1} {side}: {seconds * 1e3:.1f} ms, "
                    f"loss {result['losses'][0]:.4f} -> {result['losses'][-1]:.4f}")
                runs[side].append({**result, "median_seconds": seconds})
            except Failure as failure:
                say(f"{case.name}: {side} failed: {failure}")
                failures[side] = str(failure)
    return runs, peaks, failures


def own_bytes(run):
    """Resident memory without file pages, because a peer's libraries do not belong to its step."""
    return run["resident_bytes"] - run["file_bytes"]


def median_of(runs, figure):
    return statistics.median(map(figure, runs))


def best_peers(runs, precision):
    """Of the peers in `precision`, that with the shortest median step, and the minimal memory of
    any; None without peers."""
    peers = {side: done for side, done in runs.items()
             if done and not is_ours(side) and precision_of(side) == precision}
    if not peers:
        return None, None
    fastest = min(peers, key=lambda side: median_of(peers[side], lambda r: r["median_seconds"]))
    return fastest, min(median_of(done, own_bytes) for done in peers.values())


def summarise(case, runs, peaks):
    """The figures of each side, and for Zero its ratios to the best peers of the same precision."""
    seconds = {side: [run["median_seconds"] for run in done] for side, done in runs.items()}
    result = {}
    for side, done in runs.items():
        if not done:
            continue
        own = median_of(done, own_bytes)
        fastest, least = best_peers(runs, precision_of(side))
        compared = fastest and is_ours(side)
        result[side] = {
            "seconds": spread(seconds[side]),
            "tokens_per_second": case.tokens / statistics.median(seconds[side]),
            "share_of_peak": statistics.median(
                flops(case) / (s * peak) for s, peak in zip(seconds[side], peaks)),
            "resident_bytes_per_rank": median_of(done, lambda r: r["resident_bytes"]),
            "own_bytes_per_rank": own, "arena_bytes_per_rank": done[0].get("arena_bytes"),
            "first_loss": done[0]["losses"][0], "last_loss": done[0]["losses"][-1],
            "fastest_peer": fastest if compared else None,
            "speed_ratio": median_ratio(seconds[fastest], seconds[side]) if compared else None,
            "memory_ratio": least / own if compared else None, "runs": done}
    return result


def compare(case, sides, work, options, peak):
    """Everything for one case; the result goes into the JSON as it is."""
    folder = Path(work) / case.name
    ready, failures = prepare(case, sides, folder, options.build)
    runs, peaks, failed = play(case, ready, folder, options, peak)
    return {"case": case.sizes(), "tokens_per_step": case.tokens, "flops_per_step": flops(case),
            "processor": processor(), "peak_flops": peaks, "sides": summarise(case, runs, peaks),
            "failures": {**failures, **failed}}
