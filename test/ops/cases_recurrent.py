"""Cases of LSTM, GRU and RNN.

onnx.reference lacks directions, lengths and most attributes. The reference here is a loop over
steps, rows and directions in numpy that follows ONNX's formulas.
"""

import itertools

import numpy as np

from harness import Case

rng = np.random.default_rng(23)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
# Name, alpha and beta: the function.
ACTIVATIONS = {
    "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "Tanh": lambda x, a, b: np.tanh(x),
    "Relu": lambda x, a, b: np.maximum(x, 0),
    "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: np.where(x < 0, a * x, x),
    "ThresholdedRelu": lambda x, a, b: np.where(x > a, x, 0),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "Elu": lambda x, a, b: np.where(x < 0, a * (np.exp(np.minimum(x, 0)) - 1), x),
    "Softsign": lambda x, a, b: x / (1 + abs(x)),
    "Softplus": lambda x, a, b: np.logaddexp(0, x),
}
TAKES = {"Affine": "ab", "LeakyRelu": "a", "ThresholdedRelu": "a", "ScaledTanh": "ab",
         "HardSigmoid": "ab", "Elu": "a"}
DEFAULTS = {"LeakyRelu": (0.01, 0), "ThresholdedRelu": (1, 0), "HardSigmoid": (0.2, 0.5),
            "Elu": (1, 0)}


def functions(op, attrs, directions):
    """The functions of each direction. Each takes x, which is clipped first."""
    names = attrs.get("activations", FUNCTIONS[op] * directions)
    alphas = iter(attrs.get("activation_alpha", ()))
    betas = iter(attrs.get("activation_beta", ()))
    clip = attrs.get("clip", np.inf)
    made = []
    for name in names:
        takes, (alpha, beta) = TAKES.get(name, ""), DEFAULTS.get(name, (0, 0))
        alpha = next(alphas, alpha) if "a" in takes else 0
        beta = next(betas, beta) if "b" in takes else 0
        made.append(lambda x, f=ACTIVATIONS[name], a=alpha, b=beta: f(np.clip(x, -clip, clip), a, b))
    per = len(FUNCTIONS[op])
    return [made[i:i + per] for i in range(0, len(made), per)]


def rnn(f, attrs, x, w, r, wb, rb, h, c, p):
    return f[0](w @ x + r @ h + wb + rb), c


def gru(f, attrs, x, w, r, wb, rb, h, c, p):
    (wz, wr, wh), (rz, rr, rh) = np.split(w, 3), np.split(r, 3)
    (wbz, wbr, wbh), (rbz, rbr, rbh) = np.split(wb, 3), np.split(rb, 3)
    z = f[0](wz @ x + rz @ h + wbz + rbz)
    reset = f[0](wr @ x + rr @ h + wbr + rbr)
    inner = reset * (rh @ h + rbh) if attrs.get("linear_before_reset") else rh @ (reset * h) + rbh
    return (1 - z) * f[1](wh @ x + inner + wbh) + z * h, c


def lstm(f, attrs, x, w, r, wb, rb, h, c, p):
    i, o, forget, fresh = np.split(w @ x + r @ h + wb + rb, 4)
    pi, po, pf = np.split(p, 3)
    i = f[0](i + pi * c)
    forget = 1 - i if attrs.get("input_forget") else f[0](forget + pf * c)
    cell = forget * c + i * f[1](fresh)
    return f[0](o + po * cell) * f[2](cell), cell


CELLS = {"RNN": rnn, "GRU": gru, "LSTM": lstm}


def layer(op, attrs):
    """The node as a function of its operands."""
    def run(x, w, r, b=None, lengths=None, h0=None, c0=None, p=None):
        if attrs.get("layout"):
            x = x.swapaxes(0, 1)
            h0, c0 = (None if s is None else s.swapaxes(0, 1) for s in (h0, c0))
        (steps, batch, _), (directions, rows, hidden) = x.shape, r.shape
        lengths = [steps] * batch if lengths is None else lengths
        y = np.zeros((steps, directions, batch, hidden))
        last = np.zeros((2, directions, batch, hidden))
        used = functions(op, attrs, directions)
        for d, n in itertools.product(range(directions), range(batch)):
            wb, rb = np.split(b[d] if b is not None else np.zeros(2 * rows), 2)
            peep = p[d] if p is not None else np.zeros(3 * hidden)
            h, c = (np.zeros(hidden) if s is None else s[d, n] for s in (h0, c0))
            order = range(lengths[n])
            for t in order if d == 0 and attrs.get("direction") != "reverse" else reversed(order):
                h, c = CELLS[op](used[d], attrs, x[t, n], w[d], r[d], wb, rb, h, c, peep)
                y[t, d, n] = h
            last[:, d, n] = h, c
        if attrs.get("layout"):
            y, last = y.transpose(2, 0, 1, 3), last.swapaxes(1, 2)
        return [y, last[0], last[1]]
    return run


def case(op, steps=4, batch=3, inputs=3, hidden=5, given="", attrs=None, graded=True, **more):
    """`given`: the operands besides X, W and R: b, l, h, c, p."""
    attrs = dict(attrs or {}, hidden_size=hidden)
    directions, gates = 1 + (attrs.get("direction") == "bidirectional"), GATES[op]

    def f(*shape):
        return rng.uniform(-1, 1, shape)

    def state():
        return f(batch, directions, hidden) if attrs.get("layout") else f(directions, batch, hidden)

    x = f(batch, steps, inputs) if attrs.get("layout") else f(steps, batch, inputs)
    operands = [x, f(directions, gates * hidden, inputs), f(directions, gates * hidden, hidden),
                f(directions, 2 * gates * hidden) if "b" in given else None,
                rng.integers(0, steps + 1, batch).astype(np.int32) if "l" in given else None,
                state() if "h" in given else None]
    if op == "LSTM":
        operands += [state() if "c" in given else None,
                     f(directions, 3 * hidden) if "p" in given else None]
    while operands[-1] is None:
        operands.pop()
    grad = [i for i, x in enumerate(operands) if graded and x is not None and i != 4]
    return Case(op, operands, attrs, opset=more.pop("opset", 22), grad=grad,
                outputs=3 if op == "LSTM" else 2, by=layer(op, attrs), note=given, **more)


def forms(op):
    """Directions, layouts, operands, and omitted results."""
    extra = "cp" if op == "LSTM" else ""
    for direction in ("forward", "reverse", "bidirectional"):
        for layout in (0, 1):
            attrs = {"direction": direction, "layout": layout}
            yield case(op, attrs=attrs)
            yield case(op, attrs=attrs, given="blh" + extra)
    for given in ("b", "l", "h", "bl", "c", "p", "hp"):
        if set(given) <= set("blh" + extra):
            yield case(op, given=given)
    results = range(3 if op == "LSTM" else 2)
    for count in range(1, len(results)):
        for absent in itertools.combinations(results, count):
            yield case(op, given="bl", absent=absent, attrs={"direction": "bidirectional"})
            yield case(op, absent=absent)
    yield case(op, given="bh", opset=14)
    yield case(op, given="bh", opset=7, graded=False)
    # Batches that are split into tiles of rows or not, and widths that do not fill a tile.
    for batch, hidden in ((1, 1), (8, 4), (16, 9), (13, 3), (12, 2), (11, 6)):
        yield case(op, batch=batch, hidden=hidden, steps=3, inputs=2, given="blh" + extra,
                   attrs={"direction": "reverse"})
    yield case(op, steps=1, given="bl")
    yield case(op, steps=1, given="bh", attrs={"direction": "reverse"})
    yield case(op, given="bh", attrs={"clip": 0.9})


def activations(op):
    """Each function in each position, with the attributes of the node and with ONNX's defaults."""
    per = len(FUNCTIONS[op])
    for name, takes in ((name, TAKES.get(name, "")) for name in ACTIVATIONS):
        numbers = {key: [round(value + 0.1 * i, 2) for i in range(per)]
                   for key, letter, value in (("activation_alpha", "a", 0.3),
                                              ("activation_beta", "b", 0.6)) if letter in takes}
        # Uses few steps, because states grow fast if nothing bounds the gates.
        yield case(op, 2, given="bh", attrs={"activations": [name] * per, **numbers})
        if name in DEFAULTS:
            yield case(op, 2, given="bh", attrs={"activations": [name] * per})
    mixed = (["Affine", "Elu", "ScaledTanh", "Softsign", "LeakyRelu", "Relu"] * 2)[:2 * per]
    yield case(op, given="b", attrs={
        "direction": "bidirectional", "activations": mixed,
        "activation_alpha": [0.7, 0.4, 0.9, 0.2][:sum("a" in TAKES.get(m, "") for m in mixed)],
        "activation_beta": [0.1, 0.5][:sum("b" in TAKES.get(m, "") for m in mixed)]})


def refusals():
    yield refused("LSTM", "activation 'Cosine' is not supported",
                  {"activations": ["Cosine", "Tanh", "Tanh"]})
    yield refused("RNN", "needs a number in activation_alpha", {"activations": ["Affine"]})
    yield refused("GRU", "expected 2 activations, got 1", {"activations": ["Tanh"]})
    too_long = case("GRU", given="l")
    too_long.inputs[4] = np.array([4, 5, 1], np.int32)
    too_long.fails = "must lie in [0, 4]"
    yield too_long
    below = case("LSTM", given="l")
    below.inputs[4] = np.array([4, -1, 1], np.int32)
    below.fails = "must lie in [0, 4]"
    yield below
    wrong = case("LSTM", given="b")
    wrong.inputs[3] = wrong.inputs[3][:, :-1]
    wrong.fails = "expected operand 3 of type"
    yield wrong


def refused(op, message, attrs):
    made = case(op, attrs=attrs)
    made.fails = message
    return made


def cases():
    for op in CELLS:
        yield from forms(op)
        yield from activations(op)
    for direction in ("forward", "bidirectional"):
        for given in ("", "blh"):
            yield case("GRU", given=given, attrs={"linear_before_reset": 1, "direction": direction})
    yield case("GRU", batch=16, hidden=9, given="blh", attrs={"linear_before_reset": 1, "clip": 0.8})
    for given in ("b", "lhcp"):
        yield case("LSTM", given=given, attrs={"input_forget": 1})
    yield from refusals()
