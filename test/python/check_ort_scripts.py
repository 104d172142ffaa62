"""Runs scripts for onnxruntime.training with Zero, by changing their imports, and compares what
they record with what they recorded with onnxruntime-training 1.19.2.

usage: check_ort_scripts.py SCRIPTS REFERENCES WORK SCRIPT...
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks


def run_script(scripts, work, name):
    """What the script records when it imports Zero."""
    folder = Path(work) / name
    folder.mkdir(parents=True, exist_ok=True)
    text = (Path(scripts) / f"{name}.py").read_text()
    assert "onnxruntime.training" in text
    changed = folder / f"{name}.py"
    changed.write_text(text.replace("onnxruntime.training", "zero.compat.onnxruntime"))
    result = folder / "result.npz"
    result.unlink(missing_ok=True)
    code = ("import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
            "runpy.run_path(sys.argv.pop(1), run_name='__main__')")
    subprocess.run([sys.executable, "-c", code, str(scripts), str(changed), str(folder),
                    str(result)], check=True)
    return dict(np.load(result))


def compare(checks, label, got, expected):
    if expected.dtype.kind not in "f":
        checks.that(np.array_equal(got, expected), f"{label}: {got}, not {expected}")
        return
    checks.that(got.shape == expected.shape, f"{label}: {got.shape}, not {expected.shape}")
    if got.shape == expected.shape:
        error = np.abs(got.astype(float) - expected).max()
        checks.that(error <= 1e-5, f"{label}: differs by {error:.2e}")


def main():
    scripts, references, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        expected = dict(np.load(Path(references) / f"{name}.npz"))
        got = run_script(scripts, work, name)
        checks.that(got.keys() == expected.keys(), f"{name}: {got.keys() ^ expected.keys()}")
        for key in sorted(expected.keys() & got.keys()):
            compare(checks, f"{name}: {key}", got[key], expected[key])
    checks.finish()


if __name__ == "__main__":
    main()
