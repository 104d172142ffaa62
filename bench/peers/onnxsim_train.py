"""The onnxsim peer, one process: onnxsim_train.py CASE STEPS REPORT

compile_training_loop turns the graph of a case into a graph of one training step, which onnxruntime
runs. The gradients that onnxsim lacks are registered here: they are those of GPT-2.
"""

import itertools
import sys
from pathlib import Path

import onnx
import onnx.parser
import onnxruntime
from onnxsim.compile_training import CustomOptimizer, compile_training_loop
from onnxsim.graph_grad import register_gradient

from graphs import load_batch, load_graph, load_sizes
from measure import measure

# onnxsim's Adam has no weight decay. Of the step, an optimizer of one's own gets only the learning
# rate. That is constant here, so its place takes the number of the step.
ADAMW = """<ir_version: 8, opset_import: ["" : 17]>
adamw (float[N] w, float[N] g, float[N] m, float[N] v, float number)
    => (float[N] w_next, float[N] m_next, float[N] v_next)
<float rate = {1e-4}, float kept = {0.999999}, float eps = {1e-8}, float one = {1.0},
 float beta1 = {0.9}, float rest1 = {0.1}, float beta2 = {0.999}, float rest2 = {0.001}>
{
  first = Mul(beta1, m)
  change = Mul(rest1, g)
  m_next = Add(first, change)
  second = Mul(beta2, v)
  square = Mul(g, g)
  change2 = Mul(rest2, square)
  v_next = Add(second, change2)
  power1 = Pow(beta1, number)
  bias1 = Sub(one, power1)
  step = Div(rate, bias1)
  power2 = Pow(beta2, number)
  bias2 = Sub(one, power2)
  root_bias2 = Sqrt(bias2)
  root = Sqrt(v_next)
  unbiased = Div(root, root_bias2)
  divisor = Add(unbiased, eps)
  quotient = Div(m_next, divisor)
  moved = Mul(step, quotient)
  decayed = Mul(kept, w)
  w_next = Sub(decayed, moved)
}"""


@register_gradient("And")
def grad_and(_, node, __):
    return [None] * len(node.input)


@register_gradient("Pow")
def grad_pow(ctx, node, g):
    """The gradient of GELU's cube."""
    b, base = ctx.b, node.input[0]
    return [b.mul(g, b.mul(b.const(3.0), b.mul(base, base))), None]


@register_gradient("SoftmaxCrossEntropyLoss")
def grad_loss(ctx, node, g):
    """Softmax less one at the label, divided by the number of labels that are not negative."""
    b, (logits, labels) = ctx.b, node.input
    column = b.op("Reshape", [labels, ctx.int64_const([-1, 1])])
    zero = ctx.int64_const([0])
    used = b.op("Cast", [b.op("GreaterOrEqual", [column, zero])], to=onnx.TensorProto.FLOAT)
    weight = b.div(b.mul(used, g), b.op("ReduceSum", [used], keepdims=0))
    scaled = b.mul(b.op("Softmax", [logits], axis=-1), weight)
    index = b.op("Max", [column, zero])
    return [b.op("ScatterElements", [scaled, index, b.op("Neg", [weight])], axis=1,
                 reduction="add"), None]


@register_gradient("Gather", override=True)
def grad_gather(ctx, node, g):
    """Adds up rows. onnxsim's rule takes no indices of two dimensions, and multiplies by a one-hot
    matrix."""
    b, (table, indices) = ctx.b, node.input
    zeros = b.op("ConstantOfShape", [ctx.int64_const(ctx.shape(table))])
    rows = b.op("Unsqueeze", [indices, ctx.int64_const([-1])])
    return [b.op("ScatterND", [zeros, rows, g], reduction="add"), None]


def lower_opset(model):
    """Changes the graph to opset 17, that of onnxsim's steps."""
    model.opset_import[0].version = 17
    for node in model.graph.node:
        if node.op_type == "Split":
            kept = [a for a in node.attribute if a.name != "num_outputs"]
            del node.attribute[:]
            node.attribute.extend(kept)


def set_threads(count):
    """onnxsim has no option for it, and onnxruntime starts one per core of the machine, whatever
    cores this process may use."""
    make = onnxruntime.SessionOptions

    def options():
        made = make()
        made.intra_op_num_threads = count
        return made
    onnxruntime.SessionOptions = options


def main():
    folder, steps, report = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    set_threads(load_sizes(folder)["threads"])
    batch = load_batch(folder)
    model, parameters = load_graph(folder)
    lower_opset(model)
    optimizer = CustomOptimizer(onnx.parser.parse_model(ADAMW), num_state=2)
    loop = compile_training_loop(model, model.graph.output[0].name, parameters, optimizer)
    numbers = itertools.count(1)
    measure(lambda: loop(batch, next(numbers)), steps, report)


if __name__ == "__main__":
    main()
