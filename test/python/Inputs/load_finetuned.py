"""Loads a folder that a fine-tuning wrote by from_pretrained of transformers, and prints as JSON
the mean loss over its held-out documents and how many tokens it generates.

usage: load_finetuned.py OUT
"""

import json
import sys
from pathlib import Path

import torch
import transformers

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench/peers"))
from trainer import Rows  # noqa: E402


def main():
    out = Path(sys.argv[1])
    record = json.loads((out / "training/run.json").read_text())
    rows = Rows(out / "training/tokens/evaluation", int(record["shape"].split("x")[1]), 1)
    model = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
    total = count = 0
    with torch.no_grad():
        for row in rows:
            labels = row["labels"][None]
            counted = int((labels[:, 1:] != -100).sum())
            total += float(model(input_ids=row["input_ids"][None], labels=labels).loss) * counted
            count += counted
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    prompt = tokenizer("The", return_tensors="pt")
    written = model.generate(**prompt, max_new_tokens=8, min_new_tokens=8, do_sample=False)
    print(json.dumps({"loss": total / count,
                      "generated": written.shape[1] - prompt["input_ids"].shape[1],
                      "text": tokenizer.decode(written[0])}))


if __name__ == "__main__":
    main()
