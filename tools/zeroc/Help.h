//===- Help.h - the common options of zeroc ---------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_HELP_H
#define TOOLS_ZEROC_HELP_H

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Prints the options that most users need, by purpose, on one screen. --help-all prints all.
void printCommonOptions(llvm::raw_ostream &os);

} // namespace zero

#endif // TOOLS_ZEROC_HELP_H
