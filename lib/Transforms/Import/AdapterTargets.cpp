//===- AdapterTargets.cpp - patterns of modules to adapt ------------------===//

#include "AdapterTargets.h"

#include "runtime/support/adapter_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kWildcards = "*?[", kSeparators = "./";
/// The number of names that an error lists.
static constexpr size_t kNearest = 6;

/// The part of `name` after the last `count` separators.
static StringRef lastParts(StringRef name, size_t count) {
  size_t begin = name.size();
  for (; count > 0 && begin != StringRef::npos; --count)
    begin = name.substr(0, begin).find_last_of(kSeparators);
  return begin == StringRef::npos ? name : name.drop_front(begin + 1);
}

StringRef moduleOf(StringRef name) {
  const StringRef last = lastParts(name, 1);
  const bool isMatrix = last == "weight" || last == "kernel" || last == "w";
  if (isMatrix && last.size() < name.size())
    name = name.drop_back(last.size() + 1);
  name.consume_back(rt::kAdaptedLayer);
  return name;
}

FailureOr<TargetPattern> TargetPattern::create(ModuleOp module, StringRef text) {
  TargetPattern target;
  target.text = text.str();
  target.hasWildcards = text.find_first_of(kWildcards) != StringRef::npos;
  if (!target.hasWildcards)
    return target;
  auto pattern = llvm::GlobPattern::create(text);
  if (!pattern)
    return emitError(module.getLoc())
           << "lora pattern '" << text << "': " << llvm::toString(pattern.takeError());
  target.pattern = std::move(*pattern);
  return target;
}

/// Whether `name` is `end`, or ends with it after a separator.
static bool endsWith(StringRef name, StringRef end) {
  return name.consume_back(end) && (name.empty() || kSeparators.contains(name.back()));
}

bool TargetPattern::match(StringRef name) const {
  const StringRef module = moduleOf(name);
  return hasWildcards ? pattern->match(module) || pattern->match(name)
                      : endsWith(module, text) || endsWith(name, text);
}

/// The last `count` parts of `module`, and those before them while they begin with a number.
static StringRef endOf(StringRef module, size_t count) {
  StringRef end = lastParts(module, count);
  while (end.size() < module.size() && llvm::isDigit(end.front()))
    end = lastParts(module, ++count);
  return end;
}

std::vector<std::string> nearestTargets(const TargetPattern &pattern, ArrayRef<StringRef> modules) {
  const StringRef text = pattern.getText();
  const size_t parts = 1 + llvm::count_if(text, [](char c) { return kSeparators.contains(c); });
  SmallVector<StringRef> ends;
  for (StringRef module : modules)
    if (StringRef end = pattern.isGlob() ? module : endOf(module, parts);
        !llvm::is_contained(ends, end))
      ends.push_back(end);
  llvm::stable_sort(ends, [&](StringRef a, StringRef b) {
    return a.edit_distance(text) < b.edit_distance(text);
  });
  std::vector<std::string> nearest;
  for (StringRef end : ArrayRef(ends).take_front(std::min(kNearest, ends.size())))
    nearest.push_back(end.str());
  return nearest;
}

} // namespace zero
