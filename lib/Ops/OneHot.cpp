//===- OneHot.cpp ---------------------------------------------------------===//
//
// ONNX: OneHot. Indices outside of [-depth, depth) give a row
// of off-values, as the specification says. The gradient of the values is that of the lowering,
// which selects them.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

/// An index of any type as i64. Values between integers are truncated.
static Value indexOf(ImplicitLocOpBuilder &b, Value index, bool isUnsigned) {
  if (isa<FloatType>(index.getType()))
    return arith::FPToSIOp::create(b, b.getI64Type(), index);
  if (index.getType() == b.getI64Type())
    return index;
  if (isUnsigned)
    return arith::ExtUIOp::create(b, b.getI64Type(), index);
  return arith::ExtSIOp::create(b, b.getI64Type(), index);
}

static LogicalResult lowerOneHot(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType result = node.outputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), result.getRank());
  int64_t depth = result.getDimSize(axis);
  AffineMap map = withoutAxes(b.getContext(), result.getRank(), axis);
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange elements) -> Value {
    Value wanted = indexOf(s, elements[0], isUnsigned(node, 0));
    Value position =
        arith::IndexCastOp::create(s, s.getI64Type(), linalg::IndexOp::create(s, axis).getResult());
    Value fromBack = arith::SubIOp::create(s, position, constant(s, s.getI64Type(), depth));
    Value front = arith::CmpIOp::create(s, arith::CmpIPredicate::eq, wanted, position);
    Value back = arith::CmpIOp::create(s, arith::CmpIPredicate::eq, wanted, fromBack);
    Value hit = arith::OrIOp::create(s, front, back);
    Value off =
        tensor::ExtractOp::create(s, inputs[2], arith::ConstantIndexOp::create(s, 0).getResult());
    Value on =
        tensor::ExtractOp::create(s, inputs[2], arith::ConstantIndexOp::create(s, 1).getResult());
    return arith::SelectOp::create(s, hit, on, off);
  };
  lowered.results.push_back(elementwise(b, inputs[0], map, result, body));
  return success();
}

/// The dimensions of the indices.
static Factors oneHotFactors(onnx::NodeOp node) {
  const int64_t axis = normalAxis(node.getInt("axis", -1), node.outputType(0).getRank());
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim)
    factors.add(dim, dim < axis ? dim : dim + 1);
  return factors.take();
}

void registerOneHot() {
  registerAnySign(
      OpDef{{"", "OneHot"}, 9, kNewestOpset, Kind::Other, lowerOneHot}.dividedBy(oneHotFactors));
}

} // namespace zero::ops
