"""What a program has, as numbers and names."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """An input, output, tensor or gradient of a program.

    Attributes:
        name: the model's name.
        dtype: of an element, such as "float32", "bfloat16" or "int64".
        shape: elements in each dimension; of one rank for inputs and outputs, else of all.
        role: "parameters", "buffers", "optimizer state", "constants" or "gradients"; "" for inputs
            and outputs.
        frozen: a parameter that training does not change.
        saved: whether state_dict() and save() have it.
        aliases: further names of a tied tensor.
    """
    name: str
    dtype: str
    shape: tuple
    role: str = ""
    frozen: bool = False
    saved: bool = False
    aliases: tuple = ()


@dataclass(frozen=True)
class Tier:
    """The memory of one tier ("device", "host" or "nvme") on each rank, as planned.

    Attributes:
        peak: bytes that a rank reserves; the step never needs more.
        lower_bound: the largest sum of live bytes; no plan of these lifetimes can need less.
        peak_at: the command at the peak.
        most: bytes by role ("parameters", "gradients", "optimizer state", "activations",
            "working", "buffers", "constants"), each at its own maximum.
        at_peak: the same at the peak.
    """
    tier: str
    peak: int
    lower_bound: int
    peak_at: str
    most: dict = field(default_factory=dict)
    at_peak: dict = field(default_factory=dict)


def bytes_text(count):
    """Bytes as people read them: "33.07 MiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count} {unit}" if unit == "bytes" else f"{count:.2f} {unit}"
        count /= 1024


def parse_bytes(text):
    """The bytes of a size as flags have it: "4GiB", "4G" and 4 << 30 are the same, "4GB" is 4e9;
    None of anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:([kmgt])(b|ib)?)?", str(text), re.IGNORECASE)
    if not found:
        return None
    power = "kmgt".index(found[2].lower()) + 1 if found[2] else 0
    base = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * base**power)


class Certificate(dict):
    """The memory of a rank by the name of its tier: `certificate["device"].peak` is in bytes.

    The attributes peak, lower_bound, peak_at, most and at_peak are those of the device.
    """

    def __getattr__(self, name):
        if name in Tier.__dataclass_fields__:
            return getattr(self["device"], name)
        raise AttributeError(f"a certificate has no attribute '{name}'")

    def __str__(self):
        lines = []
        for tier in self.values():
            lines.append(f"{tier.tier}: {bytes_text(tier.peak)} per rank at '{tier.peak_at}'")
            lines += [f"  {role:16} {bytes_text(most):>14} at most, "
                      f"{bytes_text(tier.at_peak.get(role, 0)):>14} at the peak"
                      for role, most in tier.most.items()]
        return "\n".join(lines)

    __repr__ = __str__


def certificate_of_plan(plan):
    """The certificate that the JSON of --report has."""
    tiers = Certificate()
    for part in ({"name": "device", **plan}, *plan.get("tiers", ())):
        roles = part["roles"]
        tiers[part["name"]] = Tier(
            part["name"], part["arena_bytes"], part["lower_bound_bytes"],
            plan["commands"][part["peak_command"]]["name"] if plan["commands"] else "",
            {role["name"]: role["most_bytes"] for role in roles if role["most_bytes"]},
            {role["name"]: role["at_peak_bytes"] for role in roles if role["at_peak_bytes"]})
    return tiers


def mesh_of_plan(plan):
    """The number of ranks along each axis, from the JSON of --report."""
    return plan.get("mesh", {"data": plan["ranks"]})


def volumes_of_plan(plan):
    """The elements that a rank receives in a step along each axis, from the JSON of --report."""
    parts = {"data": plan.get("volume"), "tensor": plan.get("tensor_volume")}
    mesh = mesh_of_plan(plan)
    received = {axis: volume["total"] // mesh[axis] * (mesh[axis] - 1)
                for axis, volume in parts.items() if volume}
    return {axis: elements for axis, elements in received.items() if elements}
