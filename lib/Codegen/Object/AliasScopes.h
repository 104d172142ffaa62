//===- AliasScopes.h - disjoint buffers of an entry -------------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_ALIASSCOPES_H
#define LIB_CODEGEN_OBJECT_ALIASSCOPES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace zero {

/// Replaces the attribute `llvm.noalias` of arguments of `entry`, which many threads run at once,
/// by alias scopes of the accesses.
///
/// A noalias argument promises that nothing else accesses what is written through it, other threads
/// included, so LLVM moves loads of it across barriers. Alias scopes only compare two accesses of
/// one thread. A barrier is in no scope, so it may change any memory.
void scopeAliases(mlir::LLVM::LLVMFuncOp entry);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_ALIASSCOPES_H
