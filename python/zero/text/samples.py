"""Samples of a corpus as documents: token ids, and for each whether the loss counts it.

A sample is an object with `messages`, with `prompt` and `completion`, or with `text`.
"""

import dataclasses
import json

import numpy as np

from ..errors import BadDataError
from .template import ChatTemplate


@dataclasses.dataclass(frozen=True)
class Options:
    """How samples become documents. Attributes: train_on, one of choices.TRAINED; max_length,
    tokens of a document, or None; overlong, one of choices.OVERLONG, what becomes of longer ones;
    append_eos, whether texts and completions end with EOS; date, for chat templates that write
    today's."""

    train_on: str
    max_length: int | None
    overlong: str
    append_eos: bool
    date: str


def no_counts():
    """Counts of samples: of all; of empty ones and those without tokens for the loss, which are
    left out; of those longer than max_length; and of tokens that these have lost."""
    return dict.fromkeys(("samples", "empty", "untrained", "overlong", "lost_tokens"), 0)


def _is_conversation(value):
    return isinstance(value, list)


def _describe(sample):
    if not isinstance(sample, dict):
        return type(sample).__name__
    return "the keys " + (", ".join(f"'{key}'" for key in list(sample)[:8]) or "none")


def _text_of(sample, key):
    value = sample[key]
    if not isinstance(value, str):
        raise BadDataError(f"expected '{key}' as a text, got {type(value).__name__}")
    return value


class Tokenizing:
    """Makes documents of samples. Counts, by kind, samples of which there is none."""

    def __init__(self, folder, options):
        self._tokenizer = folder.load()
        self._options = options
        self._template = ChatTemplate(folder, options.date)
        self._adds_bos = folder.adds_bos
        self._bos, self._eos = folder.ids["bos"], folder.ids["eos"]
        self.counts = no_counts()

    def documents(self, sample):
        """The documents of a sample, as pairs of arrays: ids, and 1 for tokens of the loss."""
        self.counts["samples"] += 1
        ids, trained = self._document(sample)
        if len(ids) == 0:
            self.counts["empty"] += 1
            return []
        most = self._options.max_length
        if most is not None and len(ids) > most:
            self.counts["overlong"] += 1
            if self._options.overlong == "drop":
                self.counts["lost_tokens"] += len(ids)
                return []
        # No label is the first token of a document.
        pieces = [piece for piece in self._cut(ids, trained) if piece[1][1:].any()]
        self.counts["untrained"] += not pieces
        return pieces

    def _cut(self, ids, trained):
        most = self._options.max_length or max(len(ids), 1)
        if self._options.overlong == "truncate":
            self.counts["lost_tokens"] += max(len(ids) - most, 0)
            return [(ids[:most], trained[:most])]
        return [(ids[i:i + most], trained[i:i + most]) for i in range(0, len(ids), most)]

    def _document(self, sample):
        if isinstance(sample, dict):
            if "messages" in sample:
                return self._chat(sample, sample["messages"])
            if "prompt" in sample and "completion" in sample:
                return self._completion(sample)
            if "text" in sample:
                return self._plain(_text_of(sample, "text"))
        raise BadDataError("expected an object with 'messages', with 'prompt' and 'completion', or "
                           f"with 'text', got {_describe(sample)}")

    def _variables(self, sample):
        """The tools of a conversation, and values for its template."""
        tools = sample.get("tools")
        if isinstance(tools, str):  # as files of tables have them
            tools = json.loads(tools) if tools else None
        variables = sample.get("chat_template_kwargs") or {}
        if not isinstance(variables, dict) or not isinstance(tools, (list, type(None))):
            raise BadDataError("expected 'tools' as a list and 'chat_template_kwargs' as an object")
        return tools or None, variables

    def _chat(self, sample, messages):
        if not isinstance(messages, list):
            raise BadDataError(f"expected 'messages' as a list, got {type(messages).__name__}")
        if not messages:
            return _none()
        tools, variables = self._variables(sample)
        if self._options.train_on == "all":
            text = self._template.render(messages, tools, **variables)
            return self._marked(text, [(0, len(text))])
        last = self._options.train_on == "last"
        return self._marked(*self._template.spans(messages, tools, last, **variables))

    def _completion(self, sample):
        prompt, completion = sample["prompt"], sample["completion"]
        if _is_conversation(prompt) != _is_conversation(completion):
            raise BadDataError("expected 'prompt' and 'completion' both as texts or both as lists "
                               "of messages")
        isAll = self._options.train_on == "all"
        if _is_conversation(prompt):
            tools, variables = self._variables(sample)
            text = self._template.render(prompt + completion, tools, **variables)
            begin = self._template.render(prompt, tools, prompts=True, **variables)
            if not text.startswith(begin):
                raise BadDataError("the chat template writes the prompt otherwise when the "
                                   "completion follows: give the sample as 'messages'")
            return self._marked(text, [(0 if isAll else len(begin), len(text))])
        prompt, completion = _text_of(sample, "prompt"), _text_of(sample, "completion")
        if not completion:
            return _none()
        text = prompt + completion
        ids, trained = self._marked(text, [(0 if isAll else len(prompt), len(text))], special=True)
        return self._ended(ids, trained)

    def _encode(self, text, special):
        try:
            return self._tokenizer.encode(text, add_special_tokens=special)
        except (TypeError, UnicodeEncodeError):
            raise BadDataError("expected text, got a lone surrogate such as \\ud800") from None

    def _plain(self, text):
        if not text:
            return _none()
        encoding = self._encode(text, special=True)
        return self._ended(*self._begun(encoding.ids, np.ones(len(encoding.ids), np.uint8)))

    def _marked(self, text, spans, special=False):
        """The tokens of a text; those of the loss overlap one of `spans`, ranges of characters."""
        encoding = self._encode(text, special)
        trained = np.zeros(len(encoding.ids), np.uint8)
        offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2)
        begins, ends = offsets[:, 0], offsets[:, 1]
        for begin, end in spans:
            # A token without characters, such as a blank that was trimmed, is where it begins.
            trained[(begins < end) & ((ends > begin) | ((begins == ends) & (begins >= begin)))] = 1
        if not special:
            return np.array(encoding.ids, np.int64), trained
        return self._begun(encoding.ids, trained)

    def _begun(self, ids, trained):
        """Adds the BOS token, or removes it, as tokenizer_config.json has it."""
        ids, adds = np.array(ids, np.int64), self._adds_bos
        has = len(ids) > 0 and self._bos is not None and ids[0] == self._bos
        if adds is True and self._bos is not None and not has:
            return np.insert(ids, 0, self._bos), np.insert(trained, 0, 0)
        return (ids[1:], trained[1:]) if adds is False and has else (ids, trained)

    def _ended(self, ids, trained):
        """Appends the EOS token unless it is there."""
        if not self._options.append_eos:
            return ids, trained
        if len(ids) and ids[-1] == self._eos:
            trained[-1] = 1
            return ids, trained
        return np.append(ids, self._eos), np.append(trained, np.uint8(1))


def _none():
    return np.zeros(0, np.int64), np.zeros(0, np.uint8)
