//===- Sgd.cpp - stochastic gradient descent with momentum ----------------===//
//
// As torch.optim.SGD: g += wd * w; b = momentum * b + (1 - dampening) * g, in the
// first step b = g; with Nesterov g += momentum * b, else g = b; w -= lr * g. Momentum: Polyak
// 1964; Nesterov's form: Sutskever et al. 2013.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Sgd : public Optimizer {
public:
  explicit Sgd(const OptimizerOptions &options) : options(options) {}

  SmallVector<std::string> states() const override {
    if (options.momentum == 0)
      return {};
    return {"momentum_buffer"};
  }
  SmallVector<ScalarState> scalarStates() const override {
    if (!isDamped())
      return {};
    return {{"optimizer.gradient_share", 1.0}};
  }
  unsigned numScalars() const override { return isDamped() ? 2 : 1; }

  /// Scalars: -lr and, if damped, the gradient's share: 1 in the first step.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    if (isDamped())
      results.push_back(Formula(builder, loc).constant(1 - options.dampening, lr.getType()));
    results.push_back(arith::NegFOp::create(builder, loc, lr));
    results.append(states.begin(), states.end());
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    bool hasMomentum = options.momentum != 0;
    Value weight = operands[0];
    Value gradient = operands[hasMomentum ? 2 : 1];
    Value minusLr = operands[hasMomentum ? 3 : 2];
    Type type = weight.getType();
    if (options.weightDecay != 0)
      gradient = f.fma(f.constant(options.weightDecay, type), weight, gradient);
    Value buffer;
    if (hasMomentum) {
      Value momentum = f.constant(options.momentum, type);
      Value damped = isDamped() ? f.mul(operands.back(), gradient) : gradient;
      buffer = f.fma(momentum, operands[1], damped);
      gradient = options.nesterov ? f.fma(momentum, buffer, gradient) : buffer;
    }
    results.push_back(f.fma(minusLr, gradient, weight));
    if (hasMomentum)
      results.push_back(buffer);
  }

  std::string describe() const override {
    return "sgd(momentum=" + number(options.momentum) + " dampening=" + number(options.dampening) +
           " weight_decay=" + number(options.weightDecay) + (options.nesterov ? " nesterov)" : ")");
  }

private:
  bool isDamped() const { return options.momentum != 0 && options.dampening != 0; }

  OptimizerOptions options;
};

} // namespace

std::unique_ptr<Optimizer> zero::createSgd(const OptimizerOptions &options) {
  return std::make_unique<Sgd>(options);
}
