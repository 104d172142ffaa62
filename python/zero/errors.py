"""The error of the exporters."""


class ExportError(ValueError):
    """A function, module or tree that cannot be exported; the text says what to change."""
