//===- Signature.h - the exporter's record of tensors -----------*- C++ -*-===//

#ifndef LIB_IMPORT_SIGNATURE_H
#define LIB_IMPORT_SIGNATURE_H

#include "Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace zero::importer {

/// PyTorch's account of an exported module, from the metadata that its exporter
/// (dynamo, since 2.5) leaves in the graph. Empty for a model of any other origin.
struct Signature {
  /// A tensor of the module: p_fc_weight: PARAMETER target='fc.weight'.
  struct Entry {
    std::string placeholder; ///< its name in the metadata of nodes
    std::string name;        ///< in the module
    llvm::StringRef kind;    ///< "parameter", "buffer", or "constant" of the code
  };
  std::vector<Entry> entries;             ///< in the module's order
  llvm::StringMap<size_t> byPlaceholder;  ///< index into `entries`
  llvm::StringMap<llvm::StringRef> kinds; ///< by the name in the module
  llvm::StringSet<> inputs;               ///< placeholders of the module's inputs
  llvm::StringSet<> frozen;               ///< parameters that the module did not train
  llvm::StringSet<> tables;               ///< constants that an operator has for cosines and sines

  /// Parameters that nodes were made from or constants were folded from, but that are
  /// no initializers any more: a line for each.
  std::vector<std::string> lost;
  /// Values that forward writes to buffers, each with the buffer's name in the module; the
  /// same for parameters.
  std::vector<std::pair<std::string, std::string>> updates, parameterUpdates;
  /// Parameters that are no initializers and of which no node or constant was made either:
  /// unused, or tied to an initializer of another name that is not known.
  std::vector<std::string> absent;
  /// Names of parameters that are tied to an initializer, by the initializer's name.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Parameters that were no initializers either, but have been found.
  size_t restored = 0;

  /// The kind of `name`, or "" if the exporter does not record it.
  llvm::StringRef kindOf(llvm::StringRef name) const { return kinds.lookup(name); }
  /// The tensor whose placeholder is called so; null if there is none.
  const Entry *find(llvm::StringRef placeholder) const;
};

/// Reads the signature of `graph`: all but which parameters are lost, restored or tied.
Signature readSignature(const pb::GraphProto &graph);

} // namespace zero::importer

#endif // LIB_IMPORT_SIGNATURE_H
