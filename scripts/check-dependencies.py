#!/usr/bin/env python3
"""Checks the dependencies between directories, and the length of files.

usage: check-dependencies.py [ROOT]

- Every #include of lib, include, dialects, runtime, check and tools must be allowed by the
  dependency rules below (RULES).
- Only directories of OPERATORS name operators of ONNX: the others ask the table of operators.
- No module of python/zero imports itself through others.
- Main files have fewer than 60 lines, all files at most 600; those of check/ together at most 3000 that are
  not blank.
- No file contains a path that exists on one machine only.

Prints each violation, and exits with 1 if there is one.
"""

import ast
import os
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

COMPILER = ["Flags", "Page", "Options", "Evaluate", "Frontends", "Import", "Ops", "Programs",
            "Optimizers", "Analysis", "Planning",
            "Machine", "Kernels", "Transforms", "Codegen", "Emit", "EmitOnnx", "Pipelines", "PlanSearch",
            "Report", "Prices", "Driver"]
DIALECTS = ["dialects/Onnx", "dialects/StableHlo", "dialects/TmTensor", "dialects/Zero"]
MLIR = ["mlir", "llvm"]
# Checked arithmetic and parsing of numbers from input. Uses the standard library only.
CHECKED = "runtime/support/checked.h"
ADAPTERS = "runtime/support/adapter_names.h"
# The interfaces of communicators and devices.
COMM = ["runtime/comm/communicator.h", "runtime/comm/reduce.h"]
DEVICE = "runtime/device/device.h"
# The types of the C interface.
RT_API = "runtime/include"

# The dependency rules: what files of each directory may include, beside the standard library and
# files of the same directory.
RULES = {
    "dialects/Onnx": MLIR,
    "dialects/StableHlo": MLIR,
    "dialects/TmTensor": MLIR,
    "dialects/Zero": MLIR,
    # All tools read their command lines with it, also where no compiler is installed.
    "Flags": ["runtime/support"],
    # The pages of reports, also where no compiler is installed.
    "Page": [],
    "Planning": ["llvm/ADT", CHECKED],
    # Machine descriptions are files that the runtime writes.
    "Machine": ["Planning", "runtime/format", "runtime/verify"],
    # The model's constants become state symbols, so Import knows both dialects.
    # Models and checkpoints of onnxruntime-training are files that the runtime reads, too.
    "Import": [*DIALECTS, *MLIR, "Options", "Evaluate", "onnx", "protobuf", CHECKED, "runtime/io/onnx_wire.h",
               "runtime/io/ort_checkpoint.h", "runtime/support"],
    # One directory per front end. They give the importer the list of supported operators.
    # Safetensors say where a folder's weights are.
    "Frontends": [*DIALECTS, *MLIR, "Options", "Import", "Ops", "Pipelines", CHECKED,
                  "runtime/io/safetensors.h"],
    # The description of a kernel that costs, emitter and library share.
    "Kernels": ["dialects/Zero", *MLIR, "runtime/format"],
    # Planners and simulator use the same function for the cost of a kernel on a machine.
    "Analysis": [*DIALECTS, *MLIR, "Planning", "Kernels", "Machine", "runtime/verify"],
    "Ops": [*DIALECTS, *MLIR, "Evaluate", "Stored"],
    # Ops of StableHLO and linalg as nodes.
    "Programs": [*DIALECTS, *MLIR, "Evaluate", "Ops"],
    # Enumerations and their spellings, which flags of tools and options of passes share.
    "Options": ["dialects/Zero", *MLIR, CHECKED],
    # Elements of constants as plain structs: import evaluates nodes before there is IR.
    "Evaluate": ["llvm"],
    "Stored": ["dialects/Zero", *MLIR],
    "Optimizers": [*DIALECTS, *MLIR, "Options", "Stored", CHECKED],
    "Transforms": [*DIALECTS, *MLIR, "Analysis", "Planning", "Evaluate", "Ops", "Programs", "Optimizers",
                   "Options", "Stored", CHECKED, ADAPTERS, "runtime/support/json_reader.h"],
    # The library that executes a call computes its workspace, and knows which it can load.
    "Codegen": [*DIALECTS, *MLIR, "Options", "Kernels", "runtime/device/cpu/library.h",
                "runtime/device/cuda/columns.h", "runtime/device/cuda/kernels/attention_limits.h",
                "runtime/format"],
    # Each command contains its estimated time on the machine that was planned for.
    "Emit": [*DIALECTS, *MLIR, "Analysis", "Machine", "Planning", "Kernels", "Codegen", "Stored",
             ADAPTERS, "runtime/format", "runtime/verify"],
    # Writes ONNX's protobuf; output files appear when they are complete.
    "EmitOnnx": [*DIALECTS, *MLIR, "Analysis", "onnx", "runtime/support"],
    # The order of passes. Their implementation is not visible here.
    "Pipelines": [*MLIR, "Flags", "Options", "Optimizers", "Planning", "Machine", "Transforms", "Codegen",
                  "runtime/format/limits.h", CHECKED],
    # Evaluates plans by running phases on copies of the program.
    "PlanSearch": [*DIALECTS, *MLIR, "Analysis", "Planning", "Transforms", "Pipelines"],
    # Output files are written atomically by the functions of the runtime. Names of models are printed
    # as the importer prints them.
    "Report": [*DIALECTS, *MLIR, "Analysis", "Import", "Page", "Planning", "runtime/support"],
    # Compares plans: the numbers of a plan are those of its report.
    "Prices": [*DIALECTS, *MLIR, "Analysis", "Page", "Planning", "Report", "runtime/support"],
    "Driver": [*DIALECTS, *MLIR, *COMPILER],
    # The runtime, from the parts that all others use up to the C interface.
    "runtime/include": [],
    "runtime/support": [RT_API],
    "runtime/format": [RT_API, "runtime/support", "protobuf"],
    "runtime/processes": [RT_API, "runtime/support", "runtime/comm/mpi/mpi.h", "sodium"],
    "runtime/verify": [RT_API, "runtime/support", "runtime/format"],
    "runtime/io": [RT_API, "runtime/support", "protobuf", "zlib", "flatbuffers"],
    "runtime/checkpoint": [RT_API, "runtime/support", "runtime/format", "runtime/io", "protobuf",
                           "zlib"],
    "runtime/comm": [RT_API, "runtime/support"],
    "runtime/comm/host": [*COMM, "runtime/comm/link.h", "runtime/support"],
    # Ranks that share a GPU, then ranks with one GPU each.
    "runtime/comm/device": [*COMM, "runtime/support", "runtime/comm/host", "runtime/device/cuda"],
    "runtime/comm/nccl": [*COMM, "runtime/support", "runtime/comm/host", "runtime/comm/device",
                          "runtime/device/cuda"],
    # Messages between processes. <mpi.h> is included by the plugins only.
    "runtime/comm/mpi": [*COMM, "runtime/comm/link.h", "runtime/support"],
    "runtime/device": [RT_API, "runtime/support", "runtime/format"],
    "runtime/device/cpu": [DEVICE, RT_API, "runtime/support", "runtime/format", "dnnl", "Eigen"],
    # Both devices normalize and check matrix products with the same code.
    "runtime/device/cuda": [DEVICE, RT_API, "runtime/support", "runtime/format",
                            "runtime/device/cpu/matmul_plan.h",
                            "runtime/device/cpu/attention_plan.h"],
    "runtime/load": [*COMM, RT_API, "runtime/support", "runtime/format", "runtime/verify",
                     "runtime/device/cpu", "runtime/io"],
    # Ranks do not depend on the kind of device.
    "runtime/execute": [*COMM, DEVICE, RT_API, "runtime/support", "runtime/format",
                        "runtime/verify", "runtime/io", "runtime/load"],
    "runtime/measure": ["runtime/comm", DEVICE, "runtime/device/cpu", RT_API, "runtime/support",
                        "runtime/format", "runtime/io", "runtime/execute"],
    "runtime/session": ["runtime/comm", "runtime/device", RT_API, "runtime/support",
                        "runtime/format", "runtime/verify", "runtime/io", "runtime/checkpoint",
                        "runtime/load", "runtime/execute", "runtime/processes"],
    "runtime/api": [RT_API, "runtime/support", "runtime/format", "runtime/verify", "runtime/load",
                    "runtime/measure", "runtime/session"],
    "tools": [*DIALECTS, *MLIR, *COMPILER, "runtime", "tools/process"],
    "tools/zero-translate": [*MLIR, "Flags", "Import", "Ops", "tools/process", "onnx", CHECKED],
    "tools/bundle": ["lld", "Codegen", *MLIR],
    # These run where no compiler is installed.
    "tools/profiling": ["runtime"],
    "tools/process": ["runtime"],
    "tools/zero-run": ["runtime", "tools/process", "tools/profiling", "Flags", "Page",
                       "Planning"],
    # A second opinion on executables: of the compiler and the runtime it knows the tables only.
    "check": ["runtime/format/executable.pb.h", "protobuf"],
    # Nothing of MLIR: it simulates executables.
    "tools/zero-sim": ["runtime", "tools/process", "tools/profiling", "Flags", "Machine",
                       "Page", "Planning"],
}

# Where operators of ONNX are named: their definitions, readers and writers of programs, and passes
# that recognise patterns of them.
OPERATORS = ("dialects/Onnx", "lib/Ops", "lib/Import", "lib/Frontends", "lib/Programs",
             "include/zero/Programs", "lib/EmitOnnx", "lib/Transforms/EmitOnnx",
             "lib/Transforms/Recognise")

MAIN_LINES = 60
FILE_LINES = 600
# Generated: lines for each flag.
LISTS = {Path("python/zero/_flags.py")}
CHECKER_LINES = 3000
SOURCES = (".cpp", ".h", ".td", ".py", ".mlir", ".test", ".proto", ".sh", ".cmake", ".txt", ".md")
SKIPPED = {"build", "data", "__pycache__"}

# An operator by its name, or a comparison of such names.
OPERATOR_NAME = re.compile(r'dialects/Onnx/Operators\.h|\bop::[A-Z]|getOpType\(\)\s*[=!]='
                           r'|\bOperator\{"|getOpType\(\)\.(contains|starts_with|ends_with)')
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|home|root|farm|mnt|tmp|Users)/\w")


def directory_of(path):
    """The directory of RULES that a source file belongs to, given its path from the root."""
    parts = path.parts
    for depth in (3, 2):
        if "/".join(parts[:depth]) in RULES:
            return "/".join(parts[:depth])
    if parts[0] == "runtime":
        return "/".join(parts[:2])
    if parts[0] == "lib":
        return parts[1]
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else "include"
    return parts[0]


def target_of(include):
    """The target of an #include: a directory, a library with its path, or None for std."""
    if "/" not in include:
        return {"zlib.h": "zlib", "sodium.h": "sodium"}.get(include)
    if include.startswith("zero_rt/"):
        return "runtime/include/" + include
    parts = include.removeprefix("include/").split("/")
    if parts[0] in ("lib", "zero"):
        return parts[1]
    if parts[0] == "google":
        return "protobuf"
    if parts[0] == "oneapi":
        return "dnnl"
    if parts[0] == "Eigen":
        return "Eigen"
    if parts[0] in ("sys", "linux", "arpa", "net", "netinet"):
        return None
    return include


def is_allowed(directory, target):
    """Whether the rules allow files of `directory` to include `target`."""
    return any(target == to or target.startswith(to + "/")
               for to in [directory, *RULES[directory]])


def lines_of(file):
    return file.read_text(encoding="utf-8", errors="replace").splitlines()


def check_includes(root, file, lines):
    path = file.relative_to(root)
    directory = directory_of(path)
    if directory not in RULES:
        yield f"{path}: no dependency rule for directory '{directory}'"
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
        if target and not is_allowed(directory, target):
            yield (f"{path}:{number}: {directory} may not include '{include}', "
                   f"only {', '.join(RULES[directory])}")


def check_operators(path, lines):
    if str(path).startswith(OPERATORS):
        return
    for number, line in enumerate(lines, 1):
        if OPERATOR_NAME.search(line):
            yield (f"{path}:{number}: names an operator, which only {', '.join(OPERATORS)} may; "
                   f"ask for a function (zero/Ops/Function.h)")


def check_file(root, file):
    path = file.relative_to(root)
    lines = lines_of(file)
    if path.parts[0] in ("lib", "include", "dialects", "runtime", "check", "tools"):
        if file.suffix in (".cpp", ".h", ".c"):
            yield from check_includes(root, file, lines)
            yield from check_operators(path, lines)
    if path.parts[0] == "tools" and file.stem == file.parent.name and len(lines) >= MAIN_LINES:
        yield f"{path}: expected a main file under {MAIN_LINES} lines, got {len(lines)}"
    if len(lines) > FILE_LINES and path not in LISTS:
        yield f"{path}: expected at most {FILE_LINES} lines, got {len(lines)}"
    for number, line in enumerate(lines, 1):
        if match := MACHINE_PATH.search(line):
            yield f"{path}:{number}: path of one machine: '{line[match.start():].strip()}'"


def check_checker(root, files):
    """The checker is small enough to be read."""
    lines = sum(bool(line.strip()) for file in files
                if file.relative_to(root).parts[0] == "check" for line in lines_of(file))
    if lines > CHECKER_LINES:
        yield f"check: expected at most {CHECKER_LINES} lines that are not blank, got {lines}"


def imports_of(node, package):
    """The modules that `node` and what is inside it may import relative to `package`, as paths
    without a suffix. What is under TYPE_CHECKING does not run."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.level:
        place = [package, *package.parents][node.level - 1].joinpath(*(node.module or "").split("."))
        yield from [place, *(place / alias.name for alias in node.names)]
    for inner in ast.iter_child_nodes(node):
        yield from imports_of(inner, package)


def check_python(root):
    """Imports inside functions count: a cycle that they hide is one of the design."""
    modules = {file.parent if file.stem == "__init__" else file.with_suffix(""): file
               for file in sorted((root / "python/zero").rglob("*.py"))}
    imports = {name: [to for to in imports_of(ast.parse(file.read_bytes()), file.parent)
                      if to in modules and to not in name.parents and to != name]
               for name, file in modules.items()}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        cycle = " to ".join(modules[name].name for name in error.args[1])
        yield f"{modules[error.args[1][0]].relative_to(root)}: import cycle from {cycle}"


def sources(root):
    """Every source file under `root` except hidden and generated ones, sorted."""
    for directory, inner, names in os.walk(root):
        inner[:] = sorted(d for d in inner if not d.startswith(".") and d not in SKIPPED)
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield Path(directory) / name


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = list(sources(root))
    violations = [text for file in files for text in check_file(root, file)]
    violations += [*check_checker(root, files), *check_python(root)]
    print("\n".join([*violations, f"{len(files)} files, {len(violations)} violations"]))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
