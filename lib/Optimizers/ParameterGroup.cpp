//===- ParameterGroup.cpp - parse parameter groups ------------------------===//

#include "Optimizers.h"

#include "runtime/support/checked.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;

namespace zero {

static constexpr StringLiteral kScale = "lr-scale";

/// The end of the pattern. A name may contain colons, but none before a key.
static size_t findFirstKey(StringRef text) {
  return std::min(text.find((":" + kWeightDecay + "=").str()),
                  text.find((":" + kScale + "=").str()));
}

/// Reads "key=value" into `group`. Returns an error message, or an empty string.
static std::string readSetting(StringRef setting, ParameterGroup &group,
                               SmallVectorImpl<StringRef> &given) {
  auto [key, value] = setting.split('=');
  if (key != kWeightDecay && key != kScale)
    return ("expected " + kWeightDecay + "=X or " + kScale + "=Y, got '" + setting + "'").str();
  if (llvm::is_contained(given, key))
    return ("'" + key + "' is given twice").str();
  given.push_back(key);
  double number;
  if (!parseReal(value, number) || number < 0)
    return (key + ": expected a number >= 0, got '" + value + "'").str();
  if (key == kScale)
    group.learningRateScale = number;
  else
    group.weightDecay = number;
  return "";
}

std::optional<ParameterGroup> parseParameterGroup(StringRef text, std::string &error) {
  size_t end = findFirstKey(text);
  if (end == StringRef::npos || end == 0) {
    error = ("expected PATTERN:" + kWeightDecay + "=X:" + kScale + "=Y or one of the two, got '" +
             text + "'")
                .str();
    return std::nullopt;
  }
  ParameterGroup group;
  group.pattern = text.take_front(end).str();
  auto in = [&](const Twine &message) { return ("'" + text + "': " + message).str(); };
  auto pattern = llvm::GlobPattern::create(group.pattern);
  if (!pattern) {
    error = in(llvm::toString(pattern.takeError()));
    return std::nullopt;
  }
  SmallVector<StringRef> settings, given;
  text.drop_front(end + 1).split(settings, ':');
  for (StringRef setting : settings) {
    if (std::string wrong = readSetting(setting, group, given); !wrong.empty()) {
      error = in(wrong);
      return std::nullopt;
    }
  }
  return group;
}

} // namespace zero
