"""The formulas of bench/papers.py give the figures that the papers print. Rows of plans are in the
other tests of this directory; Revolve is in test/unit/planning/ChainTest.cpp.

usage: check_formulas.py
"""

import papers
from papers import GIB, MEGATRON, TIB
from zero_test import Checks

# Figure 2a of ZeRO-Infinity: layers, width, heads; TiB of state, activations and checkpoints of a
# node, GiB of the largest operator and of working memory. The columns have batches of 64, 32 and 4.
# The formula gives 1.56 GiB for the first operator.
INFINITY = {
    "0.10T": (80, 10240, 128, "1.83", "2.03", "0.05", "1.56", "1.63"),
    "0.50T": (100, 20480, 160, "9.16", "3.91", "0.12", "6.25", "2.50"),
    "1.01T": (128, 25600, 256, "18.31", "7.13", "0.20", "9.77", "3.56"),
    "10.05T": (195, 65536, 512, "182.81", "24.38", "0.76", "64.00", "8.00"),
    "101.47T": (315, 163840, 1024, "1845.70", "88.59", "3.08", "400.00", "18.00"),
}
SIZES = [(10e9, 50, 4096), (50e9, 62, 8192), (100e9, 125, 8192), (0.5e12, 124, 18432),
         (1e12, 128, 25600), (5e12, 174, 49152), (10e12, 200, 65536), (20e12, 205, 90112)]
# Operations a byte, GB/s, percent of the peak.
EFFICIENCIES = [
    *((papers.parameter_intensity(1, 1024), *row) for row in ((1, 1.44), (48, 41.3), (70, 50.6))),
    *((papers.parameter_intensity(16, 1024), *row) for row in ((1, 19.0), (12, 73.7))),
    *((papers.optimizer_intensity(2, 1024), *row) for row in ((768, 84.9), (1536, 91.8))),
    (papers.checkpoint_intensity(2048), 1, 41.3), (papers.checkpoint_intensity(8192), 3, 89.4),
    (papers.checkpoint_intensity(65536), 1, 95.7)]
# Figure 1 of Korthikanti et al., GiB: nothing recomputed, sequence parallel and selective, state.
FIGURE_1 = {"22B": (59.25, 9.5625, 45.5625), "175B": (66.84, 12.35, 45.5625),
            "530B": (114.02, 23.08, 31.64), "1T": (131.25, 26.5625, 32.96)}
# Figure 7: percent of tensor parallel activations.
WAYS = ({"sequence": True}, {"selective": True}, {"sequence": True, "selective": True},
        {"full": True})
FIGURE_7 = {"22B": (66.8, 49.4, 16.2, 7.6), "175B": (62.0, 56.5, 18.5, 8.7),
            "530B": (58.3, 62.0, 20.3, 9.4), "1T": (58.3, 62.0, 20.3, 9.4)}
# Table 5: seconds of a step, percent of the peak.
TABLE_5 = {"22B": (1.10, 41.7), "175B": (13.75, 51.4), "530B": (37.83, 56.0), "1T": (71.49, 56.3)}


def near(checks, label, actual, expected, tolerance):
    checks.that(abs(actual - expected) <= tolerance, f"{label}: {actual}, the paper {expected}")


def check_infinity(checks):
    for name, (layers, width, heads, *printed) in INFINITY.items():
        block = papers.infinity_block(1, 1024, width, heads)
        actual = (papers.infinity_state(layers, width) / TIB, 64 * layers * block / TIB,
                  papers.kept_checkpoints(32, 1024, width, layers) / TIB,
                  papers.largest_operator(width) / GIB, 4 * block / GIB)
        for column, (value, text) in enumerate(zip(actual, printed, strict=True)):
            # 1 percent, or half of the last digit where that is more.
            near(checks, f"{name}, column {column}", value, float(text),
                 max(0.01 * float(text), 0.5001 * 10**-len(text.partition(".")[2])))
    for named, layers, width in SIZES:
        near(checks, f"{layers} x {width}", papers.transformer_parameters(layers, width), named,
             named * (0.031 if named == 10e12 else 0.0111))
    for intensity, bandwidth, percent in EFFICIENCIES:
        near(checks, f"efficiency at {bandwidth} GB/s",
             100 * papers.efficiency(intensity, bandwidth * 1e9), percent, 0.1)


def check_megatron(checks):
    for name, model in MEGATRON.items():
        plain, least, state = FIGURE_1[name]
        near(checks, f"{name}, activations", model.activations() / GIB, plain, 0.01)
        both = model.activations(sequence=True, selective=True)
        near(checks, f"{name}, least activations", both / GIB, least, 0.01)
        near(checks, f"{name}, state", model.state() / GIB, state, 0.01)
        for way, percent in zip(WAYS, FIGURE_7[name], strict=True):
            near(checks, f"{name}, {way}", 100 * model.block(**way) / model.block(), percent, 0.15)
        seconds, percent = TABLE_5[name]
        near(checks, f"{name}, MFU", 100 * model.utilization(seconds), percent, 0.3)
    for name, percent in (("175B", 2.70), ("530B", 1.64)):
        more = MEGATRON[name].operations(selective=True) / MEGATRON[name].operations() - 1
        near(checks, f"{name}, selective recomputation", 100 * more, percent, 0.05)


#: llm-foundry, H100 80GB BF16: parameters, layers, width, tokens, GPUs, tokens/s, MFU in percent.
FOUNDRY = [(64862437376, 80, 8192, 2048, 64, 66523, 42.57),
           (30019254272, 48, 7168, 8192, 8, 11072, 29.92),
           (12853954560, 40, 5120, 2048, 64, 307209, 39.86),
           (12848711680, 40, 5120, 1024, 8, 44019, 44.27),
           (6918905856, 32, 4096, 65536, 8, 15654, 28.59),
           (6658859008, 32, 4096, 2048, 8, 85144, 46.44),
           (1315950592, 24, 2048, 2048, 64, 2841754, 40.85)]
#: torchtitan, Llama 3.1 8B on H100s, which "achieves 33% to 39%": tokens/s of a GPU, MFU.
TITAN = [(5762, 33), (5605, 33), (6667, 39)]
TITAN_PARAMETERS = 8030261248 - 128256 * 4096  # without embeddings


def check_utilization(checks):
    for p, l, h, s, gpus, tokens, percent in FOUNDRY:
        near(checks, f"llm-foundry, {p} parameters, {s} tokens",
             100 * papers.model_utilization(p, l, h, s, tokens / gpus), percent, 0.1)
    for tokens, percent in TITAN:
        near(checks, f"torchtitan, {tokens} tokens/s",
             100 * papers.model_utilization(TITAN_PARAMETERS, 32, 4096, 8192, tokens), percent, 1)


def check_ratel(checks):
    for p, tokens, tera in ((13e9, 1376, 143.1), (175e9, 62.1, 86.9)):
        near(checks, f"{tokens} tokens/s", papers.counted_rate(p, tokens) / 1e12, tera, tera / 100)
    b, s, h, l = 32, 1024, 5120, 40
    near(checks, "A_all", papers.ratel_activations(b, s, h, l) / 1e9, 214.7, 2.1)
    near(checks, "A_inter", papers.kept_checkpoints(b, s, h, l) / 1e9, 13.4, 0.13)
    for name, traffic, total in (("Ratel", papers.RATEL_TRAFFIC, 30),
                                 ("ZeRO-Infinity", papers.INFINITY_TRAFFIC, 34)):
        checks.that(sum(traffic.values()) == total, f"{name}: {traffic}")
    order = papers.swap_order(h)
    checks.that(order == ["fc2", "proj", "qkv", "fc1"], f"swap order {order}")


def check_others(checks):
    for p, gigabytes in ((1.5e9, 6), (3e9, 12)):
        checks.that(papers.fused_buffer(p) == gigabytes * 1e9, f"fused buffer of {p}")
    segments = papers.chen_segments(96, kept=2, inside=34)
    memory = papers.chen_memory(96, 2, 34, segments)
    checks.that((segments, memory) == (48, 164), f"Chen: {segments} segments, {memory}")
    checks.that(papers.chen_memory(96, 2, 34, 96) == 226, "Chen: a checkpoint a layer")


def main():
    checks = Checks()
    check_infinity(checks)
    check_megatron(checks)
    check_utilization(checks)
    check_ratel(checks)
    check_others(checks)
    checks.finish()


if __name__ == "__main__":
    main()
