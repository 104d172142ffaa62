//===- ModelFlags.cpp - flags of front ends and phases --------------------===//

#include "zero/Driver/Compiler.h"
#include "zero/Frontends/Frontend.h"

using namespace mlir;

namespace zero {

void addModelFlags(CompilerOptions &options, Flags &flags) {
  for (const Frontend &frontend : allFrontends())
    for (const FrontendFlag &flag : frontend.flags)
      if (!findFlag(flags, flag.name.str()))
        flags.push_back(Flag{
            "files and model", flag.name.str(), flag.value.str(), flag.help.str(),
            [&options, name = flag.name](const std::string &value) {
              options.frontendFlags[name] = value;
              return rt::Status();
            }}.inShort(flag.brief.empty() ? "" : "Model", flag.brief.data()));
  llvm::append_range(flags, options.phases.flags());
}

} // namespace zero
