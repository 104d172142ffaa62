//===- Transpose.cpp ------------------------------------------------------===//
//
// ONNX: Transpose. Gradient: the inverse permutation.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "zero/Ops/Axes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerTranspose(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  // linalg.transpose has no index maps for a scalar.
  lowered.results.push_back(
      type.getRank() == 0
          ? elementwise(b, inputs, type, [](auto &, ValueRange elements) { return elements[0]; })
          : linalg::TransposeOp::create(b, inputs.front(), empty(b, type), permutationOf(node))
                ->getResult(0));
  return success();
}

static LogicalResult transposeGradient(onnx::NodeOp node, ValueRange outputGrads,
                                       ArrayRef<bool> wanted, NodeBuilder &builder,
                                       MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front())
    inputGrads.front() =
        builder.transpose(outputGrads.front(), invertPermutationVector(permutationOf(node)));
  return success();
}

static Factors transposeFactors(onnx::NodeOp node) {
  FactorBuilder factors(node);
  for (auto [to, from] : llvm::enumerate(permutationOf(node)))
    factors.add(from, int64_t(to));
  return factors.take();
}

static bool evaluateTranspose(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0];
  evaluate::Dims backwards(llvm::reverse(llvm::seq<int64_t>(x.dims.size())));
  const evaluate::Dims own = evaluate::stridesOf(x.dims);
  evaluate::Dims strides;
  for (auto [dim, size] :
       llvm::zip(node.getInts("perm").value_or(backwards), node.results[0].dims)) {
    if (dim < 0 || dim >= int64_t(own.size()) || x.dims[dim] != size)
      return false;
    strides.push_back(own[dim]);
  }
  evaluate::take(x, 0, strides, node.results[0]);
  return true;
}

void registerTranspose() {
  registerAnySign(
      OpDef{op::Transpose, 7, kNewestOpset, Kind::Other, lowerTranspose, transposeGradient}
          .linearly(Linear::InFirst)
          .moves()
          .dividedBy(transposeFactors)
          .computing(Function::Permute)
          .evaluatedBy({.whole = evaluateTranspose, .moves = true}));
}

} // namespace zero::ops
