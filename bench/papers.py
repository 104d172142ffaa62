"""Formulas of the papers that Zero's plans are compared with.

Each is written here once, with its source; test/papers checks them against figures that the papers
print. Names: p parameters, b sequences of a batch, s tokens of a sequence, h width, l layers,
a heads, t ranks along tensor, v vocabulary. Sizes are bytes, rates bytes or operations per second.
"""

import math
from dataclasses import dataclass

GIB, TIB = 2**30, 2**40
ADAM = 12  # bytes of a parameter's optimizer state: f32 master, momentum, variance


# ZeRO, arXiv 1910.02054.

def model_state(p, stage, ranks, optimizer=ADAM):
    """Bytes of a rank: section 5 (figure 1, table 1). Parameters and gradients have 16 bits."""
    shards = [ranks if stage >= sharded_from else 1 for sharded_from in (3, 2, 1)]
    return p * (2 / shards[0] + 2 / shards[1] + optimizer / shards[2])


def largest_model(memory, stage, ranks, tensor=1):
    """Parameters whose model state fills the `memory` of each rank: table 2, left half."""
    return memory * tensor / model_state(1, stage, ranks)


def data_volume(p, stage):
    """Elements that ranks exchange in a step, before (n - 1) / n of the ring: section 7."""
    return (3 if stage == 3 else 2) * p


def tensor_volume(b, s, h):
    """Elements that a block with recomputation exchanges along tensor: section 8, six sums that
    move two messages each."""
    return 12 * b * s * h


def partition_volume(b, s, h):
    """Elements that partitioned activations (Pa) add to a block: section 8, one gather."""
    return b * s * h


def transformer_parameters(l, h):
    """Parameters of the blocks, without embeddings and biases."""
    return 12 * l * h**2


def kept_activations(b, s, h, l):
    """Bytes that forward keeps without recomputation: section 3.2, footnote."""
    return 2 * 12 * b * s * h * l


def kept_checkpoints(b, s, h, l, tensor=1):
    """Bytes of one checkpoint a block: section 6.1. `tensor` ranks partition it (Pa). The section
    prints half of this, as if an element had one byte."""
    return 2 * b * s * h * l / tensor


def fused_buffer(p):
    """Bytes of a buffer for all gradients in f32: section 3.2."""
    return 4 * p


# ZeRO-Infinity, arXiv 2104.07857.

INFINITY_STATE = 20  # bytes a parameter: gradients are kept in f32 as well


def infinity_state(l, h):
    """Bytes of the model state of all ranks: section 3."""
    return INFINITY_STATE * transformer_parameters(l, h)


def infinity_block(b, s, h, a):
    """Bytes of activations of one block, and so the working memory (AWM) for one checkpoint a
    block: section 3."""
    return b * s * (16 * h + 2 * a * s)


def largest_operator(h):
    """Bytes of parameters and gradients of a block's largest product (MSWM): section 3."""
    return 16 * h**2


def efficiency(intensity, bandwidth, peak=70e12):
    """Part of `peak` that is reached if `bandwidth` moves one byte for `intensity` operations:
    section 4."""
    return intensity * bandwidth / (intensity * bandwidth + peak)


def parameter_intensity(b, s):
    """Operations for each byte of parameters and gradients: section 4."""
    return b * s


def optimizer_intensity(b, s):
    """Operations for each byte of optimizer state: section 4."""
    return b * s / 4


def checkpoint_intensity(h):
    """Operations for each byte of a checkpoint a block: section 4."""
    return 24 * h


# Model FLOPs utilization, as llm-foundry (scripts/train/benchmarking/README.md) and torchtitan count.

def model_utilization(p, l, h, s, tokens_per_second, peak=989.5e12):
    """Operations of the model over what a GPU can compute, of `tokens_per_second` for each GPU:
    forward and twice that backward, all scores of attention, nothing that is recomputed. torchtitan
    leaves embeddings out of `p`."""
    return (6 * p + 12 * l * h * s) * tokens_per_second / peak


# Ratel (Fuyou, LoHan), arXiv 2403.06504. Its TFLOPS count a second forward pass.

def counted_rate(p, tokens_per_second):
    """Operations per second by the count of this paper and ZeRO-Infinity: 8 for each parameter
    and token, whether values are recomputed or not."""
    return 8 * p * tokens_per_second


def ratel_activations(b, s, h, l):
    """Bytes of all activations, those of attention fused."""
    return 32 * b * s * h * l


# Bytes a parameter that a step reads from and writes to the drives. Ratel: f32 parameters (4),
# moments (8) and 16-bit parameters (2), the last read in forward and in backward. ZeRO-Infinity
# also writes and reads 16-bit gradients.
RATEL_TRAFFIC = {"read": 4 + 8 + 2 + 2, "write": 4 + 8 + 2}
INFINITY_TRAFFIC = {kind: size + 2 for kind, size in RATEL_TRAFFIC.items()}


def swap_order(h):
    """Products of a block in the order in which their results are swapped: most operations of
    recomputation for a byte first, fewer bytes first among equals."""
    products = {"qkv": (h, 3 * h), "proj": (h, h), "fc1": (h, 4 * h), "fc2": (4 * h, h)}

    def priority(name):
        rows, columns = products[name]
        return -2 * rows * columns / (2 * columns), columns
    return sorted(products, key=priority)


# Korthikanti et al., "Reducing activation recomputation", arXiv 2205.05198.

@dataclass
class Megatron:
    """A model of table 3; `pipeline` stages of `chunks` interleaved parts, `batch` in all."""
    a: int
    h: int
    l: int
    b: int
    batch: int
    gpus: int
    pipeline: int = 1
    chunks: int = 1
    s: int = 2048
    v: int = 51200
    t: int = 8

    def block(self, sequence=False, selective=False, full=False):
        """Bytes of activations of a block: table 2."""
        unit = self.s * self.b * self.h
        if full:
            return 2 * unit
        scores = 0 if selective else 5 * self.a * self.s / self.h
        return unit * ((34 + scores) / self.t if sequence else 10 + (24 + scores) / self.t)

    def activations(self, **saved):
        """Bytes on the first stage of the pipeline: section 4.2.3."""
        interleaved = (self.pipeline - 1) / (self.pipeline * self.chunks) if self.chunks > 1 else 0
        return self.block(**saved) * self.l * (1 + interleaved)

    def state(self):
        """Bytes of parameters and optimizer state of a rank, 18 a parameter: figure 1."""
        return 18 * transformer_parameters(self.l, self.h) / (self.t * self.pipeline)

    def operations(self, selective=False):
        """Operations of a step: appendix A."""
        scores = self.s / ((3 if selective else 6) * self.h)
        return (72 * self.batch * self.l * self.s * self.h**2
                * (1 + scores + self.v / (12 * self.h * self.l)))

    def utilization(self, seconds, peak=312e12):
        """Model operations of a step of `seconds` over what the GPUs can compute (MFU)."""
        return self.operations() / (seconds * self.gpus * peak)


MEGATRON = {
    "22B": Megatron(a=64, h=6144, l=48, b=4, batch=4, gpus=8),
    "175B": Megatron(a=96, h=12288, l=96, b=1, batch=64, gpus=64, pipeline=8, chunks=3),
    "530B": Megatron(a=128, h=20480, l=105, b=1, batch=280, gpus=280, pipeline=35, chunks=3),
    "1T": Megatron(a=160, h=25600, l=128, b=1, batch=512, gpus=512, pipeline=64),
}


# Chen et al., "Training deep nets with sublinear memory cost", arXiv 1604.06174.

def chen_memory(l, kept, inside, segments):
    """Memory of a chain of l layers in `segments`: a checkpoint each, and one segment's values."""
    return segments * kept + math.ceil(l / segments) * inside


def chen_segments(l, kept, inside):
    """The number of segments that takes the least memory."""
    return min(range(1, l + 1), key=lambda segments: chen_memory(l, kept, inside, segments))
