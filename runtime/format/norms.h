//===- norms.h - initial values that are norms of a matrix ------*- C++ -*-===//
// See Init.Norms in runtime/format/executable.proto.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_FORMAT_NORMS_H
#define RUNTIME_FORMAT_NORMS_H

#include "runtime/format/coded_parameter.h"

namespace zero::rt {

/// Writes elements [begin, begin + norms.size()) of `tensor`, which begins as norms of a parameter
/// with the values that `read` reads, as ranks store them.
Status findNorms(const proto::Program &program, const proto::Tensor &tensor,
                 const ReadElements &read, uint64_t begin, std::span<float> norms);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_NORMS_H
