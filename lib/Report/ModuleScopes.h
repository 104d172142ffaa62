//===- ModuleScopes.h - the module of the model of a command ----*- C++ -*-===//

#ifndef LIB_REPORT_MODULESCOPES_H
#define LIB_REPORT_MODULESCOPES_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace zero {

/// The module of a parameter, derived from its name down to the first number: "model.h.0" for
/// "model.h.0.attn.weight", "model.wte" for "model.wte.weight", and nothing for a name without '.'
/// and '/'.
llvm::StringRef scopeOfName(llvm::StringRef parameter);

/// Tells by the parameters that are read where in the model a partitioned step is.
class ModuleScopes {
public:
  explicit ModuleScopes(mlir::ModuleOp module);

  /// The module of a parameter, a state or a buffer; empty if its parts belong to several modules.
  llvm::StringRef ofSymbol(llvm::StringRef symbol) const { return symbols.lookup(symbol); }
  /// The module of the first parameter among the operands of `op`; none if it reads no parameter.
  std::optional<llvm::StringRef> ofCommand(mlir::Operation *op) const;

private:
  void add(llvm::StringRef symbol, llvm::StringRef scope);
  std::optional<llvm::StringRef> ofValue(mlir::Value value) const;

  llvm::StringMap<llvm::StringRef> symbols;
  /// By buffer and first element of a parameter in it.
  llvm::DenseMap<std::pair<mlir::StringAttr, int64_t>, llvm::StringRef> members;
};

} // namespace zero

#endif // LIB_REPORT_MODULESCOPES_H
