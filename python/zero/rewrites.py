"""Functions of PyTorch that its ONNX exporter lacks, in functions that it has."""

import math

import numpy as np
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

# The logarithm of a probability that is 0. An infinite one would give gradients without a value.
_LOW = -1e30


# Short-time Fourier transform


def _basis(n_fft, bins, like):
    """The cosines and sines of the frequencies, each a row: a constant of the graph."""
    angles = np.outer(np.arange(bins), np.arange(n_fft)) % n_fft * (2 * math.pi / n_fft)
    rows = np.concatenate([np.cos(angles), -np.sin(angles)])
    return torch.tensor(rows, dtype=like.dtype, device=like.device)


def _stft(original, input, n_fft, hop_length=None, win_length=None, window=None, center=True,
          pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
          align_to_window=None):
    """A convolution with the windowed cosines and sines."""
    if input.is_complex() or align_to_window is not None:
        return original()
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    window = input.new_ones(width) if window is None else window
    left = (n_fft - width) // 2
    window = functional.pad(window, (left, n_fft - width - left))
    signal = input.reshape(-1, 1, input.shape[-1])
    if center:
        signal = functional.pad(signal, (n_fft // 2, n_fft // 2), mode=pad_mode)
    bins = n_fft if onesided is False else n_fft // 2 + 1
    filters = (_basis(n_fft, bins, input) * window)[:, None]
    parts = functional.conv1d(signal, filters, stride=hop)
    if normalized:
        parts = parts * n_fft ** -0.5
    parts = parts[0] if input.dim() == 1 else parts
    real, imaginary = parts.split(bins, -2)
    if return_complex is False:
        return torch.stack([real, imaginary], -1)
    return torch.complex(real, imaginary)


# Determinants


def _slogdet(original, A):
    """Gaussian elimination with the largest pivot of each column. Rows stay in their places."""
    size, matrix = A.shape[-1], A
    free = torch.ones_like(A[..., 0])
    sign, logarithm = torch.ones_like(A[..., 0, 0]), torch.zeros_like(A[..., 0, 0])
    before = torch.tril(torch.ones(size, size, dtype=A.dtype, device=A.device), -1)
    for step in range(size):
        column = matrix[..., step]
        # A row that is taken is smaller than any other.
        place = torch.where(free > 0, column.detach().abs(), -1).argmax(-1)
        chosen = functional.one_hot(place, size).to(A.dtype)
        row = (chosen[..., None] * matrix).sum(-2)
        pivot = row[..., step]
        # Each free row above is an exchange.
        exchanges = ((chosen @ before) * free).sum(-1)
        sign = sign * pivot.detach().sign() * (1 - 2 * (exchanges % 2))
        logarithm = logarithm + pivot.abs().log()
        free = free - chosen
        factors = column * free / torch.where(pivot == 0, 1, pivot)[..., None]
        matrix = matrix - factors[..., None] * row[..., None, :]
    return torch.return_types.linalg_slogdet((sign, logarithm))


def _logdet(original, input):
    sign, logarithm = _slogdet(None, input)
    return torch.where(sign < 0, torch.full_like(logarithm, math.nan), logarithm)


def _det(original, A):
    sign, logarithm = _slogdet(None, A)
    return sign * logarithm.exp()


# Connectionist temporal classification


def _as_lengths(lengths, like):
    return torch.as_tensor(lengths, dtype=torch.int64, device=like.device).reshape(-1)


def _padded(targets, lengths):
    """Targets of each sample in a row, also if they are one sequence."""
    if targets.dim() == 2:
        return targets
    begins = lengths.cumsum(0) - lengths
    places = begins[:, None] + torch.arange(targets.shape[0], device=targets.device)
    return targets[places.clamp(max=targets.shape[0] - 1)]


def _shifted(scores, count):
    """Scores of the state `count` before each."""
    return functional.pad(scores, (count, 0), value=_LOW)[:, :scores.shape[1]]


def _forward_scores(log_probs, labels, lengths, blank):
    """The logarithm of the probability of all alignments that end in each state. The states are the
    labels with blanks around them."""
    samples, states = labels.shape
    skips = (labels != blank) & (labels != _before(labels, 2, blank))
    emitted = log_probs.gather(2, labels.expand(log_probs.shape[0], samples, states))
    first = torch.arange(states, device=labels.device) < 2
    scores = torch.where(first, emitted[0], _LOW)
    for time in range(1, log_probs.shape[0]):
        ways = [scores, _shifted(scores, 1), torch.where(skips, _shifted(scores, 2), _LOW)]
        following = torch.logsumexp(torch.stack(ways), 0) + emitted[time]
        scores = torch.where((time < lengths)[:, None], following.clamp(min=_LOW), scores)
    return scores


def _before(labels, count, blank):
    return functional.pad(labels, (count, 0), value=blank)[:, :labels.shape[1]]


def _ctc_loss(original, log_probs, targets, input_lengths, target_lengths, blank=0,
              reduction="mean", zero_infinity=False):
    """The forward algorithm, a step for each time."""
    if log_probs.dim() == 2:
        log_probs, targets = log_probs[:, None], targets.reshape(1, -1)
    input_lengths = _as_lengths(input_lengths, log_probs)
    target_lengths = _as_lengths(target_lengths, log_probs)
    targets = _padded(targets, target_lengths).to(torch.int64)
    blanks = torch.full_like(targets, blank)
    labels = functional.pad(torch.stack([blanks, targets], 2).flatten(1), (0, 1), value=blank)
    # What is behind the targets of a sample is not read, but must be a class.
    labels = torch.where(torch.arange(labels.shape[1], device=labels.device)
                         <= 2 * target_lengths[:, None], labels, blank)
    scores = _forward_scores(log_probs, labels, input_lengths, blank)
    last = scores.gather(1, 2 * target_lengths[:, None])
    label = scores.gather(1, (2 * target_lengths[:, None] - 1).clamp(min=0))
    label = torch.where(target_lengths[:, None] > 0, label, _LOW)
    loss = -torch.logsumexp(torch.cat([last, label], 1), 1)
    impossible = torch.zeros_like(loss) if zero_infinity else torch.full_like(loss, math.inf)
    loss = torch.where(loss > -_LOW / 2, impossible, loss)
    if reduction in ("mean", 1):
        return (loss / target_lengths.clamp(min=1)).mean()
    return loss.sum() if reduction in ("sum", 2) else loss


# Products of experts


def _grouped_mm(original, input, weight, offs=None, bias=None, out_dtype=None):
    """The sum over the experts of the product of their rows: shapes must not depend on data."""
    if offs is None or input.dim() != 2 or weight.dim() != 3:
        return original()
    rows = torch.arange(input.shape[0], device=input.device)[:, None]
    begin, result = 0, None
    for expert in range(weight.shape[0]):
        end = offs[expert]
        own = torch.where((rows >= begin) & (rows < end), input, 0) @ weight[expert]
        result = own if result is None else result + own
        begin = end
    if bias is not None:
        result = result + bias
    return result if out_dtype is None else result.to(out_dtype)


# Complex numbers


def _parts(value):
    return (value.real, value.imag) if value.is_complex() else (value, None)


def _einsum(original, equation, *operands):
    """Products of real and imaginary parts."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or len(operands) != 2 or not any(
            value.is_complex() for value in operands):
        return original()
    (a, b), (c, d) = map(_parts, operands)

    def product(left, right):
        return None if left is None or right is None else torch.einsum(equation, left, right)

    def add(left, right, sign):
        return left if right is None else right * sign if left is None else left + sign * right
    return torch.complex(add(product(a, c), product(b, d), -1),
                         add(product(a, d), product(b, c), 1))


def _zeros(original, *_, **__):
    """Complex zeros from pairs of real ones: graphs have no complex constants."""
    result = original()
    if not result.is_complex():
        return result
    return torch.view_as_complex(torch.zeros((*result.shape, 2), dtype=result.dtype.to_real(),
                                             device=result.device))


def _polar(_, abs, angle):
    return torch.complex(abs * angle.cos(), abs * angle.sin())


def _unsqueeze(original, input, dim):
    """The exporter has it of real tensors only."""
    if not input.is_complex():
        return original()
    pairs = torch.view_as_real(input)
    return torch.view_as_complex(pairs.unsqueeze(dim if dim >= 0 else dim - 1))


def _setitem(original, target, index, value):
    """Assigns the parts of complex numbers."""
    if not target.is_complex():
        return original()
    index = index if isinstance(index, tuple) else (index,)
    if any(part is Ellipsis for part in index):
        index = (*index, slice(None))
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=target.dtype)
    torch.view_as_real(target)[index] = torch.view_as_real(value.to(target.dtype))
    return None


# Attention


def _attention(original, *_, **__):
    """Gives the result the strides that it has in the decomposition, too."""
    result = original()
    if result.dim() != 4:
        return result
    return result.transpose(1, 2).clone(memory_format=torch.contiguous_format).transpose(1, 2)


_RULES = {
    torch.stft: _stft, torch.Tensor.stft: _stft,
    torch.linalg.slogdet: _slogdet, torch.slogdet: _slogdet, torch.Tensor.slogdet: _slogdet,
    torch.logdet: _logdet, torch.Tensor.logdet: _logdet,
    torch.linalg.det: _det, torch.det: _det, torch.Tensor.det: _det,
    functional.ctc_loss: _ctc_loss, torch.ctc_loss: _ctc_loss,
    torch.einsum: _einsum, torch.Tensor.__setitem__: _setitem,
    torch.polar: _polar, torch.unsqueeze: _unsqueeze, torch.Tensor.unsqueeze: _unsqueeze,
    torch.zeros: _zeros, torch.zeros_like: _zeros, torch.Tensor.new_zeros: _zeros,
}
if hasattr(functional, "grouped_mm"):
    _RULES[functional.grouped_mm] = _grouped_mm
if hasattr(torch, "_grouped_mm"):
    _RULES[torch._grouped_mm] = _grouped_mm

# By the names of operators that libraries register.
_OPERATORS = {"transformers::grouped_mm_fallback": _grouped_mm}


class Rewrites(TorchFunctionMode):
    """Replaces calls in its body.

    lays_out: give the results of attention one layout, for modules that view() them.
    """

    def __init__(self, lays_out=False):
        super().__init__()
        self.lays_out = lays_out

    def _rule_of(self, function):
        if function is functional.scaled_dot_product_attention:
            return _attention if self.lays_out else None
        name = getattr(function, "name", None) or getattr(function, "_qualified_op_name", None)
        name = name() if callable(name) else name
        return _RULES.get(function) or _OPERATORS.get(str(name).partition(".")[0])

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        rule = self._rule_of(function)
        if rule is None:
            return function(*args, **kwargs)
        return rule(lambda: function(*args, **kwargs), *args, **kwargs)
