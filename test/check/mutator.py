"""Rules that put one fault into the decoded tables, the code or the constants of an executable."""

import random
import struct

# What a run is told, and what it writes: names, types of files, places of gradients that a user
# reads. `ranks_per_node` is the order of sums that the program states, which the proof goes by.
REPORTED = {"name", "producer", "saved", "in_model", "aliases", "of", "ranks_per_node", "model",
            "certificates", "gradients", "settings", "machine", "late", "tokens", "vocabulary"}


def addresses(command):
    """What a command reads and writes."""
    body = getattr(command, command.WhichOneof("body"))
    return {"launch": lambda: list(body.args), "collective": lambda: [body.src, body.dst],
            "copy": lambda: [body.src, body.dst], "check": lambda: [body.value]}[
                command.WhichOneof("body")]()


def reorder_commands(segment, order):
    """Lists the commands of a segment in another order: indices of those that stay or come twice.
    A wait for one that is left out, or that comes later now, is left out."""
    place = {old: new for new, old in enumerate(order)}
    commands = []
    for new, old in enumerate(order):
        command = type(segment.commands[0])()
        command.CopyFrom(segment.commands[old])
        command.waits[:] = [place[wait] for wait in command.waits if place.get(wait, new) < new]
        commands.append(command)
    for rename in segment.renames:
        rename.command = sum(old < rename.command for old in order)
    del segment.commands[:]
    segment.commands.extend(commands)


def delete_command(segment, i):
    """Returns what was deleted."""
    label = segment.commands[i].label
    reorder_commands(segment, [k for k in range(len(segment.commands)) if k != i])
    return f"{i} {label}"


def double_command(segment, i):
    """Returns what comes twice."""
    label = segment.commands[i].label
    reorder_commands(segment, sorted([*range(len(segment.commands)), i]))
    return f"{i} {label}"


def move_command(segment, i, place):
    """Returns what was moved to an index; None if that is its own."""
    if i == place:
        return None
    order = [k for k in range(len(segment.commands)) if k != i]
    order.insert(place, i)
    reorder_commands(segment, order)
    return f"{i} to {place}"


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

    def command(self, kind=None, holds=lambda command: True):
        found = [(segment, i) for segment, i in self.commands
                 if kind in (None, segment.commands[i].WhichOneof("body")) and
                 holds(segment.commands[i])]
        return self.random.choice(found) if found else (None, None)

    def change_offset(self):
        segment, i = self.command()
        address = self.random.choice(addresses(segment.commands[i]))
        move = self.random.choice([4, 64, 256, 1024, -4, -64, -256, -1024])
        if address.offset + move < 0:
            return None
        address.offset += move
        return f"{i} {move}"

    def change_place(self):
        segment, i = self.command()
        other, j = self.command()
        address = self.random.choice(addresses(segment.commands[i]))
        taken = self.random.choice(addresses(other.commands[j]))
        if taken.tier != address.tier or taken.offset == address.offset:
            return None
        address.offset = taken.offset
        return f"{i} {taken.offset}"

    def change_strides(self):
        segment, i = self.command()
        address = self.random.choice(addresses(segment.commands[i]))
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
        if i + 1 == len(segment.commands) or i in segment.commands[i + 1].waits:
            return None
        return move_command(segment, i, i + 1)

    def change_missing(self):
        segment, i = self.command()
        return delete_command(segment, i)

    def change_doubled(self):
        segment, i = self.command()
        return double_command(segment, i)

    def change_sums(self):
        """A sum over ranks or micro-batches is missing or doubled, or does not add."""
        segment, i = self.command(holds=self.sums)
        if i is None:
            return None
        command = segment.commands[i]
        if command.HasField("collective"):
            way = self.random.choice(["missing", "doubled", "kind"])
        else:
            way = self.random.choice(["missing", "doubled", "when"])
        if way == "kind":
            command.collective.kind = 0 if command.collective.kind == 1 else 3
        elif way == "when":
            command.when = {0: 1, 1: 0, 2: 0, 3: 1}[command.when]
        else:
            (delete_command if way == "missing" else double_command)(segment, i)
        return f"{i} {way}"

    def sums(self, command):
        """Whether a command is a collective that sums, or a launch that adds to what it writes."""
        if command.HasField("collective"):
            return command.collective.kind in (1, 2)
        return command.HasField("launch") and any(
            address.reads and address.writes for address in command.launch.args)

    def change_ranks(self):
        """A message is taken from another rank, or goes to another one."""
        segment, i = self.command("collective")
        if i is None:
            return None
        collective = segment.commands[i].collective
        address = self.random.choice([collective.src, collective.dst])
        strides = list(address.rank_strides)
        axes = [axis for axis, stride in enumerate(strides) if stride]
        if collective.axes and len(collective.axes) > 1 and self.random.random() < 0.5:
            collective.axes[:] = reversed(collective.axes)
            return f"{i} axes"
        if not axes:
            strides = strides or [0] * len(self.program.mesh)
            strides[0] = self.random.choice([4, 64, 256])
        elif self.random.random() < 0.5:  # in the reverse order of ranks
            axis = self.random.choice(axes)
            address.offset += strides[axis] * (self.program.mesh[axis].size - 1)
            strides[axis] = -strides[axis]
        else:
            strides[self.random.choice(axes)] = 0
        address.rank_strides[:] = strides
        return f"{i} strides"

    def change_recomputed(self):
        """What is recomputed takes an operand of the same kernel in another layer."""
        segment, i = self.command("launch", lambda command: command.recomputed)
        if i is None:
            return None
        launch = segment.commands[i].launch
        alike = [c.launch for c in segment.commands
                 if c.HasField("launch") and c.launch.kernel == launch.kernel]
        other = self.random.choice(alike)
        places = [k for k, (a, b) in enumerate(zip(launch.args, other.args))
                  if a.reads and not a.writes and a.offset != b.offset]
        if not places:
            return None
        place = self.random.choice(places)
        launch.args[place].offset = other.args[place].offset
        return f"{i} operand {place}"

    def change_stale(self):
        """A gather or a transfer is left out in some micro-batches, or is late, so that what was
        there before is used."""
        segment, i = self.command(
            holds=lambda c: c.HasField("copy") or c.HasField("collective") and
            c.collective.kind in (0, 3))
        if i is None:
            return None
        if segment.repeat > 1:
            segment.commands[i].when = self.random.choice([1, 2, 3])
            return f"{i} when"
        place = min(len(segment.commands) - 1, i + self.random.choice([1, 2, 5, 20]))
        return move_command(segment, i, place)

    def change_tier(self):
        """A value resides on another tier, or a transfer goes the other way."""
        segment, i = self.command("copy")
        if i is None or self.random.random() < 0.2:
            buffer = self.random.choice(self.program.buffers)
            buffer.tier = (buffer.tier + 1) % 3
            return buffer.name
        copy = segment.commands[i].copy
        if self.random.random() < 0.5:
            source = type(copy.src)()
            source.CopyFrom(copy.src)
            copy.src.CopyFrom(copy.dst)
            copy.dst.CopyFrom(source)
            return f"{i} reversed"
        address = self.random.choice([copy.src, copy.dst])
        address.tier = self.random.choice([tier for tier in range(3) if tier != address.tier])
        return f"{i} tier {address.tier}"

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
