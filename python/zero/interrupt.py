"""Ctrl-C, and other signals, between steps."""

import signal
import threading


class Interrupt:
    """Keeps the first signal of a number, SIGINT unless given, while the body runs: `asked` is then
    true. The second one does what it does without this: SIGINT raises KeyboardInterrupt. Other
    threads than the main one, programs with a handler of their own, and processes that ignore the
    signal are left as they are."""

    def __init__(self, number=signal.SIGINT):
        self.asked = False
        self._number = number
        self._former = None

    def __enter__(self):
        usual = signal.default_int_handler if self._number == signal.SIGINT else signal.SIG_DFL
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(self._number) is usual):
            self._former = signal.signal(self._number, self._ask)
        return self

    def _ask(self, number, frame):
        self.asked = True
        self._restore()

    def _restore(self):
        if self._former is not None:
            signal.signal(self._number, self._former)
            self._former = None

    def __exit__(self, *_):
        self._restore()
