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
  bool help = false;             ///< --help is given

  llvm::SmallVector<char *> forMlirOpt(char *program) {
    llvm::SmallVector<char *> words{program};
    for (std::string &argument : rest)
      words.push_back(argument.data());
    return words;
  }
};

/// Takes the import flags (--shape, --loss, --data-root, --allow-symlinks) out of
/// `arguments`, and replaces options of the phases, of which --zero-stage is one,
/// by the phases from import to schedule with these options. Returns an error
/// message, empty on success.
std::string sortArguments(llvm::ArrayRef<char *> arguments, OptArguments &sorted);

/// The model named in `rest` if it is an .onnx file, as MLIR text; empty when it
/// is none. False after an error.
bool importInput(OptArguments &arguments, std::string &text);

/// Prints the common options: a screen (--help). --help-all is the text of mlir-opt.
void printOptHelp(llvm::raw_ostream &os);

/// Prints an error. Returns the exit status.
int fail(llvm::StringRef message);

/// Registers the passes of test/lib, of which tools include nothing.
void registerTestPasses();

} // namespace zero

#endif // TOOLS_ZERO_OPT_COMMANDLINE_H
