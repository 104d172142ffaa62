"""The error of the package."""


class ExportError(ValueError):
    """A function, module or tree that cannot be exported, a graph that differs from its module, or
    a file that does not fit; the text says what, and what to change."""
