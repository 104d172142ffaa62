"""zero.lora and models of PEFT: trained by zero-run against PyTorch, and adapters that PEFT loads.

usage: check_lora.py WORK
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import peft
import torch
import transformers
from torch import nn

import zero
from check_trees import check_raises
from zero.lora_layers import Lora
from zero.weights import read_safetensors
from zero_test import Checks, run_tool

WORK = Path(sys.argv[1])
STEPS, LR = 5, 1e-2


def make_base(kind):
    """A model of two layers with a tied head; the same at each call."""
    torch.manual_seed(0)
    if kind == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2, resid_pdrop=0.0,
            embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True))


def make_batch():
    ids = torch.randint(0, 64, (4, 12), generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids, "labels": ids}


def zero_trains(export, batch, *flags):
    """The losses of AdamW, and the path of the saved weights."""
    weights, log = Path(export).with_suffix(".safetensors"), WORK / "log.jsonl"
    np.savez(WORK / "data.npz", **{name: value.numpy() for name, value in batch.items()})
    run_tool("zero-run", export.path, *export.flags(), f"--data={WORK / 'data.npz'}",
             f"--steps={STEPS}", "--optimizer=adamw", f"--lr={LR}", f"--save={weights}",
             f"--log={log}", "--quiet", *flags)
    return [json.loads(line)["loss"] for line in log.read_text().splitlines()], weights


def torch_trains(module, batch):
    optimizer = torch.optim.AdamW([value for value in module.parameters() if value.requires_grad],
                                  lr=LR, weight_decay=0.0)
    losses = []
    module.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = module(**batch).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def scores(module, batch):
    with torch.no_grad():
        return module.eval()(input_ids=batch["input_ids"]).logits


def check_adapter(checks, label, kind, module):
    """Trains the adapters of `module`, whose base is that of make_base(kind), and loads them with
    PEFT beside a new base."""
    batch, before = make_batch(), copy.deepcopy(module.state_dict())
    export = zero.export(module, batch, path=WORK / f"{label}.onnx")
    trained = [name for name, value in module.named_parameters() if value.requires_grad]
    checks.that(export.trainable.read_text().split() == sorted(trained), f"{label}: trained")
    checks.that(not export.notes, f"{label}: {export.notes}")
    losses, weights = zero_trains(export, batch, "--zero-stage=3")
    expected = torch_trains(module, batch)
    checks.that(np.allclose(losses, expected, rtol=1e-5) and expected[0] - expected[-1] > 1e-3,
                f"{label}: losses {losses}, {expected}")
    loaded = copy.deepcopy(module)
    loaded.load_state_dict(zero.read_weights(weights, export), strict=True)
    checks.that(all(torch.equal(value, before[name]) for name, value in loaded.state_dict().items()
                    if name not in trained), f"{label}: the base was changed")
    folder = zero.save_adapter(WORK / f"{label}-adapter", weights, export)
    again = peft.PeftModel.from_pretrained(make_base(kind), folder)
    error = (scores(again, batch) - scores(loaded, batch)).abs().max().item()
    checks.that(error < 1e-6, f"{label}: PEFT computes other scores, by {error}")
    # PEFT has two matrices for each layer; with those of a new model, the scores are the base's.
    change = (scores(again, batch) - scores(make_base(kind), batch)).abs().max().item()
    checks.that(change > 1e-3, f"{label}: PEFT did not load the adapter: {change}")
    again.save_pretrained(WORK / f"{label}-again")
    ours, theirs = (read_safetensors(Path(place) / "adapter_model.safetensors")
                    for place in (folder, WORK / f"{label}-again"))
    checks.that(ours.keys() == theirs.keys() and all(
        np.array_equal(ours[key][0], theirs[key][0]) for key in ours), f"{label}: PEFT's own file")
    return export, losses


def check_lora(checks):
    options = {"rank": 4, "alpha": 8}
    export, losses = check_adapter(checks, "llama", "llama", zero.lora(make_base("llama"),
                                                                       **options))
    check_adapter(checks, "gpt2", "gpt2", zero.lora(make_base("gpt2"), ("c_attn", "mlp.c_fc"),
                                                    task_type="CAUSAL_LM"))
    # PEFT initializes as we do.
    theirs = peft.get_peft_model(make_base("llama"), peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
    _, expected = check_adapter(checks, "peft", "llama", theirs)
    checks.that(np.allclose(losses, expected, rtol=1e-6), f"of PEFT: {losses}, {expected}")
    return export


def check_compiled(checks):
    """Adapters that `--lora` adds to the export of a base: PEFT loads the saved folder, and computes
    the loss with which a run would continue."""
    batch = make_batch()
    for label, kind, flags in (
            ("compiled", "llama", ["--lora=*.layers.1.*_proj,q_proj", "--rslora"]),
            ("compiled-gpt2", "gpt2", ["--lora=c_attn,mlp.c_fc", "--lora-alpha=4"]),
            ("compiled-dora", "llama", ["--lora=q_proj,*.layers.1.mlp.*", "--dora"]),
            ("compiled-dora-gpt2", "gpt2", ["--lora=c_attn,c_proj", "--dora", "--rslora"])):
        export, folder = zero.export(make_base(kind), batch, path=WORK / f"{label}.onnx"), WORK / label
        flags = [*flags, "--lora-rank=4", "--zero-stage=3"]
        losses, weights = zero_trains(export, batch, *flags, f"--save={folder}/")
        trained = weights.rename(WORK / f"{label}-trained.safetensors")
        after, _ = zero_trains(export, batch, *flags, f"--weights={trained}")
        tuned = peft.PeftModel.from_pretrained(make_base(kind), folder).eval()
        with torch.no_grad():
            loss = tuned(**batch).loss.item()
        checks.that(abs(loss / after[0] - 1) < 1e-5 and losses[0] - loss > 1e-3,
                    f"{label}: PEFT's loss is {loss}, not {after[0]}, after {losses}")
        tuned.save_pretrained(WORK / f"{label}-again")
        ours, theirs = (read_safetensors(Path(place) / "adapter_model.safetensors")
                        for place in (folder, WORK / f"{label}-again"))
        checks.that(ours.keys() == theirs.keys() and all(
            np.array_equal(ours[key][0], theirs[key][0]) for key in ours), f"{label}: PEFT's file")


def check_peft(checks):
    """Magnitudes of DoRA, a layer that is trained as a whole, and a module around the model."""
    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = peft.get_peft_model(make_base("llama"), peft.LoraConfig(
                r=2, target_modules=["q_proj"], modules_to_save=["norm"], use_dora=True))

        def forward(self, **batch):
            return self.inner(**batch)

    check_adapter(checks, "dora", "llama", Around())


def check_placement(checks, export):
    """The base in 16 bits, partitioned, and on other tiers: the same losses, less memory."""
    batch, results = make_batch(), {}
    for label, flags in (("device", ()), ("host", ("--offload-params=host",)),
                         ("nvme", ("--offload-params=nvme", f"--nvme-dir={WORK}"))):
        report = WORK / "report.json"
        losses, weights = zero_trains(
            export, batch, "--zero-stage=3", "--frozen-precision=bf16", f"--report-json={report}",
            *flags)
        memory = json.loads(report.read_text())["memory"]["device"]["most"]["parameters"]
        results[label] = losses, read_safetensors(weights), memory
    losses, tensors, memory = results["device"]
    for label, other in results.items():
        checks.that(other[0] == losses and all(np.array_equal(other[1][name][0], array)
                                               for name, (array, _) in tensors.items()),
                    f"{label}: other results")
    frozen = sum(array.nbytes for array, dtype in tensors.values() if dtype == "bfloat16")
    adapters = sum(array.nbytes for array, dtype in tensors.values() if dtype == "float32")
    checks.that(frozen + adapters <= memory < frozen + adapters + 8192 and frozen > 40000,
                f"the base is stored once, in 16 bits: {memory} of {frozen} and {adapters}")
    checks.that(results["host"][2] == results["nvme"][2] == 0, "parameters are on the device")
    # Its values are those that were trained with: PEFT's base in bf16 has them.
    stored = zero.read_weights(WORK / "llama.safetensors", export)
    model = zero.lora(make_base("llama"), rank=4, alpha=8)
    model.load_state_dict(stored, strict=True)
    rounded = make_base("llama").bfloat16().state_dict()
    checks.that(all(torch.equal(value, rounded[name].float())
                    for name, value in model.state_dict().items() if name in rounded), "rounded")


def check_dropout(checks):
    batch = make_batch()
    model = zero.lora(make_base("llama"), dropout=0.5)
    export = zero.export(model, batch, path=WORK / "dropout.onnx")
    checks.that("has dropout" in export.notes[0], f"dropout: {export.notes}")
    with_dropout, _ = zero_trains(export, batch)
    without, _ = zero_trains(zero.export(zero.lora(make_base("llama")), batch,
                                         path=WORK / "plain.onnx"), batch)
    checks.that(with_dropout[0] == without[0] and with_dropout[-1] != without[-1],
                "dropout does nothing")  # B is zero at first.


def check_module(checks):
    model = zero.lora(make_base("llama").eval(), "q_proj", rank=2)
    layers = [part for part in model.modules() if isinstance(part, Lora)]
    checks.that(len(layers) == 2 and not model.training and not layers[0].training, "mode")
    checks.that(layers[0].weight is layers[0].base_layer.weight and layers[0].bias is None,
                "the weight of the base")
    half = zero.lora(make_base("llama").bfloat16())
    checks.that(scores(half, make_batch()).dtype == torch.bfloat16 and
                half.model.layers[0].self_attn.q_proj.lora_A.weight.dtype == torch.float32, "bf16")
    check_adapter_of_half(checks, half)
    def refused(label, words, *arguments, **options):
        check_raises(checks, label, words, zero.lora, *arguments, **options)
    refused("target", ["no layer is called 'query'", "down_proj", "v_proj"], make_base("llama"),
            ["v_proj", "query"])
    refused("kind", ["got Embedding for 'model.embed_tokens'"], make_base("llama"), "embed_tokens")
    refused("rank", ["rank of at least 1"], make_base("llama"), rank=0)
    refused("twice", ["without adapters"], model)


def check_adapter_of_half(checks, model):
    """A base of bf16 is stored in the graph as bf16, and adapters as fp32."""
    export = zero.export(model, make_batch(), path=WORK / "half.onnx")
    types = {entry["dtype"] for entry in export.state.tensors.values()}
    checks.that(types == {"bfloat16", "float32"} and not export.notes, f"half: {types}")
    losses, weights = zero_trains(export, make_batch())
    checks.that(losses[-1] < losses[0] - 0.01, f"half: {losses}")
    model.load_state_dict(zero.read_weights(weights, export), strict=True)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    checks = Checks()
    check_placement(checks, check_lora(checks))
    check_compiled(checks)
    check_peft(checks)
    check_dropout(checks)
    check_module(checks)
    checks.finish()


if __name__ == "__main__":
    main()
