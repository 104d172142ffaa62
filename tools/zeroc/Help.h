//===- Help.h - the help texts of zeroc -------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_HELP_H
#define TOOLS_ZEROC_HELP_H

#include "zero/Flags/Flag.h"

namespace zero {

/// The options that most users need, by purpose, on one screen.
std::string commonOptions(const Flags &flags);
/// All options.
std::string allOptions(const Flags &flags);

} // namespace zero

#endif // TOOLS_ZEROC_HELP_H
