"""Runs build/gpu-bundle in the system that `make wheel-test` makes.

usage: check_bundle.py BUILD WORK
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from zero_test import Checks

MOST_BYTES = 58 << 20
# What that system does not have, and a machine with a GPU may have not.
MAY_LACK = ("PyTorch", "ncu", "compute-sanitizer", "runtime-communicator-test", "nvidia-smi")


def main():
    build, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    checks, bundle = Checks(), build / "gpu-bundle"
    size = sum(path.stat().st_size for path in bundle.rglob("*"))
    checks.that(size <= MOST_BYTES, f"the bundle has {size} bytes")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    done = subprocess.run(["unshare", "--mount", "--net", "bash", Path(__file__).parent / "Inputs/enter.sh",
                           build / "wheel", bundle, build / "test/unit/gpu/libzero-recording-cuda.so", work],
                          capture_output=True, text=True)
    checks.that(done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-3000:]}")
    report = json.loads((work / "report.json").read_text()) if (work / "report.json").exists() else {"checks": []}
    for check in report["checks"]:
        lacks = check["result"] == "skipped" and any(word in check["detail"] for word in MAY_LACK)
        checks.that(check["result"] == "ok" or lacks, str(check))
    names = {check["name"] for check in report["checks"] if check["result"] == "ok"}
    for word in ("doctor", "mlp: fp32", "bf16, PyTorch's numbers", "state on disk", "CUDA graphs", "llama-small",
                 "time of each kind"):
        checks.that(any(word in name for name in names), f"no step '{word}' among {sorted(names)}")
    print(f"{size / 2**20:.1f} MiB, {len(names)} steps")
    checks.finish()


if __name__ == "__main__":
    main()
