//===- LayerCalls.cpp - layers that differ in training mode ---------------===//
//
//   detach(x): an Identity, behind which gradients stop
//   _native_batch_norm_legit_functional(x, weight, bias, mean, var, training, momentum, eps):
//     onnxscript exports it in inference mode, whatever `training` is
//   scaled_dot_product_attention(q, k, v, mask, dropout_p, ..): its Dropout lacks the
//     operand that switches it on. A boolean mask becomes the least finite number, so that a
//     row without a key has the mean of all values, where the call has zeros
//   native_dropout(x, p, train), dropout(x, p, train)
//   embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse): the row
//     padding_idx gets no gradient, which becomes an attribute of Gather
//   avg_pool2d(x, .., divisor_override)
//   grid_sampler(x, grid, interpolation_mode, padding_mode, ..)
//   instance_norm(x, weight, bias, mean, var, use_input_stats, ..)
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using llvm::StringRef;

namespace zero::importer {

static void restoreDetach(CallEditor &editor, pb::NodeProto &node, const FxCall &) {
  editor.model.record.detached.insert(node.output(0));
  editor.restored("values whose gradients detach() stops");
}

static void restoreBatchNorm(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  // Without running statistics the nodes before it compute those of the batch.
  if (node.op_type() != "BatchNormalization" || !call.has(3, "running_mean"))
    return;
  const bool always = call.op().starts_with("_batch_norm_with_update");
  pb::AttributeProto &mode = attributeOf(node, "training_mode");
  if (mode.i() == 1 || !(always || call.getBool(5, "training", false)))
    return void(mode = intAttribute("training_mode", mode.i()));
  mode = intAttribute("training_mode", 1);
  while (node.output_size() < 3)
    node.add_output(editor.freeName(node.output(0) + "_statistics"));
  editor.restored("BatchNormalization nodes set back to training mode, which the exporter drops");
}

static std::string addTrue(CallEditor &editor) {
  return editor.addConstant(fromInts({}, {1}, pb::TensorProto::BOOL));
}

/// Switches the Dropout on.
static void switchOn(CallEditor &editor, pb::NodeProto &node) {
  if (node.input_size() > 2 && !node.input(2).empty())
    return;
  while (node.input_size() < 3)
    node.add_input();
  node.set_input(2, addTrue(editor));
  editor.restored("Dropout nodes enabled, like the calls that they were exported from");
}

static void restoreDropout(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() == "Dropout" && call.getFloat(1, "p", 0.5) > 0 &&
      call.getBool(2, "train", true))
    switchOn(editor, node);
}

/// The node that computes an operand of `node`, which may be null, if both are of these types.
static pb::NodeProto *operandOf(const CallEditor &editor, const pb::NodeProto *node, StringRef type,
                                StringRef operandType, int index = 0) {
  if (!node || node->op_type() != type || node->input_size() <= index)
    return nullptr;
  pb::NodeProto *operand = editor.producerOf(node->input(index));
  return operand && operand->op_type() == operandType ? operand : nullptr;
}

/// `guard` is Where(IsNaN(weights), 0, weights). Where the call makes numbers of a boolean mask,
/// hidden keys get minus infinity.
static void restoreHiddenRows(CallEditor &editor, const pb::NodeProto &guard, const FxCall &call) {
  const pb::NodeProto *test = operandOf(editor, &guard, "Where", "IsNaN");
  const pb::NodeProto *softmax = operandOf(editor, test, "IsNaN", "Softmax");
  const pb::NodeProto *sum = operandOf(editor, softmax, "Softmax", "Add");
  for (int index : {0, 1}) {
    pb::NodeProto *mask = operandOf(editor, sum, "Add", "Where", index);
    std::optional<FxCall> origin = mask ? parseCall(*mask) : std::nullopt;
    if (!origin || origin->result != call.result || mask->input_size() != 3)
      continue;
    auto hidden = llvm::find_if(editor.model.constants,
                                [&](const auto &each) { return each.first == mask->input(2); });
    if (hidden == editor.model.constants.end() || hidden->second.elements != 1)
      continue;
    mask->set_input(
        2, editor.addNumber(hidden->second.type, -std::numeric_limits<double>::infinity()));
    editor.restored("attention masks that hide all keys of a row as the call does");
  }
}

static void restoreAttention(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() == "Dropout" && call.getFloat(4, "dropout_p", 0) > 0)
    switchOn(editor, node);
  restoreHiddenRows(editor, node, call);
}

static void restoreEmbedding(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() != "Gather")
    return;
  if (call.getBool(3, "scale_grad_by_freq", false))
    editor.refuse(node, call, "scale_grad_by_freq=True is not supported; leave it out");
  const int64_t row = call.getInt(2, "padding_idx", -1);
  if (row < 0)
    return;
  editor.annotate(node, intAttribute("padding_idx", row));
  editor.restored("embeddings whose row padding_idx gets no gradient");
}

static void checkAveragePool(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() == "AveragePool" && call.has(6, "divisor_override"))
    editor.refuse(node, call,
                  "divisor_override=" + call.text(6, "divisor_override") +
                      " is missing from the node; scale the result of a plain average in the "
                      "module instead");
}

/// Its running statistics in training mode are in no node.
static void checkInstanceNorm(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() == "InstanceNormalization" && call.has(3, "running_mean"))
    editor.model.record.warnings.push_back(
        describe(node) + ": the running statistics of this InstanceNorm are not in the graph: "
                         "they are neither updated nor saved");
}

/// With bicubic interpolation and border padding, PyTorch clips pixels, and ONNX clips the
/// positions that are read.
static void checkGridSample(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  constexpr int64_t kBicubic = 2, kBorder = 1;
  if (node.op_type() == "GridSample" && call.getInt(2, "interpolation_mode", 0) == kBicubic &&
      call.getInt(3, "padding_mode", 0) == kBorder)
    editor.model.record.warnings.push_back(describe(node) +
                                           ": bicubic samples outside of the image follow ONNX and "
                                           "differ from PyTorch within the last half pixel");
}

CallRule layerRule(StringRef op) {
  return llvm::StringSwitch<CallRule>(op)
      .Cases({"detach", "detach_", "detach_copy"}, restoreDetach)
      .Cases({"_native_batch_norm_legit_functional", "_native_batch_norm_legit",
              "native_batch_norm", "batch_norm", "cudnn_batch_norm", "miopen_batch_norm"},
             restoreBatchNorm)
      .Cases({"_batch_norm_with_update", "_batch_norm_with_update_functional"}, restoreBatchNorm)
      .Cases({"native_dropout", "dropout"}, restoreDropout)
      .Cases({"scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu"},
             restoreAttention)
      .Case("embedding", restoreEmbedding)
      .Cases({"avg_pool2d", "avg_pool3d"}, checkAveragePool)
      .Case("instance_norm", checkInstanceNorm)
      .Cases({"grid_sampler", "grid_sampler_2d"}, checkGridSample)
      .Default(nullptr);
}

} // namespace zero::importer
