"""Writes small data files of every kind, the seeds of fuzz-readers: make_data.py FOLDER"""

import io
import json
import sys
from pathlib import Path

import numpy as np

KINDS = ("f4", "f8", "f2", "i8", "i4", "i2", "i1", "u2", "u1", "?")


def npy(array, version):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def documents(kind, labels):
    """The files of a folder of tokens, each after its size: see Readers.cpp."""
    lengths = [5, 0, 1, 12, 30, 3, 7]
    ids = np.arange(sum(lengths)).astype(kind)
    starts = np.cumsum([0, *lengths]).astype(np.uint64)
    manifest = {"format": "zero-tokens", "version": 1, "documents": len(lengths),
                "tokens": len(ids), "largest_id": len(ids) - 1, "pad_id": 3,
                "id_type": np.dtype(kind).name, "labels": labels}
    files = (json.dumps(manifest).encode(), starts.tobytes(), ids.tobytes(),
             (ids % 3 != 0).astype(np.uint8).tobytes())
    return b"".join(np.uint64(len(file)).tobytes() + file for file in files)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for i, kind in enumerate(KINDS):
        array = np.arange(60).reshape(15, 4).astype(kind)
        (folder / f"{i}.npy").write_bytes(npy(array, (1 + i % 3, 0)))
    x, labels = np.arange(24, dtype=np.float32).reshape(6, 4), np.arange(6)
    np.savez(folder / "stored.npz", x=x, labels=labels)
    np.savez_compressed(folder / "deflated.npz", x=x, labels=labels)
    np.savez_compressed(folder / "ratio.npz", x=np.zeros((1000, 4), np.float32))
    (folder / "tokens.bin").write_bytes(np.arange(100, dtype=np.uint16).tobytes())
    for kind, labels in (("u2", "same"), ("u4", "shifted")):
        (folder / f"{kind}.tokens").write_bytes(documents(kind, labels))
    (folder / "scalar.npy").write_bytes(npy(np.array(3.0), (1, 0)))


if __name__ == "__main__":
    main()
