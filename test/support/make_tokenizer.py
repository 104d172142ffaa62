"""A Hugging Face folder with a byte-level BPE tokenizer that is trained on a text."""

import functools
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SPECIAL = ("<|endoftext|>", "<pad>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>",
           "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")

CHATML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
          "message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}"
          "{{ '<|im_start|>assistant\n' }}{% endif %}")

LLAMA3 = ("{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = "
          "'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + "
          "message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = "
          "bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
          "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}")

# Marks the answers and their ends, as templates for training do.
GENERATION = ("{%- for message in messages %}\n"
              "    {{- '<|im_start|>' + message['role'] + '\n' }}\n"
              "    {%- if message['role'] == 'assistant' %}\n"
              "        {% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}\n"
              "    {%- else %}\n"
              "        {{- message['content'] + '<|im_end|>' }}\n"
              "    {%- endif %}\n"
              "    {{- '\n' }}\n"
              "{%- endfor %}\n"
              "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")

# Writes the reasoning of the answers to the last question only, as Qwen3's template.
REASONING = ("{%- set last = namespace(user=-1) %}"
             "{%- for m in messages %}{% if m.role == 'user' %}{% set last.user = loop.index0 %}"
             "{% endif %}{% endfor %}"
             "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
             "{%- if m.role == 'assistant' and loop.index0 > last.user %}"
             "{{ '<think>\n' + (m.reasoning_content or '') + '\n</think>\n\n' }}{% endif %}"
             "{{ m.content + '<|im_end|>\n' }}{% endfor %}"
             "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


@functools.cache
def trained_bpe(text, vocabulary):
    """tokenizer.json of a tokenizer that is trained on a file."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train([str(text)], trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL), show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer.to_str()


def make_folder(folder, text, template, *, vocabulary=500, begins=False, **config):
    """Writes the folder; `begins`: texts begin with <|begin_of_text|>; `config` are further entries
    of tokenizer_config.json."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_str(trained_bpe(text, vocabulary))
    if begins:
        first = "<|begin_of_text|>"
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first} $A", pair=f"{first} $A $B",
            special_tokens=[(first, tokenizer.token_to_id(first))])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>",
              "pad_token": "<pad>", **config}
    if template is not None:
        config["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tokenizer
