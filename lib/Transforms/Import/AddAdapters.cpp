//===- AddAdapters.cpp - add low-rank adapters beside products ------------===//

#include "AdaptedProduct.h"
#include "dialects/Zero/AdapterAttrs.h"
#include "runtime/support/adapter_names.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Dropout.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ADDADAPTERS
#include "include/zero/Transforms/Import/Passes.h.inc"

namespace {
struct AddAdapters : impl::AddAdaptersBase<AddAdapters> {
  using AddAdaptersBase::AddAdaptersBase;

  void runOnOperation() override;

private:
  enum InitialValue { Drawn, Zero, NormOfBase };

  Value readParameter(StringRef name, RankedTensorType type, InitialValue init);
  Value changeOf(NodeBuilder &nodes, AdaptedProduct product, Value x,
                 const AdapterMatrices &adapter);
  Value scaleToMagnitude(NodeBuilder &nodes, AdaptedProduct product, Value x, Value change,
                         const AdapterMatrices &adapter, StringRef path);
  void adapt(AdaptedProduct product, StringRef module);
  LogicalResult record(AdaptedProduct product, StringRef module);

  func::FuncOp step;
  NamedAttrList adapted;        ///< what is known about adapted parameters, by their names
  llvm::StringMap<Value> reads; ///< of the parameters that were added
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
Value AddAdapters::readParameter(StringRef name, RankedTensorType type, InitialValue init) {
  Value &read = reads[name];
  if (read)
    return read;
  OpBuilder builder(step);
  ParameterOp::create(builder, step.getLoc(), name, type, /*data=*/DataAttr(),
                      init == Zero ? builder.getF64FloatAttr(0) : FloatAttr(), /*frozen=*/false,
                      /*required=*/init == NormOfBase,
                      init == Drawn ? randomOf(name, type, gaussian) : RandomAttr());
  remark::passed(step.getLoc(), remark::RemarkOpts::name("trained").category("parameters"))
      << llvm::formatv("{0}: {1:$[x]}xf{2}", name,
                       llvm::make_range(type.getShape().begin(), type.getShape().end()),
                       type.getElementTypeBitWidth())
             .str();
  builder.setInsertionPointToStart(&step.front());
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
  return read = ReadOp::create(builder, step.getLoc(), type, symbol);
}

/// Records how the parameter of `product` is stored, for files that have it merged, and for the
/// norms of its rows or columns.
LogicalResult AddAdapters::record(AdaptedProduct product, StringRef module) {
  bool isTransposed;
  ReadOp read = product.source(isTransposed);
  if (!read && dora)
    return product.node.emitError()
           << "--dora: the matrix of '" << module
           << "' is permuted before its product; expected its elements in their order, or those of "
              "its transpose";
  if (!read)
    return success();
  Builder builder(&getContext());
  NamedAttrList about;
  about.set("module", builder.getStringAttr(module));
  about.set("scale", builder.getF64FloatAttr(scale));
  if ((product.inputDim() == 0) != isTransposed)
    about.set("inputs_first", builder.getUnitAttr());
  if (dora)
    about.set("magnitude", builder.getUnitAttr());
  adapted.set(read.getSymbol(), about.getDictionary(&getContext()));
  return success();
}

/// What the adapter of `product` adds to its result for the inputs `x`.
Value AddAdapters::changeOf(NodeBuilder &nodes, AdaptedProduct product, Value x,
                            const AdapterMatrices &adapter) {
  if (product.isTransposed(1 - product.matrix))
    x = nodes.transposeLast(x);
  const bool isLeft = product.matrix == 0;
  auto [a, b, factor] = adapter;
  Value inner = isLeft ? nodes.matmul(a, x) : nodes.matmul(x, nodes.transposeLast(a));
  if (factor != 1)
    inner = nodes.mul(inner, nodes.scalar(factor, inner.getType()));
  return isLeft ? nodes.matmul(b, inner) : nodes.matmul(inner, nodes.transposeLast(b));
}

/// The result of `product` with `change`, scaled to the magnitudes of the module (DoRA). With
/// dropout only what `x`, the inputs that are left, give is scaled, as PEFT does.
Value AddAdapters::scaleToMagnitude(NodeBuilder &nodes, AdaptedProduct product, Value x,
                                    Value change, const AdapterMatrices &adapter, StringRef path) {
  Type element = tensorType(change).getElementType();
  Value magnitude =
      readParameter(path, RankedTensorType::get(product.outputs(), element), NormOfBase);
  Value ratio = nodes.div(magnitude, normsOf(nodes, product, adapter));
  Value y = product.node.getResult(0);
  const int64_t rank = tensorType(y).getRank();
  if (product.matrix == 0 && rank > 1)
    ratio = nodes.reshape(ratio, {product.outputs(), 1});
  Value bias = product.takeBias(nodes), whole = nodes.cast(y, element);
  Value left = dropoutRatio > 0 ? nodes.cast(product.productOf(nodes, x), element) : whole;
  Value sum = nodes.mul(nodes.add(left, change), ratio);
  if (left != whole)
    sum = nodes.add(sum, nodes.sub(whole, left));
  sum = nodes.cast(sum, tensorType(y).getElementType());
  return bias ? nodes.add(sum, bias) : sum;
}

void AddAdapters::adapt(AdaptedProduct product, StringRef module) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(product.node);
  NodeBuilder nodes(builder, product.node.getLoc(), rt::adapterName(module, ""));
  Value x = product.x(), y = product.node.getResult(0);
  Type element = tensorType(x).getElementType();
  if (!element.isF64())
    element = builder.getF32Type();
  const AdapterMatrices adapter{
      readParameter(rt::adapterName(module, rt::kAdapterFirst),
                    RankedTensorType::get({int64_t(size), product.inputs()}, element), Drawn),
      readParameter(rt::adapterName(module, rt::kAdapterSecond),
                    RankedTensorType::get({product.outputs(), int64_t(size)}, element), Zero),
      scale};
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(y.getUses()));
  x = nodes.cast(x, element);
  if (dropoutRatio > 0)
    x = dropout(nodes, x, dropoutRatio);
  Value change = changeOf(nodes, product, x, adapter);
  Value sum = dora ? scaleToMagnitude(nodes, product, x, change, adapter,
                                      rt::adapterName(module, rt::kAdapterMagnitude))
                   : nodes.add(y, nodes.cast(change, tensorType(y).getElementType()));
  for (OpOperand *use : uses)
    use->set(sum);
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
    const AdaptedProduct product{node, unsigned(matrix.getInt())};
    if (failed(record(product, module.getValue())))
      return signalPassFailure();
    adapt(product, module.getValue());
  }
  if (!adapted.empty())
    getOperation()->setAttr(kAdaptersAttr, adapted.getDictionary(&getContext()));
}

} // namespace zero
