//===- Register.h - everything a tool offers --------------------*- C++ -*-===//

#ifndef ZERO_DRIVER_REGISTER_H
#define ZERO_DRIVER_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace zero {

/// Registers upstream's and our dialects, with their external models.
void registerDialects(mlir::DialectRegistry &registry);
/// Registers upstream's and our passes, and one pipeline per phase.
void registerPasses();

} // namespace zero

#endif // ZERO_DRIVER_REGISTER_H
