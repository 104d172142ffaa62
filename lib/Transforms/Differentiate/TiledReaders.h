//===- TiledReaders.h - readers of tiled parameters -------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H
#define LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// The dimension of the parameter along which the node that has `use` can be computed in
/// tiles without cutting a sum of forward; nothing where it cannot.
std::optional<int64_t> tileAxis(mlir::OpOperand &use);

/// Clones the node of `use` for each of `parts`, which are the parts of the parameter along its
/// tileAxis() from `begins` on, and replaces its results by the combined ones.
void tileReader(mlir::OpOperand &use, llvm::ArrayRef<mlir::Value> parts,
                llvm::ArrayRef<int64_t> begins);

} // namespace zero

#endif // LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H
