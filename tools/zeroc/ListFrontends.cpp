//===- ListFrontends.cpp - front ends as JSON -----------------------------===//

#include "ListFrontends.h"

#include "zero/Frontends/Frontend.h"

#include "llvm/Support/JSON.h"

namespace zero {

static void listFlag(llvm::json::OStream &json, const FrontendFlag &flag) {
  json.object([&] {
    json.attribute("flag", flag.name);
    json.attribute("value", flag.value);
    json.attribute("meaning", flag.help);
  });
}

void listFrontends(llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const Frontend &frontend : allFrontends())
      json.object([&] {
        json.attribute("name", frontend.name);
        json.attribute("reads", frontend.summary);
        json.attribute("suffix", frontend.suffix);
        json.attribute("promises", frontend.promises);
        json.attribute("saved_back", frontend.takesParametersBack);
        json.attributeArray("flags", [&] {
          for (const FrontendFlag &flag : frontend.flags)
            listFlag(json, flag);
        });
      });
  });
  os << "\n";
}

} // namespace zero
