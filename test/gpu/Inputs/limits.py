"""Checks that do not end by themselves. usage: limits.py FOLDER_OF_RUN REPORT"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from machine import preset_of  # noqa: E402
from models import Sizes  # noqa: E402
from report import Check, Report, run_checks  # noqa: E402

Path(sys.argv[2]).mkdir(exist_ok=True)
report = Report(Path(sys.argv[2]), {"GPU": "none"})
child = Path(sys.argv[2]) / "child"


def sleeps():
    process = subprocess.Popen(["sleep", "1000"])
    child.write_text(str(process.pid))
    process.wait()


def works():
    state = Path(f"/proc/{child.read_text()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z", "what a check has started still runs"
    return "well"


run_checks(report, [Check("sleeps", sleeps, 1), Check("dies", lambda: os._exit(1), 60),
                    Check("works", works, 60)], 1, 60)
run_checks(report, [Check("late", lambda: "", 60)], 1, 0)
# 6 operations for each of 12 L d^2 + V d weights and 12 L S d of attention, for each token.
sizes = Sizes(layers=10, width=1000, heads=10, vocabulary=20000, sequence=1000, batch=7)
print(f"H200: {sizes.flops_of_step() / 1e12:.2f} TFLOP a step, "
      f"{preset_of({'GPU': 'NVIDIA H200'})['half_flops'] / 1e12}")
sys.exit(report.failed())
