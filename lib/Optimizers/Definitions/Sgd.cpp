//===- Sgd.cpp - stochastic gradient descent with momentum ----------------===//
//
// As torch.optim.SGD: g += wd * w; b = momentum * b + (1 - dampening) * g, in the
// first step b = g; with Nesterov g += momentum * b, else g = b; w -= lr * g. Momentum: Polyak
// 1964; Nesterov's form: Sutskever et al. 2013.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Sgd : public Optimizer {
public:
  explicit Sgd(const Settings &settings)
      : Optimizer(settings), momentum(settings.number("momentum")),
        dampening(settings.number("dampening")), isNesterov(settings.isOn("nesterov")) {}

  SmallVector<ParameterState> states() const override {
    if (momentum == 0)
      return {};
    return {{"momentum_buffer"}};
  }
  SmallVector<ScalarState> scalarStates() const override {
    if (!isDamped())
      return {};
    return {{"optimizer.gradient_share", 1.0, ScalarState::Late::Constant, 1 - dampening}};
  }
  unsigned numScalars() const override { return isDamped() ? 2 : 1; }

  /// Scalars: -lr and, if damped, the gradient's share: 1 in the first step.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    if (isDamped())
      results.push_back(Formula(builder, loc).constant(1 - dampening, lr.getType()));
    results.push_back(arith::NegFOp::create(builder, loc, lr));
    results.append(states.begin(), states.end());
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    bool hasMomentum = momentum != 0;
    Value weight = operands[0];
    Value gradient = operands[hasMomentum ? 2 : 1];
    Value minusLr = operands[hasMomentum ? 3 : 2];
    Type type = weight.getType();
    if (weightDecay != 0)
      gradient = f.fma(f.constant(weightDecay, type), weight, gradient);
    Value buffer;
    if (hasMomentum) {
      Value factor = f.constant(momentum, type);
      Value damped = isDamped() ? f.mul(operands.back(), gradient) : gradient;
      buffer = f.fma(factor, operands[1], damped);
      gradient = isNesterov ? f.fma(factor, buffer, gradient) : buffer;
    }
    results.push_back(f.fma(minusLr, gradient, weight));
    if (hasMomentum)
      results.push_back(buffer);
  }

private:
  bool isDamped() const { return momentum != 0 && dampening != 0; }

  double momentum, dampening;
  bool isNesterov;
};

} // namespace

static std::string checkSgd(const Settings &settings) {
  double momentum = settings.number("momentum"), dampening = settings.number("dampening");
  if (!settings.isOn("nesterov") || (momentum != 0 && dampening == 0))
    return "";
  return "nesterov: expected a momentum and no dampening, got momentum=" + number(momentum) +
         " and dampening=" + number(dampening);
}

namespace zero {
void registerSgd() {
  registerOptimizer(
      {.name = "sgd",
       .summary = "stochastic gradient descent with optional momentum",
       .source = "Polyak 1964; Sutskever et al. 2013 (Nesterov's form)",
       .torch = "SGD",
       .deepSpeed = {.type = "SGD"},
       .hyperparameters = {{"momentum", Range::NotNegative, {0.0}, "momentum"},
                           {"dampening", Range::Any, {0.0}, "dampening of the momentum"},
                           weightDecayParameter(),
                           {"nesterov", Range::Switch, {}, "Nesterov's momentum"}},
       .examples = {"--lr=0.1 --weight-decay=0.02",
                    "--lr=0.05 --momentum=0.8 --dampening=0.3 --weight-decay=0.02",
                    "--lr=0.05 --momentum=0.8 --nesterov"},
       .create = make<Sgd>,
       .check = checkSgd});
}
} // namespace zero
