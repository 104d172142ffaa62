"""zero-check proves programs that need one of its rules, names the rule, and refuses the same program
after one change that breaks it.

usage: check_rules.py DATA WORK
"""

import sys
from pathlib import Path

from check_matrix import compiled, emptied, judge, shared_axes
from executables import read_executable, write_executable
from mutator import delete_command, double_command
from zero_test import Checks

EPILOGUE = 2


def epilogue(tables):
    return next(s for s in tables.segments if s.kind == EPILOGUE).commands


def launches(tables, word):
    """The launches of the epilogue whose kernels have `word` in their names."""
    return [c for c in epilogue(tables) if c.WhichOneof("body") == "launch" and
            word in tables.kernels[c.launch.kernel].name]


def collectives(tables, control):
    return [c for c in epilogue(tables) if c.WhichOneof("body") == "collective" and
            c.collective.control == control]


def drop(tables, dropped):
    """Leaves out a command. What waited for it waits for nothing."""
    commands = epilogue(tables)
    number = next(i for i, command in enumerate(commands) if command is dropped or
                  command == dropped)
    del commands[number]
    for command in commands:
        waits = [wait - (wait > number) for wait in command.waits if wait != number]
        del command.waits[:]
        command.waits.extend(waits)


def forget_norms(tables):
    """A rank has the norms of its own slice only."""
    drop(tables, collectives(tables, True)[0])


def square_twice(tables):
    """The first blocks of squares are those of the next elements."""
    launches(tables, "square_blocks")[0].launch.args[0].offset += 256


def other_owner(tables):
    """The owner of a matrix does not compute its step."""
    for address in tables.predicates:
        del address.rank_strides[:]
        address.rank_strides.append(0)


def keep_steps(tables):
    """What is added to the steps of owners is not cleared before."""
    drop(tables, launches(tables, "clear_steps")[0])


def never_skip(tables):
    """A step whose gradients are not finite updates a parameter."""
    launches(tables, "update")[-1].predicate = 0


def skip_state(tables):
    """A state is left as it is in such a step, but its parameter is not."""
    next(c for c in epilogue(tables) if c.predicate and c.WhichOneof("body") == "copy").predicate = 0


def sum_statistics(tables):
    """Running statistics are added, not averaged."""
    collectives(tables, True)[0].collective.mean = False


def own_statistics(tables):
    """Each rank has the running statistics of its own batch."""
    drop(tables, collectives(tables, True)[0])


def own_update(tables):
    """Ranks do not receive the slices of the others."""
    drop(tables, collectives(tables, False)[0])


def swap_slices(tables):
    """A rank updates the slice of another one."""
    address = launches(tables, "update")[-1].launch.args[0]
    stride = address.rank_strides[0]
    address.offset += stride
    address.rank_strides[0] = -stride


def other_shape(tables):
    """The program for the second shape divides by another number of ranks."""
    tables.shapes[0].segments[0].commands[-1].collective.mean ^= True


def along(tables, axis, kind):
    """The micro-batch's collectives along one axis: the segment, and their numbers."""
    number = next(i for i, entry in enumerate(tables.mesh) if entry.name == axis)
    segment = tables.segments[0]
    found = [i for i, c in enumerate(segment.commands) if c.HasField("collective") and
             list(c.collective.axes) == [number] and c.collective.kind == kind]
    return segment, found


GATHER, SCATTER, SUM = range(3)


def own_part(tables):
    """A rank has its own part of a product."""
    segment, found = along(tables, "tensor", SUM)
    delete_command(segment, found[1])


def part_twice(tables):
    """Parts of a product are added, and then their sums."""
    segment, found = along(tables, "tensor", SUM)
    double_command(segment, found[1])


def mean_of_parts(tables):
    """Parts of a product are averaged."""
    segment, found = along(tables, "tensor", SUM)
    segment.commands[found[-1]].collective.mean = True


def parts_of_others(tables):
    """Parts of products of other ranks are added: those with other parts of the batch."""
    segment, found = along(tables, "tensor", SUM)
    segment.commands[found[0]].collective.axes[:] = [0]


def sum_of_all(tables):
    """Gradients of shards are added, too, over the ranks that have other shards."""
    segment, found = along(tables, "data", SCATTER)
    segment.commands[found[0]].collective.axes[:] = [0, 1]


def other_shard(tables):
    """A rank reads the shard of another one."""
    next(i for i in tables.inputs if i.name == "zero.coordinate.tensor").axis = 0


def other_dimension(tables):
    """A matrix is split along its other dimension."""
    next(t for t in tables.tensors if t.split.dimension == 1).split.dimension = 0


def whole_tensor(tables):
    """All ranks have the shard of the first one."""
    next(t for t in tables.tensors if t.HasField("split")).ClearField("split")


def own_chunk(tables):
    """A rank does not receive the keys of the other chunks."""
    segment, found = along(tables, "context", GATHER)
    delete_command(segment, found[0])


def one_chunk(tables):
    """All ranks receive the first chunk."""
    segment, found = along(tables, "context", GATHER)
    segment.commands[found[0]].collective.kind = 3


def chunk_gradient(tables):
    """The gradient of a chunk is that of its own queries only."""
    segment, found = along(tables, "context", SCATTER)
    delete_command(segment, found[0])


def other_chunk(tables):
    """A rank computes on another chunk."""
    next(i for i in tables.inputs if i.name == "zero.coordinate.context").axis = 0


def swap_tiles(tables):
    """Two tiles are in the places of each other."""
    tiles = next(t for t in tables.tensors if t.tiles).tiles
    tiles[0].start, tiles[1].start = tiles[1].start, tiles[0].start
    tiles[0].buffer, tiles[1].buffer = tiles[1].buffer, tiles[0].buffer


def tile_twice(tables):
    """A tile takes part twice, and another one does not."""
    number = next(i for i, c in enumerate(tables.segments[0].commands) if c.HasField("launch") and
                  tables.kernels[c.launch.kernel].HasField("matmul"))
    commands = tables.segments[0].commands
    same = [c for c in commands if c.HasField("launch") and
            c.launch.kernel == commands[number].launch.kernel]
    same[1].launch.args[1].CopyFrom(same[0].launch.args[1])


def missing_tile(tables):
    """A tile is not updated."""
    drop(tables, launches(tables, "update")[0])


def other_numbers(tables):
    """Codes stand for other numbers."""
    next(t for t in tables.tensors if t.HasField("blocks")).blocks.numbers[3] += 0.5


def other_scales(tables):
    """The codes of an element are scaled by the next block's number."""
    next(c.launch for c in launches(tables, "update")
         if 256 in tables.kernels[c.launch.kernel].per_length).args[2].offset += 4


def half_block(tables):
    """A block of codes begins inside of another one."""
    next(c.launch for c in launches(tables, "update")
         if 256 in tables.kernels[c.launch.kernel].per_length).args[0].offset += 512


SHAPES = "--shape=input_ids=4x{32,16},labels=4x{32,16}"
# Model, flags of both, flags of the program, what the proof has to say, and ways to break it.
RULES = [
    ("mlp", "adamw --clip-norm=1", "--ranks=2 --zero-stage=3", "square_blocks_f32",
     [forget_norms, square_twice]),
    ("gpt2-tiny", "lamb", "--ranks=2 --zero-stage=2", "update_measure", [own_update, swap_slices]),
    ("mlp", "muon", "--ranks=2 --zero-stage=2", "copy (by samples): take_steps",
     [other_owner, keep_steps]),
    ("mlp", "shampoo", "--ranks=3 --zero-stage=1", "copy (by samples): take_steps", [other_owner]),
    ("mlp", "adafactor", "--ranks=2 --zero-stage=3", "gaps of buffers are 0, and stay so",
     [other_owner, keep_steps]),
    ("gpt2-tiny", "adamw --precision=fp16", "--ranks=2 --zero-stage=2", "square_blocks_f16",
     [never_skip, skip_state]),
    ("gpt2-tiny", "adamw --nonfinite=skip", "--ranks=2", "square_blocks_f32", [never_skip]),
    ("gpt2-tiny", "adamw --precision=bf16", "--ranks=4 --zero-stage=3 --ranks-per-node=2",
     "sums over ranks in order", []),
    ("resnet-tiny", "sgd", "--ranks=2 --micro-batches=2", "running statistics are those of each",
     [sum_statistics, own_statistics]),
    ("gpt2-tiny", "adamw", "--mesh=data=2,tensor=2 --zero-stage=3", "ranks along 'tensor' divide",
     [own_part, part_twice, mean_of_parts, parts_of_others, sum_of_all, other_shard,
      other_dimension, whole_tensor]),
    ("llama-tiny", "adamw", "--mesh=context=2 --zero-stage=1", "ranks along 'context' divide",
     [own_chunk, one_chunk, chunk_gradient, other_chunk]),
    ("mlp", "adamw --tile-params-over=100KB", "--ranks=2 --zero-stage=1", "proven: 32 states",
     [swap_tiles, tile_twice, missing_tile]),
    ("mlp", "adamw --state-precision=8bit", "--ranks=2 --zero-stage=2", "element-wise (by samples)",
     [other_numbers, other_scales, half_block]),
    ("gpt2-tiny-dyn", f"adamw {SHAPES}", "--ranks=2 --zero-stage=3", "proven: ", [other_shape]),
]


def main():
    data, work = sys.argv[1], emptied(sys.argv[2])
    checks = Checks()
    for model, optimizer, flags, rule, faults in RULES:
        label = f"{model} {optimizer} {flags}"
        reference = compiled(data, work, model, optimizer, shared_axes(flags))
        program = compiled(data, work, model, optimizer, flags)
        done = judge(reference, program)
        checks.that(done.returncode == 0 and rule in done.stdout,
                    f"{label}: {done.stdout} {done.stderr[:600]}")
        shapes = optimizer.count("{") > 0
        checks.that(done.stdout.count("proven: ") == 1 + shapes, f"{label}: {done.stdout}")
        for fault in faults:
            tables, _ = read_executable(program)
            fault(tables)
            broken = Path(work) / "broken.zexe"
            write_executable(broken, program, tables)
            done = judge(reference, broken)
            checks.that(done.returncode == 1 and "not proven: " in done.stderr,
                        f"{label}, {fault.__name__}: accepted")
    checks.finish()


if __name__ == "__main__":
    main()
