"""Runs of Shampoo: flags of zeroc, and the arguments of the formulas in test/reference/shampoo.py."""

MODELS = {"gpt2-tiny": "gpt2", "llama-tiny": "llama", "mlp": "mlp"}
CASES = {
    "--lr=0.01": {"lr": 0.01},
    "--lr=0.03 --graft=sgd --momentum=0": {"lr": 0.03, "graft": "sgd", "momentum": 0.0},
    "--lr=0.001 --graft=rmsprop --beta2=0.9": {"lr": 1e-3, "graft": "rmsprop", "beta2": 0.9},
}
OTHER = {"lr": 1e-3, "decay": 0.01}
