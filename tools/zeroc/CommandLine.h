//===- CommandLine.h - zeroc's flags ----------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_COMMANDLINE_H
#define TOOLS_ZEROC_COMMANDLINE_H

#include "zero/Pipelines/Compiler.h"

namespace zero {

enum class CommandLineResult { Run, Done, Wrong };

/// Reads zeroc's arguments. `Done` after --help or --version, `Wrong` after one
/// error on standard error. The flags of the phases are those of StepOptions.
CommandLineResult parseCommandLine(llvm::ArrayRef<char *> arguments, CompilerOptions &options);

} // namespace zero

#endif // TOOLS_ZEROC_COMMANDLINE_H
