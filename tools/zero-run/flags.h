//===- flags.h - the flags of zero-run's command line -----------*- C++ -*-===//
//
// One file for each topic lists its flags; options.cpp reads the command line.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZERO_RUN_FLAGS_H
#define TOOLS_ZERO_RUN_FLAGS_H

#include "options.h"
#include "zero/Flags/Flag.h"

namespace zero::run {

/// Flags by topic, in the order of --help. A line of a help text is at most 70 characters.
Flags dataFlags(Options &options);
Flags trainingFlags(Options &options);
Flags resultFlags(Options &options);
Flags executionFlags(Options &options);
/// All flags of zeroc, which gets those that are given.
Flags compilerFlags(Options &options);

/// The options that most users need, by purpose, on one screen.
std::string commonHelpText(const Flags &flags);

rt::Status parseCount(const std::string &text, uint64_t &count);
/// A finite number.
rt::Status parseNumber(const std::string &text, double &number);

Setter toCount(std::optional<uint64_t> &field);
/// At least one byte.
Setter toByteSize(uint64_t &bytes);
Setter toInt(int &field, uint64_t least, uint64_t most);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_FLAGS_H
