"""The tokens of a corpus, and the part of its documents that is held out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..errors import BadDataError, InvalidArgumentError
from ..text.run import tokenize
from ..text.writer import replace_json

# Documents that are copied at a time.
_PART = 1 << 16


def _random_keys(seed, count):
    """A number for each of 0 to count - 1: splitmix64 (Steele et al., OOPSLA 2014), so that a
    split depends on no version of numpy."""
    with np.errstate(over="ignore"):
        step = np.uint64(0x9e3779b97f4a7c15)
        begin = np.uint64(seed) << np.uint64(32)
        value = (np.arange(1, count + 1, dtype=np.uint64) + begin) * step
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
        return value ^ (value >> np.uint64(31))


def held_out(documents, share, seed):
    """Which of the documents are held out, as a mask; at least one, and one remains."""
    mask = np.zeros(documents, bool)
    if share > 0 and documents > 1:
        count = min(max(1, round(share * documents)), documents - 1)
        mask[np.argsort(_random_keys(seed, documents), kind="stable")[:count]] = True
    return mask


def _write_part(source, manifest, output, chosen, described):
    """Copies the chosen documents of a folder of tokens to another one."""
    output.mkdir(parents=True, exist_ok=True)
    starts = np.memmap(source / "starts.bin", np.uint64, "r").astype(np.int64)
    ids = np.memmap(source / "ids.bin", manifest["id_type"], "r")
    mask = np.memmap(source / "mask.bin", np.uint8, "r")
    lengths = np.diff(starts)
    trained = largest = 0
    with open(output / "ids.bin", "wb") as id_file, open(output / "mask.bin", "wb") as mask_file:
        for first in range(0, len(lengths), _PART):
            last = min(first + _PART, len(lengths))
            begin, end = starts[first], starts[last]
            taken = np.repeat(chosen[first:last], lengths[first:last])
            part, counted = ids[begin:end][taken], mask[begin:end][taken]
            trained += int(counted.sum())
            largest = max(largest, int(part.max(initial=0)))
            id_file.write(part.tobytes())
            mask_file.write(counted.tobytes())
    ends = np.concatenate([[0], np.cumsum(lengths[chosen])])
    ends.astype("<u8").tofile(output / "starts.bin")
    replace_json(output / "tokens.json", {
        **manifest, "documents": int(chosen.sum()), "tokens": int(ends[-1]),
        "trained_tokens": trained, "longest": int(lengths[chosen].max(initial=0)),
        "largest_id": largest, "split": described})


def _read_split(folder, described, manifest):
    """The manifest of a part that is complete and of this split, otherwise None."""
    try:
        found = json.loads((folder / "tokens.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    fits = found.get("split") == described and found.get("arguments") == manifest["arguments"]
    return found if fits else None


def split(folder, manifest, outputs, share, seed):
    """Writes the trained and the held-out documents as two folders of tokens; returns their
    manifests. The second is None if nothing is held out."""
    described = {"share": share, "seed": seed}
    chosen = held_out(manifest["documents"], share, seed)
    manifests = []
    for output, mask, part in zip(outputs, (~chosen, chosen), ("train", "evaluation")):
        described_part = {**described, "part": part}
        if not mask.any():
            manifests.append(None)
            continue
        if _read_split(output, described_part, manifest) is None:
            _write_part(folder, manifest, output, mask, described_part)
        manifests.append(_read_split(output, described_part, manifest))
    return manifests


def _tokenize(model, corpus, folder, settings, length, replace):
    arguments = {name: settings[name] for name in
                 ("train_on", "overlong", "sample_by", "chat_template", "date", "processes")
                 if name in settings}

    def write(overwrite):
        return tokenize(model.folder, corpus, folder, max_length=length, labels="same",
                        append_eos=not settings.get("no_eos", False), overwrite=overwrite,
                        progress=not settings.get("quiet", False), **arguments)
    try:
        return write(False)
    except InvalidArgumentError:
        if not replace:
            raise
        # Tokens of other arguments, which nothing was trained on. Another error comes again.
        return write(True)


def prepare(model, corpus, work, settings, length, replace):
    """The tokens of a corpus in `work`: the manifests of the trained and the held-out documents.

    replace: whether tokens of other arguments, which are there, are replaced.
    """
    everything = Path(work) / "all"
    manifest = _tokenize(model, corpus, everything, settings, length, replace)
    largest = max(manifest["largest_id"], manifest["pad_id"])
    if model.vocabulary is not None and largest >= model.vocabulary:
        raise BadDataError(
            f"the tokenizer of '{model.folder}' gives token {largest}, but config.json has a "
            f"vocab_size of {model.vocabulary}: expected the tokenizer that the model was made for")
    return split(everything, manifest, (Path(work) / "train", Path(work) / "evaluation"),
                 settings.get("eval_split", 0.05), settings.get("seed", 0))
