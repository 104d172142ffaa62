"""Describes the machine: its GPUs and the versions of what runs on them.

As a program it prints this as JSON: the driver of CUDA is opened in a process of its own.
"""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
UNKNOWN = "not found"


def load(variable, *names):
    """The library that the runtime would load."""
    given = os.environ.get(variable)
    for name in [given] if given else names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def gpus(cuda):
    """The names of all GPUs."""
    count, names = ctypes.c_int(), []
    if cuda is None or cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    for ordinal in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        cuda.cuDeviceGet(ctypes.byref(device), ordinal)
        cuda.cuDeviceGetName(name, 255, device)
        names.append(name.value.decode())
    return names


def number_of(library, function):
    """The version that function(int *) gives, as text."""
    value = ctypes.c_int()
    if library is None or getattr(library, function)(ctypes.byref(value)) != 0:
        return UNKNOWN
    return str(value.value)


def blas_version(library):
    if library is None:
        return UNKNOWN
    library.cublasLtGetVersion.restype = ctypes.c_size_t
    return str(library.cublasLtGetVersion())


def output_of(*command):
    """What a tool prints; nothing if it is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def of_system():
    """CPU, memory and the commit."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return {"CPU": f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} threads",
            "memory": f"{int(memory[1]) / (1 << 20):.0f} GiB" if memory else UNKNOWN,
            "system": platform.platform(),
            "commit": output_of("git", "-C", SOURCE, "rev-parse", "--short", "HEAD") or UNKNOWN,
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def of_gpus():
    cuda = load("ZERO_CUDA_DRIVER", "libcuda.so.1", "libcuda.so")
    blas = load("ZERO_CUBLASLT", "libcublasLt.so.13", "libcublasLt.so.12",
                "/usr/local/cuda/lib64/libcublasLt.so")
    nccl = load("ZERO_NCCL", "libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2")
    home = os.environ.get("CUDA_HOME")
    assembler = f"{home}/bin/ptxas" if home else shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    ptxas = re.search(r"release ([\d.]+)", output_of(assembler, "--version"))
    return {"GPU": "; ".join(gpus(cuda)) or UNKNOWN,
            "nvidia-smi": output_of("nvidia-smi", "--query-gpu=driver_version,memory.total,power.limit,clocks.max.sm",
                                    "--format=csv,noheader") or UNKNOWN,
            "CUDA driver": number_of(cuda, "cuDriverGetVersion"),
            "cuBLASLt": blas_version(blas),
            "NCCL": number_of(nccl, "ncclGetVersion"),
            "ptxas": ptxas[1] if ptxas else UNKNOWN}


def describe():
    """A dictionary from the name of each property of the machine to its value, as text."""
    try:
        found = json.loads(output_of(sys.executable, __file__))
    except json.JSONDecodeError:
        found = {"GPU": UNKNOWN}
    return {**found, **of_system()}


def preset_of(machine):
    """The file that describes this kind of GPU, or None."""
    for name in ("h200", "h100", "a100"):
        if name.upper() in machine["GPU"]:
            return json.loads((SOURCE / f"lib/Machine/presets/{name}.json").read_text())
    return None


if __name__ == "__main__":
    print(json.dumps(of_gpus()))
