"""Runs notebooks in a kernel of Jupyter, without a trace in the user's directories."""

import contextlib
import os
import tempfile
from unittest import mock

from nbclient import NotebookClient
from traitlets.config import Config

_DIRECTORIES = {"HOME": "home", "IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "config",
                "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "run"}
_SECONDS = 60  # for one cell; then the kernel is stopped


@contextlib.asynccontextmanager
async def kernel_of(notebook, folder):
    """A NotebookClient whose kernel runs in `folder` with this interpreter and this environment.
    The kernel is stopped when the body ends."""
    with tempfile.TemporaryDirectory(prefix="zero-") as work:
        variables = {name: os.path.join(work, base) for name, base in _DIRECTORIES.items()}
        os.mkdir(variables["HOME"])
        with mock.patch.dict(os.environ, variables):
            # Sockets in the directory, because others can connect to ports.
            sockets = {"transport": "ipc", "ip": os.path.join(work, "socket")}
            client = NotebookClient(notebook, timeout=_SECONDS, kernel_name="python3",
                                    record_timing=False, config=Config(KernelManager=sockets),
                                    resources={"metadata": {"path": str(folder)}})
            async with client.async_setup_kernel():
                yield client


def text_of(cell, kind="text/plain"):
    """The outputs of a cell as text: its streams by name, or a type of its data."""
    return "".join(output["text"] if output["output_type"] == "stream" and output["name"] == kind
                   else output.get("data", {}).get(kind, "") for output in cell["outputs"])
