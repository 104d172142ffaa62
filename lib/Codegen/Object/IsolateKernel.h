//===- IsolateKernel.h - move one kernel into its own module ----*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_ISOLATEKERNEL_H
#define LIB_CODEGEN_OBJECT_ISOLATEKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero {

/// A kernel in a module of its own, as `kernel`.
struct IsolatedKernel {
  std::string symbol; ///< of its code
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool isFast = false; ///< LLVM may choose how sums round
  /// What the last parameters of a fast kernel are.
  llvm::SmallVector<mlir::Attribute> bounds = {};
};

/// A module with `kernel` alone, as `kernel`, and the constants that it reads, under names
/// that do not depend on where it came from.
mlir::OwningOpRef<mlir::ModuleOp> isolateKernel(mlir::func::FuncOp kernel,
                                                mlir::SymbolTable &source);

/// All of `module` as text.
std::string textOf(mlir::ModuleOp module);

/// The name of the code for `text`.
std::string symbolOf(llvm::StringRef text);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_ISOLATEKERNEL_H
