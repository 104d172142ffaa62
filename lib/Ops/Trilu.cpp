//===- Trilu.cpp ----------------------------------------------------------===//
//
// ONNX: Trilu; opsets 14 to 23. Gradient: the same triangle of dy. ONNX Runtime's is the same.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerTrilu(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  int64_t diagonal = 0;
  if (node.hasInput(1)) {
    auto given = requireInts(node, 1, "k");
    if (failed(given))
      return failure();
    diagonal = given->front();
  }
  auto predicate = node.getInt("upper", 1) ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  lowered.results.push_back(
      elementwise(b, inputs.front(), type, [&](ImplicitLocOpBuilder &s, ValueRange elements) {
        Value row = linalg::IndexOp::create(s, type.getRank() - 2);
        Value column = linalg::IndexOp::create(s, type.getRank() - 1);
        Value distance = arith::SubIOp::create(s, column, row);
        Value limit = arith::ConstantIndexOp::create(s, diagonal);
        Value kept = arith::CmpIOp::create(s, predicate, distance, limit);
        Value zero = constant(s, type.getElementType(), 0);
        return arith::SelectOp::create(s, kept, elements[0], zero).getResult();
      }));
  return success();
}

static int64_t evaluateTrilu(evaluate::Element &e) {
  const int64_t distance = e.index.back() - e.index[e.index.size() - 2];
  const int64_t diagonal = e.x.size() > 1 ? e.x[1] : 0;
  const bool kept = e.setting ? distance >= diagonal : distance <= diagonal;
  return kept ? e.x[0] : 0;
}

static LogicalResult triluGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (!wanted.front() || !outputGrads.front())
    return success();
  SmallVector<Value> inputs(node.getInputs());
  inputs.front() = outputGrads.front();
  inputGrads.front() = builder
                           .create(op::Trilu, node.inputType(0), inputs,
                                   builder.attr("upper", node.getInt("upper", 1)))
                           .getResult(0);
  return success();
}

static LogicalResult expandRuntimeTrilu(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  results.push_back(builder
                        .create(op::Trilu, node.outputType(0), node.getInputs(),
                                builder.attr("upper", node.getInt("upper", 1)))
                        .getResult(0));
  return success();
}

/// All dimensions but the last two, whose indices decide.
static Factors triluFactors(onnx::NodeOp node) {
  const int64_t rank = node.inputType(0).getRank();
  return FactorBuilder(node).addAllBut({rank - 2, rank - 1}).take();
}

void registerTrilu() {
  registerAnySign(
      OpDef{op::Trilu, 14, kNewestOpset, Kind::Elementwise, lowerTrilu, triluGradient}
          .moves()
          .dividedBy(triluFactors)
          .evaluatedBy(
              {.element = evaluateTrilu,
               .setting = [](const evaluate::Node &node) { return node.getInt("upper", 1); },
               .readsIndex = true}));
  registerRuntimeOp(op::Trilu.type, expandRuntimeTrilu);
}

} // namespace zero::ops
