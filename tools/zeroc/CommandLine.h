//===- CommandLine.h - zeroc's flags ----------------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_COMMANDLINE_H
#define TOOLS_ZEROC_COMMANDLINE_H

#include "zero/Driver/Compiler.h"

#include "llvm/ADT/StringMap.h"

namespace zero {

enum class CommandLineResult { Run, Done, Wrong };

/// Reads zeroc's arguments. `Done` after --help, --help-all, --version or --list-optimizers,
/// `Wrong` after one error on standard error. The flags of the phases are those of PhaseOptions.
CommandLineResult parseCommandLine(llvm::ArrayRef<char *> arguments, CompilerOptions &options);

/// Sets `options` from the words of a command line, and checks them. Returns an error message, or
/// an empty string. `isDone` after a flag such as --help.
std::string readOptions(const std::vector<std::string> &words, CompilerOptions &options,
                        bool &isDone);

/// What is wrong with `options` as a whole, or nothing: values out of range, and flags
/// that would have no effect.
std::string checkFlags(const CompilerOptions &options, const GivenFlags &given);

} // namespace zero

#endif // TOOLS_ZEROC_COMMANDLINE_H
