//===- AddAdapters.cpp - add low-rank adapters beside products ------------===//

#include "dialects/Zero/AdapterAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/Dropout.h"
#include "zero/Ops/Function.h"
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
  void record(Product product, StringRef module);

  func::FuncOp step;
  NamedAttrList adapted;        ///< what is known about adapted parameters, by their names
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

/// The parameter that has the elements of the matrix of `product`, in its order, or that of its
/// transpose if `isTransposed`. Null if it has them in another order.
static ReadOp sourceOf(Product product, bool &isTransposed) {
  Value value = product.node.getInputs()[product.matrix];
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  isTransposed = false;
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    if (ops::computes(node, ops::Function::Permute)) {
      if (tensorType(value).getShape() != shape || permutationOf(node) != ArrayRef<int64_t>{1, 0})
        return nullptr;
      isTransposed = !isTransposed;
      shape = node.inputType(0).getShape();
    }
    value = node.getInputs().front();
  }
  return value.getDefiningOp<ReadOp>();
}

/// Records how the parameter of `product` is stored, for files that have it merged.
void AddAdapters::record(Product product, StringRef module) {
  bool isTransposed;
  ReadOp read = sourceOf(product, isTransposed);
  if (!read)
    return;
  Builder builder(&getContext());
  NamedAttrList about;
  about.set("module", builder.getStringAttr(module));
  about.set("scale", builder.getF64FloatAttr(scale));
  if ((product.inputDim() == 0) != isTransposed)
    about.set("inputs_first", builder.getUnitAttr());
  adapted.set(read.getSymbol(), about.getDictionary(&getContext()));
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
  Value a = readMatrix(path + kAdapterFirst.str(),
                       RankedTensorType::get({int64_t(size), product.inputs()}, element), true);
  Value b = readMatrix(path + kAdapterSecond.str(),
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
    record({node, unsigned(matrix.getInt())}, module.getValue());
    adapt({node, unsigned(matrix.getInt())}, module.getValue());
  }
  if (!adapted.empty())
    getOperation()->setAttr(kAdaptersAttr, adapted.getDictionary(&getContext()));
}

} // namespace zero
