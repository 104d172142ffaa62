"""Checks the wheel, and trains with it in a system that has nothing else.

usage: check_wheel.py WHEEL DATA --readelf=PROGRAM

WHEEL has dist/ (the wheel), index/ (what it depends on) and system/ (a root directory with Python
only). In system/, once for its Python and once for each installation of ZERO_WHEEL_PYTHONS, a fresh
virtual environment gets the wheel, and Inputs/wheel/train.py runs with it.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

from zero_test import Checks

INPUTS = Path(__file__).parent / "Inputs" / "wheel"
# What the libraries of Zero export: the main functions of the tools, and the extension.
EXPORTED = {
    "libzero_compiler.so": {"zerocMain", "zeroOptMain", "zeroTranslateMain"},
    "_native.abi3.so": {"PyInit__native"},
    "libzero_mpi_openmpi.so": {"zero_mpi_plugin"},
    "libzero_mpi_mpich.so": {"zero_mpi_plugin"},
}
# What manylinux expects of a system, beside the wheel's own libraries.
SYSTEM = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+|libz|ld-linux-x86-64)\.so\.\d+")


def check_licenses(checks, archive):
    """Each bundled library is of a Debian package, which auditwheel lists with the wheel."""
    names = archive.namelist()
    (listed,) = [name for name in names if name.endswith("auditwheel.cdx.json")]
    found = [component["name"] for component in json.loads(archive.read(listed))["components"]
             if "pkg:deb" in component["bom-ref"]]
    libraries = [name for name in names if ".libs/" in name and ".so" in name]
    checks.that(len(found) == len(libraries) > 0, f"{len(found)} packages for {libraries}")
    for package in [*found, "libmlir-22-dev", "liblld-22-dev"]:
        checks.that(f"zero/licenses/{package}/copyright" in names, f"no licence of {package}")
    for package in ("onnx", "nanobind"):
        checks.that(f"zero/licenses/{package}/LICENSE" in names, f"no licence of {package}")


def read_elf(readelf, *arguments):
    return subprocess.run([readelf, *arguments], capture_output=True, text=True, check=True).stdout


def needed_by(readelf, file):
    return re.findall(r"NEEDED.*\[(.*)\]", read_elf(readelf, "--dynamic", file))


def exported_by(readelf, file):
    """Symbols that the file defines for others."""
    lines = read_elf(readelf, "--dyn-syms", "--wide", file).splitlines()
    return {line.split()[7] for line in lines
            if (" GLOBAL " in line or " WEAK " in line) and " UND " not in line}


def check_libraries(checks, archive, readelf):
    """What programs and libraries need is in the wheel or on every system; symbols are hidden."""
    bundled = {Path(name).name for name in archive.namelist() if ".so" in name}
    checks.that("libzero_compiler.so" in bundled, f"libraries {bundled}")
    with tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        files = [path for path in Path(folder).rglob("*")
                 if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        for file in files:
            for name in needed_by(readelf, file):
                checks.that(name in bundled or SYSTEM.fullmatch(name), f"{file.name} needs {name}")
            if file.name in EXPORTED:
                exported = exported_by(readelf, file)
                checks.that(exported == EXPORTED[file.name], f"{file.name} exports {exported}")


def train(checks, wheel, data, python):
    done = subprocess.run(["unshare", "--mount", "--net", "bash", INPUTS / "enter.sh",
                           wheel, data, INPUTS, python], capture_output=True, text=True)
    label = python or "Python of the system"
    checks.that(done.returncode == 0, f"{label}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{label}: {done.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--readelf", required=True)
    args = parser.parse_args()
    checks = Checks()
    (path,) = (args.wheel / "dist").glob("*.whl")
    checks.that(re.search(r"-cp3\d+-abi3-manylinux_2_\d+_x86_64\.whl$", path.name), path.name)
    print(f"{path.name}: {path.stat().st_size / 2**20:.1f} MiB")
    with zipfile.ZipFile(path) as archive:
        check_licenses(checks, archive)
        check_libraries(checks, archive, args.readelf)
    others = os.environ.get("ZERO_WHEEL_PYTHONS", "")
    for python in ["", *filter(None, others.split(":"))]:
        train(checks, args.wheel.resolve(), args.data.resolve(), python)
    checks.finish()


if __name__ == "__main__":
    main()
