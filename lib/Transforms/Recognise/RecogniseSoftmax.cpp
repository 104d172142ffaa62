//===- RecogniseSoftmax.cpp - exponentials over sums to Softmax -----------===//
//
// From each Exp of a difference d = x - max(x) along one axis: exp(d) / sum(exp(d)) is a Softmax,
// d - log(sum(exp(d))) a LogSoftmax.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISESOFTMAX
#include "include/zero/Transforms/Recognise/Passes.h.inc"

/// The reduction of operator `type` along `axis` that `value` is; null if it is none.
static onnx::NodeOp reductionOf(Value value, onnx::Operator type, std::optional<int64_t> axis) {
  onnx::NodeOp node = nodeOf(value, type);
  return soleAxis(node) && (!axis || soleAxis(node) == axis) ? node : onnx::NodeOp();
}

/// The user of `value` that is of operator `type`; null unless there is one.
static onnx::NodeOp userOf(Value value, onnx::Operator type) {
  onnx::NodeOp found;
  for (Operation *user : value.getUsers())
    if (isNode(user, type)) {
      if (found && found != user)
        return nullptr;
      found = cast<onnx::NodeOp>(user);
    }
  return found;
}

/// Whether nothing but `readers`, of which some may be null, reads `value`.
static bool onlyRead(Value value, ArrayRef<onnx::NodeOp> readers) {
  return llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return llvm::is_contained(readers, user); });
}

static void replace(onnx::NodeOp root, onnx::Operator type, Value x, int64_t axis, StringRef what) {
  constexpr int64_t kOneAxis = 13;
  Builder builder(root.getContext());
  auto attr = builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis));
  remarkFound(replaceRoot(root, type, x, attr, kOneAxis), what);
}

/// Looks around `power`, an Exp.
static void recognise(onnx::NodeOp power) {
  onnx::NodeOp difference = nodeOf(power.getInputs()[0], op::Sub);
  if (!difference)
    return;
  Value x = difference.getInputs()[0], exponential = power.getResult(0);
  onnx::NodeOp largest = reductionOf(difference.getInputs()[1], op::ReduceMax, std::nullopt);
  if (!largest || x.getType() != exponential.getType())
    return;
  // No gradient flows through the maximum: it does not change the result.
  onnx::NodeOp cut = nodeOf(largest.getInputs()[0], own::StopGradient);
  if ((cut ? cut : largest).getInputs()[0] != x)
    return;
  int64_t axis = *soleAxis(largest);
  onnx::NodeOp sum = userOf(exponential, op::ReduceSum);
  if (!sum || !reductionOf(sum.getResult(0), op::ReduceSum, axis))
    return;
  Value total = sum.getResult(0);
  onnx::NodeOp quotient = userOf(exponential, op::Div), log = userOf(total, op::Log);
  // A backward pass that reads the exponentials or their sum needs them beside the softmax.
  if (!onlyRead(exponential, {sum, quotient}) || !onlyRead(total, {quotient, log}))
    return;
  if (quotient && quotient.getInputs()[0] == exponential && quotient.getInputs()[1] == total)
    replace(quotient, op::Softmax, x, axis, "softmax");
  if (!log)
    return;
  for (Operation *user : llvm::to_vector(log.getResult(0).getUsers()))
    if (auto rest = dyn_cast<onnx::NodeOp>(user); rest && rest.is(op::Sub) &&
                                                  rest.getInputs()[0] == difference.getResult(0) &&
                                                  rest.getInputs()[1] == log.getResult(0))
      replace(rest, op::LogSoftmax, x, axis, "logarithm of a softmax");
}

namespace {
struct RecogniseSoftmax : impl::RecogniseSoftmaxBase<RecogniseSoftmax> {
  void runOnOperation() override { forEachNode(getOperation(), op::Exp, recognise); }
};
} // namespace

} // namespace zero
