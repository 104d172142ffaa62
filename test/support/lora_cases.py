"""Adapters that `--lora` adds and PEFT adds, with the same initial values: shared by
test/reference/lora_peft.py and test/execute/check_lora_compiler.py."""

import numpy as np

STEPS, LR, DECAY = 10, 1e-2, 0.01
# For each case its graph, targets, rank, alpha, whether its scale is rank-stabilized, the standard
# deviation of B, which PEFT initializes with 0, the codes in which the base is stored, and whether
# magnitudes are trained (DoRA).
CASES = {
    "llama": ("llama-tiny", ["q_proj", "v_proj"], 4, 8, False, 0.0, None, False),
    "all": ("llama-tiny", ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                           "down_proj"], 3, 5, False, 0.02, None, False),
    "gpt2": ("gpt2-tiny", ["c_attn", "c_proj"], 8, 16, True, 0.0, None, False),
    "nf4": ("llama-tiny", ["q_proj", "v_proj"], 4, 8, False, 0.0, "nf4", False),
    "dora": ("llama-tiny", ["q_proj", "v_proj", "down_proj"], 4, 8, False, 0.02, None, True),
    "dora-gpt2": ("gpt2-tiny", ["c_attn", "c_proj"], 4, 6, True, 0.02, None, True),
    "qdora": ("llama-tiny", ["q_proj", "down_proj"], 4, 8, False, 0.02, "nf4", True),
}


def is_drawn(name):
    """Whether a case gives the tensor `name` of an adapter other values than PEFT does."""
    return not name.endswith(".lora_magnitude_vector")


def initial(name, shape, deviation_of_b):
    """The value of the matrix `name`, the same for everyone."""
    seed = [ord(letter) for letter in name]
    values = np.random.default_rng(seed).standard_normal(shape)
    deviation = 1 / np.sqrt(shape[1]) if ".lora_A." in name else deviation_of_b
    return (values * deviation).astype(np.float32)
