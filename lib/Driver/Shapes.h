//===- Shapes.h - programs for several shapes of the inputs -----*- C++ -*-===//

#ifndef LIB_DRIVER_SHAPES_H
#define LIB_DRIVER_SHAPES_H

#include "zero/Driver/Compiler.h"
#include "zero/Report/DecisionLog.h"

namespace zero {

/// Adds to `shapes` what a value of --shape says: itself, or with lists in braces, of equal
/// lengths, one for each n, with the n-th items: "ids=4x{512,256},labels=4x{512,256}" is
/// "ids=4x512,labels= 4x512" and "ids=4x256,labels=4x256". Returns an error message, or an empty
/// string.
std::string expandShapes(llvm::StringRef text, std::vector<std::string> &shapes);

/// The program of one shape.
struct ShapeModule {
  std::string shape; ///< as --shape says it; empty: the model says it
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Reads the model for each shape, that of the most elements of inputs first. Fails after an error.
llvm::LogicalResult readShapes(const CompilerOptions &options, mlir::MLIRContext &context,
                               llvm::SmallVectorImpl<ShapeModule> &shapes);

/// Runs `work` for the program of `shape`. Its errors name the shape, if it is one of several.
llvm::LogicalResult forShape(mlir::MLIRContext &context, llvm::StringRef shape, bool isOneOfMany,
                             llvm::function_ref<llvm::LogicalResult()> work);

/// Runs the phases on the modules of all shapes but the first one, which went through them, and
/// verifies that they store the same state at the same places. Decisions of these are not recorded.
llvm::LogicalResult runOtherShapes(llvm::ArrayRef<ShapeModule> shapes,
                                   const CompilerOptions &options, const planning::Machine &machine,
                                   DecisionLog &decisions);

} // namespace zero

#endif // LIB_DRIVER_SHAPES_H
