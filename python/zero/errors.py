"""The exceptions of the package. All derive from ZeroError, and have the text of the tools."""


class ZeroError(Exception):
    """An error of the compiler, of the runtime, or of this package."""


class ExportError(ZeroError, ValueError):
    """A function, module or tree that cannot be exported, a graph that differs from its module, or
    a file that does not fit; the text says what, and what to change."""


class ToolError(ZeroError):
    """A tool ended with an error.

    Attributes:
        output: everything that the tool has printed.
        code: its exit code.
    """

    def __init__(self, message, output="", code=1):
        super().__init__(message)
        self.output = output
        self.code = code


class CompileError(ToolError):
    """The compiler refused a model or its flags; the text is the compiler's."""


class InvalidArgumentError(ZeroError, ValueError):
    """A call that is always wrong, such as a step of a closed session."""


class NotFoundError(ZeroError, LookupError):
    """No input, output, tensor or checkpoint of that name."""


class BadFileError(ZeroError, ValueError):
    """A file of another format than expected, or a damaged one."""


class BadDataError(ZeroError, ValueError):
    """Data of another type, shape or number of samples than the program's."""


class UnsupportedError(ZeroError, NotImplementedError):
    """Well-formed, but not supported by this runtime."""


class IoError(ZeroError, OSError):
    """The operating system refused to open, read or write a file, or to give memory."""


class CheckFailedError(ZeroError, ArithmeticError):
    """A check inside the program found a bad value, such as a label out of range."""


class NotFiniteError(ZeroError, FloatingPointError):
    """The loss is NaN or infinite."""


class RankTimeoutError(ZeroError, TimeoutError):
    """A rank did not arrive at a collective in time."""


class AbortedError(ZeroError, RuntimeError):
    """Stopped because another rank failed."""


class InternalError(ZeroError, RuntimeError):
    """Out of memory, or a bug in the runtime."""


# By the number of zero_rt_code.
_CLASSES = (None, InvalidArgumentError, NotFoundError, BadFileError, BadDataError,
            UnsupportedError, IoError, CheckFailedError, NotFiniteError, RankTimeoutError,
            AbortedError, InternalError)


def class_of(code):
    """The class of a zero_rt_code other than ZERO_RT_OK. zero._native calls it."""
    return _CLASSES[code]
