"""Forks, daemon threads, callbacks, subinterpreters and odd arguments: each ends in an exception.

usage: check_life.py DATA WORK        # runs each scene below in a process of its own
       check_life.py --scene NAME EXECUTABLE NPZ
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

SECONDS = 60  # a scene that hangs


def expect(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}")


def forked(program, batch):
    """The child has none of the runtime's threads."""
    import zero
    with program.session() as session:
        session.step(batch)
        child = os.fork()
        if child == 0:
            try:
                expect(zero.errors.InvalidArgumentError, "was forked", lambda: session.step(batch))
                expect(zero.errors.InvalidArgumentError, "was forked", lambda: program.session())
            except BaseException as error:
                print(error, file=sys.stderr)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        session.step(batch)


def forked_end(program, batch):
    """A child that ends in order, with a session of its parent."""
    session = program.session()
    session.step(batch)
    child = os.fork()
    if child == 0:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    session.step(batch)


def daemon(program, batch):
    """Python ends while a thread is in a step."""
    session = program.session()

    def train():
        while True:
            session.step(batch)
    threading.Thread(target=train, daemon=True).start()
    time.sleep(0.3)


def callback(program, batch):
    """The session is busy while it reports its progress."""
    errors, sessions = [], []
    sys.unraisablehook = lambda given: errors.append(str(given.exc_value))

    def report(*_):
        if sessions:
            sessions[0].stats()
    with program.session(progress=report) as session:
        sessions.append(session)
        session.step(batch)
        session.load_state_dict(session.state_dict())
        sessions.clear()
    assert errors and all("cannot call the session" in error for error in errors), errors


def subinterpreter(program, batch):
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    other = interpreters.create()
    paths = f"import sys; sys.path[:] = {sys.path!r}\n"
    try:
        failed = interpreters.run_string(other, paths + "import zero.native; zero.native.load()")
        words = str(failed)
    except interpreters.RunFailedError as error:
        words = str(error)
    assert "subinterpreter" in words, words
    with program.session() as session:
        session.step(batch)


def zero_bytes(program, batch):
    import zero
    with program.session() as session:
        session.step(batch)
        for function in (lambda: session.save("a\0b.safetensors"), lambda: session.load_state_dict("a\0b"),
                         lambda: session.save_checkpoint("a\0b"), lambda: zero.Program("a\0b.zexe")):
            expect((zero.errors.InvalidArgumentError, ValueError), "", function)
        assert not Path("a").exists()


class Twice:
    """Gives the same capsule each time, against the protocol."""

    def __init__(self, array):
        self.array, self.capsule = array, array.__dlpack__()

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def capsules(program, batch):
    import zero
    with program.session() as session:
        odd = {name: Twice(value) for name, value in batch.items()}
        session.step(odd)
        for _ in range(3):
            expect(zero.errors.BadDataError, "was taken before", lambda: session.step(odd))
        session.step(batch)


SCENES = [forked, forked_end, daemon, daemon, daemon, callback, subinterpreter, zero_bytes, capsules]


def run_scene(name, executable, arrays):
    import zero
    loaded = np.load(arrays)
    batch = {key.removeprefix("input."): loaded[key] for key in loaded.files if key.startswith("input.")}
    globals()[name](zero.Program(executable), batch)


def main():
    from zero_test import Checks, Graph
    data, work = sys.argv[1], Path(sys.argv[2])
    graph, checks = Graph(data, "mlp", work), Checks()
    executable = graph.compile(0, 1)
    for scene in SCENES:
        try:
            done = subprocess.run([sys.executable, __file__, "--scene", scene.__name__, executable.absolute(),
                                   (graph.folder / "groundtruth.npz").absolute()], text=True, cwd=work,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
            checks.that(done.returncode == 0, f"{scene.__name__}: status {done.returncode}: {done.stderr}")
        except subprocess.TimeoutExpired:
            checks.that(False, f"{scene.__name__}: hangs")
    checks.finish()


if __name__ == "__main__":
    if sys.argv[1] == "--scene":
        run_scene(*sys.argv[2:])
    else:
        main()
