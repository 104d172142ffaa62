//===- Frontend.h - interface of front ends ---------------------*- C++ -*-===//
// A front end is a directory of lib/Frontends that reads one model format; docs/design/frontends.md
// says what it must produce and how to add one.
//===----------------------------------------------------------------------===//

#ifndef ZERO_FRONTENDS_FRONTEND_H
#define ZERO_FRONTENDS_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace zero {

/// A flag of one front end: --NAME=VALUE, or --NAME if `value` is empty.
struct FrontendFlag {
  llvm::StringRef name;
  llvm::StringRef value; ///< name of its value in --help
  llvm::StringRef help;
  llvm::StringRef brief = ""; ///< in the short help; empty: not there
};

/// The input of a front end.
struct FrontendInput {
  std::string path;                   ///< of the model; "-": standard input
  llvm::StringMap<std::string> flags; ///< of the front end, as given; "true" for switches
  bool forwardOnly = false;           ///< all outputs, no loss
  bool verbose = false;               ///< list all items of an error
  bool checkData = true;              ///< check that data files exist and are long enough
  std::string mesh;                   ///< ranks, as --mesh; empty: a program may say them
  uint64_t parts = 1; ///< data-parallel ranks of `mesh`, times micro-batches: may divide a batch
  int64_t batch = 0;  ///< binds a symbolic leading dimension; 0: not known
};

/// One front end; see docs/design/frontends.md.
struct Frontend {
  llvm::StringRef name;     ///< in --list-frontends and errors
  llvm::StringRef suffix;   ///< usual suffix of its files
  llvm::StringRef summary;  ///< the format in a few words
  llvm::StringRef promises; ///< properties of the module beyond those of all front ends
  std::vector<FrontendFlag> flags;
  /// Whether zero-run --save can write trained parameters into a copy of the file, or of the folder
  /// that has it.
  bool takesParametersBack = false;
  /// Whether a model may say on which mesh it runs: `zero.program_mesh` on its module.
  bool bringsMesh = false;
  /// The file that it reads of a folder; empty: it reads no folders.
  llvm::StringRef fileInFolder = "";
  /// The value of its flag --shape that plans may assume if none is given, of the model at a path;
  /// null: its models need none.
  std::string (*usualShape)(const std::string &path) = nullptr;
  /// Whether a file that begins with `head`, the whole file if it is short, has this format.
  bool (*recognises)(llvm::StringRef head) = nullptr;
  /// Reads the model: a module with `func.func @step`. On error: diagnostics and null.
  mlir::OwningOpRef<mlir::ModuleOp> (*read)(const FrontendInput &input,
                                            mlir::MLIRContext &context) = nullptr;

  bool hasFlag(llvm::StringRef flag) const;
};

/// The flag that says the shapes of inputs. The driver reads a model once for each of its values.
inline constexpr llvm::StringLiteral kShapeFlag = "shape";

/// All front ends, in order of their names.
llvm::ArrayRef<Frontend> allFrontends();

/// Registers a front end; each directory of lib/Frontends has one function that calls this.
void registerFrontend(Frontend frontend);

/// Whether any front end has this flag.
bool isFrontendFlag(llvm::StringRef name);

/// The file of the model at `path`: of a folder the one that a front end reads, else `path`.
std::string modelFile(llvm::StringRef path);

/// The front end of the file at `path`, by its content. If none recognises the file, the one of its
/// suffix, which can best explain the error. For standard input, "-", and for pipes the one for
/// MLIR. Null if there is none, or no such file.
const Frontend *findFrontend(llvm::StringRef path);

/// Reads the model with its front end. Fails after an error if no front end recognises it, or if a
/// flag is given that its front end does not have.
mlir::OwningOpRef<mlir::ModuleOp> readModel(const FrontendInput &input, mlir::MLIRContext &context);

} // namespace zero

#endif // ZERO_FRONTENDS_FRONTEND_H
