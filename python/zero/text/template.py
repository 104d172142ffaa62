"""Chat templates, rendered as transformers renders them."""

import datetime
import json
import re

from ..errors import BadDataError, ZeroError
from .folder import require

# A message's reasoning has several names; templates read the first.
_REASONING = ("reasoning_content", "thinking", "reasoning")
_HAS_GENERATION = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def _generation_tag(jinja2):
    """The extension {% generation %}...{% endgeneration %}, which marks what a model writes."""
    import jinja2.ext

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            call = self.call_method("_mark")
            return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

        def _mark(self, caller):
            text = caller()
            begin = sum(map(len, self.environment.blocks))
            self.environment.spans.append((begin, begin + len(text)))
            return text

    return Generation


def _refuse(jinja2):
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)
    return raise_exception


def _tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    # jinja2's own filter escapes the characters of HTML.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def _namespaces(jinja2):
    """`dict` and `namespace` for templates, which must not reach Python's internals by them."""

    class Dict:
        def __call__(self, *values, **named):
            return dict(*values, **named)

        def fromkeys(self, *values):
            return dict.fromkeys(*values)

    class Namespace(jinja2.utils.Namespace):
        def __init__(*values, **named):
            self, values = values[0], values[1:]
            attributes = dict(*values, **named)
            for name in attributes:
                Namespace._check(name)
            jinja2.utils.Namespace.__init__(self, attributes)

        def __setitem__(self, name, value):
            Namespace._check(name)
            jinja2.utils.Namespace.__setitem__(self, name, value)

        @staticmethod
        def _check(name):
            if isinstance(name, str) and name.startswith("_"):
                raise jinja2.exceptions.SecurityError(f"attribute '{name}' of a namespace")

    return {"dict": Dict(), "namespace": Namespace}


def _environment(date):
    """An environment as transformers makes it, but for strftime_now, whose date is given."""
    jinja2 = require("jinja2")
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=[_generation_tag(jinja2), loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals.update(_namespaces(jinja2), raise_exception=_refuse(jinja2),
                               strftime_now=lambda form: date.strftime(form))
    environment.blocks, environment.spans = [], []
    return environment


def _plain_messages(messages):
    """Messages without empty keys, and with their reasoning under each name that templates read."""
    plain = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadDataError("expected each message as an object with 'role' and 'content'")
        message = {key: value for key, value in message.items() if value is not None}
        reasoning = next((message[key] for key in _REASONING if key in message), None)
        if reasoning is not None:
            message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
        plain.append(message)
    return plain


class ChatTemplate:
    """The chat templates of a folder.

    date: of today, for templates that write it, as "2026-01-31".
    """

    def __init__(self, folder, date):
        environment = _environment(datetime.datetime.fromisoformat(date))
        self._environment, self._special = environment, folder.special
        self._texts = folder.templates
        self._templates = {}

    def _named(self, tools):
        """The template for a conversation, and whether it marks what the model writes."""
        name = "tool_use" if tools is not None and "tool_use" in self._texts else "default"
        if name not in self._texts:
            raise ZeroError("the folder has no chat template, which `messages` need: add "
                            "chat_template.jinja to it, or give --chat-template=FILE")
        if name not in self._templates:
            try:
                template = self._environment.from_string(self._texts[name])
            except Exception as error:  # of jinja2
                raise ZeroError(f"the chat template: {error}") from None
            self._templates[name] = (template, bool(_HAS_GENERATION.search(self._texts[name])))
        return self._templates[name]

    def render(self, messages, tools=None, prompts=False, **variables):
        """The text of a conversation; `prompts`: up to where an answer begins."""
        template, _ = self._named(tools)
        environment = self._environment
        environment.blocks, environment.spans = [], []
        try:
            for block in template.generate(
                    **{**self._special, **variables}, messages=_plain_messages(messages),
                    tools=tools, documents=None, add_generation_prompt=prompts):
                environment.blocks.append(block)
        except BadDataError:
            raise
        except Exception as error:  # of jinja2, and of what a template does to its values
            raise BadDataError(f"the chat template refuses the messages: {error}") from None
        return "".join(environment.blocks)

    def spans(self, messages, tools=None, last=False, **variables):
        """The text of a conversation, and the ranges of its characters that the assistant writes:
        those that the template marks, otherwise what each of its messages adds to the text before
        it. last: only those of the last message."""
        text = self.render(messages, tools, **variables)
        marked = list(self._environment.spans)
        places = [i for i, each in enumerate(messages) if each["role"] == "assistant"]
        if last:
            places = [i for i in places if i == len(messages) - 1]
        if self._named(tools)[1]:
            return text, marked[-1:] if last and places else [] if last else marked
        return text, [self._added(text, messages, i, tools, variables) for i in places]

    def _before_user(self, messages, tools, variables):
        """The text of messages before one of the user: templates such as Qwen3's write the last
        answer in another form than those before it."""
        user = {"role": "user", "content": "x"}
        once = self.render([*messages, user], tools, **variables)
        twice = self.render([*messages, user, user], tools, **variables)
        added = twice[len(once):]
        return once.removesuffix(added) if twice.startswith(once) else once

    def _added(self, text, messages, place, tools, variables):
        before = self.render(messages[:place], tools, prompts=True, **variables)
        after = (self.render(messages[:place + 1], tools, **variables)
                 if place + 1 < len(messages) else text)
        if not text.startswith(after):
            after = self._before_user(messages[:place + 1], tools, variables)
        if not text.startswith(after) or not after.startswith(before):
            raise BadDataError(
                f"the chat template writes message {place + 1} otherwise when others follow, so "
                f"what the assistant writes is not known: mark it in the template by "
                f"{{% generation %}} (--chat-template=FILE), or use --train-on=last or all")
        return len(before), len(after)
