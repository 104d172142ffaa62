"""zero-check refuses executables with one fault each, unless the fault changes no bit of a run.

usage: check_mutants.py DATA WORK [--mutants=N] [--seed=N]

Rules change the decoded tables of executables, which are written with valid checksums. What the
checker accepts is run, and has to give the losses and weights of the program without the fault.
"""

import argparse
import random
import struct
import subprocess
from collections import Counter
from pathlib import Path

from executables import read_executable, read_section, write_executable
from zero_test import Checks, Graph, run_tool

STEPS = 2
PROGRAMS = [
    ("mlp", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=3", "--bucket-bytes=20KB"]),
    ("mlp", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=2", "--micro-batches=2"]),
    ("mlp", ["--optimizer=adamw"], ["--ranks=3", "--zero-stage=1"]),
    ("gpt2-tiny", ["--optimizer=sgd", "--momentum=0.9"],
     ["--ranks=2", "--zero-stage=3", "--checkpoint=layer", "--offload-optimizer=host",
      "--offload-params=host", "--micro-batches=2"]),
    ("llama-tiny", ["--optimizer=adamw"],
     ["--ranks=2", "--zero-stage=2", "--micro-batches=2", "--micro-batch-order=vertical",
      "--offload-optimizer=nvme"]),
    ("gpt2-tiny", ["--optimizer=adamw"],
     ["--ranks=4", "--zero-stage=3", "--shard-params=node", "--ranks-per-node=2"]),
]
# What a run is told, and what it writes: names, types of files, places of gradients that a user
# reads. `ranks_per_node` is the order of sums that the program states, which the proof goes by.
REPORTED = {"name", "producer", "saved", "in_model", "aliases", "of", "ranks_per_node", "model",
            "certificates", "gradients", "settings", "machine", "late", "tokens", "vocabulary"}


class Mutator:
    """Draws one fault for the tables of a program."""

    def __init__(self, program, code, data, seed):
        self.program, self.code, self.data = program, code, data
        self.random = random.Random(seed)
        self.commands = [(segment, i) for segment in program.segments
                         for i in range(len(segment.commands))]

    def draw(self):
        """Applies a fault, and returns its description; None if the rule had nothing to change."""
        rules = [name for name in dir(self) if name.startswith("change_")]
        name = self.random.choice([*rules, *["change_field"] * (len(rules) // 3)])
        found = getattr(self, name)()
        return found and f"{name.removeprefix('change_')}: {found}"

    def command(self, kind=None):
        found = [c for c in self.commands
                 if kind is None or c[0].commands[c[1]].WhichOneof("body") == kind]
        return self.random.choice(found) if found else (None, None)

    def addresses(self, command):
        body = getattr(command, command.WhichOneof("body"))
        return {"launch": lambda: list(body.args), "collective": lambda: [body.src, body.dst],
                "copy": lambda: [body.src, body.dst], "check": lambda: [body.value]}[
                    command.WhichOneof("body")]()

    def change_offset(self):
        segment, i = self.command()
        address = self.random.choice(self.addresses(segment.commands[i]))
        move = self.random.choice([4, 64, 256, 1024, -4, -64, -256, -1024])
        if address.offset + move < 0:
            return None
        address.offset += move
        return f"{i} {move}"

    def change_place(self):
        segment, i = self.command()
        other, j = self.command()
        address = self.random.choice(self.addresses(segment.commands[i]))
        taken = self.random.choice(self.addresses(other.commands[j]))
        if taken.tier != address.tier or taken.offset == address.offset:
            return None
        address.offset = taken.offset
        return f"{i} {taken.offset}"

    def change_strides(self):
        segment, i = self.command()
        address = self.random.choice(self.addresses(segment.commands[i]))
        stride = self.random.choice([-256, 256, 512])
        strides = list(address.rank_strides) or [0] * len(self.program.mesh)
        strides[0] += stride
        address.rank_strides[:] = strides
        return f"{i} {stride}"

    def change_operands(self):
        segment, i = self.command("launch")
        args = segment.commands[i].launch.args
        if len(args) < 2:
            return None
        a, b = self.random.sample(range(len(args)), 2)
        if args[a].offset == args[b].offset:
            return None
        args[a].offset, args[b].offset = args[b].offset, args[a].offset
        return f"{i} {a} {b}"

    def change_kernel(self):
        segment, i = self.command("launch")
        launch = segment.commands[i].launch
        old, new = launch.kernel, self.random.randrange(len(self.program.kernels))
        if old == new:
            return None
        launch.kernel = new
        return f"{i} {old} {new}"

    def change_symbol(self):
        native = [kernel for kernel in self.program.kernels if kernel.symbol]
        a, b = self.random.sample(native, 2)
        if a.symbol == b.symbol:
            return None
        a.symbol = b.symbol
        return f"{a.name} {b.name}"

    def change_product(self):
        kernel = self.random.choice([k for k in self.program.kernels if k.HasField("matmul")])
        field = self.random.choice(["alpha", "k", "strides"])
        if field == "alpha":
            kernel.matmul.alpha *= 2
        elif field == "k" and kernel.matmul.k > 1:
            kernel.matmul.k -= 1
        else:
            strides = self.random.choice([kernel.matmul.a_strides, kernel.matmul.b_strides])
            strides[-1], strides[-2] = strides[-2], strides[-1]
        return f"{kernel.name} {field}"

    def change_extent(self):
        kernel = self.random.choice(self.program.kernels)
        if kernel.extent < 2:
            return None
        kernel.extent -= 1
        return kernel.name

    def change_length(self):
        segment, i = self.command("launch")
        launch = segment.commands[i].launch
        if launch.length < 2:
            return None
        launch.length -= 1
        return f"{i}"

    def change_order(self):
        segment, i = self.command()
        if i + 1 == len(segment.commands):
            return None
        first, second = segment.commands[i], segment.commands[i + 1]
        if i in second.waits:
            return None
        copy = type(first)()
        copy.CopyFrom(first)
        first.CopyFrom(second)
        second.CopyFrom(copy)
        for later in segment.commands[i + 2:]:
            later.waits[:] = [{i: i + 1, i + 1: i}.get(w, w) for w in later.waits]
        return f"{i}"

    def change_missing(self):
        segment, i = self.command()
        for later in segment.commands[i + 1:]:
            waits = [w - (w > i) for w in later.waits if w != i]
            later.waits[:] = waits
        for rename in segment.renames:
            rename.command -= rename.command > i
        label = segment.commands[i].label
        del segment.commands[i]
        return f"{i} {label}"

    def change_doubled(self):
        segment, i = self.command()
        copies = list(segment.commands)
        again = type(copies[0])()
        again.CopyFrom(copies[i])
        del again.waits[:]
        tail = []
        for later in copies[i + 1:]:
            moved = type(again)()
            moved.CopyFrom(later)
            moved.waits[:] = [w + (w >= i) for w in later.waits]
            tail.append(moved)
        del segment.commands[i + 1:]
        segment.commands.extend([again, *tail])
        for rename in segment.renames:
            rename.command += rename.command > i
        return f"{i} {again.label}"

    def change_waits(self):
        waiting = [(s, i) for s, i in self.commands if s.commands[i].waits]
        if not waiting:
            return None
        segment, i = self.random.choice(waiting)
        waits = segment.commands[i].waits
        del waits[self.random.randrange(len(waits))]
        return f"{i}"

    def change_when(self):
        segment, i = self.command()
        command = segment.commands[i]
        if segment.repeat < 2:
            return None
        old = command.when
        command.when = self.random.choice([w for w in range(4) if w != old])
        return f"{i} {old} {command.when}"

    def change_collective(self):
        segment, i = self.command("collective")
        if i is None:
            return None
        collective = segment.commands[i].collective
        field = self.random.choice(["kind", "mean", "elements", "dtype"])
        if field == "kind":
            collective.kind = self.random.choice([k for k in range(4) if k != collective.kind])
        elif field == "mean":
            collective.mean = not collective.mean
        elif field == "elements":
            collective.elements += self.random.choice([-1, 1, 64])
        else:
            collective.dtype = 7  # I32
        return f"{i} {field}"

    def change_copy(self):
        segment, i = self.command("copy")
        if i is None:
            return None
        copy = segment.commands[i].copy
        move = self.random.choice([-4, 4, 256])
        if copy.bytes + move <= 0:
            return None
        copy.bytes += move
        return f"{i} {move}"

    def change_check(self):
        segment, i = self.command("check")
        if i is None:
            return None
        segment.commands[i].check.lower += 1
        segment.commands[i].check.upper += 1
        return f"{i}"

    def change_tensor(self):
        tensor = self.random.choice(self.program.tensors)
        field = self.random.choice(["start", "init", "buffer"])
        if field == "start":
            tensor.start += 64
        elif field == "buffer":
            tensor.buffer = (tensor.buffer + 1) % len(self.program.buffers)
        elif tensor.init.HasField("file"):
            tensor.init.file.offset += 4
        elif tensor.init.HasField("splat"):
            tensor.init.splat += 0.5
        return f"{tensor.name} {field}"

    def change_buffer(self):
        buffer = self.random.choice(self.program.buffers)
        buffer.offset += 256
        return buffer.name

    def change_input(self):
        entry = self.random.choice(self.program.inputs)
        entry.offset += 256
        return entry.name

    def change_inputs(self):
        listing = [s for s in self.program.segments if s.inputs and s.repeat > 1]
        if not listing:
            return None
        segment = self.random.choice(listing)
        del segment.inputs[self.random.randrange(len(segment.inputs))]
        return str(segment.kind)

    def change_output(self):
        output = self.random.choice([o for o in self.program.outputs if "loss" in o.name])
        output.offset += self.random.choice([-256, 256])
        return output.name

    def change_field(self):
        """Any number of any table."""
        message, path = self.program, []
        while True:
            fields = [(f, v) for f, v in message.ListFields() if f.name not in REPORTED]
            if not fields:
                return None
            field, value = self.random.choice(fields)
            path.append(field.name)
            repeated = hasattr(value, "append") or hasattr(value, "add")
            index = self.random.randrange(len(value)) if repeated else None
            inner = value[index] if repeated else value
            if field.type != field.TYPE_MESSAGE:
                break
            message = inner
            path.append(str(index) if repeated else "")
        if isinstance(inner, (str, bytes)):
            return None
        new = (not inner if isinstance(inner, bool) else inner * 2 if isinstance(inner, float)
               else max(0, inner + self.random.choice([-1, 1, 8])))
        if new == inner:
            return None
        if repeated:
            value[index] = new
        else:
            setattr(message, field.name, new)
        return f"{'.'.join(path)} {inner} to {new}"

    def change_constant(self):
        if not self.data:
            return None
        return self.flip(self.data)

    def change_code(self):
        """A bit of instructions or constants of kernels, not of what the system's loader reads."""
        headers, = struct.unpack_from("<Q", self.code, 40)
        count, = struct.unpack_from("<H", self.code, 60)
        places = []
        for i in range(count):
            _, kind, flags, _, offset, size = struct.unpack_from("<IIQQQQ", self.code,
                                                                 headers + 64 * i)
            if kind == 1 and flags & 3 == 2:  # loaded, not writable
                places += range(offset, offset + size)
        return self.flip(self.code, self.random.choice(places))

    def flip(self, section, place=None):
        place = self.random.randrange(len(section)) if place is None else place
        section[place] ^= 1 << self.random.randrange(8)
        return f"byte {place}"


class Original:
    """A program without a fault, what a run of it gives, and its reference."""

    def __init__(self, data, work, number, name, common, flags):
        self.work = Path(work) / f"{number}-{name}"
        self.graph = Graph(data, name, self.work)
        self.reference, self.path = self.work / "reference.zexe", self.work / "program.zexe"
        model = self.graph.folder / "model.onnx"
        run_tool("zeroc", model, *common, "-o", self.reference)
        run_tool("zeroc", model, *common, *flags, "-o", self.path)
        self.result = self.run(self.path)

    def run(self, executable):
        """Losses and weights of a run as bytes, or what stopped it."""
        log, weights = self.work / "log.jsonl", self.work / "weights.safetensors"
        for file in (log, weights):
            file.unlink(missing_ok=True)
        done = subprocess.run(["zero-run", executable, self.graph.data_flag,
                               f"--steps={STEPS}", "--lr=1e-2", "--quiet", "--timeout=5",
                               f"--log={log}", f"--save={weights}"], capture_output=True, text=True)
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr}"
        losses = [line.split('"loss":')[1].split(",")[0] for line in log.read_text().splitlines()]
        return losses, weights.read_bytes()

    def judge(self, executable):
        return subprocess.run(["zero-check", self.reference, executable], capture_output=True,
                              text=True)

    def mutant(self, seed):
        """Writes a mutant, and returns its path and fault; None if the rule changed nothing."""
        program, code = read_executable(self.path)
        code, data = bytearray(code), bytearray(read_section(self.path, 2))
        fault = Mutator(program, code, data, f"{self.work.name} {seed}").draw()
        if not fault:
            return None
        path = self.work / "mutant.zexe"
        write_executable(path, self.path, program, code, data)
        return path, fault


def check_mutant(checks, original, seed, counts):
    found = original.mutant(seed)
    if not found:
        return
    path, fault = found
    rule = fault.split(":")[0]
    verdict = original.judge(path)
    label = f"{original.work.name}, seed {seed}, {fault}"
    checks.that(verdict.returncode in (0, 1), f"{label}: exit {verdict.returncode}")
    if verdict.returncode:
        checks.that("not proven: " in verdict.stderr, f"{label}: no reason: {verdict.stderr}")
        counts[rule, "refused"] += 1
        return
    result = original.run(path)
    if isinstance(result, str):  # the loader has more rules; nothing was trained
        counts[rule, "not loaded"] += 1
        checks.that("exit 1:" in result and "step" not in result, f"{label}: {result}")
        return
    counts[rule, "harmless"] += 1
    checks.that(result == original.result, f"{label}: accepted, but other bits")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--mutants", type=int, default=30)  # of each program
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    checks, counts = Checks(), Counter()
    for number, (name, common, flags) in enumerate(PROGRAMS):
        original = Original(args.data, args.work, number, name, common, flags)
        checks.that(original.judge(original.path).returncode == 0, f"{name} {flags}: not proven")
        for seed in range(args.seed, args.seed + args.mutants):
            check_mutant(checks, original, seed, counts)
    for rule in sorted({rule for rule, _ in counts}):
        print(rule, {outcome: n for (r, outcome), n in counts.items() if r == rule})
    total = Counter(outcome for (_, outcome), n in counts.items() for _ in range(n))
    print(dict(total))
    checks.that(total["refused"] >= args.mutants * len(PROGRAMS) // 2, f"few faults: {total}")
    checks.finish()


if __name__ == "__main__":
    main()
