//===- ConstantValues.h - values of masks at compile time -------*- C++ -*-===//
//
// Exporters bake masks: as constants of the batch's shape, in the model or in its
// data file, or as comparisons of positions. Their values decide what a mask is,
// so they are read here, a row at a time, and never enter the IR.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_CONSTANTVALUES_H
#define LIB_TRANSFORMS_RECOGNISE_CONSTANTVALUES_H

#include "zero/Evaluate/Evaluator.h"
#include "zero/Transforms/Recognise/Passes.h"

#include "llvm/Support/MemoryBuffer.h"

namespace zero {

/// Evaluates values that depend on nothing but constants that are not trained.
class ConstantValues {
public:
  /// Data references are relative to the folder `root`.
  ConstantValues(mlir::ModuleOp module, llvm::StringRef root);

  /// Whether all elements of `value` can be had.
  bool isKnown(mlir::Value value);
  /// Fills `row` with one row of a known `value`, which counts as a matrix of as
  /// many columns as its last dimension has. Booleans are 0 and 1.
  void readRow(mlir::Value value, int64_t index, llvm::MutableArrayRef<double> row);
  /// Whether `value` is known, and `number` everywhere.
  bool isEverywhere(mlir::Value value, double number);

  static int64_t columnsOf(mlir::Value value);
  static int64_t rowsOf(mlir::Value value);

private:
  using Row = std::vector<int64_t>;
  using RowRef = llvm::MutableArrayRef<int64_t>;

  /// How a value would be had: through so many nodes one behind the other, and
  /// with so many evaluations for each element; `cost` 0: not at all.
  struct Effort {
    unsigned depth = 0, cost = 0;
  };

  Effort effortOf(mlir::Value value, unsigned depth);
  Effort decideEffort(mlir::Value value, unsigned depth);
  bool openData(ReadOp read);
  void readData(ReadOp read, int64_t index, RowRef row);
  const Row &whole(mlir::Value value);
  void read(mlir::Value value, int64_t index, RowRef row);
  void compute(mlir::Value value, int64_t index, RowRef row);
  void computeElements(onnx::NodeOp node, int64_t index, RowRef row);
  void readFlat(mlir::Value value, int64_t start, RowRef elements);
  void readBroadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> position, RowRef row);

  mlir::ModuleOp module;
  std::string root;
  llvm::DenseMap<mlir::Value, Effort> efforts;
  llvm::DenseMap<mlir::Value, Row> wholes;
  llvm::DenseMap<mlir::Value, std::unique_ptr<llvm::MemoryBuffer>> data;
};

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_CONSTANTVALUES_H
