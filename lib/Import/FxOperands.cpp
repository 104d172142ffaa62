//===- FxOperands.cpp - operands of exported calls ------------------------===//
//
// What PyTorch's exporter makes of a call, from onnxscript's torch_lib (0.7): only where
// operands go to nodes with their elements unchanged.
//
//===----------------------------------------------------------------------===//

#include "FxOperands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

namespace {
/// Input `slot` (any: -1) of an ONNX node of type `node` is argument `argument`.
struct Row {
  StringRef op, node;
  int slot, argument;
  Layout layout = Layout::Same;
};
} // namespace

static const Row kRows[] = {
    // x W^T + b: a product of matrices takes W as it is (transB), others transpose it.
    {"linear", "MatMul", 1, 1, Layout::Transposed},
    {"linear", "Transpose", 0, 1},
    {"linear", "Gemm", 1, 1, Layout::Transposed},
    {"linear", "Gemm", 2, 2},
    {"linear", "Add", -1, 2},
    {"addmm", "Gemm", 0, 1},
    {"addmm", "Gemm", 1, 2},
    {"addmm", "Gemm", 2, 0},
    {"mm", "MatMul", 0, 0},
    {"mm", "MatMul", 1, 1},
    {"bmm", "MatMul", 0, 0},
    {"bmm", "MatMul", 1, 1},
    {"matmul", "MatMul", 0, 0},
    {"matmul", "MatMul", 1, 1},
    {"layer_norm", "LayerNormalization", 1, 2},
    {"layer_norm", "LayerNormalization", 2, 3},
    {"native_layer_norm", "LayerNormalization", 1, 2},
    {"native_layer_norm", "LayerNormalization", 2, 3},
    {"rms_norm", "RMSNormalization", 1, 2},
    {"group_norm", "Mul", 1, 2, Layout::Vector},
    {"group_norm", "Add", 1, 3, Layout::Vector},
    {"prelu", "PRelu", 1, 1, Layout::Vector},
    {"embedding", "Gather", 0, 0},
    {"conv1d", "Conv", 1, 1},
    {"conv1d", "Conv", 2, 2},
    {"conv2d", "Conv", 1, 1},
    {"conv2d", "Conv", 2, 2},
    {"conv3d", "Conv", 1, 1},
    {"conv3d", "Conv", 2, 2},
    {"convolution", "Conv", 1, 1},
    {"convolution", "Conv", 2, 2},
    {"convolution", "ConvTranspose", 1, 1},
    {"convolution", "ConvTranspose", 2, 2},
    {"conv_transpose1d", "ConvTranspose", 1, 1},
    {"conv_transpose1d", "ConvTranspose", 2, 2},
    {"conv_transpose2d", "ConvTranspose", 1, 1},
    {"conv_transpose2d", "ConvTranspose", 2, 2},
    {"conv_transpose3d", "ConvTranspose", 1, 1},
    {"conv_transpose3d", "ConvTranspose", 2, 2},
};

static constexpr StringRef kBatchNormalizations[] = {"batch_norm", "native_batch_norm",
                                                     "_native_batch_norm_legit",
                                                     "_native_batch_norm_legit_functional"};

/// The ONNX operator of two operands that `call` is, element by element, or "".
static StringRef elementwise(const FxCall &call) {
  StringRef overload = call.target.rsplit('.').second;
  if (overload != "Tensor" && overload != "default" && overload != "self")
    return {};
  return llvm::StringSwitch<StringRef>(call.op())
      .Case("add", "Add")
      .Case("sub", "Sub")
      .Case("mul", "Mul")
      .Case("div", "Div")
      .Case("maximum", "Max")
      .Case("minimum", "Min")
      .Case("where", "Where")
      .Default("");
}

static bool attributeIsSet(const pb::NodeProto &node, StringRef name) {
  return llvm::any_of(node.attribute(), [&](const pb::AttributeProto &attribute) {
    return attribute.name() == name && attribute.i() != 0;
  });
}

static FxOperand argument(const FxCall &call, size_t index, Layout layout = Layout::Same) {
  return {index < call.args.size() ? call.args[index] : "", layout};
}

/// The layout that `row` says, or the other one for a Gemm that transposes.
static Layout layoutOf(const Row &row, const pb::NodeProto &node, int slot) {
  if (node.op_type() != "Gemm" || slot != 1 || !attributeIsSet(node, "transB"))
    return row.layout;
  return row.layout == Layout::Same ? Layout::Transposed : Layout::Same;
}

std::optional<FxOperand> operandOf(const FxCall &call, const pb::NodeProto &node, int slot) {
  StringRef op = call.op(), type = node.op_type();
  if (!call.target.starts_with("aten.") || !node.domain().empty())
    return std::nullopt;
  // An `alpha` among the keywords scales an operand before it is added.
  if (type == elementwise(call) && call.kwargs.empty())
    return argument(call, slot);
  if (type == "BatchNormalization" && slot > 0 && llvm::is_contained(kBatchNormalizations, op))
    return argument(call, slot);
  for (const Row &row : kRows)
    if (op == row.op && type == row.node && (row.slot == slot || row.slot < 0))
      return argument(call, row.argument, layoutOf(row, node, slot));
  return std::nullopt;
}

} // namespace zero::importer
