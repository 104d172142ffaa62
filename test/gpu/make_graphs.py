"""Writes graphs of attention and of a Llama, without weights, for machines without the ONNX library.

usage: make_graphs.py FOLDER
"""

import sys
from pathlib import Path

from onnx import TensorProto, helper, save

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
IGNORED = -100


def tensor(name, shape):
    """A parameter whose values are in a file that is not there."""
    made = TensorProto(name=name, dims=shape, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    made.external_data.add(key="location", value="none.data")
    return made


def integers(name, values):
    return helper.make_tensor(name, INT64, [len(values)], values)


def write(path, nodes, inputs, initializers):
    graph = helper.make_graph(nodes, path.stem, inputs, [helper.make_tensor_value_info("loss", FLOAT, [])],
                              initializers)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def write_attention(folder, batch, heads, length, width):
    """The mean of attention times numbers w times the input, which is one: the gradient of w is what
    attention computes."""
    shape = [batch, heads, length, width]
    node, names = helper.make_node, [f"attention.{name}" for name in ("query", "key", "value", "w")]
    write(folder / f"attention-{width}-{length}.onnx",
          [node("Attention", names[:3], ["o"], is_causal=1), node("Mul", ["o", "attention.w"], ["product"]),
           node("Mul", ["product", "one"], ["same"]), node("ReduceMean", ["same"], ["loss"], keepdims=0)],
          [helper.make_tensor_value_info("one", FLOAT, [1])], [tensor(name, shape) for name in names])


class Llama:
    """Layers of Llama (Touvron et al., 2023) with groups of keys (Ainslie et al., 2023)."""

    def __init__(self, layers, width, heads, groups, hidden, vocabulary, sequence, batch):
        self.layers, self.width, self.heads, self.groups = layers, width, heads, groups
        self.hidden, self.vocabulary, self.sequence, self.batch = hidden, vocabulary, sequence, batch
        self.nodes, self.parameters = [], []

    def add(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def linear(self, x, name, columns, rows):
        self.parameters.append(tensor(f"{name}.weight", [rows, columns]))
        return self.add("MatMul", [x, f"{name}.weight"], f"{name}.out")

    def norm(self, x, name):
        self.parameters.append(tensor(f"{name}.weight", [self.width]))
        return self.add("RMSNormalization", [x, f"{name}.weight"], f"{name}.out", epsilon=1e-5)

    def rotate(self, x, heads):
        return self.add("RotaryEmbedding", [x, "cos", "sin"], f"{x}.rotated", num_heads=heads)

    def layer(self, x, name):
        size, keys = self.width, self.width // self.heads * self.groups
        normed = self.norm(x, f"{name}.input_layernorm")
        q = self.rotate(self.linear(normed, f"{name}.self_attn.q_proj", size, size), self.heads)
        k = self.rotate(self.linear(normed, f"{name}.self_attn.k_proj", keys, size), self.groups)
        v = self.linear(normed, f"{name}.self_attn.v_proj", keys, size)
        mixed = self.add("Attention", [q, k, v], f"{name}.mixed", is_causal=1, q_num_heads=self.heads,
                         kv_num_heads=self.groups)
        x = self.add("Add", [x, self.linear(mixed, f"{name}.self_attn.o_proj", size, size)], f"{name}.attended")
        normed = self.norm(x, f"{name}.post_attention_layernorm")
        gate = self.linear(normed, f"{name}.mlp.gate_proj", self.hidden, size)
        gate = self.add("Mul", [gate, self.add("Sigmoid", [gate], f"{gate}.sigmoid")], f"{gate}.silu")
        up = self.add("Mul", [gate, self.linear(normed, f"{name}.mlp.up_proj", self.hidden, size)], f"{name}.mlp.product")
        return self.add("Add", [x, self.linear(up, f"{name}.mlp.down_proj", size, self.hidden)], f"{name}.out")

    def write(self, path):
        half = self.width // self.heads // 2
        self.parameters.append(tensor("embed_tokens.weight", [self.vocabulary, self.width]))
        self.add("Expand", [self.add("Mul", ["places", "frequencies"], "angles"), "all"], "angles.all")
        self.add("Cos", ["angles.all"], "cos")
        self.add("Sin", ["angles.all"], "sin")
        x = self.add("Gather", ["embed_tokens.weight", "input_ids"], "embedded")
        for i in range(self.layers):
            x = self.layer(x, f"layers.{i}")
        logits = self.linear(self.norm(x, "norm"), "lm_head", self.vocabulary, self.width)
        self.add("Slice", ["labels", "one", "end", "axis"], "later")
        self.add("Pad", ["later", "pads", "ignored"], "shifted")
        self.add("Reshape", [logits, "rows"], "logits.rows")
        self.add("Reshape", ["shifted", "flat"], "labels.flat")
        self.add("SoftmaxCrossEntropyLoss", ["logits.rows", "labels.flat"], "loss", ignore_index=IGNORED,
                 reduction="mean")
        tables = [helper.make_tensor("places", FLOAT, [1, self.sequence, 1], list(range(self.sequence))),
                  helper.make_tensor("frequencies", FLOAT, [half], [10000 ** (-i / half) for i in range(half)]),
                  integers("all", [self.batch, self.sequence, half])]
        ignored = helper.make_tensor("ignored", INT64, [], [IGNORED])
        numbers = [integers("one", [1]), integers("end", [self.sequence]), integers("axis", [1]),
                   integers("pads", [0, 0, 0, 1]), integers("rows", [-1, self.vocabulary]), integers("flat", [-1])]
        shape = [self.batch, self.sequence]
        write(path, self.nodes, [helper.make_tensor_value_info(name, INT64, shape) for name in ("input_ids", "labels")],
              [*self.parameters, *tables, ignored, *numbers])


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_attention(folder, 2, 2, 64, 32)
    for width, heads in ((64, 16), (128, 8)):
        for length in (1024, 4096):
            write_attention(folder, 16384 // length, heads, length, width)
    Llama(layers=1, width=64, heads=4, groups=2, hidden=96, vocabulary=128, sequence=32, batch=2).write(
        folder / "llama-small.onnx")
    Llama(layers=4, width=4096, heads=32, groups=8, hidden=14336, vocabulary=32000, sequence=2048, batch=2).write(
        folder / "llama-4-layers.onnx")


if __name__ == "__main__":
    main()
