//===- Costs.cpp - FLOPs and bytes of a kernel ----------------------------===//

#include "zero/Codegen/Costs.h"

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

/// How often the body of `loop` runs; unknown bounds count as one.
static int64_t tripCount(scf::ForOp loop) {
  auto lower = getConstantIntValue(loop.getLowerBound());
  auto upper = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0 || *upper <= *lower)
    return 1;
  return llvm::divideCeil(*upper - *lower, *step);
}

/// How often `op` runs in one launch.
static int64_t repetitions(Operation *op) {
  int64_t count = 1;
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      count *= tripCount(loop);
    else if (auto linalg = dyn_cast<linalg::LinalgOp>(parent))
      for (int64_t range : linalg.getStaticLoopRanges())
        count *= ShapedType::isDynamic(range) ? 1 : range;
  }
  return count;
}

static int64_t flopsOf(Operation *op) {
  if (op->getNumResults() != 1)
    return 0;
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  const int64_t lanes = vector ? vector.getNumElements() : 1;
  if (!isa<FloatType>(vector ? vector.getElementType() : op->getResult(0).getType()))
    return 0;
  if (isa<math::FmaOp>(op))
    return 2 * lanes;
  bool counts = isa<math::MathDialect>(op->getDialect()) ||
                isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                    arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
  return counts ? lanes : 0;
}

static int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements *= ShapedType::isDynamic(size) ? 1 : size;
  return elements * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Whether `type` has the dimension that costs are per element of.
static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// The bytes read of an argument. If only some rows are selected, as from an embedding table, these
/// count. A list that is longer than what costs are per element of is read at given places.
static int64_t bytesRead(Value argument) {
  int64_t picked = 0;
  for (Operation *user : argument.getUsers()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(user))
      picked += repetitions(user) * bytesOf(RankedTensorType::get({}, extract.getType()));
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      picked += repetitions(user) * bytesOf(slice.getType());
    else
      return bytesOf(argument.getType());
  }
  return isDynamic(argument.getType()) ? picked : std::min(picked, bytesOf(argument.getType()));
}

/// The bytes of `value` that are read and written until it is a result in place, if only some of
/// its rows are read and written, as for the gradient of an embedding table.
static std::optional<int64_t> bytesTouched(Value value) {
  int64_t bytes = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    SmallVector<Value, 2> next;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      bytes += repetitions(user) * bytesOf(slice.getType());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(user);
               insert && insert.getDest() == value) {
      bytes += repetitions(user) * bytesOf(insert.getSourceType());
      next = {insert.getResult()};
    } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
      next = {loop.getTiedLoopRegionIterArg(&use), loop.getTiedLoopResult(&use)};
    } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      next = {user->getResult(0)};
    } else if (!isa<scf::YieldOp, func::ReturnOp>(user)) {
      return std::nullopt;
    }
    for (Value further : next) {
      std::optional<int64_t> more = bytesTouched(further);
      if (!more)
        return std::nullopt;
      bytes += *more;
    }
  }
  return bytes;
}

KernelCosts computeCosts(func::FuncOp kernel) {
  KernelCosts costs;
  kernel.walk([&](Operation *op) {
    if (int64_t flops = op->getDialect() ? flopsOf(op) : 0)
      costs.flops += flops * repetitions(op);
  });
  // Values that are read once for all elements cost nothing per element of a dynamic dimension.
  const bool perElement = llvm::any_of(kernel.getArgumentTypes(), isDynamic);
  llvm::SmallDenseSet<int64_t> counted; // results that are counted with their argument
  for (BlockArgument argument : kernel.getArguments()) {
    if (isDynamic(argument.getType()) != perElement)
      continue;
    auto place = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kInplaceAttr);
    std::optional<int64_t> touched = place ? bytesTouched(argument) : std::nullopt;
    costs.bytes +=
        touched ? std::min(*touched, 2 * bytesOf(argument.getType())) : bytesRead(argument);
    if (touched)
      counted.insert(place.getInt());
  }
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (isDynamic(type) == perElement && !counted.contains(index))
      costs.bytes += bytesOf(type);
  return costs;
}

} // namespace zero
