//===- AddAdapters.cpp - add low-rank adapters beside products ------------===//

#include "dialects/Zero/AdapterAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Dropout.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ADDADAPTERS
#include "include/zero/Transforms/Import/Passes.h.inc"

namespace {
/// A product that gets an adapter: of `x` and a matrix of [outputs, inputs] or its transpose.
struct Product {
  onnx::NodeOp node;
  unsigned matrix; ///< the operand that is the matrix

  Value x() { return node.getInputs()[1 - matrix]; }
  bool isTransposed(unsigned operand) {
    return node.getInt(operand == 0 ? "transA" : "transB", 0) != 0;
  }
  /// The dimension of the matrix that is summed over.
  unsigned inputDim() { return (matrix == 0) ^ isTransposed(matrix); }
  int64_t inputs() { return node.inputType(matrix).getDimSize(inputDim()); }
  int64_t outputs() { return node.inputType(matrix).getDimSize(1 - inputDim()); }
};

struct AddAdapters : impl::AddAdaptersBase<AddAdapters> {
  using AddAdaptersBase::AddAdaptersBase;

  void runOnOperation() override;

private:
  Value readMatrix(StringRef name, RankedTensorType type, bool isDrawn);
  void adapt(Product product, StringRef module);

  func::FuncOp step;
  llvm::StringMap<Value> reads; ///< of the matrices that were added
};
} // namespace

/// The element at whose two sides PEFT draws the first matrix, as torch.nn.Linear does:
/// kaiming_uniform_ with a = sqrt(5). Or the deviation of its `gaussian`.
static RandomAttr randomOf(StringRef name, RankedTensorType type, bool isNormal) {
  Builder builder(type.getContext());
  const double width = isNormal ? 1 / double(type.getDimSize(0))
                                : 1 / std::sqrt(double(std::max<int64_t>(type.getDimSize(1), 1)));
  return RandomAttr::get(type.getContext(), isNormal ? Distribution::Normal : Distribution::Uniform,
                         builder.getF64FloatAttr(isNormal ? 0 : -width),
                         builder.getF64FloatAttr(width), llvm::xxh3_64bits(name));
}

/// The value of the parameter `name`, which is added if it is not there: modules that compute
/// several products have one adapter.
Value AddAdapters::readMatrix(StringRef name, RankedTensorType type, bool isDrawn) {
  Value &read = reads[name];
  if (read)
    return read;
  OpBuilder builder(step);
  ParameterOp::create(builder, step.getLoc(), name, type, /*data=*/DataAttr(),
                      isDrawn ? FloatAttr() : builder.getF64FloatAttr(0), /*frozen=*/false,
                      /*required=*/false, isDrawn ? randomOf(name, type, gaussian) : RandomAttr());
  remark::passed(step.getLoc(), remark::RemarkOpts::name("trained").category("parameters"))
      << (name + ": " + Twine(type.getDimSize(0)) + "x" + Twine(type.getDimSize(1)) + "xf" +
          Twine(type.getElementTypeBitWidth()))
             .str();
  builder.setInsertionPointToStart(&step.front());
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
  return read = ReadOp::create(builder, step.getLoc(), type, symbol);
}

void AddAdapters::adapt(Product product, StringRef module) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(product.node);
  const std::string path = (kAdapterPrefix + module).str();
  NodeBuilder nodes(builder, product.node.getLoc(), path);
  Value x = product.x(), y = product.node.getResult(0);
  Type element = tensorType(x).getElementType();
  if (!element.isF64())
    element = builder.getF32Type();
  Value a = readMatrix(path + ".lora_A.weight",
                       RankedTensorType::get({int64_t(size), product.inputs()}, element), true);
  Value b = readMatrix(path + ".lora_B.weight",
                       RankedTensorType::get({product.outputs(), int64_t(size)}, element), false);
  x = nodes.cast(x, element);
  if (dropoutRatio > 0)
    x = dropout(nodes, x, dropoutRatio);
  if (product.isTransposed(1 - product.matrix))
    x = nodes.transposeLast(x);
  const bool isLeft = product.matrix == 0;
  Value inner = isLeft ? nodes.matmul(a, x) : nodes.matmul(x, nodes.transposeLast(a));
  if (scale != 1)
    inner = nodes.mul(inner, nodes.scalar(scale, inner.getType()));
  Value change = isLeft ? nodes.matmul(b, inner) : nodes.matmul(inner, nodes.transposeLast(b));
  Value sum = nodes.add(y, nodes.cast(change, tensorType(y).getElementType()));
  y.replaceAllUsesExcept(sum, sum.getDefiningOp());
}

void AddAdapters::runOnOperation() {
  FailureOr<func::FuncOp> found = findStep(getOperation());
  if (failed(found))
    return signalPassFailure();
  step = *found;
  for (auto node : llvm::make_early_inc_range(step.getOps<onnx::NodeOp>())) {
    auto module = node->getAttrOfType<StringAttr>(kAdaptedModuleAttr);
    if (!module)
      continue;
    auto matrix = node->getAttrOfType<IntegerAttr>(kAdaptedOperandAttr);
    node->removeAttr(kAdaptedModuleAttr);
    node->removeAttr(kAdaptedOperandAttr);
    adapt({node, unsigned(matrix.getInt())}, module.getValue());
  }
}

} // namespace zero
