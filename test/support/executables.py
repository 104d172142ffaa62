"""Reads the tables of an executable."""

import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FORMAT = Path(__file__).resolve().parents[2] / "runtime/format"
# The header: magic, version, size, checksum, size of the file, then offset and size of the sections.
SECTIONS = struct.Struct("<8sIIQQ6Q")


@cache
def program_class():
    """The message Program of executable.proto."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["protoc", f"-I{FORMAT}", f"--descriptor_set_out={file.name}",
                        "--include_imports", FORMAT / "executable.proto"], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(Path(file.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    name = f"{files.file[-1].package}.Program"
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def read_section(path, number):
    """The bytes of a section: 0 the tables, 1 code, 2 constants, 3 code for the host."""
    data = Path(path).read_bytes()
    offset, size = struct.unpack_from("<2Q", data, SECTIONS.size - 48 + 16 * number)
    return data[offset:offset + size]


def features_of(path):
    """The features of a processor that the code of an executable needs."""
    return Path(path).read_bytes()[SECTIONS.size + 16:][:2048].split(b"\0")[0].decode()


def read_executable(path):
    """The tables and the code of the executable at `path`."""
    data = Path(path).read_bytes()
    _, _, _, _, _, program, program_size, code, code_size, *_ = SECTIONS.unpack_from(data)
    return (program_class().FromString(data[program:program + program_size]),
            data[code:code + code_size])


def mixed(state, word):
    state = (state ^ word) * 0x9e3779b97f4a7c15 & 0xffffffffffffffff
    return state ^ (state >> 29)


def checksum(data, seed):
    """The checksum of runtime/support/checksum.h."""
    words = memoryview(data[:len(data) // 32 * 32]).cast("Q")
    state = mixed(seed, len(data))
    for lane in range(4):
        total = seed + lane
        for word in words[lane::4]:
            total = mixed(total, word)
        state = mixed(state, total)
    for byte in data[len(words) * 8:]:
        state = mixed(state, byte)
    return state


def write_executable(path, source, program, code=None, data=None):
    """Writes the executable `source` with other tables, and other code and constants if given."""
    original = bytearray(Path(source).read_bytes())
    header_bytes = SECTIONS.unpack_from(original)[2]
    sections = SECTIONS.unpack_from(original)[5:] + struct.unpack_from("<2Q", original, SECTIONS.size)
    parts = [original[offset:offset + size] for offset, size in zip(sections[::2], sections[1::2])]
    parts[0] = program.SerializeToString()
    parts[1] = parts[1] if code is None else code
    parts[2] = parts[2] if data is None else data
    file, places = bytearray(original[:header_bytes]), []
    for part in parts:
        file += bytes(-len(file) % 4096)
        places += [len(file), len(part)]
        file += part
    struct.pack_into("<QQ8Q", file, 16, 0, len(file), *places)
    header, body = bytes(file[:header_bytes]), bytes(file[header_bytes:])
    struct.pack_into("<Q", file, 16, checksum(body, checksum(header, 0)))
    Path(path).write_bytes(file)
