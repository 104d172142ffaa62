"""Finds and runs the tools: zeroc, zero-run, zero-sim, zero-opt and zero-translate."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import ToolError
from .warn import warn, warnings_in

NAMES = ("zeroc", "zero-run", "zero-sim", "zero-opt", "zero-translate")


def _is_this_script(path):
    return os.path.exists(sys.argv[0]) and os.path.samefile(path, sys.argv[0])


def find_tool(name):
    """The path of a tool: in the directory ZERO_TOOLS of the environment, else in bin/ of this
    package, else on the PATH."""
    named = os.environ.get("ZERO_TOOLS")
    for place in ([named] if named else []) + [str(Path(__file__).parent / "bin"), None]:
        found = shutil.which(name, path=place)
        # The PATH may have the console script that is looking for the tool.
        if found and not _is_this_script(found):
            return found
    raise ToolError(f"'{name}' was not found in bin/ of the package or on the PATH; name its "
                    f"directory in the environment variable ZERO_TOOLS")


def become_tool(name, arguments):
    """Puts a tool in the place of this process: signals and exit codes are its own."""
    os.execv(find_tool(name), [name, *arguments])


def _first_error(name, output):
    """What the tool says is wrong, without its name: the errors and what belongs to them."""
    lines = output.splitlines()
    for index, line in enumerate(lines):
        if "error: " in line:
            return "\n".join(lines[index:]).replace(f"{name}: error: ", "", 1)
    return output.strip() or "ended without a message"


def run_tool(name, *arguments, error=ToolError):
    """Runs a tool; returns its standard output and its standard error.

    Its warnings become Python's. Raises `error` with the tool's own text if it fails.
    """
    command = [find_tool(name), *map(os.fspath, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace")
    if done.returncode < 0:
        raise error(f"{name} was ended by signal {-done.returncode}", done.stderr, done.returncode)
    if done.returncode != 0:
        raise error(_first_error(name, done.stderr), done.stdout + done.stderr, done.returncode)
    warn(warnings_in(done.stderr))
    return done.stdout, done.stderr
