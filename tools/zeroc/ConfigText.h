//===- ConfigText.h - what a configuration became ---------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_CONFIGTEXT_H
#define TOOLS_ZEROC_CONFIGTEXT_H

#include "Config.h"

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Prints the flags that the configuration corresponds to, values that are "auto", and keys without
/// effect, on a line each.
void summarizeConfig(const Config &config, const Flags &flags, llvm::raw_ostream &os);

/// Prints a line for each key of the configuration, and for each default of DeepSpeed.
void explainConfig(const Config &config, const Flags &flags, llvm::raw_ostream &os);

} // namespace zero

#endif // TOOLS_ZEROC_CONFIGTEXT_H
