"""Trains what `python -m zero finetune` has planned by the Trainer of transformers: the same
documents in the order of the corpus, fp32 on the CPU.

usage: trainer.py OUT RESULT.json [--adapter=FOLDER] [--steps=N] [--threads=N]

OUT is the folder of a fine-tuning with --in-order. FOLDER has the initial adapter of one with
--method=lora. Writes the losses of steps, their seconds, and the largest resident bytes.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import torch
import transformers


class Rows(torch.utils.data.Dataset):
    """The documents of a folder of tokens as padded rows; those that do not fill a batch of all
    documents are left out."""

    def __init__(self, folder, length, batch):
        manifest = json.loads((folder / "tokens.json").read_text())
        self._ids = np.fromfile(folder / "ids.bin", manifest["id_type"]).astype(np.int64)
        self._mask = np.fromfile(folder / "mask.bin", np.uint8)
        self._starts = np.fromfile(folder / "starts.bin", np.uint64).astype(np.int64)
        self._length, self._pad = length, manifest["pad_id"]
        self._count = manifest["documents"] // batch * batch

    def __len__(self):
        return self._count

    def __getitem__(self, index):
        begin, end = self._starts[index], self._starts[index + 1]
        ids = np.full(self._length, self._pad)
        labels = np.full(self._length, -100)
        ids[:end - begin] = self._ids[begin:end]
        labels[:end - begin] = np.where(self._mask[begin:end] == 1, self._ids[begin:end], -100)
        return {"input_ids": torch.from_numpy(ids), "labels": torch.from_numpy(labels)}


class InOrder(transformers.Trainer):
    """A Trainer without a shuffle, which records losses without rounding them."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.losses, self.seconds, self._micro = [], [], []
        self._begin = time.monotonic()

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *arguments, **keywords):
        loss = super().training_step(*arguments, **keywords)
        self._micro.append(loss.item())
        if len(self._micro) == self.args.gradient_accumulation_steps:
            self.losses.append(sum(self._micro))
            self._micro = []
            now = time.monotonic()
            self.seconds.append(now - self._begin)
            self._begin = now
        return loss


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int)
    return parser.parse_args()


def load(base, adapter):
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    model.config.use_cache = False
    if adapter is None:
        return model
    import peft
    return peft.PeftModel.from_pretrained(model, adapter, is_trainable=True)


def arguments_of(chosen, work, steps):
    return transformers.TrainingArguments(
        output_dir=str(work), use_cpu=True, seed=0, report_to=[], logging_strategy="no",
        save_strategy="no", disable_tqdm=True, dataloader_drop_last=True,
        per_device_train_batch_size=chosen["batch"] // chosen["micro_batches"],
        gradient_accumulation_steps=chosen["micro_batches"], learning_rate=chosen["lr"],
        weight_decay=chosen["weight_decay"], max_grad_norm=chosen["clip_norm"],
        lr_scheduler_type=chosen["lr_schedule"], warmup_steps=chosen.get("warmup_steps", 0),
        max_steps=steps, optim="adamw_torch", adam_epsilon=1e-8)


def main():
    options = parse()
    record = json.loads((options.out / "training/run.json").read_text())
    chosen = {name: value for name, value, _ in record["choices"]}
    torch.set_num_threads(options.threads or int(chosen["threads_per_rank"]))
    length = int(record["shape"].split("x")[1])
    rows = Rows(options.out / "training/tokens/train", length, chosen["batch"])
    trainer = InOrder(model=load(record["model"], options.adapter), train_dataset=rows,
                      args=arguments_of(chosen, options.result.parent, chosen["steps"]),
                      callbacks=[StopAfter(options.steps)])
    trainer.train()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    options.result.write_text(json.dumps(
        {"losses": trainer.losses, "seconds": trainer.seconds, "resident": resident}))


class StopAfter(transformers.TrainerCallback):
    """Ends before the schedule does, as a part of the same run."""

    def __init__(self, steps):
        self.steps = steps

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.steps:
            control.should_training_stop = True
        return control


if __name__ == "__main__":
    main()
