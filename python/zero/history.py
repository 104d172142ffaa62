"""What a training has computed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class StepResult:
    """What a step has computed.

    Attributes:
        loss: of the global batch, before this step's update; NaN if the program has none.
        step: its number, from 0.
        gradient_norm: global norm of the unscaled gradients before they are clipped; None if the
            program does not compute it (compile with clip_norm).
        learning_rate: of this step's update.
        seconds: that it took.
        loss_scale: of this step's gradients; None without one (fp16 has one).
        skipped: the gradients overflowed, and only the loss scale was changed.
    """
    loss: float
    step: int
    gradient_norm: float | None
    learning_rate: float
    seconds: float
    loss_scale: float | None = None
    skipped: bool = False

    def figures(self) -> dict:
        """The figures that the program has, by name, without the number of the step."""
        return {name: value for name, value in (
            ("loss", self.loss), ("gradient_norm", self.gradient_norm),
            ("learning_rate", self.learning_rate), ("loss_scale", self.loss_scale),
            ("skipped", self.skipped or None), ("seconds", self.seconds)) if value is not None}


@dataclass
class History:
    """The results of the steps of a train(), in order.

    Attributes:
        results: a StepResult for each step.
        evaluations: pairs of steps done and the mean loss over eval_data.
        metrics: of each of these evaluations, a dictionary of the metrics.
    """
    results: list = field(default_factory=list)
    evaluations: list = field(default_factory=list)
    metrics: list = field(default_factory=list)

    @property
    def losses(self) -> list[float]:
        """One float for each step."""
        return [result.loss for result in self.results]

    @property
    def seconds(self) -> float:
        """In steps, in all."""
        return sum(result.seconds for result in self.results)

    def __len__(self):
        return len(self.results)

    def __repr__(self):
        if not self.results:
            return "History(no steps)"
        first, last = self.results[0], self.results[-1]
        return (f"History({len(self)} steps, loss {first.loss:.6f} -> {last.loss:.6f}, "
                f"{self.seconds / len(self):.4f} s per step)")
