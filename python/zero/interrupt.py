"""Ctrl-C, and other signals, between steps."""

import signal
import threading


class Interrupt:
    """Keeps the first of some signals, SIGINT unless given, while the body runs: `asked` is then
    its number. The next one does what it does without this: SIGINT raises KeyboardInterrupt. Other
    threads than the main one, programs with a handler of their own, and processes that ignore a
    signal are left as they are."""

    def __init__(self, *numbers):
        self.asked = 0
        self._numbers = numbers or (signal.SIGINT,)
        self._former = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in self._numbers:
                usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
                if signal.getsignal(number) is usual:
                    self._former[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number, frame):
        self.asked = number
        self._restore()

    def _restore(self):
        while self._former:
            signal.signal(*self._former.popitem())

    def __exit__(self, *_):
        self._restore()
