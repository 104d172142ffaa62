//===- Flags.h - options of zero-translate ----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_TRANSLATE_FLAGS_H
#define TOOLS_ZERO_TRANSLATE_FLAGS_H

#include "llvm/Support/CommandLine.h"

#include <string>

namespace zero {

namespace cl = llvm::cl;

/// Options of zero-translate. They are created by its main function: the wheel has all tools in one
/// library, where the options of one tool must not exist for another.
struct Flags {
  cl::OptionCategory category{"Options of zero-translate"};
  cl::opt<bool> import{"import-onnx", cl::desc("Import an ONNX model"), cl::cat(category)};
  cl::opt<bool> list{"list-operators", cl::cat(category),
                     cl::desc("Print the table of supported operators")};
  cl::opt<std::string> gpt{"make-gpt", cl::value_desc("layers=N,..."),
                           cl::desc("Write a GPT-2 without weights to -o FILE.onnx"),
                           cl::cat(category)};
  cl::opt<std::string> input{cl::Positional, cl::desc("[model.onnx]"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Write to FILE instead of standard output"),
                              cl::value_desc("FILE"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> shapes{"shape", cl::value_desc("NAME=4x32,..."), cl::cat(category),
                              cl::desc("Bind the symbolic dimensions of inputs")};
  cl::opt<std::string> loss{"loss", cl::value_desc("NAME"), cl::cat(category),
                            cl::desc("Train on this output of the model")};
  cl::opt<bool> symlinks{"allow-symlinks", cl::cat(category),
                         cl::desc("Follow symbolic links to external data")};
  cl::opt<bool> locations{"locations", cl::desc("Print where each op comes from"),
                          cl::cat(category)};
};

} // namespace zero

#endif // TOOLS_ZERO_TRANSLATE_FLAGS_H
