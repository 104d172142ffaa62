//===- ViewSlices.cpp - read rows of state in place -----------------------===//

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Kernels/Passes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VIEWSLICES
#include "include/zero/Transforms/Kernels/Passes.h.inc"

/// The numbers of operand `index` of `node`, if they are constant.
static std::optional<SmallVector<int64_t>> numbers(onnx::NodeOp node, unsigned index) {
  DenseIntElementsAttr given;
  if (!node.hasInput(index) || !matchPattern(node.getInputs()[index], m_Constant(&given)))
    return std::nullopt;
  return llvm::map_to_vector(given.getValues<APInt>(),
                             [](const APInt &value) { return value.getSExtValue(); });
}

/// The first element of the rows that `node`, a Slice, takes of state, if they are contiguous and
/// start where a tensor may.
static std::optional<int64_t> startOfRows(onnx::NodeOp node) {
  if (!ops::computes(node, ops::Function::Slice) ||
      !node.getInputs().front().getDefiningOp<ReadOp>())
    return std::nullopt;
  RankedTensorType from = node.inputType(0), to = node.outputType(0);
  auto starts = numbers(node, 1), axes = numbers(node, 3);
  if (!starts || !axes || axes->size() != 1 || axes->front() != 0 || from.getRank() < 1 ||
      from.getShape().drop_front() != to.getShape().drop_front())
    return std::nullopt;
  if (auto steps = numbers(node, 4); steps && steps->front() != 1)
    return std::nullopt;
  int64_t first = starts->front();
  if (first < 0)
    first = std::max<int64_t>(first + from.getDimSize(0), 0);
  const int64_t row = from.getNumElements() / from.getDimSize(0), start = first * row;
  if (first + to.getDimSize(0) > from.getDimSize(0) || start % kTensorAlignment != 0)
    return std::nullopt;
  return start;
}

/// Lets each reader of `value`, also through reshapes, read a value of its own that `make` creates
/// before it: backward may then read a parameter that is gathered again, and what is of the
/// epilogue follows the micro-batch.
static void replaceReads(Value value, llvm::function_ref<Value(Operation *)> make) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *reader = use.getOwner();
    auto node = dyn_cast<onnx::NodeOp>(reader);
    if (!ops::isView(node)) {
      use.set(make(reader));
      continue;
    }
    replaceReads(node.getResult(0), [&](Operation *last) -> Value {
      Value made = make(last);
      Operation *clone = OpBuilder(last).clone(*node);
      clone->setOperand(0, made);
      setSchedule(clone, scheduleOf(last));
      return clone->getResult(0);
    });
    node.erase();
  }
}

namespace {
struct ViewSlices : impl::ViewSlicesBase<ViewSlices> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>())) {
      std::optional<int64_t> start = startOfRows(node);
      if (!start)
        continue;
      replaceReads(node.getResult(0), [&](Operation *reader) -> Value {
        OpBuilder builder(reader);
        auto view = MemberOp::create(builder, node.getLoc(), node.outputType(0),
                                     node.getInputs().front(), *start);
        setSchedule(view, scheduleOf(reader));
        return view;
      });
      node.erase();
    }
  }
};
} // namespace
} // namespace zero
