//===- ModelFlags.cpp - flags of front ends and phases --------------------===//

#include "Shapes.h"
#include "zero/Driver/Compiler.h"
#include "zero/Frontends/Frontend.h"

using namespace mlir;

namespace zero {

/// Adds the alternatives of a value of --shape.
static Setter toShapes(CompilerOptions &options) {
  return [&options](const std::string &value) {
    if (std::string error = expandShapes(value, options.shapes); !error.empty())
      return rt::Status(ZERO_RT_INVALID_ARGUMENT, error);
    options.frontendFlags[kShapeFlag] = options.shapes.front();
    return rt::Status();
  };
}

void addModelFlags(CompilerOptions &options, Flags &flags) {
  for (const Frontend &frontend : allFrontends())
    for (const FrontendFlag &flag : frontend.flags) {
      if (findFlag(flags, flag.name.str()))
        continue;
      const bool isShape = flag.name == kShapeFlag;
      const Setter set = [&options, name = flag.name](const std::string &value) {
        options.frontendFlags[name] = value;
        return rt::Status();
      };
      Flag &added =
          flags.emplace_back(Flag{"files and model", flag.name.str(), flag.value.str(),
                                  flag.help.str(), isShape ? toShapes(options) : set}
                                 .inShort(flag.brief.empty() ? "" : "Model", flag.brief.data()));
      added.repeats = isShape;
    }
  llvm::append_range(flags, options.phases.flags());
}

} // namespace zero
