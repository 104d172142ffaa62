"""Kernels that were compiled before are taken from the cache with the same bytes. Damaged entries
are compiled again, and a folder that cannot be trusted is not used.

usage: check_cache.py DATA WORK
"""

import os
import re
import shutil
import sys
from pathlib import Path

from zero_test import Checks, Failed, Graph, run_tool


class Compiler:
    """Compiles one graph with one cache."""

    def __init__(self, checks, graph):
        self.checks, self.graph = checks, graph
        self.cache = graph.work / "cache"
        shutil.rmtree(self.cache, ignore_errors=True)
        self.bytes = graph.compile(0, 1, "--no-cache").read_bytes()
        self.kernels = self.counts()[0]

    def counts(self):
        """The number of native kernels, and of those from the cache."""
        found = re.search(r"^compiled in [\d.]+ s: (\d+) native kernels, (\d+) of them from the "
                          r"cache$", self.graph.report, re.MULTILINE)
        return tuple(map(int, found.groups()))

    def expect(self, cached, label, *flags):
        """Compiles and checks how many kernels came from the cache, a number or a range, and the
        output."""
        executable = self.graph.compile(0, 1, f"--cache-dir={self.cache}", *flags)
        self.checks.that(executable.read_bytes() == self.bytes, f"{label}: other bytes")
        kernels, found = self.counts()
        expected = cached if isinstance(cached, range) else (cached,)
        self.checks.that(kernels == self.kernels and found in expected,
                         f"{label}: expected {cached} of {self.kernels}, got {self.counts()}")

    def entries(self):
        return sorted(self.cache.glob("*.o"))


def check_bytes(checks, compiler):
    checks.that(compiler.counts()[1] == 0, "no cache: kernels came from one")
    compiler.expect(0, "cold", "--threads=1")
    # Kernels that may share a body have one entry.
    checks.that(3 < len(compiler.entries()) <= compiler.kernels, "entries of the kernels")
    checks.that(compiler.cache.stat().st_mode & 0o777 == 0o700, "permissions of the folder")
    checks.that(all(entry.stat().st_mode & 0o777 == 0o600 for entry in compiler.entries()),
                "permissions of entries")
    compiler.expect(compiler.kernels, "warm")
    shutil.rmtree(compiler.cache)
    compiler.expect(0, "cold, three threads", "--threads=3")
    compiler.expect(compiler.kernels, "warm, another stage's flags", "--bucket-bytes=25000000")


def check_damage(compiler):
    truncated, flipped, empty = compiler.entries()[:3]
    truncated.write_bytes(truncated.read_bytes()[:-1])
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    empty.write_bytes(b"")
    compiler.expect(range(1, compiler.kernels - 2), "damaged")
    compiler.expect(compiler.kernels, "mended")


def check_trust(checks, compiler):
    os.chmod(compiler.cache, 0o777)
    compiler.expect(0, "writable by others")
    warning = "is not used: others may write to it, and its content would be executed"
    checks.that(compiler.graph.report.count(warning) == 1, f"no warning: {compiler.graph.report}")
    os.chmod(compiler.cache, 0o700)
    compiler.expect(compiler.kernels, "trusted again")
    compiler.cache = compiler.graph.work / "file"
    compiler.cache.write_text("")
    compiler.expect(0, "a file for a folder")
    checks.that(compiler.graph.report.count("is not used: it is no folder") == 1,
                f"no warning: {compiler.graph.report}")


def check_flags(checks, graph):
    """zero-run passes the flags on. Without a home directory there is no cache."""
    cache = graph.work / "passed"
    shutil.rmtree(cache, ignore_errors=True)
    run_tool("zero-run", graph.folder / "model.onnx", graph.data_flag, "--quiet",
             f"--cache-dir={cache}")
    checks.that(len(list(cache.glob("*.o"))) > 0, "zero-run --cache-dir: no entries")
    try:
        graph.compile(0, 1, f"--cache-dir={cache}", "--no-cache")
        checks.that(False, "--no-cache and --cache-dir: no error")
    except Failed as error:
        checks.that("--no-cache: --cache-dir has no effect with it" in str(error), str(error))
    home = {name: os.environ.pop(name, None) for name in ("HOME", "XDG_CACHE_HOME")}
    graph.compile(0, 1)
    checks.that(" 0 of them from the cache" in graph.report, "a cache without a home")
    os.environ["XDG_CACHE_HOME"] = str(graph.work / "xdg")
    graph.compile(0, 1)
    checks.that((graph.work / "xdg" / "zero").is_dir(), "XDG_CACHE_HOME is not used")
    os.environ.update({name: value for name, value in home.items() if value})


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", Path(work) / "mlp")
    compiler = Compiler(checks, graph)
    check_bytes(checks, compiler)
    check_damage(compiler)
    check_trust(checks, compiler)
    check_flags(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
