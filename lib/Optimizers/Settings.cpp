//===- Settings.cpp - values of an optimizer's hyperparameters ------------===//

#include "Optimizers.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace zero {

std::string OptimizerOptions::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const OptimizerFlag &flag : optimizerFlags()) {
    StringRef separator = text.empty() ? "" : " ";
    if (auto word = words.find(flag.name.str()); word != words.end())
      os << separator << flag.name << "=" << word->second;
    auto it = given.find(flag.name.str());
    if (it == given.end() || (flag.isSwitch && it->second.front() == 0))
      continue;
    os << separator << flag.name;
    StringRef before = "=";
    for (double value : flag.isSwitch ? ArrayRef<double>() : ArrayRef<double>(it->second)) {
      os << before << llvm::format("%.17g", value);
      before = ",";
    }
  }
  return text;
}

std::string OptimizerOptions::parse(StringRef text) {
  SmallVector<StringRef> settings;
  llvm::SplitString(text, settings);
  for (StringRef setting : settings) {
    auto [flag, value] = setting.split('=');
    if (const OptimizerFlag *known = findOptimizerFlag(flag); known && known->isWord) {
      words[flag.str()] = value.str();
      continue;
    }
    SmallVector<double, 2> numbers;
    if (!setting.contains('='))
      numbers.push_back(1);
    else
      for (StringRef part : llvm::split(value, ','))
        if (!parseDouble(part, numbers.emplace_back()))
          return (flag + ": expected numbers, got '" + value + "'").str();
    given[flag.str()] = std::move(numbers);
  }
  return "";
}

static StringRef expectedOf(Range range) {
  switch (range) {
  case Range::Switch:
    return "nothing or 1";
  case Range::Any:
    return "a finite number";
  case Range::NotNegative:
    return "a finite number >= 0";
  case Range::Positive:
    return "a finite number > 0";
  case Range::NotPositive:
    return "a finite number <= 0";
  case Range::BelowOne:
    return "numbers in [0, 1)";
  case Range::Count:
    return "a whole number >= 1";
  case Range::Word:
    break;
  }
  llvm_unreachable("a range without a text");
}

static bool isWithinRange(double value, Range range) {
  if (!std::isfinite(value))
    return false;
  switch (range) {
  case Range::Switch:
    return value == 0 || value == 1;
  case Range::Any:
    return true;
  case Range::NotNegative:
    return value >= 0;
  case Range::Positive:
    return value > 0;
  case Range::NotPositive:
    return value <= 0;
  case Range::BelowOne:
    return value >= 0 && value < 1;
  case Range::Count:
    return value >= 1 && value == std::floor(value);
  case Range::Word:
    break;
  }
  llvm_unreachable("a range without a rule");
}

/// Returns an error message for the values of one flag, or an empty string.
static std::string checkValues(const Hyperparameter &own, ArrayRef<double> values) {
  size_t expected = own.isSwitch() ? 1 : own.defaults.size();
  if (values.size() != expected)
    return llvm::formatv("{0}: expected {1}, got {2}", own.flag,
                         expected == 1   ? "one number"
                         : expected == 2 ? "two numbers"
                                         : "three numbers",
                         values.size());
  for (double value : values)
    if (!isWithinRange(value, own.range))
      return llvm::formatv("{0}: expected {1}, got {2}", own.flag, expectedOf(own.range),
                           number(value));
  return "";
}

static bool isWordOf(const Hyperparameter &own, StringRef word) {
  return llvm::is_contained(own.words, word);
}

std::string OptimizerOptions::check() const {
  const OptimizerDefinition *definition = findOptimizer(name);
  if (!definition)
    return "optimizer: unknown optimizer '" + name + "', expected " + optimizerNames();
  auto flags = llvm::to_vector(llvm::make_first_range(given));
  llvm::append_range(flags, llvm::make_first_range(words));
  for (const std::string &flag : flags)
    if (!definition->find(flag))
      return flag + ": has no effect with " + definition->name.str() + ", which has " +
             definition->flags();
  for (const Hyperparameter &own : definition->hyperparameters) {
    if (auto it = given.find(own.flag.str()); it != given.end())
      if (std::string wrong = checkValues(own, it->second); !wrong.empty())
        return wrong;
    if (auto it = words.find(own.flag.str()); it != words.end() && !isWordOf(own, it->second))
      return own.flag.str() + ": expected " + listWords(own.words) + ", got '" + it->second + "'";
  }
  return definition->check ? definition->check(Settings(*this)) : "";
}

Settings::Settings(const OptimizerOptions &options) : defined(findOptimizer(options.name)) {
  for (const Hyperparameter &own : defined->hyperparameters) {
    auto it = options.given.find(own.flag.str());
    if (own.isWord()) {
      auto word = options.words.find(own.flag.str());
      words[own.flag] = word == options.words.end() ? own.words.front().str() : word->second;
    } else if (it != options.given.end())
      values[own.flag] = it->second;
    else if (own.isSwitch())
      values[own.flag] = {0.0};
    else
      values[own.flag] = own.defaults;
  }
}

StringRef Settings::word(StringRef flag) const {
  auto it = words.find(flag);
  return it == words.end() ? StringRef() : StringRef(it->second);
}

std::string Settings::describe() const {
  std::string text = defined->name.str() + "(", before;
  for (const Hyperparameter &own : defined->hyperparameters) {
    if (own.isSwitch() && !isOn(own.flag))
      continue;
    text += before + own.key();
    if (own.isWord())
      text += "=" + word(own.flag).str();
    else if (own.isNegation)
      text += "=false";
    else if (!own.isSwitch())
      text += "=" + llvm::join(llvm::map_range(numbers(own.flag), zero::number), ",");
    before = " ";
  }
  return text + ")";
}

} // namespace zero
