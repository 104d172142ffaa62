//===- CarriedState.cpp - state that a graph takes and returns ------------===//
//
// A graph that is a whole training step takes its state as inputs and returns the state of the next
// step as outputs. Pairs of names, or of patterns with one * each, say which output belongs to
// which input.
//
//===----------------------------------------------------------------------===//

#include "CarriedState.h"

#include "Shapes.h"
#include "Tensor.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

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

namespace importer {

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

void makeState(Constant &constant, StringRef name) {
  if (!constant.data && constant.value) {
    if (constant.elements != 1)
      fail("initializer " + quote(name) +
           ": expected raw bytes (raw_data) for state of more than one element");
    constant.splat = firstNumber(*constant.value);
  }
  constant.value.reset();
  if (!constant.initializer)
    constant.initializer = name.str();
}

namespace {
class Carrier {
public:
  Carrier(Model &model, llvm::ArrayRef<CarriedPair> carry, llvm::ArrayRef<std::string> zeros)
      : model(model), carry(carry), zeros(zeros) {
    for (const pb::ValueInfoProto &output : model.proto.graph().output())
      outputs.insert(output.name());
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      inputs[input.name()] = &input;
    for (auto [index, entry] : llvm::enumerate(model.constants)) {
      constants[entry.first] = index;
      inputs.insert({entry.first, nullptr});
    }
  }

  void run() {
    for (const CarriedPair &pair : carry)
      pairAll(pair);
    if (!problems.empty())
      fail("--carry: expected pairs of an input and an output of the model", std::move(problems));
    for (auto &[input, output] : pairs)
      enter(input, output.str());
    checkZeros();
  }

private:
  void pairAll(const CarriedPair &pair) {
    bool matched = false;
    for (const auto &[input, info] : inputs) {
      std::optional<StringRef> text = match(pair.input, input);
      if (!text)
        continue;
      std::string output = substitute(pair.output, *text);
      // A pattern takes the inputs that have a partner and leaves the data alone.
      if (pair.isPattern() && !outputs.contains(output))
        continue;
      matched = true;
      add(input, output);
    }
    if (!matched)
      problems.push_back(quote(pair.input) + " = " + quote(pair.output) +
                         (pair.isPattern() ? " matches no input that has such an output"
                                           : ": the model has no such input"));
  }

  void add(StringRef input, StringRef output) {
    auto known = outputs.find(output);
    if (known == outputs.end())
      return problems.push_back("input " + quote(input) + ": the model has no output " +
                                quote(output));
    if (auto it = pairs.find(input); it != pairs.end()) {
      if (it->second != output)
        problems.push_back("input " + quote(input) + " has two outputs: " + quote(it->second) +
                           " and " + quote(output));
      return;
    }
    if (!taken.insert(output).second)
      return problems.push_back("output " + quote(output) + " has two inputs; one of them is " +
                                quote(input));
    pairs[input] = known->getKey();
  }

  bool isZero(StringRef name) {
    bool found = false;
    for (auto [pattern, isUsed] : llvm::zip_equal(zeros, zeroUsed))
      if (matchesGlob(pattern, name))
        isUsed = found = true;
    return found;
  }

  static bool matchesGlob(StringRef pattern, StringRef name) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob)
      fail("--zeros=" + pattern + ": " + llvm::toString(glob.takeError()));
    return glob->match(name);
  }

  /// Enters the input `name` into the model's constants as a tensor whose value no one may fold.
  void enter(StringRef name, std::string output) {
    auto known = constants.find(name);
    if (known == constants.end()) {
      Constant constant;
      const pb::TypeProto::Tensor &type = inputs.lookup(name)->type().tensor_type();
      constant.type = type.elem_type();
      for (const auto &dim : type.shape().dim()) {
        if (!dim.has_dim_value())
          fail("carried input " + quote(name) + ": expected a static shape");
        constant.dims.push_back(dim.dim_value());
      }
      constant.elements = countElements(constant.type, constant.dims, "input " + quote(name));
      constant.isRequired = !isZero(name);
      if (!constant.isRequired)
        constant.splat = 0.0;
      model.constants.emplace_back(name.str(), std::move(constant));
    } else {
      makeState(model.constants[known->second].second, name);
    }
    model.record.updates.emplace_back(name.str(), std::move(output));
  }

  void checkZeros() {
    for (auto [pattern, isUsed] : llvm::zip_equal(zeros, zeroUsed))
      if (!isUsed)
        fail("--zeros=" + pattern +
             ": matches no carried input without an initializer; expected the name or a pattern "
             "of one");
  }

  Model &model;
  llvm::ArrayRef<CarriedPair> carry;
  llvm::ArrayRef<std::string> zeros;
  /// Inputs and initializers in the model's order, with the declaration of inputs.
  llvm::MapVector<StringRef, const pb::ValueInfoProto *> inputs;
  llvm::StringSet<> outputs, taken;
  llvm::StringMap<size_t> constants;
  llvm::MapVector<StringRef, StringRef> pairs;
  std::vector<std::string> problems;
  std::vector<char> zeroUsed = std::vector<char>(zeros.size());
};
} // namespace

void carryState(Model &model, llvm::ArrayRef<CarriedPair> carry,
                llvm::ArrayRef<std::string> zeros) {
  Carrier(model, carry, zeros).run();
}

} // namespace importer
} // namespace zero
