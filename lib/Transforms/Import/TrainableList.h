//===- TrainableList.h - read the file of --trainable -----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_TRAINABLELIST_H
#define LIB_TRANSFORMS_IMPORT_TRAINABLELIST_H

#include "Candidate.h"

#include <vector>

namespace zero {

/// Marks those of `candidates` that `lines`, names or glob patterns, mean. Fails after an
/// error at `module` that tells the lines that mean nothing, all of them if `verbose`.
/// Names that the exporter knows and the graph does not hold (zero.absent_parameters) are
/// passed over with a warning.
llvm::LogicalResult markListed(mlir::ModuleOp module, std::vector<Candidate> &candidates,
                               llvm::ArrayRef<std::string> lines, bool verbose);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_TRAINABLELIST_H
