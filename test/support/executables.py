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


def read_executable(path):
    """The tables and the code of the executable at `path`."""
    data = Path(path).read_bytes()
    _, _, _, _, _, program, program_size, code, code_size, *_ = SECTIONS.unpack_from(data)
    return (program_class().FromString(data[program:program + program_size]),
            data[code:code + code_size])
