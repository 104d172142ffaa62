//===- VerifySchedule.h - verify the tables of a program --------*- C++ -*-===//

#ifndef LIB_EMIT_VERIFYSCHEDULE_H
#define LIB_EMIT_VERIFYSCHEDULE_H

#include "runtime/format/executable.pb.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// Proves that however fast lanes are, every command of `program` finds what it reads, on
/// all ranks, and that no lane waits for ever (runtime/verify). It is no user's mistake if
/// that is not so: the diagnostic at `module` begins with "internal: ".
llvm::LogicalResult verifySchedule(mlir::ModuleOp module, const rt::proto::Program &program);

} // namespace zero

#endif // LIB_EMIT_VERIFYSCHEDULE_H
