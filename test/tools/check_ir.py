"""Finds code in the compiler's sources that should ask the dialect.

Usage: check_ir.py ROOT. No file outside dialects/Zero
- tests an op for being one of a list of the dialect's ops: interfaces say what they have in common;
- reads or writes `zero.schedule` but with Schedule.h;
- has the name of an operator of dialects/Onnx/Operators.def in quotes, or compares types of nodes
  with strings (front ends do, in lib/Import: they translate names).
Exceptions are listed here with a reason, and the list may only become shorter.
"""

import re
import sys
from pathlib import Path

# (file, ops): exceptions for which an interface would not help.
LISTS = {
    ("lib/Analysis/SameSteps.cpp", "GradientOp SquareSumOp"):
        "where the step of a matrix begins, with values of its own parameter",
    ("lib/Analysis/Storage.cpp", "LaunchOp BucketOp"):
        "the producers of fresh bytes that nothing else shares",
    ("lib/Analysis/StorageLifetimes.cpp", "UpdateOp LaunchOp"):
        "an update, before and after partition",
    ("lib/Report/MemoryMap.cpp", "CheckOp TransferOp ReserveOp"):
        "what belongs to the part of the step where it stands",
    ("lib/Transforms/Partition/PartitionStep.cpp", "UpdateOp GradientOp"): "what partition resolves together",
    ("lib/Transforms/Place/RematModel.cpp", "ReadOp MemberOp GradientOp UpdateOp"):
        "what takes no time before partition",
    ("lib/Transforms/Precision/SetPrecision.cpp", "GradientOp UpdateOp"): "an op of the step's phase",
    ("lib/Transforms/Precision/SetPrecision.cpp", "ReadOp WriteOp RankMeanOp MicroMeanOp RankShareOp"):
        "all ops that there are before differentiate",
    ("lib/Transforms/Precision/SetPrecision.cpp", "RankMeanOp MicroMeanOp"): "the means of the step's phase",
    ("lib/Transforms/Partition/VerifyPartition.cpp",
     "GradientOp UpdateOp RankMeanOp RankShareOp MicroMeanOp SquareSumOp"):
        "what partition resolves",
    ("lib/Transforms/Import/WidenFloats.cpp", "ReadOp WriteOp"): "all ops that there are before kernels",
    ("lib/Transforms/Schedule/StepOrder.cpp", "WriteOp BucketOp"):
        "ops that copy, beside those with a lane",
}


# Attributes of recurrent nodes name activations as ONNX names operators.
ACTIVATIONS = ("lib/Ops/Recurrent.cpp", "lib/Ops/RecurrentActivations.cpp")


def find_names(name, text, operators):
    """Operators that the text of file `name` names in strings, by line."""
    if not name.startswith("lib/") or name.startswith("lib/Import/") or name in ACTIVATIONS:
        return
    for number, line in enumerate(text.splitlines(), 1):
        quoted = [] if line.lstrip().startswith("//") else re.findall(r'"(\w+)"', line)
        for operator in operators.intersection(quoted):
            yield f"{name}:{number}: use op::{operator} or own::{operator}, not its name"
        if re.search(r'getOpType\(\) *[!=]= *"', line):
            yield f"{name}:{number}: use NodeOp::is()"


def main():
    root = Path(sys.argv[1])
    table = root / "dialects/Onnx/Operators.def"
    operators = set(re.findall(r"^O[NW]\w*_OPERATOR\((\w+)\)", table.read_text(), re.MULTILINE))
    ops = set(re.findall(r"def Zero_(\w+Op) :", (root / "dialects/Zero/ZeroOps.td").read_text()))
    found, errors = set(), []
    sources = [p for folder in ("lib", "include", "tools") for p in sorted((root / folder).rglob("*"))
               if p.suffix in (".cpp", ".h")]
    for path in sources:
        text, name = path.read_text(), str(path.relative_to(root))
        for match in re.finditer(r"\bisa(?:_and_nonnull|_and_present)?<([^<>]*)>", text):
            listed = [op for op in re.findall(r"\w+", match[1]) if op in ops]
            if len(listed) > 1:
                found.add((name, " ".join(listed)))
        errors.extend(find_names(name, text, operators))
        for match in re.finditer(r"kScheduleAttr|\"zero\.schedule\"", text):
            line = text[:match.start()].count("\n") + 1
            errors.append(f"{name}:{line}: use scheduleOf() and setSchedule() of Schedule.h")
    for name, listed in sorted(found - set(LISTS)):
        errors.append(f"{name}: a list of ops of the dialect ({listed}): ask an interface")
    for name, listed in sorted(set(LISTS) - found):
        errors.append(f"{name}: no list of {listed} is left: take it from check_ir.py")
    print("\n".join(errors) or f"{len(sources)} files, {len(found)} lists of ops")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
