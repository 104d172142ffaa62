//===- OneHot.cpp ---------------------------------------------------------===//
//
// ONNX: OneHot. Indices outside of [-depth, depth) give a row
// of off-values, as the specification says. No gradient.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerOneHot(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  if (isFloat(inputs[0]))
    return nodeError(node) << "floating-point indices are not supported yet";
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType result = node.outputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), result.getRank());
  int64_t depth = result.getDimSize(axis);
  AffineMap map = withoutAxes(b.getContext(), result.getRank(), axis);
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange elements) -> Value {
    Value position = arith::IndexCastOp::create(s, elements[0].getType(),
                                                linalg::IndexOp::create(s, axis).getResult());
    Value fromBack = arith::SubIOp::create(s, position, constant(s, position.getType(), depth));
    Value front = arith::CmpIOp::create(s, arith::CmpIPredicate::eq, elements[0], position);
    Value back = arith::CmpIOp::create(s, arith::CmpIPredicate::eq, elements[0], fromBack);
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

void registerOneHot() { registerOp({"", "OneHot", 9, kNewestOpset, Kind::Other, lowerOneHot}); }

} // namespace zero::ops
