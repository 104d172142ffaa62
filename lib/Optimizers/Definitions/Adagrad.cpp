//===- Adagrad.cpp - steps scaled by the sum of squares -------------------===//
//
// Duchi et al., Adaptive Subgradient Methods, JMLR 12 (2011), the diagonal form, as
// torch.optim.Adagrad: g += wd * w; s += g * g; w -= lr / (1 + (t - 1) * decay) * g / (sqrt(s) +
// eps). Updates are counted in f64, only where the learning rate decays.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Adagrad : public Optimizer {
public:
  explicit Adagrad(const Settings &settings)
      : Optimizer(settings), decay(settings.number("lr-decay")),
        start(settings.number("initial-accumulator-value")), epsilon(settings.number("eps")) {}

  SmallVector<ParameterState> states() const override { return {{"sum", start, true}}; }
  SmallVector<ScalarState> scalarStates() const override {
    if (decay == 0)
      return {};
    return {{"optimizer.adagrad_updates", 0.0, ScalarState::Late::Steps}};
  }
  unsigned numScalars() const override { return 1; }

  /// Scalar: -lr / (1 + t * decay) after t updates.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value rate = arith::NegFOp::create(builder, loc, lr);
    if (decay != 0) {
      Type f64 = lr.getType();
      Value one = f.constant(1.0, f64);
      results.push_back(f.add(states.front(), one));
      rate = f.div(rate, f.fma(f.constant(decay, f64), states.front(), one));
    }
    results.push_back(rate);
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], sum = operands[1], gradient = operands[2], rate = operands[3];
    Type type = weight.getType();
    if (weightDecay != 0)
      gradient = f.fma(f.constant(weightDecay, type), weight, gradient);
    Value next = f.fma(gradient, gradient, sum);
    Value denominator = f.add(f.sqrt(next), f.constant(epsilon, type));
    results.append({f.fma(rate, f.div(gradient, denominator), weight), next});
  }

private:
  double decay, start, epsilon;
};

} // namespace

namespace zero {
void registerAdagrad() {
  registerOptimizer(
      {.name = "adagrad",
       .summary = "gradient divided by the root of the sum of all squared gradients",
       .source = "Duchi et al., JMLR 12 (2011)",
       .torch = "Adagrad",
       .deepSpeed = {.type = "Adagrad"},
       .hyperparameters = {{"lr-decay",
                            Range::NotNegative,
                            {0.0},
                            "decay of the learning rate with the number of updates"},
                           {"initial-accumulator-value",
                            Range::NotNegative,
                            {0.0},
                            "initial value of the sums of squares"},
                           epsilonParameter(1e-10),
                           weightDecayParameter()},
       .examples = {"--lr=1e-2", "--lr=2e-2 --lr-decay=0.1 --initial-accumulator-value=0.01 "
                                 "--eps=1e-6 --weight-decay=0.02"},
       .create = make<Adagrad>});
}
} // namespace zero
