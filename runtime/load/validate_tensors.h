//===- validate_tensors.h - validate tensors --------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_TENSORS_H
#define RUNTIME_LOAD_VALIDATE_TENSORS_H

#include "runtime/load/bounds.h"

namespace zero::rt {

/// Checks buffers, tensors with their tiles, initial values and masters, and gradients.
Status validateTensors(const proto::Program &program, uint64_t dataBytes, const Bounds &bounds);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_TENSORS_H
