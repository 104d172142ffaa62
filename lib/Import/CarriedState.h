//===- CarriedState.h - state that a graph takes and returns ----*- C++ -*-===//

#ifndef LIB_IMPORT_CARRIEDSTATE_H
#define LIB_IMPORT_CARRIEDSTATE_H

#include "ModelFile.h"
#include "zero/Import/Import.h"

namespace zero::importer {

/// Turns the inputs of `model` that `carry` matches into state, which the matching outputs update.
/// Inputs without an initializer that match one of the patterns `zeros` start as zero. Enters them
/// into `model.constants` and `model.record.updates`. Fails, listing all problems, where a pattern
/// matches nothing, an input matches several outputs, or an input or output has a partner already.
void carryState(Model &model, llvm::ArrayRef<CarriedPair> carry, llvm::ArrayRef<std::string> zeros);

/// Makes state of the initializer `name`: it is kept as bytes of the file, or as the one number
/// that it is, so that no one folds it.
void makeState(Constant &constant, llvm::StringRef name);

} // namespace zero::importer

#endif // LIB_IMPORT_CARRIEDSTATE_H
