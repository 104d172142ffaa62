//===- Lamb.cpp - Adam with a trust ratio per tensor ----------------------===//
//
// You et al., Large Batch Optimization for Deep Learning, arXiv 1904.00962,
// algorithm 2, with the identity for phi: the direction is Adam's plus the weight
// decay, and each tensor's step is as long as lr times the norm of the tensor. As in
// Adam, the bias correction is computed in f64 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Lamb : public MomentOptimizer {
public:
  explicit Lamb(const Settings &settings) : MomentOptimizer(settings) {}

  /// Scalars: -lr, 1 / (1 - beta1^t), sqrt(1 - beta2^t).
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value one = f.constant(1.0, lr.getType());
    auto [power1, power2] = nextPowers(f, states);
    results.append({power1, power2, arith::NegFOp::create(builder, loc, lr),
                    f.div(one, f.sub(one, power1)), f.sqrt(f.sub(one, power2))});
  }

  void buildUpdate(OpBuilder &, Location, ValueRange, SmallVectorImpl<Value> &) const override {
    llvm_unreachable("LAMB is layerwise");
  }

  bool isLayerwise() const override { return true; }

  void buildStates(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    auto [nextM, nextV] = nextMoments(f, operands[1], operands[2], operands[3]);
    results.append({nextM, nextV});
  }

  Value buildDirection(OpBuilder &builder, Location loc, ValueRange operands) const override {
    Formula f(builder, loc);
    Value weight = operands[0], m = operands[1], v = operands[2];
    Value correction1 = operands[4], correction2 = operands[5];
    Type type = weight.getType();
    Value denominator = f.add(f.div(f.sqrt(v), correction2), f.constant(epsilon, type));
    Value direction = f.div(f.mul(m, correction1), denominator);
    if (weightDecay == 0)
      return direction;
    return f.fma(f.constant(weightDecay, type), weight, direction);
  }
};

} // namespace

namespace zero {
void registerLamb() {
  StringLiteral unbounded = "the trust ratio has no bounds, as in the paper";
  StringLiteral moments = "moments are as in the paper";
  registerOptimizer({.name = "lamb",
                     .summary = "Adam with a trust ratio per tensor",
                     .source = "You et al., arXiv 1904.00962",
                     .torch = "",
                     .deepSpeed = {.type = "Lamb",
                                   .neutral = {{"amsgrad", "false", moments},
                                               {"bias_correction", "true", moments},
                                               {"eps_inside_sqrt", "false", moments},
                                               {"max_coeff", "null", unbounded},
                                               {"min_coeff", "null", unbounded}}},
                     .hyperparameters = {betasParameter(0.9, 0.999), epsilonParameter(1e-8),
                                         weightDecayParameter()},
                     .examples = {"--lr=1e-2 --eps=1e-4 --weight-decay=0.1"},
                     .create = make<Lamb>});
}
} // namespace zero
