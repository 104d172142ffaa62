#!/usr/bin/env python3
"""Checks who may know whom, and how long files may be.

Usage: check-arrows.py [ROOT]. Every #include of lib, include, dialects, runtime
and tools must follow an arrow of the table below, which is DESIGN's; besides,
main files stay under 60 lines, no file exceeds 600, and no file names a folder
of one machine. Prints each violation and ends with 1 if there is any.
"""

import os
import re
import sys
from pathlib import Path

COMPILER = ["Options", "Frontends", "Import", "Ops", "Optimizers", "Analysis", "Planning",
            "Machine", "Kernels", "Transforms", "Codegen", "Emit", "Pipelines", "PlanSearch",
            "Report", "Driver"]
DIALECTS = ["dialects/Onnx", "dialects/Zero"]
MLIR = ["mlir", "llvm"]
# Sums, products and parsers of numbers from outside: of the standard library alone.
CHECKED = "runtime/support/checked.h"
# What is said of any communicator and of any device.
COMM = ["runtime/comm/communicator.h", "runtime/comm/reduce.h"]
DEVICE = "runtime/device/device.h"
# The types of the C interface.
RT_API = "runtime/include"

# What files of each room may include, beside the standard library and their own room.
ARROWS = {
    "dialects/Onnx": MLIR,
    "dialects/Zero": MLIR,
    "Planning": ["llvm/ADT", CHECKED],
    # Machine descriptions are files that the runtime writes.
    "Machine": ["Planning", "runtime/format"],
    # The model's constants become state symbols, so Import knows both dialects.
    "Import": [*DIALECTS, *MLIR, "onnx", "protobuf", CHECKED],
    # A folder for each form of model; they tell the importer which operators there are.
    "Frontends": [*DIALECTS, *MLIR, "Options", "Import", "Ops"],
    # What costs, emitter and library are told of a kernel.
    "Kernels": ["dialects/Zero", *MLIR, "runtime/format"],
    # Planners and simulator ask the same function what a kernel costs on a machine.
    "Analysis": [*DIALECTS, *MLIR, "Planning", "Kernels", "Machine"],
    "Ops": [*DIALECTS, *MLIR],
    # Enumerations and their words: flags of the tools and options of passes share them.
    "Options": ["dialects/Zero", *MLIR],
    "Optimizers": [*DIALECTS, *MLIR, "Options", CHECKED],
    "Transforms": [*DIALECTS, *MLIR, "Analysis", "Planning", "Ops", "Optimizers", "Options",
                   CHECKED],
    # The workspace of a library call is asked of the library that runs it.
    "Codegen": [*DIALECTS, *MLIR, "Options", "Kernels", "runtime/device/cpu/library.h",
                "runtime/format"],
    # Each command says what it takes on the machine that was planned for.
    "Emit": [*DIALECTS, *MLIR, "Analysis", "Machine", "Planning", "Kernels", "Codegen",
             "runtime/format", "runtime/verify"],
    # The order of passes: what they do is not seen here.
    "Pipelines": [*MLIR, "Options", "Optimizers", "Planning", "Machine", "Transforms", "Codegen",
                  CHECKED],
    # Plans are tried by running phases on copies of the program.
    "PlanSearch": [*DIALECTS, *MLIR, "Analysis", "Planning", "Transforms", "Pipelines"],
    # Outputs appear whole, as those of the runtime do.
    "Report": [*DIALECTS, *MLIR, "Analysis", "Planning", "runtime/support"],
    "Driver": [*DIALECTS, *MLIR, *COMPILER],
    # The runtime, from what all of it uses to the C interface.
    "runtime/include": [],
    "runtime/support": [RT_API],
    "runtime/format": [RT_API, "runtime/support", "protobuf"],
    "runtime/verify": [RT_API, "runtime/support", "runtime/format"],
    "runtime/io": [RT_API, "runtime/support", "protobuf", "zlib"],
    "runtime/checkpoint": [RT_API, "runtime/support", "runtime/format", "runtime/io", "protobuf",
                           "zlib"],
    "runtime/comm": [RT_API, "runtime/support"],
    "runtime/comm/threads": [*COMM, "runtime/support"],
    # Ranks that share a GPU, then those with one each.
    "runtime/comm/device": [*COMM, "runtime/support", "runtime/comm/threads", "runtime/device/cuda"],
    "runtime/comm/nccl": [*COMM, "runtime/support", "runtime/comm/threads", "runtime/comm/device",
                          "runtime/device/cuda"],
    "runtime/device": [RT_API, "runtime/support", "runtime/format"],
    "runtime/device/cpu": [DEVICE, RT_API, "runtime/support", "runtime/format", "dnnl"],
    # Which products there are, both devices say in the same words.
    "runtime/device/cuda": [DEVICE, RT_API, "runtime/support", "runtime/format",
                            "runtime/device/cpu/matmul_plan.h"],
    "runtime/load": [*COMM, RT_API, "runtime/support", "runtime/format", "runtime/verify",
                     "runtime/device/cpu", "runtime/io"],
    # Ranks know no kind of device; memory of the host's tier is that of CPUs.
    "runtime/execute": [*COMM, DEVICE, RT_API, "runtime/support", "runtime/format",
                        "runtime/verify", "runtime/io", "runtime/load",
                        "runtime/device/cpu/arena.h"],
    "runtime/measure": ["runtime/comm", DEVICE, "runtime/device/cpu", RT_API, "runtime/support",
                        "runtime/format", "runtime/io", "runtime/execute"],
    "runtime/session": ["runtime/comm", "runtime/device", RT_API, "runtime/support",
                        "runtime/format", "runtime/verify", "runtime/io", "runtime/checkpoint",
                        "runtime/load", "runtime/execute"],
    "runtime/api": [RT_API, "runtime/support", "runtime/format", "runtime/verify", "runtime/load",
                    "runtime/measure", "runtime/session"],
    "tools": [*DIALECTS, *MLIR, *COMPILER, "runtime", "tools/process"],
    # Run where no compiler is installed.
    "tools/profiling": ["runtime"],
    "tools/process": ["runtime"],
    "tools/zero-run": ["runtime", "tools/process", "tools/profiling", "Planning"],
    # Nothing of MLIR: what it replays is an executable.
    "tools/zero-sim": ["runtime", "tools/process", "tools/profiling", "Machine", "Planning"],
}

MAIN_LINES = 60
FILE_LINES = 600
SOURCES = (".cpp", ".h", ".td", ".py", ".mlir", ".test", ".proto", ".sh", ".cmake", ".txt", ".md")
SKIPPED = {"build", "data", "__pycache__"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|home|root|farm|mnt|tmp|Users)/\w")


def room_of(path):
    """The room of a source file, given by its path from the root."""
    parts = path.parts
    for depth in (3, 2):
        if "/".join(parts[:depth]) in ARROWS:
            return "/".join(parts[:depth])
    if parts[0] == "runtime":
        return "/".join(parts[:2])
    if parts[0] == "lib":
        return parts[1]
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else "include"
    return parts[0]


def target_of(include):
    """What an #include names: a room, a library with its path, or None for std."""
    if "/" not in include:
        return "zlib" if include == "zlib.h" else None
    if include.startswith("zero_rt/"):
        return "runtime/include/" + include
    parts = include.removeprefix("include/").split("/")
    if parts[0] == "zero":
        return parts[1]
    if parts[0] == "google":
        return "protobuf"
    if parts[0] == "oneapi":
        return "dnnl"
    if parts[0] in ("sys", "linux"):
        return None
    return include


def allowed(room, target):
    """Whether an arrow leads from `room` to `target`."""
    return any(target == to or target.startswith(to + "/") for to in [room, *ARROWS[room]])


def lines_of(file):
    return file.read_text(encoding="utf-8", errors="replace").splitlines()


def check_includes(root, file, lines):
    path = file.relative_to(root)
    room = room_of(path)
    if room not in ARROWS:
        yield f"{path}: no arrows are known for room '{room}'"
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        include = match[1] or match[2]
        if match[1] and (file.parent / include).is_file():
            continue
        target = target_of(include)
        if match[1] and target is None:
            yield f"{path}:{number}: expected '{include}' beside the file"
        if target and not allowed(room, target):
            yield (f"{path}:{number}: {room} may not include '{include}', "
                   f"only {', '.join(ARROWS[room])}")


def check_file(root, file):
    path = file.relative_to(root)
    lines = lines_of(file)
    if path.parts[0] in ("lib", "include", "dialects", "runtime", "tools"):
        if file.suffix in (".cpp", ".h", ".c"):
            yield from check_includes(root, file, lines)
    if path.parts[0] == "tools" and file.stem == file.parent.name and len(lines) >= MAIN_LINES:
        yield f"{path}: expected a main file under {MAIN_LINES} lines, got {len(lines)}"
    if len(lines) > FILE_LINES:
        yield f"{path}: expected at most {FILE_LINES} lines, got {len(lines)}"
    for number, line in enumerate(lines, 1):
        if match := MACHINE_PATH.search(line):
            yield f"{path}:{number}: names a folder of one machine: '{line[match.start():].strip()}'"


def sources(root):
    """Every source file under `root`, hidden and generated ones aside, in order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield Path(folder) / name


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = list(sources(root))
    violations = [text for file in files for text in check_file(root, file)]
    print("\n".join([*violations, f"{len(files)} files, {len(violations)} violations"]))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
