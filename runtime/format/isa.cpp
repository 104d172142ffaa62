//===- isa.cpp - features that code needs ---------------------------------===//

#include "runtime/format/isa.h"

#include "runtime/format/format.h"

#include <algorithm>
#include <sstream>

namespace zero::rt {

std::string hostIsa() {
  std::string result;
  for (std::string_view feature : hostFeatures())
    result += (result.empty() ? "" : " ") + std::string(feature);
  return result;
}

std::string missingFeature(std::string_view isa) {
  const std::vector<std::string_view> features = hostFeatures();
  std::istringstream words{std::string(isa)};
  for (std::string word; words >> word;)
    if (std::ranges::find(features, word) == features.end())
      return word;
  return "";
}

static std::string_view architectureOf(std::string_view isa) {
  return isa.substr(0, isa.find(' ')) == kAArch64 ? kAArch64 : "x86-64";
}

std::string whyIsaDiffers(std::string_view isa) {
  const std::string missing = missingFeature(isa);
  if (missing.empty())
    return "";
  const std::string_view code = architectureOf(isa), here = architectureOf(hostIsa());
  if (code != here)
    return format("its code is for %s, and this machine is %s; compile the model %s",
                  std::string(code).c_str(), std::string(here).c_str(),
                  here == kAArch64 ? "with --target-cpu=aarch64" : "here");
  return format("its code needs the CPU feature '%s', which this machine does not have; "
                "compile the model here, or with --target-cpu for this processor",
                escape(missing).c_str());
}

} // namespace zero::rt
