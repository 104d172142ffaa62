"""Compiles a source as another one of its directory is compiled, without an output.

usage: check_compiles.py BUILD SOURCE OTHER
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path


def main():
    build, source, other = map(Path, sys.argv[1:])
    entry = next(entry for entry in json.loads((build / "compile_commands.json").read_text())
                 if Path(entry["file"]) == other.resolve())
    command = shlex.split(entry["command"])
    del command[command.index("-o"):]
    sys.exit(subprocess.run([*command, "-Werror", f"-I{other.parent}", "-fsyntax-only", source],
                            cwd=entry["directory"]).returncode)


if __name__ == "__main__":
    main()
