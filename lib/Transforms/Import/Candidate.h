//===- Candidate.h - constants that may be trained --------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_CANDIDATE_H
#define LIB_TRANSFORMS_IMPORT_CANDIDATE_H

#include "dialects/Zero/Zero.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// A float constant of more than one element, and the decision of the rules.
struct Candidate {
  enum class Kind {
    Parameter,
    Nameless,  ///< its name is none that a module gives: a list may name it
    Buffer,    ///< a mask, a table, ...: a list may name it, a pattern passes it over
    Statistic, ///< forward updates it: it is never trained
  };

  StateOp state;
  ReadOp read;                              ///< null if it does not reach the loss
  llvm::SmallVector<llvm::StringRef> names; ///< its own, then those of tied tensors
  Kind kind = Kind::Parameter;
  std::string reason; ///< to leave it out: "it does not reach the loss"; "" for a parameter
  bool isListed = false;

  bool reachesLoss() const { return bool(read); }
  llvm::StringRef name() const { return names.front(); }
};

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_CANDIDATE_H
