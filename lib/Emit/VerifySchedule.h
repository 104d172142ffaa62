//===- VerifySchedule.h - verify the tables of a program --------*- C++ -*-===//

#ifndef LIB_EMIT_VERIFYSCHEDULE_H
#define LIB_EMIT_VERIFYSCHEDULE_H

#include "runtime/format/executable.pb.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// Proves that every command of `program` reads the intended values on all ranks, for any speed of
/// the lanes, and that no lane waits forever (runtime/verify). A failure is not an error of the
/// user: the diagnostic at `module` begins with "internal: ".
/// `data` is the data section of the executable.
llvm::LogicalResult verifySchedule(mlir::ModuleOp module, const rt::proto::Program &program,
                                   llvm::StringRef data);

} // namespace zero

#endif // LIB_EMIT_VERIFYSCHEDULE_H
