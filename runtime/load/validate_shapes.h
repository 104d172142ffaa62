//===- validate_shapes.h - validate the programs of shapes ------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_SHAPES_H
#define RUNTIME_LOAD_VALIDATE_SHAPES_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// The programs for other shapes have the state of `program` at the same places, and the same
/// inputs but for their shapes, outputs, gradients, ranks and arenas. All of them are validated but
/// for that.
Status validateShapes(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_SHAPES_H
