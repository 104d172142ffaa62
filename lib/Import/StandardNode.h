//===- StandardNode.h - infer types of ai.onnx's operators ------*- C++ -*-===//
// An operator of ONNX Runtime is often defined by one of ai.onnx: as the same function, or as its
// gradient. Its types then follow from ONNX's own inference for that operator.
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_STANDARDNODE_H
#define LIB_IMPORT_STANDARDNODE_H

#include "Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace zero::importer {

/// A node of ai.onnx that stands for a part of a node of another domain.
struct StandardNode {
  /// The attribute of a name, or null.
  using AttributeOf = llvm::function_ref<const pb::AttributeProto *(const std::string &)>;

  /// A node of `type` with those of the attributes that it has. Operands and results are to be
  /// added.
  StandardNode(llvm::StringRef type, int opset, AttributeOf attributeOf);

  /// The types of the results by ONNX's inference. `types` and `values` are those of operands, null
  /// where they are not known. Throws what that throws.
  std::vector<pb::TypeProto> infer(llvm::ArrayRef<const pb::TypeProto *> types,
                                   llvm::ArrayRef<const pb::TensorProto *> values);

  pb::NodeProto node;
  int opset;
};

} // namespace zero::importer

#endif // LIB_IMPORT_STANDARDNODE_H
