"""Ctrl-C between steps."""

import signal
import threading


class Interrupt:
    """Keeps the first SIGINT while the body runs: `asked` is then true. The second one raises
    KeyboardInterrupt at once, as without it. Other threads than the main one, and programs with a
    handler of their own, are left as they are."""

    def __init__(self):
        self.asked = False
        self._former = None

    def __enter__(self):
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
            self._former = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number, frame):
        self.asked = True
        self._restore()

    def _restore(self):
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
            self._former = None

    def __exit__(self, *_):
        self._restore()
