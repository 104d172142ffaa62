"""Runs the checks that need a GPU, measures steps, and writes a report in Markdown.

usage: run [--build BUILD] [--output FILE] [--quick] [--minutes 14] [--only WORD,...]

Checks of numbers come first, then steps are timed. Each check has a limit of time, and one that
fails does not end the others. The report is written after each of them, so that it has what is known
when the run is ended from outside. Exits with 1 if a check failed, and with 2 if there is no GPU.

Ranks share GPU 0, so sums have the order of ranks and stages must be bitwise identical. What is not
installed is skipped: NCCL, compute-sanitizer, PyTorch (the interpreter that ZERO_TORCH_PYTHON
names, or that of bench/setup.sh).
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

TEST = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TEST / "support"))

import checks  # noqa: E402
import speed  # noqa: E402
from machine import describe  # noqa: E402
from report import Check, Report, run_checks  # noqa: E402

# Checks of numbers leave the rest of the time to the steps that are timed.
SHARE_OF_NUMBERS = 0.65


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, default=TEST.parent / "build")
    parser.add_argument("--output", type=Path, help="the report (gpu-report.md in the build folder)")
    parser.add_argument("--quick", action="store_true", help="small cases only, for a test of this script")
    parser.add_argument("--minutes", type=float, default=14, help="no check begins or goes on after so long")
    parser.add_argument("--jobs", type=int, default=max(1, min(4, (os.cpu_count() or 1) // 4)),
                        help="checks of numbers at a time")
    parser.add_argument("--only", default="", help="checks whose names have one of these words")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.output = args.output or args.build / "gpu-report.md"
    return args


def main():
    args = parse()
    os.environ["PATH"] = f"{args.build}/bin:{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(TEST / "support")
    with tempfile.TemporaryDirectory(prefix="zero-gpu-") as folder:
        work = Path(folder)
        report = Report(args.output, describe())
        context = checks.Context(args, work, report.machine)
        run_checks(report, [Check("a first step", lambda: checks.first_step(context), 120)], 1, 120)
        if report.failed():
            sys.exit(2)
        numbers = [Check(*each) for each in checks.all_checks(context)]
        timed = [Check(*each) for each in speed.all_checks(context)]
        wanted = [word for word in args.only.split(",") if word]
        for group, jobs, minutes in ((numbers, args.jobs, SHARE_OF_NUMBERS * args.minutes), (timed, 1, args.minutes)):
            chosen = [each for each in group if not wanted or any(word in each.name for word in wanted)]
            run_checks(report, chosen, jobs, 60 * minutes)
    print(report.text())
    print(f"report: {args.output}")
    sys.exit(1 if report.failed() else 0)


if __name__ == "__main__":
    main()
