"""Runs a tool: python -m zero TOOL ARGUMENTS. A tool is zeroc, zero-run, zero-sim, zero-opt,
zero-translate, tokenize, finetune, check-model or check-schedule."""

import sys

from .scripts import run_script
from .tools import NAMES


def main():
    names = [*NAMES, "tokenize", "finetune", "check-model", "check-schedule"]
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    if asked not in names:
        text = f"usage: python -m zero {'|'.join(names)} ARGUMENTS"
        if asked in ("-h", "--help"):
            print(text)
            return
        sys.exit(f"zero: error: expected a tool, got '{asked}'\n{text}")
    if asked == "tokenize":
        from .text.command import main as tokenize
        tokenize(sys.argv[2:])
    elif asked == "finetune":
        from .finetuning.command import main as finetune
        finetune(sys.argv[2:])
    elif asked == "check-model":
        from .model_check.command import main as check_model
        check_model(sys.argv[2:])
    elif asked == "check-schedule":
        from .schedule_check.command import main as check_schedule
        check_schedule(sys.argv[2:])
    else:
        run_script(asked, sys.argv[2:])


if __name__ == "__main__":
    main()
