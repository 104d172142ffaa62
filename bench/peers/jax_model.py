"""GPT-2 in JAX: parameters, mean loss and a step of AdamW. The sizes are those of case.json."""

import jax
import jax.numpy as jnp

LEARNING_RATE, WEIGHT_DECAY, BETA1, BETA2, EPSILON = 1e-4, 0.01, 0.9, 0.999, 1e-8


def map_shapes(function, shapes):
    return jax.tree.map(function, shapes, is_leaf=lambda x: isinstance(x, tuple))


def parameter_shapes(sizes, stacked=False):
    """The shape of each parameter. If stacked, those of all layers are one array."""
    width, vocabulary = sizes["width"], sizes["vocabulary"]
    norm = {"weight": (width,), "bias": (width,)}
    linear = lambda rows, columns: {"weight": (rows, columns), "bias": (columns,)}
    layer = {"norm1": norm, "packed": linear(width, 3 * width), "mixed": linear(width, width),
             "norm2": norm, "grow": linear(width, 4 * width), "shrink": linear(4 * width, width)}
    layers = map_shapes(lambda shape: (sizes["layers"], *shape), layer) if stacked else \
        [layer] * sizes["layers"]
    return {"tokens": (vocabulary, width), "positions": (sizes["sequence"], width),
            "layers": layers, "norm": norm}


def normalize(x, p):
    """In fp32, as PyTorch's, which only reads and writes bf16."""
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    variance = ((wide - mean) ** 2).mean(-1, keepdims=True)
    normal = (wide - mean) * jax.lax.rsqrt(variance + 1e-5) * p["weight"] + p["bias"]
    return normal.astype(x.dtype)


def project(x, p):
    return x @ p["weight"] + p["bias"]


def apply_layer(x, p, heads):
    shape = (*x.shape[:2], heads, -1)
    parts = jnp.split(project(normalize(x, p["norm1"]), p["packed"]), 3, -1)
    query, key, value = (part.reshape(shape) for part in parts)
    mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
    x = x + project(mixed.reshape(x.shape), p["mixed"])
    grown = jax.nn.gelu(project(normalize(x, p["norm2"]), p["grow"]))
    return x + project(grown, p["shrink"])


def mean_loss(p, tokens, heads):
    x = p["tokens"][tokens] + p["positions"]
    if isinstance(p["layers"], list):
        for layer in p["layers"]:
            x = apply_layer(x, layer, heads)
    else:
        x, _ = jax.lax.scan(lambda x, layer: (apply_layer(x, layer, heads), None), x, p["layers"])
    logits = (normalize(x, p["norm"]) @ p["tokens"].T)[:, :-1].astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    # Less work than log_softmax, which writes all the logits again.
    return (jax.nn.logsumexp(logits, -1) - chosen).mean()


def update_all(p, first, second, count, gradient):
    """AdamW: the next parameters, moments and count."""
    count = count + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradient)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradient)

    def update(w, m, v):
        scaled = jnp.sqrt(v / (1 - BETA2 ** count)) + EPSILON
        return w - LEARNING_RATE * (m / (1 - BETA1 ** count) / scaled + WEIGHT_DECAY * w)
    return jax.tree.map(update, p, first, second), first, second, count


def weight_name(path):
    """The name in weights.npz of the parameter at a path of JAX."""
    return ".".join(str(getattr(key, "key", getattr(key, "idx", None))) for key in path)
