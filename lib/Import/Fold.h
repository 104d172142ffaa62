//===- Fold.h - exact shape arithmetic --------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_FOLD_H
#define LIB_IMPORT_FOLD_H

#include "Tensor.h"

#include "zero/Evaluate/Evaluator.h"

namespace zero::importer {

/// `node` without its operands. It refers to `node`.
evaluate::Node evaluatedNode(const pb::NodeProto &node);

/// The results of `node`, whose operands are `inputs` (nothing where the model leaves one out), or
/// nothing. Only integers and bools are computed with; one-element floats are only passed on.
std::optional<std::vector<pb::TensorProto>>
foldNode(const evaluate::Evaluator &evaluator, const pb::NodeProto &node,
         llvm::ArrayRef<std::optional<evaluate::Values>> inputs, llvm::ArrayRef<Dims> dims,
         llvm::ArrayRef<int32_t> types);

} // namespace zero::importer

#endif // LIB_IMPORT_FOLD_H
