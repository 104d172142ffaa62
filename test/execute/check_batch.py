"""A batch trains equally for every split over ranks; ignored labels are counted globally.

usage: check_batch.py DATA WORK
"""

import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, relative

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
SGD = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
IGNORED = -100


def check_cuts(checks, name, graph, stage, flags):
    """4 rows per step: 1 rank x 4, 2 x 2 and 4 x 1 agree within the rounding of fp32."""
    whole = None
    for ranks in (1, 2, 4):
        label = f"{name} cut over {ranks}"
        result = graph.run(graph.compile(stage, ranks, graph.shape_flag(ranks), *flags), 10)
        whole = whole or result
        error = np.max(np.abs(result.losses - whole.losses) / whole.losses)
        checks.that(error <= 1e-5, f"{label}: losses off by {error:.1e}")
        for key, gradient in whole.gradients.items():
            error = relative(result.gradients[key], gradient)
            # The gradient of a key's bias is zero except for rounding.
            checks.that(error <= 1e-5 or key.endswith("attn.c_attn.bias"),
                        f"{label}: gradient of {key} off by {error:.1e}")
    return whole


def ignore_unevenly(labels):
    """Row 0 keeps 5 labels, row 1 half of them, row 2 all, row 3 all except the first."""
    labels = labels.copy()
    labels[0, 6:] = IGNORED
    labels[1, ::2] = IGNORED
    labels[3, 1] = IGNORED
    return labels


def check_means(checks, data, work):
    """Compares with means that numpy computes from separate runs of each row."""
    graph = Graph(data, "gpt2-tiny-dyn", work)
    labels = ignore_unevenly(graph.inputs["labels"])
    graph.set_input("labels", labels)
    everything = graph.run(graph.compile(0, 4, graph.shape_flag(4), *SGD), 1)
    local = graph.run(graph.compile(0, 4, graph.shape_flag(4), *SGD, "--loss-mean=local"), 1)
    alone = graph.compile(0, 1, graph.shape_flag(4), *SGD)
    means, gradients = [], []
    for row in range(4):
        one = Graph(data, "gpt2-tiny-dyn", f"{work}/row{row}")
        one.set_input("input_ids", graph.inputs["input_ids"][row:row + 1])
        one.set_input("labels", labels[row:row + 1])
        result = one.run(alone, 1)
        means.append(result.losses[0])
        gradients.append(result.gradients)
    valid = np.count_nonzero(labels[:, 1:] != IGNORED, axis=1)  # the graph shifts labels by one
    for label, result, weights in (("global", everything, valid / valid.sum()),
                                   ("local", local, np.full(4, 0.25))):
        expected = np.dot(weights, means)
        checks.that(abs(result.losses[0] - expected) <= 1e-6 * expected,
                    f"{label} mean: {result.losses[0]:.7f}, expected {expected:.7f}")
        for key in ("model.transformer.ln_f.weight", "model.lm_head.weight"):
            error = relative(result.gradients[key],
                             sum(w * g[key].astype(np.float64) for w, g in zip(weights, gradients)))
            checks.that(error <= 1e-5, f"{label} mean: gradient of {key} off by {error:.1e}")
    checks.that(abs(everything.losses[0] - local.losses[0]) > 1e-3, "the two means are the same")


def check_nothing_valid(checks, data, work):
    """A step without labels is an error; a rank without labels is one only for its own mean."""
    graph = Graph(data, "gpt2-tiny-dyn", work)
    labels = graph.inputs["labels"].copy()
    labels[3] = IGNORED
    graph.set_input("labels", labels)
    check_cuts(checks, "gpt2-tiny-dyn with a row without labels", graph, 2, SGD)
    local = graph.compile(2, 4, graph.shape_flag(4), "--loss-mean=local", *SGD)
    check_refused(checks, "a rank without labels", ["rank 3", "no valid label"],
                  "zero-run", local, graph.data_flag)
    graph.set_input("labels", np.full_like(labels, IGNORED))
    for ranks in (1, 4):
        whole = graph.compile(3, ranks, graph.shape_flag(ranks), *SGD)
        check_refused(checks, f"no labels at all on {ranks}", ["step 0", "no valid label"],
                      "zero-run", whole, graph.data_flag)


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp = Graph(data, "mlp-dynbatch", f"{work}/mlp")
    mlp.inputs = {key: value[:4] for key, value in mlp.inputs.items()}
    mlp.write_inputs()
    check_cuts(checks, "mlp-dynbatch", mlp, 3, ADAMW)
    gpt2 = Graph(data, "gpt2-tiny-dyn", f"{work}/gpt2")
    plain = check_cuts(checks, "gpt2-tiny-dyn", gpt2, 3, ADAMW)
    gpt2.set_input("labels", ignore_unevenly(gpt2.inputs["labels"]))
    partly = check_cuts(checks, "gpt2-tiny-dyn, some labels ignored", gpt2, 3, ADAMW)
    checks.that(abs(plain.losses[0] - partly.losses[0]) > 1e-4, "ignored labels changed nothing")
    check_means(checks, data, f"{work}/means")
    check_nothing_valid(checks, data, f"{work}/none")
    checks.finish()


if __name__ == "__main__":
    main()
