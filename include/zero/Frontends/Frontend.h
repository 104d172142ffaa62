//===- Frontend.h - what reads models ---------------------------*- C++ -*-===//
//
// A front end is a folder of lib/Frontends that reads one form of model; docs/design/frontends.md
// says what it must produce and what a new one adds.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_FRONTENDS_FRONTEND_H
#define ZERO_FRONTENDS_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace zero {

/// A flag that one front end has: --NAME=VALUE, or --NAME alone where `value` is empty.
struct FrontendFlag {
  llvm::StringRef name;
  llvm::StringRef value; ///< what --help calls its value
  llvm::StringRef help;
};

/// What a front end is asked to read.
struct FrontendInput {
  std::string path;                   ///< of the model; "-": standard input
  llvm::StringMap<std::string> flags; ///< of the front end, as they were given; "true" of switches
  bool forwardOnly = false;           ///< all outputs, no loss
  bool verbose = false;               ///< name in errors everything that is wrong
  bool checkData = true;              ///< look whether data files exist and are long enough
  int64_t batch = 0; ///< binds a leading dimension that is not fixed otherwise; 0: not known
};

/// One front end; see the page.
struct Frontend {
  llvm::StringRef name;     ///< as --list-frontends and errors have it
  llvm::StringRef suffix;   ///< of its files, by custom
  llvm::StringRef summary;  ///< what it reads, in a few words
  llvm::StringRef promises; ///< what holds of the module, beside what all promise
  std::vector<FrontendFlag> flags;
  /// Whether zero-run --save can write trained parameters into a copy of the file.
  bool takesParametersBack = false;
  /// Whether a file that begins with `head`, all of it if it is short, is of this form.
  bool (*recognises)(llvm::StringRef head) = nullptr;
  /// Reads the model: a module with `func.func @step`. On error: diagnostics and null.
  mlir::OwningOpRef<mlir::ModuleOp> (*read)(const FrontendInput &input,
                                            mlir::MLIRContext &context) = nullptr;

  bool hasFlag(llvm::StringRef flag) const;
};

/// All front ends, in order of their names.
llvm::ArrayRef<Frontend> allFrontends();

/// Adds to the table; the file of each folder of lib/Frontends has one function that calls this.
void registerFrontend(Frontend frontend);

/// Whether any front end has this flag.
bool isFrontendFlag(llvm::StringRef name);

/// The front end of the file at `path`, by its content; of a file that none recognises the one
/// whose suffix it has, which knows best what is wrong with it. Of standard input, "-", and of
/// pipes the one for MLIR. Null where there is none, or no such file.
const Frontend *findFrontend(llvm::StringRef path);

/// Reads the model with its front end. Fails after an error where no front end recognises it, or
/// where a flag is given that its front end does not have.
mlir::OwningOpRef<mlir::ModuleOp> readModel(const FrontendInput &input, mlir::MLIRContext &context);

} // namespace zero

#endif // ZERO_FRONTENDS_FRONTEND_H
