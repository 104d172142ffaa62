//===- RMSprop.cpp - steps scaled by a mean of squares --------------------===//
//
// Hinton, Neural Networks for Machine Learning, lecture 6; centered: Graves, arXiv 1308.0850. As
// torch.optim.RMSprop: g += wd * w; v = alpha * v + (1 - alpha) * g * g; d = sqrt(v) + eps,
// centered sqrt(v - a * a) + eps with the mean a of g; with momentum b = momentum * b + g / d,
// else b = g / d; w -= lr * b. Where rounding makes v less than a * a, torch's root is NaN; here
// it is 0.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class RMSprop : public Optimizer {
public:
  explicit RMSprop(const Settings &settings)
      : Optimizer(settings), alpha(settings.number("alpha")), epsilon(settings.number("eps")),
        momentum(settings.number("momentum")), isCentered(settings.isOn("centered")) {}

  SmallVector<ParameterState> states() const override {
    SmallVector<ParameterState> states{{"square_avg", 0.0, true}};
    if (momentum != 0)
      states.push_back({"momentum_buffer"});
    if (isCentered)
      states.push_back({"grad_avg"});
    return states;
  }
  unsigned numScalars() const override { return 1; }

  /// Scalar: -lr.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange,
                    SmallVectorImpl<Value> &results) const override {
    results.push_back(arith::NegFOp::create(builder, loc, lr));
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], minusLr = operands.back(), gradient = operands.drop_back().back();
    Type type = weight.getType();
    if (weightDecay != 0)
      gradient = f.fma(f.constant(weightDecay, type), weight, gradient);
    Value share = f.constant(1 - alpha, type);
    Value squares =
        f.fma(share, f.mul(gradient, gradient), f.mul(f.constant(alpha, type), operands[1]));
    Value variance = squares, mean;
    if (isCentered) {
      Value last = operands[momentum != 0 ? 3 : 2];
      mean = f.fma(share, f.sub(gradient, last), last);
      variance = f.max(f.sub(squares, f.mul(mean, mean)), f.constant(0.0, type));
    }
    Value step = f.div(gradient, f.add(f.sqrt(variance), f.constant(epsilon, type)));
    if (momentum != 0)
      step = f.fma(f.constant(momentum, type), operands[2], step);
    results.append({f.fma(minusLr, step, weight), squares});
    if (momentum != 0)
      results.push_back(step);
    if (isCentered)
      results.push_back(mean);
  }

private:
  double alpha, epsilon, momentum;
  bool isCentered;
};

} // namespace

namespace zero {
void registerRMSprop() {
  registerOptimizer(
      {.name = "rmsprop",
       .summary = "gradient divided by the root of a moving mean of squared gradients",
       .source = "Hinton, lecture 6 (2012); Graves, arXiv 1308.0850 (centered)",
       .torch = "RMSprop",
       .deepSpeed = {.type = "RMSprop"},
       .hyperparameters = {{"alpha", Range::BelowOne, {0.99}, "decay rate of the mean of squares"},
                           epsilonParameter(1e-8),
                           weightDecayParameter(),
                           {"momentum", Range::NotNegative, {0.0}, "momentum"},
                           {"centered", Range::Switch, {}, "divide by the standard deviation"}},
       .examples = {"--lr=1e-3 --eps=1e-4",
                    "--lr=1e-3 --eps=1e-4 --alpha=0.9 --momentum=0.8 --weight-decay=0.02",
                    "--lr=1e-3 --eps=1e-4 --alpha=0.95 --centered",
                    "--lr=5e-4 --eps=1e-4 --alpha=0.9 --momentum=0.5 --centered"},
       .create = make<RMSprop>});
}
} // namespace zero
