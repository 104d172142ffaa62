"""A tiny folder of Hugging Face and a corpus, for tests of fine-tuning."""

import json
from pathlib import Path

import numpy as np
from make_tokenizer import CHATML, make_folder

from zero.weights import write_safetensors

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 512,
          "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
          "rms_norm_eps": 1e-6, "tie_word_embeddings": True, "bos_token_id": None,
          "eos_token_id": 0, "pad_token_id": None}


def shapes(config):
    """Names and shapes of the tensors of a Llama with tied tables."""
    width, inner = config["hidden_size"], config["intermediate_size"]
    pairs = width * config["num_key_value_heads"] // config["num_attention_heads"]
    layer = {"self_attn.q_proj": (width, width), "self_attn.k_proj": (pairs, width),
             "self_attn.v_proj": (pairs, width), "self_attn.o_proj": (width, width),
             "mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width),
             "mlp.down_proj": (width, inner), "input_layernorm": (width,),
             "post_attention_layernorm": (width,)}
    return {"model.embed_tokens.weight": (config["vocab_size"], width),
            "model.norm.weight": (width,),
            **{f"model.layers.{i}.{name}.weight": shape
               for i in range(config["num_hidden_layers"]) for name, shape in layer.items()}}


def make_model(folder, text, config=CONFIG, vocabulary=400):
    """Writes a folder with seeded weights and a tokenizer that is trained on a file of text."""
    folder = Path(folder)
    make_folder(folder, text, CHATML, vocabulary=vocabulary)
    (folder / "config.json").write_text(json.dumps(config))
    random = np.random.default_rng(5)
    tensors = {name: (np.ones(shape, np.float32) if len(shape) == 1 else
                      random.normal(0, 0.05, shape).astype(np.float32), "float32")
               for name, shape in shapes(config).items()}
    write_safetensors(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def make_corpus(path, text, documents=90):
    """Writes the first paragraphs of a file of text as samples."""
    paragraphs = [part for part in Path(text).read_text().split("\n\n") if len(part) > 40]
    path.write_text("".join(json.dumps({"text": part[:160]}) + "\n"
                            for part in paragraphs[:documents]))
    return path
