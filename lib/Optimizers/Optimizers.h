//===- Optimizers.h - the optimizers and their small vocabulary -*- C++ -*-===//

#ifndef LIB_OPTIMIZERS_OPTIMIZERS_H
#define LIB_OPTIMIZERS_OPTIMIZERS_H

#include "zero/Optimizers/Optimizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zero {

std::unique_ptr<Optimizer> createSgd(const OptimizerOptions &options);
/// Adam with L2 regularisation, or AdamW when `decoupled`.
std::unique_ptr<Optimizer> createAdam(const OptimizerOptions &options, bool decoupled);
std::unique_ptr<Optimizer> createLamb(const OptimizerOptions &options);
std::unique_ptr<Optimizer> createLion(const OptimizerOptions &options);

class Formula;
/// Appends the next moments of `gradient`, as Adam and LAMB keep them.
void buildMoments(Formula &f, const OptimizerOptions &options, mlir::Value m, mlir::Value v,
                  mlir::Value gradient, llvm::SmallVectorImpl<mlir::Value> &results);

/// `value` as people write it: 1e-08, 0.9.
std::string number(double value);

/// Arithmetic on scalars, written as formulas are.
class Formula {
public:
  Formula(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value constant(double value, mlir::Type type) {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b);
  }
  mlir::Value sqrt(mlir::Value a) { return mlir::math::SqrtOp::create(builder, loc, a); }
  /// a * b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(builder, loc, a, b, c);
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace zero

#endif // LIB_OPTIMIZERS_OPTIMIZERS_H
