//===- reduction.h - the arithmetic of a collective -------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_REDUCTION_H
#define RUNTIME_LOAD_REDUCTION_H

#include "runtime/comm/communicator.h"
#include "runtime/format/tables.h"

namespace zero::rt {

/// How the values of a collective that sums become one.
inline Reduction reductionOf(const proto::Collective &collective) {
  return {toDType(collective.dtype()), collective.mean(), toDType(collective.arithmetic())};
}

} // namespace zero::rt

#endif // RUNTIME_LOAD_REDUCTION_H
