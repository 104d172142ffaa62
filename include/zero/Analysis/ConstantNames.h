//===- ConstantNames.h - names of constants ---------------------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_CONSTANTNAMES_H
#define ZERO_ANALYSIS_CONSTANTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace zero {

/// Whether `name` is of a form that exporters make up for tensors without a name in the module.
bool isMadeUpName(llvm::StringRef name);

/// Whether `name` is a name that a framework gives to a tensor of a module ("layer.0.weight"), and
/// not one that an exporter generated. A name without dots may be one of the outermost module; it
/// counts only if `mayBeOutermost`.
bool isModulePath(llvm::StringRef name, bool mayBeOutermost = false);

} // namespace zero

#endif // ZERO_ANALYSIS_CONSTANTNAMES_H
