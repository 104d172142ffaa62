//===- Transpose.cpp ------------------------------------------------------===//
//
// ONNX: Transpose. Gradient: the inverse permutation.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace zero::ops {

static SmallVector<int64_t> permutationOf(onnx::NodeOp node) {
  if (auto permutation = node.getInts("perm"))
    return *permutation;
  auto reversed = llvm::to_vector(llvm::seq<int64_t>(node.inputType(0).getRank()));
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

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

void registerTranspose() {
  registerAnySign(
      moving({op::Transpose, 7, kNewestOpset, Kind::Other, lowerTranspose, transposeGradient}));
}

} // namespace zero::ops
