"""Prints the driver of CUDA that is found in a folder of pip. usage: pip_libraries.py FOLDER_OF_RUN LIBRARY"""

import os
import site
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from machine import in_a_process, use_libraries  # noqa: E402

folder = Path(site.getusersitepackages()) / "nvidia/driver/lib"
folder.mkdir(parents=True)
(folder / "libcuda.so.1").symlink_to(sys.argv[2])
has_driver = in_a_process("load('ZERO_CUDA_DRIVER') is not None") == "True"
use_libraries()
print("this machine has a driver" if has_driver else os.environ["ZERO_CUDA_DRIVER"])
