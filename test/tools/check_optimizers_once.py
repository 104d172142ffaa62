"""Names and flags of optimizers are only in their definitions, and in no other file of the
compiler.

usage: check_optimizers_once.py ROOT
"""

import re
import sys
from pathlib import Path

from optimizer_cases import listed
from zero_test import Checks

# The default optimizer, and the settings that every optimizer has and that a group may change.
COMMON = {"adamw", "weight-decay", "weight_decay"}
# ONNX has operators with the names of optimizers.
OWNERS = ("lib/Optimizers/", "lib/Ops/Training.cpp")
# These are also attributes of operators and parts of the names in models.
AMBIGUOUS = {"alpha", "momentum"}


def main():
    root = Path(sys.argv[1])
    checks = Checks()
    words = set()
    for optimizer in listed():
        words |= {optimizer["name"], optimizer["torch"].lower(), optimizer["deepspeed"].lower()}
        words |= {own[key] for own in optimizer["hyperparameters"] for key in ("flag", "key")}
    # Keys of one letter are too common to search for.
    spelled = {word for word in words if len(word) > 1} - COMMON - AMBIGUOUS
    checks.that(len(spelled) > 15, f"few words: {spelled}")
    files = [path for folder in ("lib", "include", "tools", "dialects")
             for path in (root / folder).rglob("*") if path.suffix in (".cpp", ".h", ".td")]
    checks.that(len(files) > 300, f"few files: {len(files)}")
    for path in files:
        name = str(path.relative_to(root))
        if name.startswith(OWNERS):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = {text for text in re.findall(r'"([^"\s]*)"', line.partition("//")[0]) if text.lower() in spelled}
            checks.that(not found, f"{name}:{number}: {', '.join(sorted(found))}")
    checks.finish()


if __name__ == "__main__":
    main()
