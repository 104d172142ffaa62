//===- MakeGpt.cpp - write a GPT without weights --------------------------===//

#include "MakeGpt.h"

#include "onnx/onnx_pb.h"
#include "runtime/support/checked.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <limits>

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace zero {

namespace pb = ::onnx;

static constexpr int64_t kOpset = 23; ///< the first with Attention
static constexpr int64_t kIgnored = -100;
static constexpr float kEpsilon = 1e-5F;

namespace {
/// The sizes of a GPT-2 (Radford et al., 2019).
struct GptSize {
  int64_t layers = 12, width = 768, heads = 0, vocabulary = 50257, sequence = 1024, batch = 1;
};
} // namespace

/// Returns an error message, empty on success.
static std::string parseSize(StringRef text, GptSize &size) {
  const std::pair<StringRef, int64_t *> fields[] = {
      {"layers", &size.layers},         {"width", &size.width},       {"heads", &size.heads},
      {"vocabulary", &size.vocabulary}, {"sequence", &size.sequence}, {"batch", &size.batch}};
  for (StringRef part : llvm::split(text, ',')) {
    auto [name, value] = part.split('=');
    const auto *field = llvm::find_if(fields, [&](const auto &each) { return each.first == name; });
    if (field == std::end(fields))
      return ("expected layers, width, heads, vocabulary, sequence or batch, got '" + name + "'")
          .str();
    if (!parseInteger(value, *field->second) || *field->second < 1 ||
        *field->second > std::numeric_limits<int32_t>::max())
      return ("expected " + name + " to be a positive integer, got '" + value + "'").str();
  }
  if (size.heads == 0)
    size.heads = std::max<int64_t>(size.width / 64, 1);
  if (size.width % size.heads != 0)
    return ("expected a width that the heads divide, got " + Twine(size.width) + " and " +
            Twine(size.heads) + " heads")
        .str();
  return "";
}

namespace {
/// A graph under construction. Methods return the names of values.
class GptGraph {
public:
  GptGraph(const GptSize &size, std::string file, pb::GraphProto &graph)
      : size(size), file(std::move(file)), graph(graph) {}

  /// False if the weights have more bytes than a file.
  bool build();

private:
  std::string constant(const Twine &name, ArrayRef<int64_t> values, bool isScalar = false);
  std::string parameter(const Twine &name, ArrayRef<int64_t> shape);
  pb::NodeProto &add(StringRef op, ArrayRef<std::string> inputs, const Twine &output);
  std::string node(StringRef op, ArrayRef<std::string> inputs, const Twine &output);
  std::string normalize(const std::string &value, const Twine &module);
  std::string project(const std::string &value, const Twine &module, int64_t rows, int64_t columns);
  std::string attend(const std::string &value, const Twine &module);
  std::string block(std::string value, int64_t layer);
  void addLoss(const std::string &hidden, const std::string &table);
  void addInput(StringRef name);

  const GptSize &size;
  std::string file; ///< of weights, by name
  pb::GraphProto &graph;
  int64_t end = 0;     ///< of the weights so far, in the file
  bool isHuge = false; ///< `end` is out of range
};
} // namespace

static void setInt(pb::NodeProto &node, StringRef name, int64_t value) {
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
}

static void setFloat(pb::NodeProto &node, StringRef name, float value) {
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(value);
}

static void setText(pb::NodeProto &node, StringRef name, StringRef value) {
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(pb::AttributeProto::STRING);
  attribute.set_s(value.str());
}

/// Integers inside the model.
std::string GptGraph::constant(const Twine &name, ArrayRef<int64_t> values, bool isScalar) {
  pb::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name.str());
  tensor.set_data_type(pb::TensorProto::INT64);
  if (!isScalar)
    tensor.add_dims(int64_t(values.size()));
  for (int64_t value : values)
    tensor.add_int64_data(value);
  return tensor.name();
}

std::string GptGraph::parameter(const Twine &name, ArrayRef<int64_t> shape) {
  pb::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name.str());
  tensor.set_data_type(pb::TensorProto::FLOAT);
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  int64_t bytes = sizeof(float);
  isHuge |= !checkedProduct(shape, std::numeric_limits<int64_t>::max(), bytes);
  for (int64_t extent : shape)
    tensor.add_dims(extent);
  auto set = [&](StringRef key, const std::string &value) {
    pb::StringStringEntryProto &entry = *tensor.add_external_data();
    entry.set_key(key.str());
    entry.set_value(value);
  };
  set("location", file);
  set("offset", std::to_string(end));
  set("length", std::to_string(bytes));
  isHuge |= !checkedAdd(end, bytes, end);
  return tensor.name();
}

pb::NodeProto &GptGraph::add(StringRef op, ArrayRef<std::string> inputs, const Twine &output) {
  pb::NodeProto &node = *graph.add_node();
  node.set_op_type(op.str());
  node.set_name(("node_" + output).str());
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output.str());
  return node;
}

std::string GptGraph::node(StringRef op, ArrayRef<std::string> inputs, const Twine &output) {
  return add(op, inputs, output).output(0);
}

std::string GptGraph::normalize(const std::string &value, const Twine &module) {
  pb::NodeProto &node = add(
      "LayerNormalization",
      {value, parameter(module + ".weight", size.width), parameter(module + ".bias", size.width)},
      module);
  setInt(node, "axis", -1);
  setFloat(node, "epsilon", kEpsilon);
  return node.output(0);
}

/// Weights are stored as rows of inputs and columns of results, as in Hugging Face's Conv1D.
std::string GptGraph::project(const std::string &value, const Twine &module, int64_t rows,
                              int64_t columns) {
  std::string product =
      node("MatMul", {value, parameter(module + ".weight", {rows, columns})}, module + ".product");
  return node("Add", {product, parameter(module + ".bias", columns)}, module);
}

std::string GptGraph::attend(const std::string &value, const Twine &module) {
  std::string packed = project(value, module + ".c_attn", size.width, 3 * size.width);
  pb::NodeProto &split = add("Split", {packed}, module + ".query");
  split.add_output((module + ".key").str());
  split.add_output((module + ".value").str());
  setInt(split, "axis", 2);
  setInt(split, "num_outputs", 3);
  pb::NodeProto &attention =
      add("Attention", {split.output(0), split.output(1), split.output(2)}, module + ".mixed");
  setInt(attention, "is_causal", 1);
  setInt(attention, "q_num_heads", size.heads);
  setInt(attention, "kv_num_heads", size.heads);
  return project(attention.output(0), module + ".c_proj", size.width, size.width);
}

std::string GptGraph::block(std::string value, int64_t layer) {
  const std::string module = "transformer.h." + std::to_string(layer);
  value = node("Add", {value, attend(normalize(value, module + ".ln_1"), module + ".attn")},
               module + ".attended");
  std::string inner =
      project(normalize(value, module + ".ln_2"), module + ".mlp.c_fc", size.width, 4 * size.width);
  pb::NodeProto &gelu = add("Gelu", {inner}, module + ".mlp.act");
  setText(gelu, "approximate", "tanh");
  inner = project(gelu.output(0), module + ".mlp.c_proj", 4 * size.width, size.width);
  return node("Add", {value, inner}, module);
}

/// Logits by the tied table. The label of a token is the next token.
void GptGraph::addLoss(const std::string &hidden, const std::string &table) {
  pb::NodeProto &head = add("Transpose", {table}, "lm_head");
  pb::AttributeProto &perm = *head.add_attribute();
  perm.set_name("perm");
  perm.set_type(pb::AttributeProto::INTS);
  perm.add_ints(1);
  perm.add_ints(0);
  std::string logits = node("MatMul", {hidden, head.output(0)}, "scores");
  std::string rows = constant("rows", {-1, size.vocabulary}), all = constant("all", {-1});
  std::string padded =
      node("Pad", {"labels", constant("pads", {0, 0, 0, 1}), constant("ignored", kIgnored, true)},
           "padded_labels");
  std::string next =
      node("Slice",
           {padded, constant("first", {1}), constant("last", {std::numeric_limits<int64_t>::max()}),
            constant("axis", {1})},
           "next_labels");
  pb::NodeProto &loss = add(
      "SoftmaxCrossEntropyLoss",
      {node("Reshape", {logits, rows}, "logits"), node("Reshape", {next, all}, "targets")}, "loss");
  setInt(loss, "ignore_index", kIgnored);
}

void GptGraph::addInput(StringRef name) {
  pb::ValueInfoProto &input = *graph.add_input();
  input.set_name(name.str());
  pb::TypeProto::Tensor &type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(pb::TensorProto::INT64);
  for (int64_t extent : {size.batch, size.sequence})
    type.mutable_shape()->add_dim()->set_dim_value(extent);
}

bool GptGraph::build() {
  addInput("input_ids");
  addInput("labels");
  std::string table = parameter("transformer.wte.weight", {size.vocabulary, size.width});
  std::string value = node("Add",
                           {node("Gather", {table, "input_ids"}, "tokens"),
                            parameter("transformer.wpe.weight", {size.sequence, size.width})},
                           "embeddings");
  for (int64_t layer = 0; layer < size.layers; ++layer)
    value = block(value, layer);
  addLoss(normalize(value, "transformer.ln_f"), table);
  pb::ValueInfoProto &loss = *graph.add_output();
  loss.set_name("loss");
  loss.mutable_type()->mutable_tensor_type()->set_elem_type(pb::TensorProto::FLOAT);
  loss.mutable_type()->mutable_tensor_type()->mutable_shape();
  return !isHuge;
}

static std::string write(const GptSize &size, const std::string &path) {
  pb::ModelProto model;
  model.set_ir_version(10);
  model.set_producer_name("zero-translate");
  model.add_opset_import()->set_version(kOpset);
  model.mutable_graph()->set_name("gpt");
  const std::string data = llvm::sys::path::filename(path).str() + ".data";
  if (!GptGraph(size, data, *model.mutable_graph()).build())
    return "expected weights of less than 2^63 bytes";
  std::ofstream file(path, std::ios::binary);
  if (!file || !model.SerializeToOstream(&file) || !file.flush())
    return "cannot write '" + path + "'";
  return "";
}

bool makeGpt(const std::string &sizes, const std::string &path) {
  GptSize size;
  std::string error = path == "-" ? "expected -o FILE.onnx" : parseSize(sizes, size);
  if (error.empty())
    error = write(size, path);
  if (!error.empty())
    llvm::errs() << "zero-translate: error: --make-gpt: " << error << "\n";
  return error.empty();
}

} // namespace zero
