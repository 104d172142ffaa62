//===- Matrices.cpp - formulas on whole matrices --------------------------===//

#include "zero/Optimizers/Matrices.h"

#include "Optimizers.h"

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

Value MatrixBuilder::launch(StringRef formula, ValueRange operands, RankedTensorType result,
                            Body body) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << formula;
  llvm::interleave(operands.getTypes(), os, " ");
  os << " -> " << result;
  func::FuncOp &kernel = kernels[key];
  if (!kernel) {
    std::string symbol = (prefix + Twine(kernels.size() - 1) + "_" + formula).str();
    kernel = startKernel(module, symbol, operands.getTypes(), TypeRange(result));
    OpBuilder inside = OpBuilder::atBlockEnd(&kernel.getBody().front());
    Value made = body(inside, kernel.getLoc(), kernel.getArguments());
    func::ReturnOp::create(inside, kernel.getLoc(), made);
  }
  auto op = LaunchOp::create(builder, loc, TypeRange(result),
                             FlatSymbolRefAttr::get(kernel.getSymNameAttr()), operands);
  op->setAttr(kNameAttr, builder.getStringAttr(name));
  setSegment(op, Segment::Epilogue);
  return op.getResult(0);
}

Value MatrixBuilder::compute(StringRef formula, ValueRange operands, Body body, Type element) {
  auto type = cast<RankedTensorType>(operands.front().getType());
  return launch(formula, operands, element ? type.clone(element) : type, body);
}

/// `matrix` with elements of type `element`, rounded or extended.
static Value convert(OpBuilder &builder, Location loc, Value matrix, Type element) {
  auto type = cast<RankedTensorType>(matrix.getType());
  if (type.getElementType() == element)
    return matrix;
  return mapTensors(builder, loc, {{matrix, allDims(matrix)}}, type.clone(element),
                    [&](Formula &f, ValueRange values) { return f.cast(values[0], element); });
}

/// The loops of a product: those over matrices, then m, n and k.
static Value contract(OpBuilder &builder, Location loc, ValueRange factors, RankedTensorType type,
                      bool transposeA, bool transposeB) {
  const unsigned m = type.getRank() - 2, n = m + 1, k = n + 1;
  auto mapOf = [&](unsigned rows, unsigned columns) {
    SmallVector<AffineExpr> dims;
    for (unsigned batch = 0; batch < m; ++batch)
      dims.push_back(builder.getAffineDimExpr(batch));
    dims.append({builder.getAffineDimExpr(rows), builder.getAffineDimExpr(columns)});
    return AffineMap::get(k + 1, 0, dims, builder.getContext());
  };
  AffineMap maps[] = {transposeA ? mapOf(k, m) : mapOf(m, k),
                      transposeB ? mapOf(n, k) : mapOf(k, n), mapOf(m, n)};
  SmallVector<utils::IteratorType> loops(k, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  Value empty = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  Value zero = Formula(builder, loc).constant(0, type.getElementType());
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(type), factors, init, maps, loops,
      [](OpBuilder &b, Location l, ValueRange values) {
        Formula f(b, l);
        linalg::YieldOp::create(b, l, f.unorderedAdd(values[2], f.mul(values[0], values[1])));
      });
  return generic.getResult(0);
}

Value MatrixBuilder::multiply(Value a, Value b, Type element, bool transposeA, bool transposeB) {
  auto typeA = cast<RankedTensorType>(a.getType()), typeB = cast<RankedTensorType>(b.getType());
  SmallVector<int64_t> shape(typeA.getShape());
  shape.end()[-2] = typeA.getShape().end()[transposeA ? -1 : -2];
  shape.end()[-1] = typeB.getShape().end()[transposeB ? -2 : -1];
  auto sums = RankedTensorType::get(shape, builder.getF32Type());
  auto type = sums.clone(element ? element : sums.getElementType());
  operations +=
      2.0 * double(type.getNumElements()) * double(typeA.getShape().end()[transposeA ? -2 : -1]);
  // The arguments of a kernel are different ones, also where both are the same matrix.
  StringRef formula = transposeA ? "product_ta" : transposeB ? "product_tb" : "product";
  return launch(formula, {a, b}, type, [&](OpBuilder &inside, Location at, ValueRange given) {
    const Value factors[] = {convert(inside, at, given[0], sums.getElementType()),
                             convert(inside, at, given[1], sums.getElementType())};
    Value product = contract(inside, at, factors, sums, transposeA, transposeB);
    return convert(inside, at, product, type.getElementType());
  });
}

} // namespace zero
