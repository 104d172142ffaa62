"""A whole training step whose update multiplies matrices, as plain ONNX operators: torch.optim.Muon
for the hidden matrices of an MLP, SGD for its biases and its head."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPES = {"fc1": (32, 24), "fc2": (24, 32), "fc3": (24, 24), "head": (10, 24)}
MATRICES = [f"{layer}.weight" for layer in ("fc1", "fc2", "fc3")]
BATCH, STEPS = 16, 11
RATE, DECAY, MOMENTUM, EPSILON = 0.02, 0.1, 0.95, 1e-7
COEFFICIENTS = (3.4445, -4.775, 2.0315)
ITERATIONS = 5


def scale(shape):
    return RATE * max(1, shape[0] / shape[1]) ** 0.5


def initial(seed=0):
    """Parameters, and a batch."""
    random = np.random.default_rng(seed)
    weights = {}
    for layer, (rows, columns) in SHAPES.items():
        weights[f"{layer}.weight"] = random.normal(0, columns**-0.5, (rows, columns))
        weights[f"{layer}.bias"] = random.normal(0, 0.1, rows)
    batch = {"x": random.normal(size=(BATCH, SHAPES["fc1"][1])),
             "y": random.normal(size=(BATCH, SHAPES["head"][0]))}
    return ({k: v.astype(np.float32) for k, v in weights.items()},
            {k: v.astype(np.float32) for k, v in batch.items()})


def orthogonalised(matrix):
    a, b, c = COEFFICIENTS
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / max(np.linalg.norm(x), EPSILON)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def losses(weights, batch, clip=None):
    """Losses in fp64, and the gradients of the first step."""
    p = {k: v.astype(np.float64) for k, v in weights.items()}
    momentum, made, first = {k: np.zeros_like(p[k]) for k in MATRICES}, [], None
    for _ in range(STEPS):
        values = [batch["x"].astype(np.float64)]
        for layer in SHAPES:
            sums = values[-1] @ p[f"{layer}.weight"].T + p[f"{layer}.bias"]
            values.append(sums if layer == "head" else np.maximum(sums, 0))
        difference = values.pop() - batch["y"]
        made.append((difference**2).mean())
        slope, gradients = 2 * difference / difference.size, {}
        for layer, x in zip(reversed(SHAPES), reversed(values)):
            gradients[f"{layer}.weight"], gradients[f"{layer}.bias"] = slope.T @ x, slope.sum(0)
            slope = (slope @ p[f"{layer}.weight"]) * (x > 0)
        first = first or gradients
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        factor = min(1, clip / norm) if clip else 1
        gradients = {name: factor * gradient for name, gradient in gradients.items()}
        for name, gradient in gradients.items():
            if name not in MATRICES:
                p[name] = p[name] - RATE * gradient
                continue
            momentum[name] += (1 - MOMENTUM) * (gradient - momentum[name])
            step = orthogonalised(gradient + MOMENTUM * (momentum[name] - gradient))
            p[name] = p[name] * (1 - RATE * DECAY) - scale(gradient.shape) * step
    return np.array(made), first


class Writer:
    """Appends nodes."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def __call__(self, op, *inputs, name=None, **attributes):
        name = name or f"{op}.{len(self.nodes)}"
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        array = np.asarray(value, np.float32 if isinstance(value, float) else np.int64)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def transposed(self, value):
        return self("Transpose", value, perm=[1, 0])


def write_backward(w):
    """The loss, and the gradient of each parameter by name."""
    values = ["x"]
    for layer in SHAPES:
        sums = w("Add", w("MatMul", values[-1], w.transposed(f"{layer}.weight")), f"{layer}.bias")
        values.append(sums if layer == "head" else w("Relu", sums))
    difference = w("Sub", values.pop(), "y")
    w("ReduceMean", w("Mul", difference, difference), keepdims=0, name="loss")
    slope = w("Mul", difference, 2.0 / (BATCH * SHAPES["head"][0]))
    gradients = {}
    for layer, x in zip(reversed(SHAPES), reversed(values)):
        gradients[f"{layer}.weight"] = w("MatMul", w.transposed(slope), x)
        gradients[f"{layer}.bias"] = w("ReduceSum", slope, [0], keepdims=0)
        if x != "x":
            active = w("Cast", w("Greater", x, 0.0), to=TensorProto.FLOAT)
            slope = w("Mul", w("MatMul", slope, f"{layer}.weight"), active)
    return gradients


def coefficient(w, index):
    """One of the coefficients, from state that is carried as it is."""
    return w("Squeeze", w("Slice", "coefficients", [index], [index + 1]), [0])


def write_step(w, direction, shape, stored):
    """Newton-Schulz iterations, with coefficients that are `stored` in state or constants."""
    a, b, c = (coefficient(w, i) if stored else COEFFICIENTS[i] for i in range(3))
    is_tall = shape[0] > shape[1]
    x = w.transposed(direction) if is_tall else direction
    norm = w("Sqrt", w("ReduceSum", w("Mul", x, x), keepdims=0))
    x = w("Div", x, w("Max", norm, EPSILON))
    for _ in range(ITERATIONS):
        gram = w("MatMul", x, w.transposed(x))
        both = w("Add", w("Mul", gram, b), w("Mul", w("MatMul", gram, gram), c))
        x = w("Add", w("Mul", x, a), w("MatMul", both, x))
    return w.transposed(x) if is_tall else x


def write_update(w, name, gradient, shape, stored):
    if name not in MATRICES:
        w("Sub", name, w("Mul", gradient, RATE), name=f"{name}.new")
        return
    buffer = f"{name}.momentum"
    following = w("Add", buffer, w("Mul", w("Sub", gradient, buffer), 1 - MOMENTUM),
                  name=f"{buffer}.new")
    direction = w("Add", gradient, w("Mul", w("Sub", following, gradient), MOMENTUM))
    step = write_step(w, direction, shape, stored)
    w("Sub", w("Mul", name, 1 - RATE * DECAY), w("Mul", step, scale(shape)), name=f"{name}.new")


def clipped(w, gradients, limit):
    """The gradients, of a global norm of at most `limit`."""
    squares = [w("ReduceSumSquare", gradient, keepdims=0) for gradient in gradients.values()]
    factor = w("Min", w("Div", limit, w("Sqrt", w("Sum", *squares))), 1.0)
    return {name: w("Mul", gradient, factor) for name, gradient in gradients.items()}


def write_model(path, weights, batch, clip, stored):
    w = Writer()
    gradients = write_backward(w)
    if clip:
        gradients = clipped(w, gradients, clip)
    for name, gradient in gradients.items():
        write_update(w, name, gradient, weights[name].shape, stored)
    state = dict(weights, **{f"{name}.momentum": np.zeros_like(weights[name]) for name in MATRICES})
    if stored:
        state["coefficients"] = np.array(COEFFICIENTS, np.float32)
        w("Identity", "coefficients", name="coefficients.new")

    def info(name, value):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)

    outputs = [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])]
    graph = helper.make_graph(
        w.nodes, "muon", [info(*each) for each in (*batch.items(), *state.items())],
        outputs + [info(f"{name}.new", value) for name, value in state.items()],
        w.constants + [numpy_helper.from_array(value, name) for name, value in state.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)


def write_muon_step(folder, clip=None, stored=False):
    """Writes model.onnx and, as test/data has it, groundtruth.npz. Returns the model. With `clip` it
    clips the global norm of its gradients to that. Coefficients are `stored` in state as optax does."""
    folder.mkdir(parents=True, exist_ok=True)
    weights, batch = initial()
    expected, gradients = losses(weights, batch, clip)
    np.savez(folder / "groundtruth.npz", losses=expected,
             **{f"input.{k}": v for k, v in batch.items()},
             **{f"grad.{k}": v for k, v in gradients.items()})
    write_model(folder / "model.onnx", weights, batch, clip, stored)
    return folder / "model.onnx"
