//===- RecurrentActivations.h - functions of recurrent layers ---*- C++ -*-===//

#ifndef LIB_OPS_RECURRENTACTIVATIONS_H
#define LIB_OPS_RECURRENTACTIVATIONS_H

#include "Lowering.h"

namespace zero::ops {

/// A floating-point number inside a kernel, for formulas.
struct Number {
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value value;

  Number make(mlir::Value other) const { return {b, other}; }
  Number constant(double x) const { return make(ops::constant(*b, value.getType(), x)); }
};

Number operator+(Number a, Number c);
Number operator-(Number a, Number c);
Number operator*(Number a, Number c);
Number operator/(Number a, Number c);
inline Number operator*(double a, Number c) { return c.constant(a) * c; }
inline Number operator+(double a, Number c) { return c.constant(a) + c; }
inline Number operator-(double a, Number c) { return c.constant(a) - c; }
/// `a` where `condition`, an i1, holds, else `c`.
Number select(mlir::Value condition, Number a, Number c);

/// One of the activation functions that ONNX lists for recurrent layers, with the
/// threshold, positive or 0 for none, that its operand is clipped to.
class Activation {
public:
  struct Function;

  /// The function `name`, in any case; null if it is none of them.
  static const Function *find(llvm::StringRef name);
  /// Their names, for messages.
  static std::string names();
  static llvm::StringRef nameOf(const Function *function);
  static bool takesAlpha(const Function *function);
  static bool takesBeta(const Function *function);
  /// ONNX's defaults; nothing where a model has to say.
  static std::optional<double> defaultAlpha(const Function *function);
  static std::optional<double> defaultBeta(const Function *function);

  Activation(const Function *function, double alpha, double beta, double clip)
      : function(function), alpha(alpha), beta(beta), clip(clip) {}

  Number value(Number x) const;
  /// The derivative at `x`, where the value is `y`.
  Number slope(Number x, Number y) const;

private:
  const Function *function;
  double alpha, beta, clip;
};

} // namespace zero::ops

#endif // LIB_OPS_RECURRENTACTIVATIONS_H
