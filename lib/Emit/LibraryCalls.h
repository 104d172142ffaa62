//===- LibraryCalls.h - kernels that a library runs -------------*- C++ -*-===//

#ifndef LIB_EMIT_LIBRARYCALLS_H
#define LIB_EMIT_LIBRARYCALLS_H

#include "runtime/format/executable.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace zero {

/// The matrix product that `kernel` is, as `zero-match-library` described it.
std::optional<rt::proto::Matmul> matmulOf(mlir::func::FuncOp kernel);

} // namespace zero

#endif // LIB_EMIT_LIBRARYCALLS_H
