//===- Register.h - register dialects, passes and phases --------*- C++ -*-===//

#ifndef ZERO_DRIVER_REGISTER_H
#define ZERO_DRIVER_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace zero {

/// Registers the dialects of upstream and of Zero, with their external models.
void registerDialects(mlir::DialectRegistry &registry);
/// Registers the passes of upstream and of Zero, and one pipeline per phase.
void registerPasses();

} // namespace zero

#endif // ZERO_DRIVER_REGISTER_H
