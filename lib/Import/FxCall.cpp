//===- FxCall.cpp - the PyTorch call of a node ----------------------------===//

#include "FxCall.h"
#include "Metadata.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace zero::importer {

StringRef FxCall::op() const {
  auto [space, rest] = target.split('.');
  return rest.split('.').first;
}

StringRef FxCall::text(unsigned index, StringRef name) const {
  if (index < args.size())
    return args[index];
  for (auto [key, value] : kwargs)
    if (key == name)
      return value;
  return {};
}

bool FxCall::has(unsigned index, StringRef name) const {
  StringRef value = text(index, name);
  return !value.empty() && value != "None";
}

int64_t FxCall::getInt(unsigned index, StringRef name, int64_t fallback) const {
  int64_t value;
  return parseInteger(text(index, name), value) ? value : fallback;
}

double FxCall::getFloat(unsigned index, StringRef name, double fallback) const {
  double value;
  return parseDouble(text(index, name), value) ? value : fallback;
}

bool FxCall::getBool(unsigned index, StringRef name, bool fallback) const {
  StringRef value = text(index, name);
  return value.empty() ? fallback : value == "True";
}

/// Takes the text up to the bracket that closes the one before it, and that bracket.
static std::optional<StringRef> takeBracketed(StringRef &text) {
  int depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (StringRef("([{").contains(text[i]))
      ++depth;
    else if (StringRef(")]}").contains(text[i]) && --depth == 0) {
      StringRef inside = text.take_front(i);
      text = text.drop_front(i + 1);
      return inside;
    }
  }
  return std::nullopt;
}

/// The parts of `text` between commas outside of brackets.
static llvm::SmallVector<StringRef> splitList(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && StringRef("([{").contains(text[i]))
      ++depth;
    else if (i < text.size() && StringRef(")]}").contains(text[i]))
      --depth;
    else if (i == text.size() || (depth == 0 && text[i] == ',')) {
      // A tuple of one element ends with a comma.
      if (StringRef part = text.slice(begin, i).trim(); !part.empty())
        parts.push_back(part);
      begin = i + 1;
    }
  }
  return parts;
}

std::optional<FxCall> parseCall(StringRef text) {
  FxCall call;
  auto [result, rest] = text.trim().split(" : ");
  if (!result.consume_front("%"))
    return std::nullopt;
  call.result = result;
  auto [users, function] = rest.split("call_function[target=torch.ops.");
  auto [target, operands] = function.split("](args = (");
  if (target.empty() || operands.empty())
    return std::nullopt;
  call.target = target;
  std::optional<StringRef> args = takeBracketed(operands);
  if (!args || !operands.consume_front(", kwargs = {"))
    return std::nullopt;
  call.args = splitList(*args);
  std::optional<StringRef> kwargs = takeBracketed(operands);
  if (!kwargs)
    return std::nullopt;
  for (StringRef entry : splitList(*kwargs)) {
    auto [key, value] = entry.split(": ");
    call.kwargs.push_back({key, value});
  }
  return call;
}

std::optional<FxCall> parseCall(const pb::NodeProto &node) {
  return parseCall(metadata(node, kCallKey));
}

} // namespace zero::importer
