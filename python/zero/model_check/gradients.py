"""Compares gradients of a program with differences of a loss along random directions."""

from dataclasses import dataclass

import numpy as np

from ..errors import UnsupportedError

STEPS = (1e-5, 1e-6, 1e-7, 1e-8)


class NotSmooth(UnsupportedError):
    """The loss has no derivative that differences find."""


@dataclass(frozen=True)
class Comparison:
    """A derivative along one direction in one parameter.

    Attributes:
        name: of the parameter.
        direction: its number.
        program: the derivative by the gradient of the program.
        expected: by differences of the loss.
        scale: the norm of the gradient, or a thousandth of the largest, if that is more.
    """
    name: str
    direction: int
    program: float
    expected: float
    scale: float

    @property
    def error(self):
        """The difference as a part of the scale."""
        return abs(self.program - self.expected) / self.scale


def _difference(loss, feeds, name, direction, step):
    sides = [loss({**feeds, name: feeds[name] + sign * step * direction}) for sign in (1, -1)]
    return (sides[0] - sides[1]) / (2 * step)


def _derivative(loss, feeds, name, direction, tolerance):
    """The derivative by the first two steps that agree: a larger step may cross a kink, and a
    smaller one has fewer digits."""
    found = [_difference(loss, feeds, name, direction, STEPS[0])]
    for step in STEPS[1:]:
        found.append(_difference(loss, feeds, name, direction, step))
        if abs(found[-1] - found[-2]) <= tolerance / 4:
            return found[-2]
    raise NotSmooth(f"'{name}': differences of the loss with steps of "
                    f"{', '.join(map(str, STEPS))} do not agree: {found}")


def compare(loss, feeds, gradients, without, directions, tolerance, random):
    """Comparisons of all gradients along `directions` random directions each.

    without: rows of parameters that no direction changes, by name.
    """
    norms = {name: float(np.linalg.norm(value)) for name, value in gradients.items()}
    least = 1e-3 * max(norms.values()) or 1e-6
    for name, gradient in gradients.items():
        scale = max(norms[name], least)
        for number in range(directions):
            direction = random.standard_normal(gradient.shape)
            if name in without:
                direction[without[name]] = 0
            expected = _derivative(loss, feeds, name, direction, tolerance * scale)
            yield Comparison(name, number, float(np.vdot(gradient, direction)), expected, scale)


def chance(error, tolerance, directions):
    """The probability that a gradient with this error, as a part of its scale, is not found: the
    derivative of the error along a normal direction is normal, with the error's norm."""
    return min(1.0, tolerance / error * np.sqrt(2 / np.pi)) ** directions
