//===- Origin.h - the exported call of a node -------------------*- C++ -*-===//

#ifndef LIB_IMPORT_ORIGIN_H
#define LIB_IMPORT_ORIGIN_H

#include "Error.h"

namespace zero::importer {

/// The operation of a PyTorch module that `node` was exported from, and where one is
/// known, the way round: a sentence for a message. "" where the exporter does not say.
std::string originOf(const pb::NodeProto &node);

} // namespace zero::importer

#endif // LIB_IMPORT_ORIGIN_H
