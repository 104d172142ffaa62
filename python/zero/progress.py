"""A line of progress on standard error, as tqdm has it; in notebooks tqdm's bar, if tqdm and
ipywidgets are installed."""

import os
import sys
import time

_BLOCKS = " ▏▎▍▌▋▊▉█"
_LEAST_SECONDS = 0.1  # between two lines that are written over
_WIDTH = 100  # where there is no terminal


def _clock(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def _bar(fraction, width):
    eighths = int(fraction * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if full < width else "")).ljust(width)


def line_of(done, total, seconds, figures="", width=80, unit="step"):
    """A line such as " 30%|███       | 3/10 [00:01<00:02,  2.90step/s, loss=9.06]" of at most
    `width` characters. total: 0 if it is not known."""
    rate = done / seconds if seconds > 0 and done else 0
    speed = (f"{rate:5.2f}{unit}/s" if rate >= 1 else f"{1 / rate:5.2f}s/{unit}") if rate else (
        f"?{unit}/s")
    figures = f", {figures}" if figures else ""
    if not total:
        return f"{done}{unit} [{_clock(seconds)}, {speed}{figures}]"[:width]
    left = _clock((total - done) / rate) if rate else "?"
    head = f"{100 * done // total:3}%|"
    tail = f"| {done}/{total} [{_clock(seconds)}<{left}, {speed}{figures}]"
    room = width - len(head) - len(tail)
    return (head + _bar(done / total, room) + tail) if room > 0 else (head + tail)[:width]


class Line:
    """A line that is written over on a terminal and in a notebook, and else written once.

    notebook: the stream is a cell's: it is no terminal, but has carriage returns.
    """

    def __init__(self, total, stream=None, notebook=False, unit="step"):
        self.total = total
        self.done = 0
        self._unit = unit
        self._stream = stream or sys.stderr
        self._notebook = notebook
        self._live = notebook or self._stream.isatty()
        self._begin = self._last = time.monotonic()
        self._figures = ""

    def _width(self):
        # In a notebook the stream has the terminal of the server, if there is one.
        if not self._notebook:
            try:
                return os.get_terminal_size(self._stream.fileno()).columns - 1
            except (OSError, ValueError):
                pass
        return _WIDTH

    def _write(self, end=""):
        width = self._width()
        seconds = time.monotonic() - self._begin
        text = line_of(self.done, self.total, seconds, self._figures, width, self._unit)
        # Blanks cover the rest of a longer line.
        self._stream.write(("\r" + text.ljust(width) if self._live else text) + end)
        self._stream.flush()

    def update(self, figures, done=None):
        """done: of the total; one more than before, if None."""
        self.done = self.done + 1 if done is None else done
        self._figures = figures
        now = time.monotonic()
        if self._live and now - self._last >= _LEAST_SECONDS:
            self._last = now
            self._write()

    def close(self):
        self._write("\n")


class _Notebook:
    """The same with tqdm.notebook."""

    def __init__(self, total):
        # Without ipywidgets the bar is an error, too, but a half-made bar prints another one.
        import ipywidgets
        from tqdm.notebook import tqdm
        self._bar = tqdm(total=total or None, unit="step")

    def update(self, figures):
        self._bar.set_postfix_str(figures, refresh=False)
        self._bar.update()

    def close(self):
        self._bar.close()


class _Nothing:
    def update(self, figures):
        pass

    def close(self):
        pass


def _is_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    # The shells of IPython in a terminal have no kernel. Hosts have classes of their own.
    return getattr(shell, "kernel", None) is not None


def progress_of(total, shown):
    """Something with update(figures) and close(); total: 0 if it is not known."""
    if not shown:
        return _Nothing()
    notebook = _is_notebook()
    if notebook:
        try:
            return _Notebook(total)
        except ImportError:
            pass
    return Line(total, notebook=notebook)
