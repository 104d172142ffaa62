"""Starts processes with the variables that srun sets, where there is no Slurm.

usage: fake_srun.py -n PROCESSES COMMAND...

Like srun, passes on SIGINT and SIGTERM, ends the others some time after one has failed, and exits
with the largest exit code.
"""

import os
import signal
import subprocess
import sys
import time

GRACE = 5


def main():
    count, command = int(sys.argv[2]), sys.argv[3:]
    common = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0",
              "SLURM_STEP_NUM_TASKS": str(count), "SLURM_NTASKS": str(count),
              "SLURM_STEP_NODELIST": "localhost"}
    running = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signal, _: [each.send_signal(signal) for each in running])
    for process in range(count):
        variables = {**os.environ, **common, "SLURM_PROCID": str(process),
                     "SLURM_LOCALID": str(process)}
        running.append(subprocess.Popen(command, env=variables))
    deadline = float("inf")
    while any(each.poll() is None for each in running):
        if any(each.returncode for each in running):
            deadline = min(deadline, time.monotonic() + GRACE)
        if time.monotonic() > deadline:
            for each in running:
                each.kill()
        time.sleep(0.01)
    sys.exit(max(each.returncode if each.returncode >= 0 else 128 - each.returncode
                 for each in running))


if __name__ == "__main__":
    main()
