//===- ValueNames.h - names for new values ----------------------*- C++ -*-===//

#ifndef LIB_IMPORT_VALUENAMES_H
#define LIB_IMPORT_VALUENAMES_H

#include "Infer.h"

#include "llvm/ADT/StringSet.h"

namespace zero::importer {

/// Gives names that no value of `graph`, whose nodes are all there, or of its subgraphs has.
class ValueNames {
public:
  explicit ValueNames(const TypedGraph &graph) : graph(graph) {}

  /// `stem`, or, where it is taken, with a number behind it.
  std::string add(const std::string &stem);

private:
  const TypedGraph &graph;
  llvm::StringSet<> names; ///< empty until the first is asked for
};

} // namespace zero::importer

#endif // LIB_IMPORT_VALUENAMES_H
