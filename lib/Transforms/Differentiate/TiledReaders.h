//===- TiledReaders.h - what reads a parameter, tile by tile ----*- C++ -*-===//

#ifndef LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H
#define LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// The dimension of the parameter along which the node that has `use` can be computed in
/// tiles without cutting a sum of forward; nothing where it cannot.
std::optional<int64_t> tileAxis(mlir::OpOperand &use);

/// Writes the node that has `use` once for each of `parts`, which are the parameter cut
/// along its tileAxis() and lie at `begins` of it, and puts what they give in its place.
void tileReader(mlir::OpOperand &use, llvm::ArrayRef<mlir::Value> parts,
                llvm::ArrayRef<int64_t> begins);

} // namespace zero

#endif // LIB_TRANSFORMS_DIFFERENTIATE_TILEDREADERS_H
