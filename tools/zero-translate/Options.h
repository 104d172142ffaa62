//===- Options.h - zero-translate's command line ----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_TRANSLATE_OPTIONS_H
#define TOOLS_ZERO_TRANSLATE_OPTIONS_H

#include "zero/Flags/Flag.h"

namespace zero {

struct TranslateOptions {
  std::string input, shapes, loss, gpt;
  std::string output = "-";
  bool import = false, list = false, allowSymlinks = false, locations = false;
  bool makesGpt = false;
  bool isDone = false; ///< a text such as the help is printed, and that is all
};

/// Reads the command line, and prints what --help and the like ask for.
rt::Status parseOptions(const std::vector<std::string> &arguments, TranslateOptions &options);

} // namespace zero

#endif // TOOLS_ZERO_TRANSLATE_OPTIONS_H
