"""How the documents of a fine-tuning become rows of its model."""

from __future__ import annotations

from dataclasses import dataclass

from ..dataset import PACKINGS, describe_documents

_ROUNDED_TO = 16  # tokens
# Documents of a step where no one says another number: QLoRA (table 9) up to 13 billion parameters.
STEP_DOCUMENTS = 16
# Packing must save as much of the tokens of all rows: an epoch is then shorter by as much.
_LEAST_SAVED = 0.25


@dataclass(frozen=True)
class Rows:
    """The rows of some documents.

    Attributes:
        pack: which documents share one, a word of zero.Dataset.
        width: tokens of a row.
        documents: how many there are.
        count: rows.
        tokens: of documents, in all rows; the others are padding.
    """
    pack: str
    width: int
    documents: int
    count: int
    tokens: int

    @property
    def unit(self):
        """What a row is to people."""
        return "documents" if self.pack == "off" else "rows"

    def __str__(self):
        full = self.tokens / (self.count * self.width)
        shared = {"off": "a document each", "documents": "of several documents",
                  "stream": "of all documents behind each other"}[self.pack]
        return f"{self.count:,} of {self.width:,} tokens, {shared}, {full:.0%} full"


def rows_of(folder, pack, width):
    """The Rows of a folder of tokens."""
    return Rows(pack, width, *describe_documents(folder, width, pack))


def _rounded(tokens):
    return -(-int(tokens) // _ROUNDED_TO) * _ROUNDED_TO


def choose_rows(choices, folder, manifests):
    """The Rows of the trained documents, in `folder`.

    manifests: of the trained and the held-out documents; the second may be None.

    Rows are as long as the longest document; what is behind a document is padding, which costs time
    and is not trained. Rows that documents share may be longer, up to what a step has of them, so
    that they are full. No document sees another, and a step has as many of them, so packing changes
    the time of an epoch only. It is chosen if it saves a quarter of the tokens of rows.
    """
    most = choices.value("length")
    longest = max(part["longest"] for part in manifests if part)
    train = manifests[0]
    of_step = min(STEP_DOCUMENTS, train["documents"]) * train["tokens"] / train["documents"]
    alone = rows_of(folder, "off", min(most, _rounded(longest)))
    width = min(most, _rounded(max(longest, of_step)))
    given = choices.value("pack")
    if given is None and choices.value("in_order"):
        choices.take("pack", "off", "documents stay in their order")
        return alone
    if given is not None:
        return alone if given == "off" else rows_of(folder, given, width)
    packed = rows_of(folder, PACKINGS[1], width)
    saved = 1 - packed.count * packed.width / (alone.count * alone.width)
    if saved < _LEAST_SAVED:
        choices.take("pack", "off", f"packing would save {max(saved, 0):.0%} of the tokens of rows")
        return alone
    choices.take("pack", packed.pack, f"saves {saved:.0%} of the tokens of rows")
    return packed
