//===- CommandLine.h - flags of zero-opt beside mlir-opt --------*- C++ -*-===//

#ifndef TOOLS_ZERO_OPT_COMMANDLINE_H
#define TOOLS_ZERO_OPT_COMMANDLINE_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// The arguments of zero-opt, sorted out.
struct OptArguments {
  CompilerOptions model;         ///< what importing an .onnx needs
  std::vector<std::string> rest; ///< for mlir-opt
  bool runsPhases = false;       ///< an option of the phases is given
  bool isDone = false;           ///< a text such as the help is printed, and that is all

  llvm::SmallVector<char *> forMlirOpt(char *program) {
    llvm::SmallVector<char *> words{program};
    for (std::string &argument : rest)
      words.push_back(argument.data());
    return words;
  }
};

/// Takes the flags of front ends and --data-root out of `arguments`, and replaces options of the
/// phases, of which --zero-stage is one, by the phases from import to schedule with these options.
/// Prints what --help and the like ask for. Returns an error message, empty on success.
std::string sortArguments(llvm::ArrayRef<char *> arguments, OptArguments &sorted);

/// The model named in `rest` if it is an .onnx file, as MLIR text; empty when it
/// is none. False after an error.
bool importInput(OptArguments &arguments, std::string &text);

/// The common options: a screen (--help). --help-all is the text of mlir-opt.
std::string optHelp();

/// Prints an error. Returns the exit status.
int fail(llvm::StringRef message);

/// Registers the passes of test/lib, of which tools include nothing.
void registerTestPasses();

} // namespace zero

#endif // TOOLS_ZERO_OPT_COMMANDLINE_H
