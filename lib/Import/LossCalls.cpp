//===- LossCalls.cpp - loss functions with more arguments than in ONNX ----===//
//
//   cross_entropy_loss(scores, target, weight, reduction, ignore_index, label_smoothing)
//   nll_loss(scores, target, weight, reduction, ignore_index)
//
// SoftmaxCrossEntropyLoss has no label smoothing, which becomes an attribute that the
// operator of lib/Ops knows, and takes no probabilities as target, for which the loss is
// written out.
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

/// ONNX's word for PyTorch's number.
static StringRef reductionName(int64_t reduction) {
  return reduction == 0 ? "none" : reduction == 2 ? "sum" : "mean";
}

/// Sets the attributes that the exporter could express but may have omitted.
static void setReduction(pb::NodeProto &node, const FxCall &call) {
  attributeOf(node, "reduction") =
      stringAttribute("reduction", reductionName(call.getInt(3, "reduction", 1)));
  attributeOf(node, "ignore_index") =
      intAttribute("ignore_index", call.getInt(4, "ignore_index", -100));
}

namespace {
/// Writes out a cross-entropy whose target is a distribution over the classes:
/// -sum over classes of w[c] t[c] log softmax(scores)[c] for each row, where smoothing
/// makes t' = (1 - s) t + s / classes; reduced by `reduction`.
class SoftTargetWriter {
public:
  SoftTargetWriter(CallEditor &editor, pb::NodeProto &node, const FxCall &call, int64_t rank,
                   int32_t type)
      : editor(editor), node(node), call(call), rank(rank), type(type) {}

  void run() {
    std::string axis = ints({classAxis()});
    std::string logs =
        editor.addNode("LogSoftmax", {node.input(0)}, {intAttribute("axis", classAxis())});
    std::string product = editor.addNode("Mul", {logs, smoothed()});
    if (node.input_size() > 2 && !node.input(2).empty())
      product = editor.addNode("Mul", {product, classWeights()});
    std::string rows = editor.addNode("ReduceSum", {product, axis}, {intAttribute("keepdims", 0)});
    StringRef reduction = reductionName(call.getInt(3, "reduction", 1));
    if (reduction != "none")
      rows = editor.addNode(reduction == "sum" ? "ReduceSum" : "ReduceMean", {rows},
                            {intAttribute("keepdims", 0)});
    // The node itself defines the result, so names do not change.
    node.set_op_type("Neg");
    node.clear_attribute();
    node.clear_input();
    node.add_input(rows);
  }

private:
  int64_t classAxis() const { return rank > 1 ? 1 : 0; }

  std::string ints(std::vector<int64_t> values) {
    Dims dims{static_cast<int64_t>(values.size())};
    return editor.addConstant(fromInts(dims, std::move(values)));
  }

  /// The target, smoothed; the number of classes is known once shapes are.
  std::string smoothed() {
    const auto smoothing = static_cast<float>(call.getFloat(5, "label_smoothing", 0));
    if (smoothing == 0)
      return node.input(1);
    std::string classes =
        editor.addNode("Shape", {node.input(0)},
                       {intAttribute("start", classAxis()), intAttribute("end", classAxis() + 1)});
    std::string count = editor.addNode("CastLike", {classes, node.input(1)});
    std::string kept = editor.addNumber(type, 1 - smoothing);
    std::string spread = editor.addNode("Div", {editor.addNumber(type, smoothing), count});
    return editor.addNode("Add", {editor.addNode("Mul", {node.input(1), kept}), spread});
  }

  /// [C], as [C, 1, ..]: along the second dimension of the scores.
  std::string classWeights() {
    if (rank <= 2)
      return node.input(2);
    std::vector<int64_t> axes;
    for (int64_t axis = 1; axis < rank - 1; ++axis)
      axes.push_back(axis);
    return editor.addNode("Unsqueeze", {node.input(2), ints(axes)});
  }

  CallEditor &editor;
  pb::NodeProto &node;
  const FxCall &call;
  int64_t rank;
  int32_t type;
};
} // namespace

static void restoreCrossEntropy(CallEditor &editor, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() != "SoftmaxCrossEntropyLoss" || node.input_size() < 2)
    return;
  setReduction(node, call);
  const pb::TypeProto::Tensor *target = editor.typeOf(node.input(1));
  if (target && isFloat(target->elem_type())) {
    const pb::TypeProto::Tensor *scores = editor.typeOf(node.input(0));
    const bool isWide = target->elem_type() == pb::TensorProto::FLOAT ||
                        target->elem_type() == pb::TensorProto::DOUBLE;
    if (!scores || !scores->has_shape() || !isWide)
      return editor.refuse(node, call,
                           "a target of probabilities is supported if the rank of the scores is "
                           "declared and the target is f32 or f64");
    SoftTargetWriter(editor, node, call, scores->shape().dim_size(), target->elem_type()).run();
    return editor.restored("cross-entropies of probabilities written out");
  }
  const double smoothing = call.getFloat(5, "label_smoothing", 0);
  if (smoothing == 0)
    return;
  editor.annotate(node, floatAttribute("label_smoothing", static_cast<float>(smoothing)));
  editor.restored("label smoothing restored in cross-entropies");
}

static void restoreNll(CallEditor &, pb::NodeProto &node, const FxCall &call) {
  if (node.op_type() == "NegativeLogLikelihoodLoss")
    setReduction(node, call);
}

CallRule lossRule(StringRef op) {
  return llvm::StringSwitch<CallRule>(op)
      .Case("cross_entropy_loss", restoreCrossEntropy)
      .Cases({"nll_loss", "nll_loss_nd", "nll_loss2d"}, restoreNll)
      .Default(nullptr);
}

} // namespace zero::importer
