//===- validate_launches.h - validate launches of kernels -------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_LAUNCHES_H
#define RUNTIME_LOAD_VALIDATE_LAUNCHES_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Checks the iterations of `launch`, of native code `kernel`, against its arguments' bytes: each
/// argument has `length` elements of the size that the kernel states, and each of the `extent`
/// iterations, which may run in any order, has a separate byte to write. `label` is the command's.
Status checkIterations(const std::string &label, const proto::Kernel &kernel,
                       const proto::Launch &launch);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_LAUNCHES_H
