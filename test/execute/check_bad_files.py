"""Malformed files: each causes one error that names it, without much time or memory.

usage: check_bad_files.py DATA WORK
"""

import io
import os
import resource
import struct
import sys
import zipfile

import numpy as np

from zero_test import Checks, Graph, check_refused


def npy(array, **changed):
    """A .npy as bytes. `changed` replaces entries of its header."""
    header = {**np.lib.format.header_data_from_array_1_0(array), **changed}
    file = io.BytesIO()
    np.lib.format.write_array_header_2_0(file, header)
    return file.getvalue() + array.tobytes()


def archive(*members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        for name, content in members:
            zipped.writestr(name, content)
    return file.getvalue()


def in_directory(content, offset, layout, value):
    """Replaces a field of the first entry of an archive's central directory."""
    at = content.index(b"PK\x01\x02") + offset
    return content[:at] + struct.pack(layout, value) + content[at + struct.calcsize(layout):]


def arrays(x):
    """Contents of .npy files and the expected errors."""
    good = npy(x)
    objects = io.BytesIO()
    np.save(objects, np.array([{}] * 32, dtype=object), allow_pickle=True)
    record = np.zeros(32, dtype=[("a", "<f4"), ("b", "<i4")])
    yield "empty", b"", "not a .npy or .npz file"
    yield "text", b"1.0,2.0,3.0\n" * 100, "not a .npy or .npz file"
    yield "cut in the magic", good[:5], "not a .npy"
    yield "cut in the header", good[:40], "truncated within the .npy header"
    yield "cut in the elements", good[:-1], "truncated: expected 100352 bytes of elements"
    yield "objects", objects.getvalue(), "Python objects"
    yield "records", npy(record), "structured element type"
    yield "Fortran order", npy(x, fortran_order=True), "Fortran order"
    yield "big-endian", npy(x.astype(">f4")), "big-endian"
    yield "complex", npy(x.astype(np.complex64)), "element type '<c8'"
    yield "text elements", npy(np.array(["a", "b"])), "element type '<U1'"
    yield "dates", npy(np.array(["2020-01-01"], "M8[D]")), "element type '<M8[D]'"
    yield "more rows than there are", npy(x, shape=(1 << 40, 784)), "truncated"
    yield "a size that overflows", npy(x, shape=(1 << 62, 784)), "too large"
    yield "a negative size", npy(x, shape=(-32, 784)), "header cannot be read"
    yield "a size of 10^30", npy(x, shape=(10**30, 784)), "header cannot be read"
    yield "many dimensions", npy(x, shape=(1,) * 64), "header cannot be read"
    yield "a long header", npy(x, descr="<f4" + " " * 60000), "expected at most 10000"
    yield "a header of 4 GiB", good[:8] + b"\xff\xff\xff\xff" + good[12:], "expected at most 10000"
    yield "version 7", good[:6] + b"\x07" + good[7:], "version 7"
    yield "NUL in its type", npy(x, descr="<f4\x00\x1b[31m"), "element type"


def archives(x):
    member = npy(x)
    stored = archive(("x.npy", member))
    zeros = npy(np.zeros((1, 784), np.float32), shape=(1 << 20, 784)) + bytes(64 << 20)
    bomb = archive(("x.npy", zeros), compression=zipfile.ZIP_DEFLATED)
    twice = archive(("x.npy", member), ("y.npy", member))
    second = twice.rindex(b"PK\x01\x02")
    yield "cut", stored[:-30], "damaged .npz archive"
    yield "only an end", stored[-22:], "damaged .npz archive"
    yield "empty", archive(), "no member 'x'; its members are none"
    yield "other members", archive(("a.npy", member), ("b.npy", member)), "its members are 'a', 'b'"
    yield "no array in it", archive(("x.npy", b"hello")), "member 'x': not a .npy"
    yield "two of one name", archive(("x.npy", member), ("x", member)), "two members are called 'x'"
    yield "bzip2", archive(("x.npy", member), compression=zipfile.ZIP_BZIP2), "compression method 12"
    yield "encrypted", in_directory(stored, 8, "<H", 1), "encrypted"
    yield "bytes outside", in_directory(stored, 20, "<I", 1 << 30), "outside the file"
    yield "offset outside", in_directory(stored, 42, "<I", 1 << 31), "not where the directory says"
    yield "overlapping", (twice[:second + 42] + struct.pack("<I", 0) +
                          twice[second + 46:]), "its members overlap"
    yield "two sizes", in_directory(stored, 24, "<I", 1 << 20), "two sizes"
    yield "an impossible size", in_directory(bomb, 24, "<I", 0x7fffffff), "impossible size"
    yield "less than it says", in_directory(bomb, 24, "<I", 1 << 16), "data is damaged"
    yield "a bomb", bomb, "truncated: expected 3288334336 bytes"
    yield "a wrong checksum", in_directory(bomb, 16, "<I", 1), "data is damaged"


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(0, 1, "--optimizer=sgd")
    bad, labels = graph.work / "bad.file", graph.work / "labels.npy"

    def refused(label, words):
        check_refused(checks, label, ["input 'x'", f"'{bad}'", words], "zero-run", executable,
                      f"--data=x={bad},labels={labels}", "--quiet")

    for kind, files in (("array", arrays), ("archive", archives)):
        for label, content, words in files(graph.inputs["x"]):
            bad.write_bytes(content)
            refused(f"{kind}: {label}", words)
    bad.unlink()
    os.mkfifo(bad)
    refused("a FIFO", "not a regular file")
    bad.unlink()
    bad.mkdir()
    refused("a folder", "not one of tokens")
    bad.rmdir()
    bad.symlink_to(bad.name)
    refused("a link to itself", "cannot open")
    bad.unlink()
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    checks.that(used < 1 << 20, f"bad files took {used} KiB of memory")
    checks.finish()


if __name__ == "__main__":
    main()
