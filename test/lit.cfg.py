"""Configuration of all lit tests: lit --param build=BUILD_FOLDER test/."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

config.name = "zero"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "corpus", "data"]
config.test_source_root = os.path.dirname(__file__)
source = os.path.dirname(config.test_source_root)
build = os.path.abspath(lit_config.params.get("build", os.path.join(source, "build")))
config.test_exec_root = os.path.join(build, "test")

# CMake knows the directory of LLVM's tools.
site = os.path.join(build, "test", "site.cfg.py")
if not os.path.exists(site):
    lit_config.fatal(f"cannot read '{site}': configure the build folder, or name it with --param build=BUILD_FOLDER")
lit_config.load_config(config, site)
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), os.path.dirname(config.filecheck), config.llvm_tools,
     config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
# Slurm and its daemons, which only root can start.
if os.geteuid() == 0 and all(map(shutil.which, ("munged", "slurmctld", "slurmd", "srun"))):
    config.available_features.add("slurm")

# The cache of compiled kernels is in the directory of the tests, not in that of the user.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
# Tests may run from a read-only checkout.
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# The Python package with its extension is in the build folder, if that was built.
package = os.path.join(build, "python")
if list(Path(package).glob("zero/_native.*")):
    config.available_features.add("python-extension")
else:
    package = os.path.join(source, "python")
config.environment["PYTHONPATH"] = os.pathsep.join(
    [os.path.join(config.test_source_root, "support"), package])

config.substitutions.append(("%python", os.path.join(source, ".deps", "venv", "bin", "python")))
# A GPU without a GPU: see docs/design/gpu-runtime.md.
recording = os.path.join(build, "test", "unit", "gpu", "libzero-recording-cuda.so")
config.substitutions.append(("%recording_gpu", f"env CUDA_HOME=/nonexistent ZERO_CUDA_DRIVER={recording}"
                             f" ZERO_CUBLASLT={recording} ZERO_NCCL={recording}"))
config.substitutions.append(("%data", os.path.join(config.test_source_root, "data")))
config.substitutions.append(("%build", build))
config.substitutions.append(("%llvm_tools", config.llvm_tools))
config.substitutions.append(("%mlir_include", config.mlir_include))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%cc", config.c_compiler))
config.substitutions.append(("%link_flags", config.link_flags))
# Exports from JAX and PyTorch are tested where these are installed: in the environments that
# bench/setup.sh creates, or in those whose interpreters the variables name.
for feature, packages, environment, variable in (
        ("jax", ["jax"], "jax", "ZERO_JAX_PYTHON"),
        ("optax", ["jax", "optax"], "jax", "ZERO_JAX_PYTHON"),
        ("torch-mlir", ["torch_mlir"], "torch", "ZERO_TORCH_PYTHON"),
        ("transformers", ["torch", "transformers", "accelerate", "peft"], "torch",
         "ZERO_TORCH_PYTHON"),
        ("tensorboard", ["tensorboard"], "torch", "ZERO_TORCH_PYTHON"),
        ("pyarrow", ["pyarrow"], "torch", "ZERO_TORCH_PYTHON"),
        ("trackers", ["mlflow", "sqlalchemy", "wandb"], "torch", "ZERO_TORCH_PYTHON"),
        ("torch-onnx", ["torch", "onnxscript", "transformers", "peft"], "torch",
         "ZERO_TORCH_PYTHON")):
    interpreter = os.environ.get(
        variable, os.path.join(source, ".deps", "bench", environment, "bin", "python"))
    libraries = list(Path(interpreter).parent.glob("../lib/python3*/site-packages"))
    if libraries and all(any((library / package).exists() for library in libraries)
                         for package in packages):
        config.available_features.add(feature)
        config.substitutions.append((f"%{environment}_python", interpreter))
# The documentation site, where scripts/site/setup.sh installed what builds it.
docs_python = os.environ.get(
    "ZERO_DOCS_PYTHON", os.path.join(source, ".deps", "docs", "bin", "python"))
if list(Path(docs_python).parent.glob("../lib/python3*/site-packages/mkdocs")):
    config.available_features.add("docs-site")
    config.environment["ZERO_DOCS_PYTHON"] = docs_python
    config.substitutions.append(("%docs_python", docs_python))
# JAX looks for accelerators otherwise.
config.environment["JAX_PLATFORMS"] = "cpu"
# check-zero-roundtrip prints and parses programs before passes run.
if lit_config.params.get("roundtrip"):
    config.suffixes = [".mlir"]
    config.substitutions.append((r"\bzero-opt ", "zero-opt --verify-roundtrip "))
# The page of zeroc --report is tested if there is a browser.
if browser := shutil.which("chromium") or shutil.which("google-chrome"):
    config.available_features.add("chromium")
    config.substitutions.append(("%chromium", browser))
# Kernels for GPUs are assembled if the CUDA toolkit is installed; zeroc searches for it in the same
# places.
cuda = os.environ.get("CUDA_HOME")
if cuda is not None:
    config.environment["CUDA_HOME"] = cuda
ptxas = f"{cuda or '/usr/local/cuda'}/bin/ptxas"
if not os.access(ptxas, os.X_OK) and cuda is None:
    ptxas = shutil.which("ptxas")
if ptxas and os.access(ptxas, os.X_OK):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
# The disassembler is also a package of pip: nvidia-cuda-nvdisasm.
packaged = Path(source, ".deps", "venv", "lib").glob("python3*/site-packages/nvidia/*/bin/nvdisasm")
for nvdisasm in (f"{cuda or '/usr/local/cuda'}/bin/nvdisasm", shutil.which("nvdisasm"), *map(str, packaged)):
    if nvdisasm and os.access(nvdisasm, os.X_OK):
        config.available_features.add("nvdisasm")
        config.substitutions.append(("%nvdisasm", nvdisasm))
        break
else:
    nvdisasm = None
config.substitutions.append(("%with_nvdisasm", f"--nvdisasm {nvdisasm}" if nvdisasm else ""))
# scripts/check-tidy.sh.
if shutil.which("clang-tidy-22") or shutil.which("clang-tidy"):
    config.available_features.add("clang-tidy")
# With AVX-512, products of oneDNN need workspace, and oneDNN computes the convolutions.
if "avx512vl" in Path("/proc/cpuinfo").read_text():
    config.available_features.add("avx512")
# The runtime for 64-bit ARM, under emulation: make arm64-test-programs.
arm, emulator = os.path.join(build, "arm64"), shutil.which("qemu-aarch64")
if emulator and all(os.path.exists(os.path.join(arm, file)) for file in ("bin/zero-run", "lib/libzero_mini.a")):
    config.available_features.add("arm64")
    emulator += " -L " + os.path.join(source, ".deps", "arm64")
    config.substitutions.append(("%arm_run", f"{emulator} {arm}/bin/zero-run"))
    config.substitutions.append(("%arm_emulator", emulator))
    config.substitutions.append(("%arm_toolchain", os.path.join(source, "cmake/toolchains/aarch64.cmake")))
    config.substitutions.append(("%arm_build", arm))
# The wheel, in a system of its own: make wheel-test.
if os.geteuid() == 0 and os.path.exists(os.path.join(build, "wheel", "index")):
    config.available_features.add("wheel")
    config.environment["ZERO_WHEEL_PYTHONS"] = os.environ.get("ZERO_WHEEL_PYTHONS", "")
# Messages between processes, with each MPI whose launcher and plugin are there. Debian's launchers
# have these names. Open MPI does not start more processes than cores, or those of root, unasked.
for abi, launcher, options in (
        ("openmpi", "mpirun.openmpi", "--allow-run-as-root --oversubscribe --bind-to none"
         " --mca odls_base_sigkill_timeout 0"),
        ("mpich", "mpiexec.mpich", "")):
    if shutil.which(launcher) and os.path.exists(os.path.join(build, "lib", f"libzero_mpi_{abi}.so")):
        config.available_features.add(abi)
        config.substitutions.append((f"%{abi}_run", f"{launcher} {options}"))
# torchrun, where PyTorch is installed.
torch_python = os.environ.get(
    "ZERO_TORCH_PYTHON", os.path.join(source, ".deps", "bench", "torch", "bin", "python"))
torchrun = os.path.join(os.path.dirname(torch_python), "torchrun")
if os.access(torchrun, os.X_OK):
    config.available_features.add("torchrun")
    config.substitutions.append(("%torchrun", torchrun))
# Several nodes, where namespaces of the network are allowed. They need root.
sys.path.insert(0, os.path.join(config.test_source_root, "support"))
import nodes  # noqa: E402
if reason := nodes.missing():
    lit_config.note(f"no tests on several nodes: {reason}")
else:
    config.available_features.add("nodes")
# Control groups that limit memory. They need root.
import control_groups  # noqa: E402
if reason := control_groups.missing():
    lit_config.note(f"no tests in control groups: {reason}")
else:
    config.available_features.add("control-groups")
# Tests that take too long for every change: make test-full.
if lit_config.params.get("full"):
    config.available_features.add("full")
