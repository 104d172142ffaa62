"""Lists the optimizers and how they are compared with PyTorch, according to `zeroc
--list-optimizers`.
"""

import json
import subprocess

STEPS = 10
ELEMENTS = 400  # of each parameter, at most


def listed(zeroc="zeroc"):
    """All definitions."""
    done = subprocess.run([str(zeroc), "--list-optimizers"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def arguments(optimizer, example):
    """The arguments of torch's class: the rate, and every hyperparameter by its key."""
    given = dict(flag.removeprefix("--").partition("=")[::2] for flag in example.split())
    result = {"lr": float(given.pop("lr"))}
    for own in optimizer["hyperparameters"]:
        value = given.pop(own["flag"], None)
        if own["range"] == "switch":
            result[own["key"]] = value is not None
            continue
        numbers = own["default"] if value is None else [float(v) for v in value.split(",")]
        result[own["key"]] = numbers[0] if len(numbers) == 1 else tuple(numbers)
    if given:
        raise ValueError(f"{optimizer['name']} has no {', '.join(given)}: {example}")
    return result


def pick(values):
    """Elements at equal distances."""
    flat = values.reshape(-1)
    return flat[::-(-flat.size // ELEMENTS)]
