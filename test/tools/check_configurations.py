"""Simulated steps are roughly as long as measured ones, on any machine and beside other programs.

usage: check_configurations.py JSON
"""

import json
import sys
from pathlib import Path

APART = 3


def main():
    for name, rounds in json.loads(Path(sys.argv[1]).read_text()).items():
        for simulated, measured in rounds:
            if not 1 / APART < simulated / measured < APART:
                sys.exit(f"{name}: {simulated} s simulated, {measured} s measured")


if __name__ == "__main__":
    main()
