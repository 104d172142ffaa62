//===- weights.h - initial values from a file of weights --------*- C++ -*-===//

#ifndef RUNTIME_SESSION_WEIGHTS_H
#define RUNTIME_SESSION_WEIGHTS_H

#include "runtime/io/weights_file.h"
#include "runtime/load/program.h"

namespace zero::rt {

/// Which saved tensor of a program takes which tensor of a file.
struct WeightsPlan {
  std::vector<std::pair<const proto::Tensor *, WeightsFile::Get>> taken;
  uint64_t missing = 0; ///< saved tensors that the file does not have
  uint64_t unknown = 0; ///< tensors of the file that the program does not save
  /// Names the first few of those, with `verbose` all; empty with `partial`, which expects them.
  std::string remark;
};

/// Matches tensors by name; a tied tensor has several names. Tensors of another shape or type are
/// an error that lists the first few, with `verbose` all, and so are different values for a tied
/// tensor, a file without a match, and, unless `partial`, tensors that the file lacks. Those that
/// only the file has are left out: it may have buffers that the program does not read.
Status planWeights(const proto::Program &program, const WeightsFile &file, bool partial,
                   bool verbose, WeightsPlan &plan);

} // namespace zero::rt

#endif // RUNTIME_SESSION_WEIGHTS_H
