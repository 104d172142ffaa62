//===- Tables.h - all tables of an executable -------------------*- C++ -*-===//

#ifndef LIB_EMIT_TABLES_H
#define LIB_EMIT_TABLES_H

#include "runtime/format/executable.pb.h"
#include "zero/Emit/Emit.h"

#include "llvm/ADT/StringMap.h"

namespace zero {

struct Tables {
  rt::proto::Program program;
  std::string data;                  ///< constants
  llvm::StringMap<uint32_t> kernels; ///< index of each, by name
};

/// Fills the tables of `module`, which went through all phases up to `pack` and whose step
/// `storage` is of, but for the code of kernels, and proves them (VerifySchedule.h). Errors are
/// diagnostics.
llvm::LogicalResult buildTables(mlir::ModuleOp module, const Storage &storage,
                                const EmitOptions &options, Tables &tables);

} // namespace zero

#endif // LIB_EMIT_TABLES_H
