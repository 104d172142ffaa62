"""What zero.export writes for functions that PyTorch's exporter lacks, and whole models with them.

usage: check_rewrites.py WORK
"""

import itertools
import sys
import warnings
from pathlib import Path

import torch
import transformers
from torch import nn
from torch.nn import functional

import zero
from zero.rewrites import Rewrites
from zero_test import Checks

WORK = Path(sys.argv[1])


def parts(value):
    values = value if isinstance(value, tuple) else (value,)
    return torch.cat([(torch.view_as_real(each) if each.is_complex() else each).reshape(-1)
                      for each in values])


def figures(function, inputs):
    """Weighted results in float64, and their gradients."""
    inputs = [value.to(torch.complex128 if value.is_complex() else torch.float64)
              .requires_grad_() for value in inputs]
    results = parts(function(*inputs))
    total = (results * torch.linspace(0.5, 1.5, results.numel())).sum()
    return [results, *map(parts, torch.autograd.grad(total, inputs))]


def check(checks, label, function, *inputs):
    expected = figures(function, inputs)
    with Rewrites():
        got = figures(function, inputs)
    for left, right in zip(expected, got):
        # PyTorch's gradient of an impossible sample that the loss leaves out is NaN.
        left = torch.where(left.isnan() & right.isfinite(), right, left)
        checks.that(left.shape == right.shape and torch.allclose(left, right, 1e-9, 1e-12),
                    f"{label}: {right}, not {left}")


def check_stft(checks):
    x, window = torch.randn(2, 64), torch.hann_window(16)
    for center, normalized, onesided, width, mode in itertools.product(
            (True, False), (True, False), (True, False), (16, 12), ("reflect", "constant")):
        check(checks, f"stft {center} {normalized} {onesided} {width} {mode}",
              lambda x, w: torch.stft(x, 16, 4, width, w[:width], center, mode, normalized,
                                      onesided, return_complex=True), x, window)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(checks, "stft without a window", lambda x: x.stft(16, 5, return_complex=True), x[0])
    check(checks, "stft of pairs", lambda x: torch.view_as_real(torch.stft(
        x, 16, window=window.double(), return_complex=True)), x)


def check_determinants(checks):
    matrices = torch.randn(3, 5, 5)
    permuted = torch.eye(5)[[2, 0, 1, 4, 3]]
    for label, matrix in (("random", matrices), ("permuted", permuted + matrices[0] / 1000)):
        check(checks, f"slogdet, {label}", lambda a: tuple(torch.linalg.slogdet(a)), matrix)
        check(checks, f"det, {label}", torch.det, matrix)
    check(checks, "logdet", lambda a: torch.logdet(a @ a.mT + torch.eye(5)), matrices)
    for matrix in (permuted, torch.zeros(2, 2)):
        with Rewrites():
            got = torch.slogdet(matrix)
        checks.that(all(map(torch.equal, got, torch.slogdet(matrix))), f"slogdet: {got}")


def check_ctc(checks):
    scores = torch.randn(12, 3, 6)
    targets = torch.tensor([[1, 1, 2, 5], [3, 4, 5, 5], [2, 2, 0, 0]])
    times, lengths = torch.tensor([12, 10, 7]), torch.tensor([4, 3, 2])
    flat = torch.cat([targets[0], targets[1, :3], targets[2, :2]])
    for label, given, chosen, options in (
            ("mean", (targets, times, lengths), ..., {}),
            ("sum", (targets, times, lengths), ..., {"reduction": "sum"}),
            ("none", (targets, times, lengths), ..., {"reduction": "none"}),
            ("one sequence", (flat, times, lengths), ..., {}),
            ("tuples", (targets, (12, 10, 7), (4, 3, 2)), ..., {}),
            ("blank", (targets.clamp(min=1) - 1, times, lengths), ..., {"blank": 5}),
            ("empty", (targets, times, torch.tensor([4, 0, 2])), ..., {}),
            ("too short", (targets, torch.tensor([12, 2, 7]), lengths), [0, 2],
             {"reduction": "none"}),
            ("zero_infinity", (targets, torch.tensor([12, 2, 7]), lengths), ...,
             {"zero_infinity": True})):
        check(checks, f"ctc_loss, {label}", lambda x: functional.ctc_loss(
            x.log_softmax(-1), *given, **options)[chosen], scores)
    check(checks, "ctc_loss of a sample", lambda x: nn.CTCLoss()(
        x[:, 0].log_softmax(-1), targets[0], times[0], lengths[0]), scores)


def check_complex(checks):
    left, right = torch.randn(2, 3, 5, dtype=torch.cfloat), torch.randn(3, 4, 5, dtype=torch.cfloat)
    check(checks, "einsum", lambda a, b: torch.einsum("bim,iom->bom", a, b), left, right)

    def assigned(value):
        result = torch.zeros(2, 3, 9, dtype=value.dtype)
        result[:, :, :5] = value
        result[..., -1] = value[..., 0]
        return result
    check(checks, "assignment", assigned, left)
    for dim in (0, 2, -1, -4):
        check(checks, f"unsqueeze {dim}", lambda x: x.unsqueeze(dim), left)
        check(checks, f"unsqueeze {dim} of reals", lambda x: torch.unsqueeze(x, dim), left.real)
    check(checks, "polar", torch.polar, left.abs(), left.real)


class Spectrum(nn.Module):
    """A spectral distance, and a layer that mixes frequencies."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.mixing = nn.Parameter(torch.randn(1, 5, 2) * 0.3)
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x, t):
        y = self.layer(x)
        frequencies = torch.fft.rfft(y[:, None])[..., :5]
        low = torch.einsum("bim,im->bim", frequencies, torch.view_as_complex(self.mixing))
        mixed = torch.zeros(low.shape[0], 1, 33, dtype=torch.cfloat)
        mixed[..., :5] = low
        y = y + torch.fft.irfft(mixed, n=64)[:, 0]
        spectra = [torch.stft(each, 16, 4, window=self.window, return_complex=True).abs()
                   for each in (y, t)]
        return (spectra[0] - spectra[1]).abs().mean()


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 6)

    def forward(self, x, labels, times, lengths):
        scores = self.layer(x).log_softmax(-1).transpose(0, 1)
        return functional.ctc_loss(scores, labels, times, lengths)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(4) + 0.1 * torch.randn(4, 4))

    def forward(self, x):
        return (x @ self.weight).square().mean() - torch.linalg.slogdet(self.weight)[1]


def language_model(kind):
    ids = torch.randint(0, 64, (2, 8))
    small = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
             "num_attention_heads": 4}
    if kind == "mixtral":
        model = transformers.MixtralForCausalLM(transformers.MixtralConfig(
            num_hidden_layers=1, num_key_value_heads=2, num_local_experts=4, **small))
    elif kind.startswith("Deepseek"):
        config = getattr(transformers, f"{kind}Config")
        model = getattr(transformers, f"{kind}ForCausalLM")(config(
            num_hidden_layers=2, num_key_value_heads=4, moe_intermediate_size=16,
            n_routed_experts=4, n_group=1, topk_group=1, num_experts_per_tok=2, kv_lora_rank=8,
            first_k_dense_replace=1, q_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4,
            v_head_dim=8, **small))
    else:
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(
            vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4,
            dropout_rate=0.0, decoder_start_token_id=0))
    return model, {"input_ids": ids, "labels": ids}


def check_models(checks):
    """zero.export compares loss and gradients with those of the module without rewrites."""
    models = {
        "spectrum": (Spectrum(), {"x": torch.randn(2, 64), "t": torch.randn(2, 64)}),
        "speech": (Speech(), {"x": torch.randn(3, 12, 8), "labels": torch.randint(1, 6, (3, 4)),
                              "times": torch.tensor([12, 10, 12]),
                              "lengths": torch.tensor([4, 3, 2])}),
        "flow": (Flow(), {"x": torch.randn(3, 4)}),
        **{kind: language_model(kind) for kind in ("mixtral", "DeepseekV2", "DeepseekV3", "t5")}}
    for name, (module, batch) in models.items():
        try:
            export = zero.export(module, batch, path=WORK / f"{name}.onnx")
            checks.that(not export.notes, f"{name}: {export.notes}")
        except zero.ExportError as error:
            checks.that(False, f"{name}: {error}")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    checks = Checks()
    check_stft(checks)
    check_determinants(checks)
    check_ctc(checks)
    check_complex(checks)
    check_models(checks)
    checks.finish()


if __name__ == "__main__":
    main()
