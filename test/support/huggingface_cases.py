"""Tiny folders of Hugging Face: configurations that differ in one thing each from a small model,
with weights and data that follow from their names.
"""

import zlib

import numpy as np

STEPS = 10
ROWS, COLUMNS = 2, 12
BATCH = f"{ROWS}x{COLUMNS}"
ADAMW = {"lr": 1e-3, "weight_decay": 0.01, "eps": 1e-8}

_SMALL = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32,
          "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
_GPT2 = {"model_type": "gpt2", "vocab_size": 40, "n_embd": 16, "n_layer": 2, "n_head": 4,
         "n_positions": 16, "bos_token_id": 1, "eos_token_id": 2, "attn_pdrop": 0.0,
         "embd_pdrop": 0.0, "resid_pdrop": 0.0}
_LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 16}
_YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}
_LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [1.0, 4.0]}


def _of(family, **changes):
    return {"model_type": family, **_SMALL, **changes}


CASES = {
    "llama": _of("llama"),
    "llama-tied": _of("llama", tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
                      num_key_value_heads=1, head_dim=6, pad_token_id=3, hidden_act="relu2"),
    "llama-linear": _of("llama", rope_parameters={"rope_type": "linear", "factor": 2.0,
                                                  "rope_theta": 500.0}),
    # As transformers 4 writes it.
    "llama-rope3": _of("llama", rope_theta=500000.0, rope_scaling=_LLAMA3, torch_dtype="bfloat16"),
    "llama-yarn": _of("llama", head_dim=12, rope_scaling=_YARN),
    "llama-yarn-mscale": _of("llama", head_dim=12, rope_parameters={
        **_YARN, "rope_theta": 100.0, "mscale": 0.8, "mscale_all_dim": 0.5, "beta_fast": 8,
        "beta_slow": 2, "truncate": False}),
    "mistral": _of("mistral", sliding_window=5, num_key_value_heads=4),
    "mistral-full": _of("mistral", sliding_window=None, head_dim=8, hidden_act="gelu"),
    "qwen2": _of("qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1),
    "qwen2-full": _of("qwen2", sliding_window=4, tie_word_embeddings=True),
    "qwen3": _of("qwen3", head_dim=8, layer_types=["sliding_attention", "full_attention"],
                 use_sliding_window=True, sliding_window=3, attention_bias=True),
    "gpt2": {**_GPT2, "n_inner": 20, "scale_attn_by_inverse_layer_idx": True},
    "gpt2-untied": {**_GPT2, "tie_word_embeddings": False, "scale_attn_weights": False,
                    "activation_function": "quick_gelu", "n_positions": 12},
    "gpt_neox": _of("gpt_neox", num_key_value_heads=None, use_parallel_residual=False,
                    attention_bias=False, rotary_pct=0.5, rotary_emb_base=500,
                    tie_word_embeddings=True),
    "phi3": _of("phi3", sliding_window=4, partial_rotary_factor=0.5, pad_token_id=0),
    "phi3-long": _of("phi3", rope_scaling=_LONG, original_max_position_embeddings=8),
    "phi3-short": _of("phi3", rope_scaling=_LONG, original_max_position_embeddings=16),
    "granite": _of("granite", embedding_multiplier=6.0, logits_scaling=4.0,
                   residual_multiplier=0.5, attention_multiplier=0.3, tie_word_embeddings=True,
                   attention_bias=True, mlp_bias=True),
    "gemma2": _of("gemma2", head_dim=8, sliding_window=4, query_pre_attn_scalar=10,
                  attn_logit_softcapping=5.0, final_logit_softcapping=3.0, num_hidden_layers=3),
    "gemma2-uncapped": _of("gemma2", head_dim=4, sliding_window=4, attn_logit_softcapping=None,
                           final_logit_softcapping=None, pad_token_id=5),
    "gemma3": _of("gemma3_text", head_dim=8, sliding_window=4, sliding_window_pattern=3,
                  num_hidden_layers=3, query_pre_attn_scalar=8, rope_theta=50000.0,
                  rope_local_base_freq=100.0,
                  rope_scaling={"rope_type": "linear", "factor": 8.0}),
    "gemma3-new": _of("gemma3_text", head_dim=4, sliding_window=4, tie_word_embeddings=False,
                      layer_types=["sliding_attention", "full_attention"],
                      rope_parameters={"sliding_attention": {"rope_theta": 50.0},
                                       "full_attention": {"rope_theta": 500.0}}),
    "mixtral": _of("mixtral", num_local_experts=5, num_experts_per_tok=2),
    "olmo2": _of("olmo2", attention_bias=True),
    "smollm3": _of("smollm3", no_rope_layer_interval=2, use_sliding_window=True, sliding_window=4),
    "smollm3-listed": _of("smollm3", no_rope_layers=[0, 1], tie_word_embeddings=False),
}
# How the weights are stored, where it is not one file of f32.
STORED = {"llama-rope3": "bf16", "granite": "f16", "qwen3": "sharded"}


def weight(name, shape):
    """The values of a tensor: around 1 for scales of norms, else around 0."""
    noise = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    scales = len(shape) == 1 and name.endswith("weight")
    return ((1 + 0.1 * noise) if scales else 0.15 * noise).astype(np.float32)


def rounded(values, stored):
    """`values` as they are after they were stored."""
    if stored == "f16":
        return values.astype(np.float16).astype(np.float32)
    if stored != "bf16":
        return values
    bits = values.view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).view(np.float32)


def data(case):
    """Tokens and labels, of which some do not count."""
    numbers = np.random.default_rng(zlib.crc32(case.encode()))
    tokens = numbers.integers(0, _SMALL["vocab_size"], (ROWS, COLUMNS))
    labels = np.where(numbers.random((ROWS, COLUMNS)) < 0.2, -100, tokens)
    return tokens, labels
