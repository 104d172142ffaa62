"""The batches of an iterable, and which array of a batch is which input of a program."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import numpy as np

from .errors import BadDataError, InvalidArgumentError, NotFoundError
from .warn import warn


def _is_array(value):
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")


def _names(inputs):
    return ", ".join(f"'{name}'" for name in inputs) or "none"


def by_input(names, batch):
    """The arrays or files of a batch by the names of a program's inputs.

    batch: by name; a tuple or list of one array for each input, in the order of `names`; or an
        array, if there is one input.
    """
    if isinstance(batch, (str, Path)):
        return dict.fromkeys(names, Path(batch))
    if hasattr(batch, "_asdict"):  # a namedtuple
        batch = batch._asdict() if names == list(batch._fields) else tuple(batch)
    if isinstance(batch, Mapping):
        return batch
    if _is_array(batch):
        batch = (batch,)
    if not isinstance(batch, (tuple, list)):
        raise BadDataError(f"expected a batch as a dictionary of arrays by input, or a tuple of "
                           f"them in the order of the inputs ({_names(names)}), got "
                           f"{type(batch).__name__}")
    if not all(map(_is_array, batch)):
        kind = next(type(part).__name__ for part in batch if not _is_array(part))
        raise BadDataError(f"expected a batch of one array for each input ({_names(names)}), got a "
                           f"{type(batch).__name__} with {kind}: stack the samples of a batch into "
                           f"one array for each input, as the collate_fn of a DataLoader does")
    if len(batch) != len(names):
        raise BadDataError(f"expected a batch of {len(names)} arrays for the inputs "
                           f"{_names(names)}, in this order, got {len(batch)}: give a dictionary "
                           f"by name, or let the data loader yield these arrays")
    return dict(zip(names, batch))


def check_names(names, batch):
    """Raises an error unless a batch by name has data for each input and for nothing else."""
    unknown = [name for name in batch if name not in names]
    if unknown:
        kept = "{name: batch[name] for name in " + repr(tuple(names)) + "}"
        raise NotFoundError(f"the program has no input '{unknown[0]}'; its inputs are "
                            f"{_names(names)}. What it does not read must be left out: {kept}; an "
                            f"input that the loss should depend on must be in the exported example")
    missing = [name for name in names if name not in batch]
    if missing:
        raise InvalidArgumentError(
            f"no data for input '{missing[0]}'; the inputs are {_names(names)}. The model reads it "
            f"in every step: add it to each batch (a mask of ones, if nothing is masked), or "
            f"export the model without it")


def without_extras(names, batches):
    """Batches without the arrays that a program does not read, of which it warns once: data loaders
    yield what the collate function or the tokenizer has made."""
    warned = False
    for batch in batches:
        extras = [name for name in batch if name not in names] if isinstance(batch, Mapping) else []
        if extras and not warned:
            warn([f"batches have {_names(extras)}, which the program does not read: left out"])
            warned = True
        yield {name: batch[name] for name in batch if name in names} if extras else batch


def _count(iterable):
    try:
        return len(iterable)
    except TypeError:
        return None


def passes(iterable, steps, epochs):
    """The batches of an iterable, and how many they are, or None.

    steps: as many batches, for which the iterable begins again.
    epochs: passes over it; one, if neither is given.

    What can be iterated only once, as a generator, must have enough batches.
    """
    if isinstance(iterable, Iterator) and (epochs or 1) > 1:
        raise InvalidArgumentError(
            f"epochs={epochs}: expected batches that can be iterated {epochs} times, got a "
            f"{type(iterable).__name__}, which is at its end after one pass: give a list, a data "
            f"loader, or an object whose __iter__() begins again; or a generator that yields the "
            f"batches of all epochs, without epochs=")
    size = _count(iterable)
    total = steps if steps is not None else size and size * (epochs or 1)
    return _batches(iterable, steps, epochs or 1, size), total


def _read(iterable):
    """The batches of a pass. An error in it says which batch of what could not be read."""
    batches = iter(iterable)
    for number in count():
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            if hasattr(error, "add_note"):  # since Python 3.11
                error.add_note(f"zero: batch {number} of the {type(iterable).__name__} could not "
                               f"be read")
            raise
        yield batch


def _batches(iterable, steps, epochs, size):
    done = epoch = 0
    while done < steps if steps is not None else epoch < epochs:
        before = done
        for batch in _read(iterable):
            if done == steps:
                return
            done += 1
            yield batch
        epoch += 1
        is_over = done == before or isinstance(iterable, Iterator)
        if steps is None and done - before < (size or 1):
            wanted = f"{size} batches" if size else "batches"
            _refuse(iterable, f"{wanted} in epoch {epoch}", done - before)
        if steps is not None and done < steps and is_over:
            _refuse(iterable, f"{steps} batches", done)


def _refuse(iterable, wanted, done):
    raise BadDataError(f"expected {wanted}, got {done or 'none'}: the {type(iterable).__name__} is "
                       f"at its end; it must have as many batches as are asked for, or begin again "
                       f"when it is iterated again")
