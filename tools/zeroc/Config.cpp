//===- Config.cpp - settings from a DeepSpeed configuration ---------------===//

#include "Config.h"

#include "ConfigBlock.h"
#include "ConfigParts.h"
#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace zero {

void Config::fail(const Twine &message) {
  if (error.empty())
    error = (file + ": " + message).str();
}

/// Whether two texts say the same, as numbers where they are some.
static bool saysTheSame(StringRef a, StringRef b) {
  SmallVector<StringRef> as, bs;
  a.split(as, ',');
  b.split(bs, ',');
  return as.size() == bs.size() && llvm::equal(as, bs, [](StringRef x, StringRef y) {
           double xNumber, yNumber;
           return x == y || (parseReal(x, xNumber) && parseReal(y, yNumber) && xNumber == yNumber);
         });
}

void Config::set(StringRef flag, StringRef value, StringRef key, StringRef shown) {
  auto byHand = given.find(flag);
  if (byHand == given.end())
    settings.push_back({flag.str(), value.str(), key.str(), shown.str()});
  else if (!saysTheSame(byHand->second.value, value))
    fail(key + "=" + shown + " contradicts --" + flag + "=" + byHand->second.value);
}

const Flag &Config::flagOf(StringRef key) const {
  return *find_if(flags, [&](const Flag &flag) { return flag.deepSpeed == key; });
}

void Config::setDefault(StringRef flag, StringRef value) {
  if (!valueOf(flag))
    settings.push_back({flag.str(), value.str(), "", ""});
}

std::optional<StringRef> Config::givenValue(StringRef flag) const {
  auto byHand = given.find(flag);
  return byHand == given.end() ? std::nullopt : std::optional<StringRef>(byHand->second.value);
}

std::optional<StringRef> Config::valueOf(StringRef flag) const {
  auto setting = find_if(settings, [&](const ConfigSetting &s) { return s.flag == flag; });
  return setting == settings.end() ? givenValue(flag) : std::optional<StringRef>(setting->value);
}

/// "[3:7, byte=40]: Expected , or }" as "line 3, column 7: Expected , or }".
static std::string describe(Error parsing) {
  std::string text = toString(std::move(parsing));
  auto [place, message] = StringRef(text).split("]: ");
  auto [line, rest] = place.drop_front(1).split(':');
  return ("line " + line + ", column " + rest.split(',').first + ": " + message).str();
}

/// Python's json module writes numbers that JSON does not have, as accelerate's steps_per_print.
/// Returns `text` with these as strings, which a key that expects a number refuses.
static std::string quoteInfinite(StringRef text) {
  std::string quoted;
  for (bool isInString = false; !text.empty();) {
    size_t count = 1;
    for (StringRef word : {"-Infinity", "Infinity", "NaN"})
      if (!isInString && text.starts_with(word))
        count = word.size();
    if (count > 1) {
      quoted += ("\"" + text.take_front(count) + "\"").str();
    } else {
      count = isInString && text.front() == '\\' ? std::min<size_t>(2, text.size()) : 1;
      isInString ^= text.front() == '"';
      quoted += text.take_front(count);
    }
    text = text.drop_front(count);
  }
  return quoted;
}

std::string Config::read() {
  constexpr uint64_t kMostBytes = 1 << 20;
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return file + ": " + buffer.getError().message();
  StringRef text = (*buffer)->getBuffer();
  if (text.size() > kMostBytes)
    return file + ": expected at most " + std::to_string(kMostBytes) + " bytes, got " +
           std::to_string(text.size());
  if (!rt::isShallowJson(text))
    return file + ": expected at most " + std::to_string(rt::JsonReader::kDeepest) +
           " levels of nesting";
  Expected<json::Value> parsed = json::parse(quoteInfinite(text));
  if (!parsed)
    return file + ": " + describe(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return file + ": expected an object of settings";
  ConfigBlock top(*this, *object);
  readPrecision(*this, top);
  readZero(*this, top);
  readOptimizer(*this, top);
  readBatch(*this, top);
  readRest(*this, top);
  top.finish();
  llvm::sort(idle);
  return error;
}

} // namespace zero
