"""Simulated steps are roughly as long as measured ones, on any machine and beside other programs.

Other programs may slow the calibration or the steps of a round, so that one round of several counts.

usage: check_configurations.py JSON
"""

import json
import sys
from pathlib import Path

APART = 3


def main():
    for name, rounds in json.loads(Path(sys.argv[1]).read_text()).items():
        if not any(1 / APART < simulated / measured < APART for simulated, measured in rounds):
            sys.exit(f"{name}: simulated and measured seconds of each round: {rounds}")


if __name__ == "__main__":
    main()
