"""Runs what needs a GPU, in the order of its worth, and writes a report: DIR/report.md and report.json.

usage: run --out DIR [--tools DIR] [--minutes 9] [--jobs 6] [--only WORD,...] [--quick]

Each step is a process with a limit of time. One that fails, hangs or crashes is a row of the report,
and the next one runs; one that would not fit into the rest of the time is skipped. The report is
written after each step, so that it has what is known when the run is ended from outside. Exits with 1
if a step failed.

Ranks share GPU 0, so sums have the order of ranks and stages must be bitwise identical. What is not
installed is skipped: NCCL, compute-sanitizer, ncu, PyTorch (of this Python, or of the interpreter that
ZERO_TORCH_PYTHON names). CUDA's libraries are also found in the folders of pip.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

TEST = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TEST / "support"))

import attention  # noqa: E402
import checks  # noqa: E402
import kernels  # noqa: E402
import speed  # noqa: E402
from machine import describe, doctor, use_libraries  # noqa: E402
from report import Check, Report, run_checks  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", type=Path, default=TEST.parent / "build/bin", help="folder of zeroc and zero-run")
    parser.add_argument("--out", type=Path, required=True, help="folder of the report")
    parser.add_argument("--quick", action="store_true", help="small cases only, for a test of this script")
    parser.add_argument("--minutes", type=float, default=9, help="no step begins or goes on after so long")
    parser.add_argument("--jobs", type=int, default=max(1, min(6, (os.cpu_count() or 1) // 2)),
                        help="checks of numbers at a time")
    parser.add_argument("--only", default="", help="steps whose names have one of these words")
    args = parser.parse_args()
    args.tools, args.out = args.tools.resolve(), args.out.resolve()
    return args


def groups_of(context):
    """Steps, how many of them run at a time, and the part of the time after which none runs."""
    start = [("doctor", lambda: doctor(context), 60), *checks.first_steps(context),
             ("PyTorch starts", speed.start_torch, 120)]
    return [(start, len(start), 0.25),
            (speed.ceilings(context), 1, 0.3),
            (attention.all_checks(context), 1, 0.4),
            (checks.numbers(context), context.jobs, 0.6),
            (speed.our_steps(context), 1, 0.77),
            (kernels.all_checks(context), 1, 0.87),
            (checks.sanitizers(context), 1, 0.93),
            (speed.steps_of_torch(context), 1, 1)]


def main():
    args = parse()
    os.environ["PATH"] = f"{args.tools}:{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TEST / "support"), os.environ.get("PYTHONPATH")]))
    use_libraries()
    with tempfile.TemporaryDirectory(prefix="zero-gpu-") as folder:
        report = Report(args.out, describe())
        context = checks.Context(args, Path(folder), report.machine)
        wanted = [word for word in args.only.split(",") if word]
        for steps, jobs, part in groups_of(context):
            chosen = [Check(*step) for step in steps if not wanted or any(word in step[0] for word in wanted)]
            for check in chosen if args.quick else []:
                check.limit *= 2  # a test may share its machine
            run_checks(report, chosen, jobs, 60 * args.minutes * part)
    print(report.text())
    print(f"report: {report.path}")
    sys.exit(1 if report.failed() else 0)


if __name__ == "__main__":
    main()
