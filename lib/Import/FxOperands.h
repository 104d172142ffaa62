//===- FxOperands.h - operands of exported calls ----------------*- C++ -*-===//

#ifndef LIB_IMPORT_FXOPERANDS_H
#define LIB_IMPORT_FXOPERANDS_H

#include "FxCall.h"

namespace zero::importer {

/// How a node takes an operand.
enum class Layout {
  Same,
  Transposed, ///< a matrix: its transpose
  Vector      ///< a vector: with dimensions of one element before or behind
};

/// An operand of a call, and how the node takes it.
struct FxOperand {
  llvm::StringRef text; ///< as printed: "%p_fc_weight", "None", or "" if left out
  Layout layout = Layout::Same;
};

/// Which operand of `call` input `slot` of `node`, one of those made from it, is, element
/// for element; nothing where the two are not known, or the exporter computes something between.
std::optional<FxOperand> operandOf(const FxCall &call, const pb::NodeProto &node, int slot);

} // namespace zero::importer

#endif // LIB_IMPORT_FXOPERANDS_H
