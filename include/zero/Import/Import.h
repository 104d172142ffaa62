//===- Import.h - convert an ONNX file to the onnx dialect ------*- C++ -*-===//

#ifndef ZERO_IMPORT_IMPORT_H
#define ZERO_IMPORT_IMPORT_H

#include "zero/Evaluate/Evaluator.h"
#include "zero/Options/Carry.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>

namespace zero {

/// The shape of each named input, for models whose inputs are symbolic.
using ShapeBindings = llvm::StringMap<llvm::SmallVector<int64_t>>;

struct ImportOptions {
  /// The state of a graph that is a whole training step; empty: the graph is forward and loss.
  std::vector<CarriedPair> carry;
  /// Patterns of carried inputs without initializers whose initial value is zero.
  std::vector<std::string> zeros;
  /// Which of the model's training_info says how it trains: a number, "none", or empty: the only
  /// one.
  std::string trainingInfo;
  /// Do not evaluate the initialization graph of the training info.
  bool keepInitializers = false;
  /// Artifacts of onnxruntime-training: the optimizer model that belongs to the model, and a
  /// checkpoint with the values of inputs; both may be empty.
  std::string ortOptimizer, ortCheckpoint;
  /// Shapes of inputs; a symbolic dimension bound through one input is bound
  /// wherever it appears.
  ShapeBindings shapes;
  /// The batch: binds the leading dimension of inputs whose shape is not given, if all of them have
  /// the same symbol; 0: not known.
  int64_t batch = 0;
  /// The output to train on; empty: the only scalar float output.
  std::string loss;
  /// Return all outputs, under their own names; none is a loss.
  bool forwardOnly = false;
  /// Follow symbolic links to external data.
  bool allowSymlinks = false;
  /// List all items of an error.
  bool verbose = false;
  /// Check that external data files exist and are long enough.
  bool checkData = true;
  /// Whether the compiler supports an operator (domain, type, opset). Other operators are replaced
  /// by the function body of ONNX if there is one. If not set, none are replaced.
  std::function<bool(llvm::StringRef, llvm::StringRef, int64_t)> isKnown;
  /// The results of an operator (domain, type, opset) on known operands; null: they are not known.
  /// If not set, no shape arithmetic is evaluated.
  std::function<const evaluate::Evaluator *(llvm::StringRef, llvm::StringRef, int64_t)> evaluatorOf;
};

/// Parses "input_ids=4x32,labels=4x32" into `bindings`. Returns an error message, or an empty
/// string.
std::string parseShapeBindings(llvm::StringRef text, ShapeBindings &bindings);

/// Whether a file that begins with `head` is an ONNX model, judged by its outermost fields.
bool beginsOnnx(llvm::StringRef head);

/// Imports the ONNX model at `path`: a module of state symbols, whose data are references relative
/// to the directory of the model, and `func.func @step`. Every value has a static shape except
/// values that depend on an operator that ONNX does not define: these are unranked, and
/// `zero-verify-import` reports them. On error: diagnostics at the file and null.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path, const ImportOptions &options,
                                             mlir::MLIRContext *context);

} // namespace zero

#endif // ZERO_IMPORT_IMPORT_H
