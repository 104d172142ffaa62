//===- ParameterGroup.cpp - parse parameter groups ------------------------===//

#include "Optimizers.h"

#include "runtime/support/checked.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;

namespace zero {

static constexpr StringLiteral kScale = "lr-scale";

/// Sets the value of a key. Returns what was expected, or an empty string.
using Set = std::string (*)(StringRef value, ParameterGroup &group);

static std::string setNumber(StringRef value, double &number) {
  return parseReal(value, number) && number >= 0 ? "" : "a number >= 0";
}

static std::string setCount(StringRef value, uint64_t &count) {
  return parseInteger(std::string_view(value), count) ? "" : "an integer >= 0";
}

template <typename T>
static std::string setWord(StringRef value, T &word) {
  if (std::optional<T> found = WordsOf<T>::parse(value)) {
    word = *found;
    return "";
  }
  return listWords(WordsOf<T>::words());
}

static ScheduleOptions &scheduleOf(ParameterGroup &group) {
  return group.schedule ? *group.schedule : group.schedule.emplace();
}

/// The keys. Those of a schedule give the group its own, which has nothing of that of the program.
static constexpr std::pair<StringLiteral, Set> kKeys[] = {
    {kWeightDecay,
     [](StringRef value, ParameterGroup &group) {
       return setNumber(value, group.weightDecay.emplace());
     }},
    {kScale, [](StringRef value,
                ParameterGroup &group) { return setNumber(value, group.learningRateScale); }},
    {"lr-schedule",
     [](StringRef value, ParameterGroup &group) { return setWord(value, scheduleOf(group).kind); }},
    {"warmup-steps",
     [](StringRef value, ParameterGroup &group) {
       return setCount(value, scheduleOf(group).warmupSteps);
     }},
    {"warmup-form",
     [](StringRef value, ParameterGroup &group) {
       return setWord(value, scheduleOf(group).warmupForm);
     }},
    {"warmup-ratio",
     [](StringRef value, ParameterGroup &group) {
       return setNumber(value, scheduleOf(group).warmupRatio);
     }},
    {"total-steps",
     [](StringRef value, ParameterGroup &group) {
       return setCount(value, scheduleOf(group).totalSteps);
     }},
    {"min-lr-ratio",
     [](StringRef value, ParameterGroup &group) {
       return setNumber(value, scheduleOf(group).minRatio);
     }},
    {"lr-power", [](StringRef value,
                    ParameterGroup &group) { return setNumber(value, scheduleOf(group).power); }},
    {"lr-cycles", [](StringRef value,
                     ParameterGroup &group) { return setCount(value, scheduleOf(group).cycles); }},
    {"decay-steps",
     [](StringRef value, ParameterGroup &group) {
       return setCount(value, scheduleOf(group).decaySteps);
     }},
    {"decay-form",
     [](StringRef value, ParameterGroup &group) {
       return setWord(value, scheduleOf(group).decayForm);
     }},
};

/// The end of the pattern. A name may contain colons, but none before a key.
static size_t findFirstKey(StringRef text) {
  size_t first = StringRef::npos;
  for (const auto &[key, set] : kKeys)
    first = std::min(first, text.find((":" + key + "=").str()));
  return first;
}

/// Reads "key=value" into `group`. Returns an error message, or an empty string.
static std::string readSetting(StringRef setting, ParameterGroup &group,
                               SmallVectorImpl<StringRef> &given) {
  const auto [key, value] = setting.split('=');
  const auto *found = llvm::find_if(kKeys, [&](const auto &each) { return each.first == key; });
  if (found == std::end(kKeys)) {
    auto keys = llvm::map_range(kKeys, [](const auto &each) { return each.first.str(); });
    return "expected " + listWords(keys) + ", '=' and a value, got '" + setting.str() + "'";
  }
  if (llvm::is_contained(given, key))
    return ("'" + key + "' is given twice").str();
  given.push_back(key);
  const std::string expected = found->second(value, group);
  return expected.empty() ? "" : (key + ": expected " + expected + ", got '" + value + "'").str();
}

std::optional<ParameterGroup> parseParameterGroup(StringRef text, std::string &error) {
  size_t end = findFirstKey(text);
  if (end == StringRef::npos || end == 0) {
    error = ("expected PATTERN:" + kWeightDecay + "=X:" + kScale +
             "=Y, one of the two, or settings of a schedule, got '" + text + "'")
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
  if (group.schedule)
    error = checkSchedule(*group.schedule);
  if (!error.empty()) {
    error = in(error);
    return std::nullopt;
  }
  return group;
}

} // namespace zero
