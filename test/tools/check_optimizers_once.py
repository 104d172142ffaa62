"""Names and flags of optimizers are in their definitions: no other file of the compiler has them.

usage: check_optimizers_once.py ROOT
"""

import re
import sys
from pathlib import Path

from optimizer_cases import listed
from zero_test import Checks

# The optimizer of a run that names none; what every optimizer has, and a group may set.
COMMON = {"adamw", "weight-decay", "weight_decay"}
OWNER = "lib/Optimizers/"
# Attributes of operators, and parts of the names in models, too.
AMBIGUOUS = {"alpha", "momentum"}


def main():
    root = Path(sys.argv[1])
    checks = Checks()
    words = set()
    for optimizer in listed():
        words |= {optimizer["name"], optimizer["torch"].lower(), optimizer["deepspeed"].lower()}
        words |= {own[key] for own in optimizer["hyperparameters"] for key in ("flag", "key")}
    # A key of one letter says nothing.
    spelled = {word for word in words if len(word) > 1} - COMMON - AMBIGUOUS
    checks.that(len(spelled) > 15, f"few words: {spelled}")
    files = [path for folder in ("lib", "include", "tools", "dialects")
             for path in (root / folder).rglob("*") if path.suffix in (".cpp", ".h", ".td")]
    checks.that(len(files) > 300, f"few files: {len(files)}")
    for path in files:
        name = str(path.relative_to(root))
        if name.startswith(OWNER):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = {text for text in re.findall(r'"([^"\s]*)"', line.partition("//")[0]) if text.lower() in spelled}
            checks.that(not found, f"{name}:{number}: {', '.join(sorted(found))}")
    checks.finish()


if __name__ == "__main__":
    main()
