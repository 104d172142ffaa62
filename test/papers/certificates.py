"""What zeroc prints for a model that it only plans: bytes of a rank, and what ranks exchange."""

import re

from zero_test import run_tool

ROLES = "parameters|gradients|optimizer state|activations|working|arena"


class Certificate:
    """Maxima of the device by role, `volume` by axis in elements before (n - 1) / n, and `part`,
    the (n - 1, n) of each axis. `text` is all that zeroc printed."""

    def __init__(self, model, *flags):
        # The workspace of products differs between processors, unless one is named.
        self.text = run_tool("zeroc", model, "--plan-only", "--precision=bf16", "--optimizer=adam",
                             "--target-cpu=znver4", *flags)
        device = re.split("^(?:host|nvme) of each rank", self.text, flags=re.MULTILINE)[0]
        self.bytes = {role: int(size) for role, size in
                      re.findall(rf"^  ({ROLES}) +(\d+)", device, re.MULTILINE)}
        self.volume, self.part = {}, {}
        for axis, above, below, elements in re.findall(
                r"^(?:along (\w+), )?each rank receives \d+ elements per step, (\d+)/(\d+) of (\d+)",
                self.text, re.MULTILINE):
            self.volume[axis or "data"] = int(elements)
            self.part[axis or "data"] = int(above), int(below)

    def state(self):
        """Bytes of the model state."""
        return sum(self.bytes[role] for role in ("parameters", "gradients", "optimizer state"))
