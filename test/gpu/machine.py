"""Describes the machine: its GPUs and the versions of what runs on them.

As a program it prints this as JSON: the driver of CUDA is opened in a process of its own.
"""

import ctypes
import glob
import json
import os
import platform
import re
import shutil
import site
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
UNKNOWN = "not found"


# By the variable with which the runtime finds it: the names of a library.
LIBRARIES = {"ZERO_CUDA_DRIVER": ("libcuda.so.1", "libcuda.so"),
             "ZERO_CUBLASLT": ("libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"),
             "ZERO_NCCL": ("libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2")}


def load(variable):
    """The library that the runtime would load."""
    given = os.environ.get(variable)
    for name in [given] if given else LIBRARIES[variable]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def folders_of_pip():
    """Where NVIDIA's packages put libraries, of this Python and of the one with PyTorch."""
    ask = "import site; print(*site.getsitepackages(), site.getusersitepackages(), sep=chr(10))"
    other = os.environ.get("ZERO_TORCH_PYTHON")
    sites = [*site.getsitepackages(), site.getusersitepackages(),
             *(output_of(other, "-c", ask).splitlines() if other else [])]
    return [folder for place in dict.fromkeys(sites) for folder in sorted(glob.glob(f"{place}/nvidia/*/lib"))]


def use_libraries():
    """Names libraries that only pip's folders have in the environment, for this process and its tools."""
    folders = folders_of_pip()
    for variable, names in LIBRARIES.items():
        found = [f"{folder}/{name}" for folder in folders for name in names if Path(folder, name).exists()]
        if found and variable not in os.environ and in_a_process(f"load({variable!r}) is None") == "True":
            os.environ[variable] = found[0]


def in_a_process(expression):
    """The value of an expression in this file, as text: libraries that are loaded stay so."""
    return output_of(sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
                     f"from machine import *; print({expression})")


def doctor(context):
    """Whether the tools start, and what they would miss."""
    missing = []
    for tool in ("zeroc", "zero-run", "zero-translate"):
        done = subprocess.run([tool, "--version"], capture_output=True, text=True)
        assert done.returncode == 0, f"{tool}: {done.stderr.strip()}"
        missing += re.findall(r"(\S+) => not found", output_of("ldd", shutil.which(tool)))
    assert not missing, f"libraries that are not found: {sorted(set(missing))}"
    lacks = [name for name, value in context.machine.items() if value == UNKNOWN]
    return "all tools start" + (f"; not found: {', '.join(lacks)}" if lacks else "")


def gpus(cuda):
    """The names of all GPUs."""
    count, names = ctypes.c_int(), []
    if not hasattr(cuda, "cuInit") or cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
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
    if not hasattr(library, function) or getattr(library, function)(ctypes.byref(value)) != 0:
        return UNKNOWN
    return str(value.value)


def blas_version(library):
    if not hasattr(library, "cublasLtGetVersion"):
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
            "Python": platform.python_version(),
            "commit": commit(),
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def of_gpus():
    cuda, blas, nccl = map(load, ("ZERO_CUDA_DRIVER", "ZERO_CUBLASLT", "ZERO_NCCL"))
    home = os.environ.get("CUDA_HOME")
    assembler = f"{home}/bin/ptxas" if home else shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    ptxas = re.search(r"release ([\d.]+)", output_of(assembler, "--version"))
    return {"GPU": "; ".join(gpus(cuda)) or UNKNOWN,
            "nvidia-smi": output_of("nvidia-smi", "--query-gpu=driver_version,memory.total,memory.free,power.limit,clocks.sm,clocks.max.sm",
                                    "--format=csv,noheader") or UNKNOWN,
            "CUDA driver": number_of(cuda, "cuDriverGetVersion"),
            "cuBLASLt": blas_version(blas),
            "NCCL": number_of(nccl, "ncclGetVersion"),
            "ptxas": ptxas[1] if ptxas else UNKNOWN,
            "ncu": find_tool("ncu") or UNKNOWN,
            "compute-sanitizer": find_tool("compute-sanitizer") or UNKNOWN}


def find_tool(name):
    """A program of NVIDIA's, where zeroc would look for tools of CUDA."""
    home = os.environ.get("CUDA_HOME")
    places = [shutil.which(name), *(f"{folder}/bin/{name}" for folder in (home, "/usr/local/cuda") if folder),
              *sorted(glob.glob(f"/opt/nvidia/nsight-compute/*/{name}"), reverse=True)]
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def commit():
    """The commit of the checkout, or of the bundle."""
    noted = SOURCE / "COMMIT"
    return noted.read_text().strip() if noted.exists() else output_of(
        "git", "-C", SOURCE, "rev-parse", "--short", "HEAD") or UNKNOWN


def describe():
    """A dictionary from the name of each property of the machine to its value, as text."""
    try:
        found = json.loads(output_of(sys.executable, __file__))
    except json.JSONDecodeError:
        found = {"GPU": UNKNOWN}
    return {**found, **of_system()}


def name_of_preset(machine):
    """Of the description of this kind of GPU, or None."""
    return next((name for name in ("h200", "h100", "a100") if name.upper() in machine["GPU"]), None)


def preset_of(machine):
    name = name_of_preset(machine)
    return json.loads((SOURCE / f"lib/Machine/presets/{name}.json").read_text()) if name else None


if __name__ == "__main__":
    print(json.dumps(of_gpus()))
