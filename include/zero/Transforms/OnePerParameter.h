//===- OnePerParameter.h - one op per trained parameter ---------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_ONEPERPARAMETER_H
#define ZERO_TRANSFORMS_ONEPERPARAMETER_H

#include "zero/Analysis/StepFunction.h"

#include "llvm/ADT/DenseMap.h"

namespace zero {

/// Verifies that the step has exactly one `Op` for each trained parameter and none for a frozen
/// one; errors name it `noun`.
template <typename Op>
llvm::LogicalResult verifyOnePerParameter(mlir::ModuleOp module, llvm::StringRef noun) {
  mlir::FailureOr<mlir::func::FuncOp> step = findStep(module);
  if (failed(step))
    return llvm::failure();
  llvm::DenseMap<mlir::StringAttr, unsigned> found;
  for (auto op : step->getBody().getOps<Op>())
    ++found[op.getParameterAttr().getAttr()];
  auto result = llvm::success();
  for (auto parameter : module.getOps<ParameterOp>()) {
    unsigned expected = parameter.getFrozen() ? 0 : 1;
    unsigned count = found.lookup(parameter.getSymNameAttr());
    if (count != expected)
      result = parameter.emitError() << "expected " << expected << " " << noun << " of parameter '"
                                     << parameter.getSymName() << "', got " << count;
  }
  return result;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_ONEPERPARAMETER_H
