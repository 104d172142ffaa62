//===- EinsumShape.h - the shape of an Einsum -------------------*- C++ -*-===//

#ifndef LIB_IMPORT_EINSUMSHAPE_H
#define LIB_IMPORT_EINSUMSHAPE_H

#include "NodeRules.h"

namespace zero::importer {

/// Corrects the type of an Einsum's result: ONNX's inference takes the extent of an index from the
/// first operand that has it, which may be one that is broadcast. Other nodes pass.
void broadcastEinsum(const pb::NodeProto &node, TypeOf typeOf, pb::TypeProto &type);

} // namespace zero::importer

#endif // LIB_IMPORT_EINSUMSHAPE_H
