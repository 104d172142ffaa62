"""Model state of a rank in the plans of models without weights: tables 1 and 2 of ZeRO,
arXiv 1910.02054.

usage: check_states.py WORK
"""

import sys
from pathlib import Path

import make_chain
import papers
from certificates import Certificate
from zero_test import Checks

# Parameters: layers and both widths of a chain.
MODELS = {7.5e9: (10, 25000, 30000), 128e9: (10, 100000, 128000), 1e12: (80, 100000, 125000)}
# Table 1, GB, by ranks: stages 1, 2 and 3 of each model. Digits are partly cut off, not rounded.
TABLE_1 = {
    1: "120/120/120 2048/2048/2048 16000/16000/16000",
    4: "52.5/41.3/30 896/704/512 7000/5500/4000",
    16: "35.6/21.6/7.5 608/368/128 4750/2875/1000",
    64: "31.4/16.6/1.88 536/284/32 4187/2218/250",
    256: "30.4/15.4/0.47 518/263/8 4046/2054/62.5",
    1024: "30.1/15.1/0.12 513/257/2 4011/2013/15.6",
}
# Table 2, parameters in billions that 32 GB of 64 data-parallel ranks hold at stages 0 to 3, by
# ranks along tensor. The paper rounds 512 and 1,024 billion to 0.5T and 1T, and 2,048 to 2T.
TABLE_2 = {1: (2, 7.6, 14.4, 128), 2: (4, 15.2, 28.8, 256), 4: (8, 30.4, 57.6, 500),
           8: (16, 60.8, 115.2, 1000), 16: (32, 121.6, 230.4, 2000)}
MEMORY = 32e9


def last_digit(text):
    """The unit of the last digit of a printed number."""
    return 10.0 ** -len(text.partition(".")[2])


def check_table_1(checks, models):
    cells = 0
    for ranks, row in TABLE_1.items():
        for (parameters, model), printed in zip(models.items(), row.split(), strict=True):
            for stage, text in enumerate(printed.split("/"), start=1):
                plan = Certificate(model, f"--zero-stage={stage}", f"--ranks={ranks}")
                label = f"{parameters:g} parameters, {ranks} ranks, stage {stage}"
                checks.that(abs(plan.state() / 1e9 - float(text)) < last_digit(text),
                            f"{label}: {plan.state()} bytes, the paper {text} GB")
                formula = papers.model_state(parameters, stage, ranks)
                checks.that(0 <= plan.state() / formula - 1 < 2e-3,
                            f"{label}: {plan.state()} bytes, the formula {formula}")
                cells += 1
    checks.that(cells == 54, f"{cells} cells")


def check_table_2(checks, parameters, model):
    for tensor, row in TABLE_2.items():
        for stage, billions in enumerate(row):
            plan = Certificate(model, f"--zero-stage={stage}", f"--mesh=data=64,tensor={tensor}")
            largest = MEMORY * parameters / plan.state()
            label = f"stage {stage}, 64 x {tensor} ranks: {largest / 1e9:.2f} billion"
            checks.that(abs(largest / (billions * 1e9) - 1) < 0.025, f"{label}, {billions} printed")
            formula = papers.largest_model(MEMORY, stage, 64, tensor)
            checks.that(abs(largest / formula - 1) < 2e-3, f"{label}, the formula {formula}")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    models = {}
    for parameters, shape in MODELS.items():
        models[parameters] = work / f"{parameters:g}.onnx"
        make_chain.write(models[parameters], *shape)
    checks = Checks()
    check_table_1(checks, models)
    check_table_2(checks, 7.5e9, models[7.5e9])
    checks.finish()


if __name__ == "__main__":
    main()
