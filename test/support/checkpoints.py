"""Reads checkpoints without the runtime: manifest, checksums, tensors."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np

DTYPES = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "BF16": np.uint16,
          "I1": np.bool_, "I8": np.int8, "U8": np.uint8, "I16": np.int16, "U16": np.uint16,
          "I32": np.int32, "U32": np.uint32, "I64": np.int64, "U64": np.uint64}


def generations(folder):
    """The folders of generations, oldest first."""
    return sorted(Path(folder).glob("step-*"))


def newest(folder):
    return generations(folder)[-1]


def read_manifest(generation):
    """The manifest, after checking its checksum."""
    text = (Path(generation) / "manifest.json").read_text()
    manifest = json.loads(text)
    plain = text.replace(manifest["checksum"], "00000000", 1)
    assert f"{zlib.crc32(plain.encode()):08x}" == manifest["checksum"], "wrong checksum"
    return manifest


def write_manifest(generation, manifest):
    """Writes a changed manifest with a matching checksum."""
    text = json.dumps(dict(manifest, checksum="00000000"), indent=1)
    text = text.replace("00000000", f"{zlib.crc32(text.encode()):08x}", 1)
    (Path(generation) / "manifest.json").write_text(text)


def selected(shape, cuts):
    """The elements whose index along each cut's dimension is in one of its intervals."""
    indices = [np.arange(size) for size in shape]
    for cut in cuts:
        indices[cut["dimension"]] = np.concatenate(
            [np.arange(int(begin), int(begin) + int(extent))
             for begin, extent in zip(cut["begins"], cut["extents"])])
    return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)[np.ix_(*indices)].ravel()


def read_tensors(generation, has_copies=False):
    """All tensors, assembled from the files: every element is present once, and every byte of a
    file belongs to one element, unless other nodes have written copies."""
    manifest = read_manifest(generation)
    bodies = []
    for file in manifest["files"]:
        data = (Path(generation) / file["name"]).read_bytes()
        assert len(data) == int(file["bytes"]) and zlib.crc32(data) == file["crc32"], file
        (header,) = struct.unpack("<Q", data[:8])
        bodies.append(data[8 + header:])
    used = [0] * len(bodies)
    tensors = {}
    for tensor in manifest["tensors"]:
        shape = [int(size) for size in tensor["shape"]]
        flat = np.zeros(int(np.prod(shape, dtype=np.int64)), DTYPES[tensor["dtype"]])
        seen = np.zeros(flat.size, np.int64)
        for part in tensor["ranges"]:
            begin, count, offset = (int(part[key]) for key in ("begin", "count", "offset"))
            raw = bodies[part["file"]][offset:offset + count * flat.itemsize]
            places = np.arange(begin, begin + count)
            if part["cuts"]:
                places = selected(shape, part["cuts"])[places]
            flat[places] = np.frombuffer(raw, flat.dtype)
            seen[places] += 1
            used[part["file"]] += len(raw)
        assert (seen == 1).all(), tensor["name"]
        tensors[tensor["name"]] = flat.reshape(shape)
    sizes = [len(body) for body in bodies]
    assert has_copies or used == sizes, "bytes that belong to no tensor, or to two"
    return tensors


def same_tensors(left, right):
    return left.keys() == right.keys() and all(
        left[name].shape == right[name].shape and left[name].tobytes() == right[name].tobytes()
        for name in left)
