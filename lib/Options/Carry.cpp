//===- Carry.cpp - pairs of inputs and outputs that are state -------------===//

#include "zero/Options/Carry.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

using llvm::StringRef;

namespace zero {

/// Appends the pair that `item` is. Returns an error message, or an empty string.
static std::string parsePair(StringRef item, std::vector<CarriedPair> &pairs) {
  auto [input, output] = item.split('=');
  input = input.trim();
  output = output.trim();
  if (input.empty() || output.empty())
    return ("expected INPUT=OUTPUT such as '*=*.new', got '" + item + "'").str();
  if (input.count('*') > 1 || output.count('*') > 1 || input.contains('*') != output.contains('*'))
    return ("expected no * or one on each side, got '" + item + "'").str();
  pairs.push_back({input.str(), output.str()});
  return "";
}

std::string parseCarry(StringRef text, std::vector<CarriedPair> &pairs) {
  if (!text.consume_front("@")) {
    llvm::SmallVector<StringRef> items;
    text.split(items, ',', -1, /*KeepEmpty=*/false);
    for (StringRef item : items)
      if (std::string error = parsePair(item, pairs); !error.empty())
        return error;
    return pairs.empty() ? "expected INPUT=OUTPUT,... or @FILE" : "";
  }
  auto buffer = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
  if (!buffer)
    return ("cannot read '" + text + "': " + buffer.getError().message()).str();
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line)
    if (std::string error = parsePair(*line, pairs); !error.empty())
      return ("'" + text + "', line " + llvm::Twine(line.line_number()) + ": " + error).str();
  return pairs.empty() ? ("'" + text + "' has no pairs INPUT=OUTPUT").str() : "";
}

/// The text that `*` stands for if `name` matches `pattern`, which has one; a pattern without it
/// matches itself.
static std::optional<StringRef> match(StringRef pattern, StringRef name) {
  auto [head, tail] = pattern.split('*');
  if (!pattern.contains('*'))
    return name == pattern ? std::optional<StringRef>("") : std::nullopt;
  if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail))
    return std::nullopt;
  return name.drop_front(head.size()).drop_back(tail.size());
}

static std::string substitute(StringRef pattern, StringRef text) {
  auto [head, tail] = pattern.split('*');
  return pattern.contains('*') ? (head + text + tail).str() : pattern.str();
}

static std::string quote(StringRef name) { return ("'" + name + "'").str(); }

namespace {
class Matcher {
public:
  Matcher(llvm::ArrayRef<StringRef> inputs, llvm::ArrayRef<StringRef> outputs) : inputs(inputs) {
    for (StringRef output : outputs)
      known.try_emplace(output, output);
  }

  void add(const CarriedPair &pair) {
    bool matched = false;
    for (StringRef input : inputs) {
      std::optional<StringRef> text = match(pair.input, input);
      if (!text)
        continue;
      std::string output = substitute(pair.output, *text);
      if (pair.isPattern() && !known.contains(output))
        continue;
      matched = true;
      enter(input, output);
    }
    if (!matched)
      result.problems.push_back(quote(pair.input) + " = " + quote(pair.output) +
                                (pair.isPattern() ? " matches no input that has such an output"
                                                  : ": the model has no such input"));
  }

  CarriedNames result;

private:
  void enter(StringRef input, StringRef output) {
    auto found = known.find(output);
    if (found == known.end())
      return result.problems.push_back("input " + quote(input) + ": the model has no output " +
                                       quote(output));
    if (auto it = result.outputOf.find(input); it != result.outputOf.end()) {
      if (it->second != output)
        result.problems.push_back("input " + quote(input) + " has two outputs: " +
                                  quote(it->second) + " and " + quote(output));
      return;
    }
    if (!taken.insert(output).second)
      return result.problems.push_back("output " + quote(output) +
                                       " has two inputs; one of them is " + quote(input));
    result.outputOf[input] = found->second;
  }

  llvm::ArrayRef<StringRef> inputs;
  llvm::StringMap<StringRef> known;
  llvm::StringSet<> taken;
};
} // namespace

CarriedNames matchCarried(llvm::ArrayRef<CarriedPair> carry, llvm::ArrayRef<StringRef> inputs,
                          llvm::ArrayRef<StringRef> outputs) {
  Matcher matcher(inputs, outputs);
  for (const CarriedPair &pair : carry)
    matcher.add(pair);
  return std::move(matcher.result);
}

bool ZeroPatterns::match(StringRef name, std::string &error) {
  bool found = false;
  for (auto [index, pattern] : llvm::enumerate(patterns)) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob) {
      error = "--zeros=" + pattern + ": " + llvm::toString(glob.takeError());
      return false;
    }
    if (glob->match(name))
      used[index] = found = true;
  }
  return found;
}

std::string ZeroPatterns::checkUsed() const {
  for (auto [index, pattern] : llvm::enumerate(patterns))
    if (!used[index])
      return "--zeros=" + pattern +
             ": matches no carried input without an initializer; expected the name or a pattern "
             "of one";
  return "";
}

} // namespace zero
