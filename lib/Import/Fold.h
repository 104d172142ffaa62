//===- Fold.h - exact shape arithmetic --------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_FOLD_H
#define LIB_IMPORT_FOLD_H

#include "Tensor.h"

#include "runtime/support/checked.h"

namespace zero::importer {

/// A node to evaluate. The results' types come from ONNX's own inference, so
/// that an evaluator only has to fill in values.
struct Evaluation {
  const pb::NodeProto &node;
  llvm::ArrayRef<const Ints *> inputs; ///< null where the model leaves one out
  llvm::ArrayRef<Dims> dims;           ///< of each result
  llvm::ArrayRef<int32_t> types;       ///< of each result

  int64_t getInt(llvm::StringRef name, int64_t fallback) const;
  std::optional<Dims> getInts(llvm::StringRef name) const;
  const Ints *input(unsigned index) const {
    return index < inputs.size() ? inputs[index] : nullptr;
  }
};

using Values = std::vector<int64_t>;
/// The values of each result, or nothing where they are not exactly known: an
/// index out of range, a division by zero, an overflow.
using Evaluated = std::optional<std::vector<Values>>;
using Evaluator = Evaluated (*)(const Evaluation &);

/// The evaluator of the standard operator `type`, or null.
Evaluator arithmeticEvaluator(llvm::StringRef type);
Evaluator movementEvaluator(llvm::StringRef type);

/// Whether a node of this operator is evaluated when its operands are known.
bool isFoldable(const pb::NodeProto &node);

/// The results of `node`, whose inputs are `inputs` (null where the value is not
/// known, or left out: `isPresent`), or nothing. Only integers and bools are
/// computed with; one-element floats are only passed on.
std::optional<std::vector<pb::TensorProto>> foldNode(const pb::NodeProto &node,
                                                     llvm::ArrayRef<const pb::TensorProto *> inputs,
                                                     llvm::ArrayRef<Dims> dims,
                                                     llvm::ArrayRef<int32_t> types);

/// Calls `visit(index)` for all indices of a tensor of shape `dims`, row-major.
template <typename Visit>
void forEachIndex(llvm::ArrayRef<int64_t> dims, Visit visit) {
  const auto total = saturatingProduct<int64_t>(dims);
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < total; ++i) {
    visit(llvm::ArrayRef<int64_t>(index));
    for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0 && ++index[d] == dims[d]; --d)
      index[d] = 0;
  }
}

/// The value of `ints` at `index` of a tensor that it is broadcast to.
int64_t broadcastAt(const Ints &ints, llvm::ArrayRef<int64_t> index);

} // namespace zero::importer

#endif // LIB_IMPORT_FOLD_H
