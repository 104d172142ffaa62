//===- flags.h - the flags of zero-run's command line -----------*- C++ -*-===//
//
// One file for each topic lists its flags; options.cpp reads the command line.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZERO_RUN_FLAGS_H
#define TOOLS_ZERO_RUN_FLAGS_H

#include "options.h"

#include <functional>

namespace zero::run {

using Setter = std::function<rt::Status(Options &, const std::string &)>;

/// One flag: `value` names its argument, empty for a switch. A line of `help` is at
/// most 70 characters.
struct Flag {
  const char *group, *name, *value, *help;
  Setter set;
  bool repeats = false; ///< may be given more than once
};

/// Flags by topic, in the order of --help.
std::vector<Flag> dataFlags();
std::vector<Flag> trainingFlags();
std::vector<Flag> resultFlags();
std::vector<Flag> executionFlags();

/// "expected WHAT, got 'GOT'".
rt::Status expected(const char *what, const std::string &got);

rt::Status parseCount(const std::string &text, uint64_t &count);
/// A finite number.
rt::Status parseNumber(const std::string &text, double &number);

/// A file's name, not empty.
Setter toText(std::string Options::*field);
Setter toCount(std::optional<uint64_t> Options::*field);
/// 0 to 1024.
Setter toInt(int zero_rt_session_options::*field);
Setter toSwitch(int zero_rt_session_options::*field);
Setter toSwitch(bool Options::*field);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_FLAGS_H
