//===- Text.h - parse MLIR that other tools wrote ---------------*- C++ -*-===//

#ifndef LIB_FRONTENDS_MLIR_TEXT_H
#define LIB_FRONTENDS_MLIR_TEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero {

/// The first bytes of bytecode.
inline constexpr llvm::StringLiteral kBytecodeMagic = "ML\xefR";

/// Parses the module at `path`, or from standard input for "-". What this version of MLIR cannot
/// read is one error that says how to write it: StableHLO's pretty form and its versioned
/// bytecode, and ops of unknown dialects. Blobs of i1 may have one bit or one byte for each
/// element. On error: diagnostics and null.
mlir::OwningOpRef<mlir::ModuleOp> parseProgram(llvm::StringRef path, mlir::MLIRContext &context);

} // namespace zero

#endif // LIB_FRONTENDS_MLIR_TEXT_H
