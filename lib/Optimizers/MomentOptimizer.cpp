//===- MomentOptimizer.cpp - two moments and their bias correction --------===//

#include "Optimizers.h"

using namespace mlir;

namespace zero {

std::pair<Value, Value> MomentOptimizer::nextPowers(Formula &f, ValueRange powers) const {
  Type type = powers[0].getType();
  Value first = f.mul(powers[0], f.constant(beta1, type));
  Value second = f.mul(powers[1], f.constant(beta2, type));
  return {first, second};
}

std::pair<Value, Value> MomentOptimizer::nextMoments(Formula &f, Value m, Value v,
                                                     Value gradient) const {
  Type type = gradient.getType();
  Value nextM = f.fma(f.constant(1 - beta1, type), f.sub(gradient, m), m);
  Value square = f.mul(gradient, gradient);
  Value nextV = f.fma(f.constant(1 - beta2, type), square, f.mul(f.constant(beta2, type), v));
  return {nextM, nextV};
}

} // namespace zero
