//===- Passes.h - passes of lib/Emit ----------------------------*- C++ -*-===//

#ifndef ZERO_EMIT_PASSES_H
#define ZERO_EMIT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zero {

#define GEN_PASS_DECL
#include "include/zero/Emit/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "include/zero/Emit/Passes.h.inc"

} // namespace zero

#endif // ZERO_EMIT_PASSES_H
