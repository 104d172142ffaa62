"""zero-check refuses faults that were once found in Zero, put into executables again.

usage: check_past_faults.py DATA WORK

Each is also run: it changes a result, or the runtime refuses it.
"""

import sys

import numpy as np

from check_mutants import Original, outcome
from executables import read_executable, write_executable
from mutator import addresses, delete_command
from zero_test import Checks

PROGRAMS = {
    "accumulated": ("gpt2-tiny", ["--optimizer=adamw"],
                    ["--ranks=2", "--zero-stage=2", "--micro-batches=2"]),
    "nodes": ("gpt2-tiny", ["--optimizer=adamw"],
              ["--ranks=4", "--zero-stage=3", "--shard-params=node", "--ranks-per-node=2"]),
    "host": ("mlp", ["--optimizer=adamw"],
             ["--ranks=2", "--zero-stage=3", "--bucket-bytes=20KB", "--offload-optimizer=host"]),
    "constant": ("llama-tiny", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=2"]),
    "plain": ("mlp", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=2"]),
}


def commands(program, body=None):
    """Segments and indices of commands."""
    return [(segment, i) for segment in program.segments for i, c in enumerate(segment.commands)
            if body is None or c.HasField(body)]


def local_means(program):
    """The loss of each part is divided by its own number of labels, not by the mean over ranks."""
    gathered = [(segment, i) for segment, i in commands(program, "collective")
                if segment.commands[i].collective.control and segment.kind == 0]
    for segment, i in reversed(gathered):
        delete_command(segment, i)
    return bool(gathered)


def ascending_axes(program):
    """Slices of a collective follow each other in the order of ranks, not in that of its axes."""
    found = [segment.commands[i].collective for segment, i in commands(program, "collective")]
    found = [collective for collective in found if len(collective.axes) > 1]
    for collective in found:
        collective.axes.sort()
    return bool(found)


def stale_home(program):
    """A transfer takes the new value of a state to another address; the old one stays at home."""
    homes = {(buffer.tier, buffer.offset) for buffer in program.buffers}
    for segment, i in reversed(commands(program, "copy")):
        target = segment.commands[i].copy.dst
        if (target.tier, target.offset) in homes and segment.kind == 2:
            target.offset += segment.commands[i].copy.bytes
            return True
    return False


def no_wait(program):
    """A kernel does not wait for what another lane writes."""
    for segment, i in commands(program, "launch"):
        if segment.commands[i].waits:
            del segment.commands[i].waits[:]
            return True
    return False


def other_type(program):
    """The loss is told as an integer of the same bits."""
    loss = next(output for output in program.outputs if output.name == "loss")
    loss.dtype = 7  # I32
    return True


def other_constant(program):
    """A constant begins at another byte of its file."""
    constant = next(tensor for tensor in program.tensors
                    if tensor.role == 6 and tensor.init.HasField("file"))  # CONSTANT
    constant.init.file.offset += 4
    return True


def in_place(program):
    """A result takes the place of an operand that a later command still reads."""
    for segment, i in commands(program, "launch"):
        args, later = segment.commands[i].launch.args, segment.commands[i + 1:]
        read = [address for command in later for address in addresses(command) if address.reads]
        for result in (a for a in args if a.writes and not a.reads):
            for operand in (a for a in args if a.reads and not a.writes):
                if operand.bytes == result.bytes and operand.offset != result.offset and any(
                        a.reads == operand.reads for a in read):
                    replace(read, result, operand.offset)
                    return True
    return False


def replace(readers, result, offset):
    """Moves a result and those that read it."""
    move = offset - result.offset
    for address in readers:
        if address.reads == result.writes and address.offset >= result.offset:
            address.offset += move
    result.offset = offset


# What came of it is in the commit; mutants found the one without.
FAULTS = [
    ("accumulated", local_means, "c107ac7f"),
    ("nodes", ascending_axes, "93d1e80c"),
    ("host", stale_home, "461a6619"),
    ("host", no_wait, "a9b7bc35"),
    ("constant", other_constant, "mutant"),
    ("plain", other_type, "4564be55"),
    ("plain", in_place, "4cd90980"),
]


def hide_labels(original):
    """Gives each part samples of its own, with another number of labels that count."""
    for name, value in original.graph.inputs.items():
        value = np.concatenate([np.roll(value, part, axis=1) for part in range(4)])
        if name == "labels":
            value[:len(value) // 4, 3:] = -100
        original.graph.set_input(name, value)
    original.result = original.run(original.path)


def check_fault(checks, original, fault, commit):
    program, _ = read_executable(original.path)
    path, label = original.work / f"{fault.__name__}.zexe", f"{fault.__name__} ({commit})"
    checks.that(fault(program), f"{label}: nothing to change")
    write_executable(path, original.path, program)
    verdict = original.judge(path)
    checks.that(verdict.returncode == 1 and "not proven: " in verdict.stderr,
                f"{label}: {verdict.returncode} {verdict.stdout}{verdict.stderr}")
    did = outcome(original.run(path), original.result)
    checks.that(did != "same", f"{label}: a run gives the same bits")
    print(f"{label}: {did}; {verdict.stderr[:150]}")


def main():
    data, work = sys.argv[1:3]
    checks = Checks()
    for name, (model, common, flags) in PROGRAMS.items():
        original = Original(data, work, name, model, common, flags)
        if name == "accumulated":
            hide_labels(original)
        checks.that(original.judge(original.path).returncode == 0, f"{name}: not proven")
        for fault, commit in [(f, c) for program, f, c in FAULTS if program == name]:
            check_fault(checks, original, fault, commit)
    checks.finish()


if __name__ == "__main__":
    main()
