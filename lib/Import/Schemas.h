//===- Schemas.h - definitions of operators ---------------------*- C++ -*-===//
//
// ONNX's registry defines all operators in all versions when it is first asked, which takes longer
// than importing a small model. This one defines those that are asked for.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_SCHEMAS_H
#define LIB_IMPORT_SCHEMAS_H

#include "Error.h"

#include "onnx/defs/schema.h"

namespace zero::importer {

/// The registry for functions of the ONNX library that take one.
const pb::ISchemaRegistry &schemaRegistry();

/// The definition of operator `type` of `domain` that version `version` of the domain has, or null.
const pb::OpSchema *findSchema(const std::string &type, int version,
                               const std::string &domain = pb::ONNX_DOMAIN);

/// Adds the definition of an operator that the ONNX library lacks.
void addSchema(pb::OpSchema schema);

/// Adds what addSchema() was given to the registry of the ONNX library, for its functions that use
/// no other one.
void shareSchemas();

} // namespace zero::importer

#endif // LIB_IMPORT_SCHEMAS_H
