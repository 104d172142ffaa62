"""python -m zero check-schedule: graphs that DeepCompile prints, and each with one fault.

usage: check_schedule.py LOG WORK
"""

import subprocess
import sys
from pathlib import Path

from zero_test import Checks, check_refused

COMMAND = (sys.executable, "-m", "zero", "check-schedule")
GATHERED = "%wait_allgather_ds_param__primals_3_2"


def without(log, words):
    """The log without the first line that contains the words."""
    lines = log.splitlines()
    lines.remove(next(line for line in lines if words in line))
    return "\n".join(lines)


def later(log, words, places):
    """The same with the line moved down, or up."""
    lines = log.splitlines()
    place = next(i for i, line in enumerate(lines) if words in line)
    lines.insert(place + places, lines.pop(place))
    return "\n".join(lines)


def prefetched(log, numbers):
    """The log with a node that gathers three parameters early."""
    line = ("    %prefetch : [num_users=0] = call_function["
            "target=torch.ops.dc.prefetch_params_fused.default]"
            f"(args = (140, [%primals_1, %primals_2, %primals_3], {numbers}), kwargs = {{}})")
    lines = log.splitlines()
    return "\n".join([*lines[:5], line, *lines[5:]])


def faults(log):
    """What a fault is, words of the error, and the log with it."""
    yield ("no wait", ["'mm' reads parameter 2 without a wait"],
           without(log, f"{GATHERED} :").replace(GATHERED, "%allgather_ds_param_primals_3_2", 1))
    yield ("no gather", ["'addmm' reads 'primals_2', a shard of parameter 1, without a gather"],
           log.replace("(%wait_allgather_ds_param__primals_2_1, %primals_4",
                       "(%primals_2, %primals_4"))
    yield ("no release", ["gathers parameter 2, which is released 0 times"],
           without(log, "%release_ds_param_primals_3_mm_2 "))
    yield ("early release", ["'release_ds_param_primals_3_mm_2' releases parameter 2",
                             "which is not gathered"],
           later(log, "%release_ds_param_primals_3_mm_2 ", -9))
    yield ("read after release", ["'t' reads parameter 0 after its release in line 14"],
           later(log, "%t :", 4))
    yield ("view kept", ["'return' reads parameter 0 after its release"],
           log.replace("return (mean,", "return (mean, t,"))
    yield ("other parameter", ["releases parameter 3, which is not gathered"],
           log.replace("(%addmm, 140, 1, 1)", "(%addmm, 140, 3, 1)"))
    yield ("other count", ["gathers parameter 1, which is released 1 times"],
           log.replace("(%addmm, 140, 1, 1)", "(%addmm, 140, 1, 2)"))
    yield ("gathered again", ["gathers parameter 1 again"],
           log.replace("(%primals_3, 140, 2)", "(%primals_3, 140, 1)", 1))
    yield ("no reduction", ["the gradient of parameter 2 is reduced 0 times, expected 1"],
           without(log, "%reduce_ds_param_primals_3 :"))
    yield ("two reductions", ["the gradient of parameter 1 is reduced 2 times, expected 1"],
           log.replace("(%t_5, 140, 0)", "(%t_5, 140, 1)"))
    yield ("prefetch", ["takes 'primals_2' for the shard of parameter 1, but it is that of",
                        "parameter 2"], prefetched(log, "[0, 2, 1]"))
    yield "no graph", ["expected graphs as torch.fx prints them"], "Fwd end\n"
    yield ("no number", ["line 6: expected a node, the number of the graph"],
           log.replace("(%primals_1, 140, 0)", "(%primals_1,)"))


def main():
    log, work = Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    done = subprocess.run([*COMMAND, sys.argv[1]], capture_output=True, text=True)
    checks.that(done.returncode == 0 and
                "2 graphs: 4 gathers, 4 releases, 3 reductions" in done.stdout, f"{done}")
    path = work / "fault.log"
    for label, words, text in faults(log):
        checks.that(text != log, f"{label}: nothing changed")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([*COMMAND, path], capture_output=True, text=True)
        checks.that(done.returncode == 1 and not done.stdout and
                    all(word in done.stderr for word in words), f"{label}: {done}")
    path.write_text(prefetched(log, "[0, 1, 2]"), encoding="utf-8")
    done = subprocess.run([*COMMAND, path], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"prefetch: {done}")
    path.write_text(without(log, "%reduce_ds_param_primals_3 :"), encoding="utf-8")
    done = subprocess.run([*COMMAND, path, "--frozen=2"], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"frozen: {done}")
    check_refused(checks, "no file", ["No such file"], *COMMAND, work / "missing.log")
    checks.finish()


if __name__ == "__main__":
    main()
