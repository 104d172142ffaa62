"""The arithmetic of the benchmark's tables, and the handling of programs that fail.

usage: check_bench.py STEP.json SINGLE.json COMPILE.json, all of the case tiny
"""

import json
import sys
import time
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import cases
import common
import compile as compiling
import rounds
import sequence
import sides


def check_numbers():
    assert common.spread([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0}
    assert common.median_ratio([2, 9, 4], [1, 3, 1]) == 3
    assert common.median_ratio([2], [1, 3]) == 2 and common.median_ratio([], [1]) is None
    slope, constant, deviation = common.line([1, 2, 3], [5, 7, 9])
    assert abs(slope - 2) < 1e-9 and abs(constant - 3) < 1e-9 and deviation < 1e-9
    assert common.line([0, 1, 2], [0, 3, 0])[2] > 1.9
    assert common.table(["a", "b"], [["x", 1]]) == "| a | b |\n| --- | --: |\n| x | 1 |"
    assert sequence.growth([10, 20, 40]) == 2 and sequence.growth([11, 14, 26]) == 4


def check_flops():
    """Compares with sums by hand: B has 6 layers of 12 x 512^2 and a head of 8192 x 512."""
    case = cases.CASES["B"]
    assert cases.matmul_parameters(case) == (6 * 12 * 512**2 + 8192 * 512, 0)
    a_token = 6 * (6 * 12 * 512**2 + 8192 * 512) + 6 * 6 * 256 * 512
    assert cases.flops(case) == 2 * 4 * 256 * a_token
    llama = cases.matmul_parameters(cases.CASES["llama"])[0]
    assert llama == 6 * (3 * 512**2 + 3 * 512 * 1408) + 8192 * 512
    assert cases.matmul_parameters(cases.CASES["bert"]) == (6 * 12 * 512**2, 512**2 + 4 * 512)


def run_of(seconds, resident, files=0):
    return {"seconds": [seconds], "median_seconds": seconds, "resident_bytes": resident,
            "file_bytes": files, "losses": [9.0, 8.0]}


def check_ratios():
    """The fastest and the smallest peer may differ. A failed peer is neither."""
    runs = {"zero-1": [run_of(1.0, 100), run_of(2.0, 100), run_of(1.0, 100)],
            "fsdp2": [run_of(2.0, 900, 100), run_of(6.0, 900, 100), run_of(2.5, 900, 100)],
            "jax": [run_of(4.0, 300), run_of(4.0, 300), run_of(4.0, 300)], "deepspeed-1": []}
    result = rounds.summarise(cases.CASES["A"], runs, [1e12] * 3)
    ours = result["zero-1"]
    assert ours["fastest_peer"] == "fsdp2" and ours["speed_ratio"] == 2.5, ours
    assert ours["memory_ratio"] == 3
    assert ours["share_of_peak"] == cases.flops(cases.CASES["A"]) / 1e12
    assert result["fsdp2"]["own_bytes_per_rank"] == 800
    assert result["fsdp2"]["speed_ratio"] is None and "deepspeed-1" not in result


def check_names():
    """'zero' denotes Zero's sides of a script, and no side of one process runs on several ranks."""
    assert sides.chosen(["zero", "zero-0"], sides.SINGLE) == ["zero-0", "zero-0-bf16", "zero-0"]
    assert sides.chosen(["zero", "jax"]) == [
        "zero-1", "zero-3", "zero-3-nvme", "zero-1-bf16", "zero-3-bf16", "jax"]
    assert "zero-0" not in sides.DISTRIBUTED and "fsdp2" not in sides.SINGLE


def failure_of(*arguments):
    try:
        common.run_together(*arguments)
    except common.Failure as failure:
        return str(failure)
    raise AssertionError("expected a failure")


def check_programs():
    """If one rank fails or the time is over, the others are killed, and the last output is kept."""
    start = time.monotonic()
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    fail = [sys.executable, "-c", "print('out of luck'); raise SystemExit(3)"]
    failure = failure_of([sleep, fail], 600)
    assert failure.startswith("exit status 3: ") and failure.endswith("out of luck"), failure
    assert failure_of([sleep], 1) == "took longer than 1 s"
    assert "No such file" in failure_of([["/nowhere/program"]], 5)
    assert time.monotonic() - start < 1800 # no process slept to the end
    assert common.run([sys.executable, "-c", "print('yes')"]).output == "yes\n"


def check_failing_side():
    """A side that fails is skipped. The others are measured in every round."""
    def fail(*_):
        raise common.Failure("no luck")
    sides.SIDES["zero-bad"] = types.SimpleNamespace(train=fail)
    sides.SIDES["zero-good"] = types.SimpleNamespace(train=lambda *_: run_of(1.0, 1))
    options = types.SimpleNamespace(rounds=3, steps=1, timeout=1)
    peak = types.SimpleNamespace(measure=lambda ranks: 1e9)
    runs, peaks, failures = rounds.play(cases.CASES["tiny"], ["zero-bad", "zero-good"], None,
                                        options, peak)
    assert len(runs["zero-good"]) == len(peaks) == 3 and not runs["zero-bad"]
    assert failures == {"zero-bad": "no luck"}


def check_figures(step, single, compiled):
    """The output of the scripts has every field that the tables and later readers use."""
    for side in ("zero-1", "zero-3"):
        figures = step["tiny"]["sides"][side]
        assert len(figures["runs"]) == 2 and len(figures["runs"][0]["seconds"]) == 2
        assert figures["speed_ratio"] is None and figures["memory_ratio"] is None
        # Other programs may slow the measurement of the peak, but not by this factor.
        assert 0 < figures["share_of_peak"] < 10
        assert figures["arena_bytes_per_rank"] < figures["resident_bytes_per_rank"]
        assert figures["last_loss"] < figures["first_loss"]
    assert step["tiny"]["tokens_per_step"] == 128 and step["tiny"]["failures"] == {}
    alone = single["tiny-1"]
    assert alone["tokens_per_step"] == 64 and alone["case"]["threads"] == 1
    assert alone["processor"] == common.processor() != ""
    assert alone["sides"]["zero-0"]["last_loss"] < alone["sides"]["zero-0"]["first_loss"]
    (case,) = compiled["cases"]
    assert case["plan_seconds"]["median"] > 0 and case["seconds"]["median"] > 0
    assert case["resident_bytes"] > 0 and compiled["depth"]["zero"] is None
    depths = [{"side": "zero", "case": f"depth-{n}", "layers": n, "seconds": {"median": n / 10 + 1}}
              for n in (12, 24, 48)]
    assert abs(compiling.fit(depths, "zero")["seconds_per_layer"] - 0.1) < 1e-9


def main():
    check_numbers()
    check_flops()
    check_ratios()
    check_names()
    check_programs()
    check_failing_side()
    check_figures(*(json.loads(Path(path).read_text()) for path in sys.argv[1:4]))


if __name__ == "__main__":
    main()
