//===- PriceRows.cpp - rows of the price table as command lines -----------===//

#include "PriceRows.h"

#include "CommandLine.h"

using namespace mlir;

namespace zero {

/// Flags that describe the machine, which every row is simulated on.
static bool isOfMachine(StringRef name) { return name == "machine" || name == "profile"; }

/// Flags about adapters, which hold in the rows that have some.
static bool isOfAdapters(StringRef name) {
  const PhaseOptions options;
  return llvm::any_of(options.adapters.settings(),
                      [&](const auto &setting) { return name == setting.first; });
}

std::vector<FlagWord> PriceRows::wordsOf(const prices::Row &row) const {
  std::vector<FlagWord> words;
  for (const FlagWord &word : common)
    if (row.hasAdapters || !isOfAdapters(word.first))
      words.push_back(word);
  for (const auto &[name, value] : row.settings)
    words.emplace_back(name, "--" + name + "=" + value);
  return words;
}

/// Reads `words` into `options`, after those that have no effect are left out. Returns an error
/// message, or an empty string.
std::string PriceRows::readWords(std::vector<FlagWord> &words, CompilerOptions &options) {
  std::vector<std::string> line{model, "--plan-only"};
  for (const auto &[name, word] : words)
    line.push_back(word);
  bool isDone = false;
  return readOptions(line, options, isDone);
}

PriceAttempt PriceRows::read(const prices::Row &row) {
  PriceAttempt attempt;
  attempt.priced.row = row;
  std::vector<FlagWord> words = wordsOf(row);
  for (;;) {
    attempt.options = std::make_unique<CompilerOptions>();
    attempt.priced.reason = readWords(words, *attempt.options);
    const PhaseOptions &phases = attempt.options->phases;
    const size_t before = words.size();
    if (!attempt.priced.reason.empty())
      llvm::erase_if(words, [&](const FlagWord &word) {
        const std::string idle = phases.idleWith(word.first);
        if (idle.empty() || !llvm::is_contained(common, word))
          return false;
        unused.emplace(word.first, word.second + " has no effect with " + idle);
        return true;
      });
    if (words.size() == before)
      break;
  }
  for (const auto &[name, word] : words) {
    used.insert(name);
    attempt.priced.flags.push_back(word);
  }
  if (!attempt.priced.reason.empty())
    attempt.options = nullptr;
  return attempt;
}

std::string PriceRows::checkUsed() const {
  for (const auto &[name, why] : unused)
    if (!used.contains(name) && !isOfMachine(name))
      return why;
  return "";
}

} // namespace zero
