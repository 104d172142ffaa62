//===- InitializeParameters.cpp - draw initial values ---------------------===//

#include "runtime/support/checked.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Import/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INITIALIZEPARAMETERS
#include "include/zero/Transforms/Import/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
/// A distribution around 0, whose width may depend on the numbers of inputs and outputs of a layer.
/// The formulas are those of torch.nn.init: Glorot and Bengio (2010), He et al. (2015).
struct Scheme {
  enum Fan { Given, Xavier, Kaiming } fan = Given;
  Distribution distribution = Distribution::Normal;
  double width = 0; ///< with `Given`: the standard deviation, or half of the range

  static FailureOr<Scheme> parse(StringRef text);
  double widthOf(double inputs, double outputs) const;
};
} // namespace

FailureOr<Scheme> Scheme::parse(StringRef text) {
  const bool hasWidth = text.contains(':');
  auto [name, number] = text.split(':');
  Scheme scheme;
  if (name.consume_front("xavier-"))
    scheme.fan = Xavier;
  else if (name.consume_front("kaiming-"))
    scheme.fan = Kaiming;
  if (name == "uniform")
    scheme.distribution = Distribution::Uniform;
  else if (name != "normal")
    return failure();
  if (hasWidth != (scheme.fan == Given))
    return failure();
  if (hasWidth && (!parseReal(number, scheme.width) || scheme.width <= 0))
    return failure();
  return scheme;
}

/// A uniform distribution over [-w, w] has the standard deviation w / sqrt(3).
double Scheme::widthOf(double inputs, double outputs) const {
  if (fan == Given)
    return width;
  const double variance = fan == Xavier ? 2 / (inputs + outputs) : 2 / inputs;
  return std::sqrt(distribution == Distribution::Normal ? variance : 3 * variance);
}

/// The uses of `parameter` by nodes.
static SmallVector<OpOperand *> usesOf(ParameterOp parameter, func::FuncOp step) {
  SmallVector<OpOperand *> uses;
  for (auto read : step.getOps<ReadOp>())
    if (read.getSymbol() == parameter.getSymName())
      for (OpOperand &use : read->getUses())
        if (isa<onnx::NodeOp>(use.getOwner()))
          uses.push_back(&use);
  return uses;
}

/// Whether a vector scales what it is read for, as the weight of a normalization does.
static bool scales(ArrayRef<OpOperand *> uses) {
  return llvm::any_of(uses, [](OpOperand *use) {
    return ops::roleOf(*use) == ops::OperandRole::Scale ||
           ops::computes(cast<onnx::NodeOp>(use->getOwner()), ops::Function::Mul);
  });
}

/// The dimension of the results of a layer: the last one of B in a product that does not transpose
/// it, else the first one.
static int64_t resultDim(ArrayRef<OpOperand *> uses, int64_t rank) {
  for (OpOperand *use : uses)
    if (auto node = cast<onnx::NodeOp>(use->getOwner());
        use->getOperandNumber() == 1 && ops::isProduct(node) && !node.getInt("transB", 0))
      return rank - 1;
  return 0;
}

namespace {
struct InitializeParameters : zero::impl::InitializeParametersBase<InitializeParameters> {
  using InitializeParametersBase::InitializeParametersBase;

  void runOnOperation() override;
  void initializeOne(ParameterOp parameter, const Scheme &scheme, func::FuncOp step);
};
} // namespace

void InitializeParameters::initializeOne(ParameterOp parameter, const Scheme &scheme,
                                         func::FuncOp step) {
  Builder builder(&getContext());
  parameter.removeDataAttr();
  parameter.removeSplatAttr();
  parameter.removeRandomAttr();
  parameter.setRequired(false);
  SmallVector<OpOperand *> uses = usesOf(parameter, step);
  RankedTensorType type = parameter.getTensorType();
  if (type.getRank() < 2) {
    parameter.setSplatAttr(builder.getF64FloatAttr(scales(uses) ? 1 : 0));
    return;
  }
  const int64_t dim = resultDim(uses, type.getRank());
  const int64_t other = dim == 0 ? 1 : 0; // the dimension of inputs; the others are a window
  const double elements = double(type.getNumElements());
  const double inputs = elements / double(std::max<int64_t>(type.getDimSize(dim), 1));
  const double outputs = elements / double(std::max<int64_t>(type.getDimSize(other), 1));
  const double width = scheme.widthOf(inputs, outputs);
  const bool isNormal = scheme.distribution == Distribution::Normal;
  parameter.setRandomAttr(RandomAttr::get(
      &getContext(), scheme.distribution, builder.getF64FloatAttr(isNormal ? 0 : -width),
      builder.getF64FloatAttr(width), llvm::xxh3_64bits(parameter.getSymName())));
}

void InitializeParameters::runOnOperation() {
  FailureOr<Scheme> parsed = Scheme::parse(scheme);
  if (failed(parsed)) {
    emitError(getOperation().getLoc())
        << "--init: expected normal:STD, uniform:BOUND, xavier-normal, xavier-uniform, "
           "kaiming-normal or kaiming-uniform, got '"
        << scheme << "'";
    return signalPassFailure();
  }
  FailureOr<func::FuncOp> step = findStep(getOperation());
  if (failed(step))
    return signalPassFailure();
  for (auto parameter : getOperation().getOps<ParameterOp>())
    if (isa<FloatType>(parameter.getTensorType().getElementType()))
      initializeOne(parameter, *parsed, *step);
}
