//===- TiedNames.h - further names of tied parameters -----------*- C++ -*-===//
//
// PyTorch's exporter writes parameters that share a tensor as one initializer, under the
// last of their names, and its account of the module does not say which they are. But
// each node says which submodule computes it (`name_scopes`) and with which operands:
// where 'model.wte' looks rows of 'model.lm_head.weight' up, and the account has a
// 'model.wte.weight' that is no tensor of the graph, the two are one. A submodule that is
// never called, or reads two such tensors, tells nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_TIEDNAMES_H
#define LIB_IMPORT_TIEDNAMES_H

#include "ModelFile.h"

#include "llvm/ADT/StringMap.h"

namespace zero::importer {

/// The parameters that submodules read though they belong to others. Refers to texts of the
/// model.
class TieFinder {
public:
  explicit TieFinder(const Model &model);

  /// The parameter that `name`, which the model does not hold, is tied to; "" if that is
  /// not known.
  llvm::StringRef find(llvm::StringRef name) const;

private:
  void noteReads(const Signature &signature, const pb::NodeProto &node);

  /// For nodes of module SCOPE that read a parameter "OTHER.LEAF": maps "SCOPE.LEAF" to its name;
  /// "" if there are several.
  llvm::StringMap<llvm::StringRef> foreign;
};

} // namespace zero::importer

#endif // LIB_IMPORT_TIEDNAMES_H
