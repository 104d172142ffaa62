//===- ConfigBlock.cpp - typed access to an object of JSON ----------------===//

#include "ConfigBlock.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace zero {

std::string exactNumber(double value) {
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    text.clear();
    raw_string_ostream(text) << format("%.*g", digits, value);
    double back;
    if (parseReal(text, back) && back == value)
      break;
  }
  return text;
}

/// Names and values come from a file: what cannot be printed is escaped.
static std::string escape(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  for (char c : text.take_front(80)) {
    if (isPrint(c))
      os << c;
    else
      os << format("\\x%02x", static_cast<unsigned char>(c));
  }
  return escaped + (text.size() > 80 ? "..." : "");
}

static std::string showValue(const json::Value &value) {
  if (auto text = value.getAsString())
    return "'" + escape(*text) + "'";
  if (value.getAsInteger() || value.kind() != json::Value::Number)
    return escape(formatv("{0}", value).str());
  return exactNumber(*value.getAsNumber());
}

std::string ConfigBlock::pathOf(StringRef key) const {
  return path.empty() ? escape(key) : path + "." + escape(key);
}

std::string ConfigBlock::show(StringRef key) const {
  const json::Value *value = object.get(key);
  return value ? showValue(*value) : "none";
}

void ConfigBlock::refuse(StringRef key, const Twine &expected) {
  config.fail(pathOf(key) + ": expected " + expected + ", got " + show(key));
}

const json::Value *ConfigBlock::find(StringRef key) {
  known.push_back(key.str());
  const json::Value *value = object.get(key);
  if (!value || value->getAsNull())
    return nullptr;
  if (!value->getAsObject())
    config.addRead(pathOf(key), show(key));
  if (!isAuto(key))
    return value;
  config.addAuto(pathOf(key));
  return nullptr;
}

template <typename Get>
auto ConfigBlock::read(StringRef key, const char *what, Get get) {
  const json::Value *value = find(key);
  auto read = value ? get(*value) : std::nullopt;
  if (value && !read)
    refuse(key, what);
  return read;
}

std::optional<bool> ConfigBlock::readBool(StringRef key) {
  return read(key, "true or false", [](const json::Value &value) { return value.getAsBoolean(); });
}

std::optional<double> ConfigBlock::readNumber(StringRef key) {
  return read(key, "a number", [](const json::Value &value) { return value.getAsNumber(); });
}

std::optional<uint64_t> ConfigBlock::readCount(StringRef key) {
  return read(key, "a whole number", [](const json::Value &value) -> std::optional<uint64_t> {
    // Above 2^53 a double is not an exact count.
    std::optional<double> number = value.getAsNumber();
    if (!number || !(*number >= 0 && *number <= 9007199254740992.0) ||
        *number != std::floor(*number))
      return std::nullopt;
    return static_cast<uint64_t>(*number);
  });
}

std::optional<std::string> ConfigBlock::readWord(StringRef key) {
  return read(key, "a string", [](const json::Value &value) -> std::optional<std::string> {
    std::optional<StringRef> text = value.getAsString();
    return text ? std::optional(text->str()) : std::nullopt;
  });
}

std::optional<std::string> ConfigBlock::readPair(StringRef key) {
  return read(key, "a list of two numbers",
              [](const json::Value &value) -> std::optional<std::string> {
                const json::Array *pair = value.getAsArray();
                if (!pair || pair->size() != 2)
                  return std::nullopt;
                auto first = (*pair)[0].getAsNumber(), second = (*pair)[1].getAsNumber();
                if (!first || !second)
                  return std::nullopt;
                return exactNumber(*first) + "," + exactNumber(*second);
              });
}

ConfigBlock ConfigBlock::readBlock(StringRef key) {
  static const json::Object none;
  const json::Value *value = find(key);
  if (value && !value->getAsObject())
    refuse(key, "an object");
  const json::Object *found = value ? value->getAsObject() : nullptr;
  return ConfigBlock(config, found ? *found : none, pathOf(key));
}

void ConfigBlock::set(StringRef key, StringRef flag, StringRef value) {
  config.set(flag, value, pathOf(key), show(key));
}

void ConfigBlock::setNumber(StringRef key, StringRef flag) {
  if (std::optional<double> value = readNumber(key))
    set(key, flag, exactNumber(*value));
  tie(key, flag);
}

void ConfigBlock::take(StringRef key, bool isUsed) {
  const Flag &flag = config.flagOf(pathOf(key));
  std::optional<std::string> value;
  if (flag.kind != ValueKind::Integer)
    value = transformOptional(readNumber(key), exactNumber);
  else if (std::optional<uint64_t> count = readCount(key))
    value = std::to_string(*count);
  if (value && isUsed)
    set(key, flag.name, *value);
  tie(key, flag.name);
}

void ConfigBlock::ignore(StringRef keys) {
  for (StringRef key : split(keys, ' ')) {
    known.push_back(key.str());
    if (const json::Value *value = object.get(key); value && !value->getAsNull())
      config.addIdle(pathOf(key));
  }
}

void ConfigBlock::expect(StringRef key, ArrayRef<StringRef> neutral, StringRef reason) {
  known.push_back(key.str());
  const json::Value *value = object.get(key);
  if (value && !value->getAsNull() && !isAuto(key) &&
      !is_contained(neutral, StringRef(formatv("{0}", *value).str())))
    refuse(key, neutral.front() + " (" + reason + ")");
}

void ConfigBlock::expectDisabled(StringRef key, StringRef reason) {
  const json::Value *value = find(key);
  if (!value)
    return;
  const json::Object *block = value->getAsObject();
  if (!block)
    return refuse(key, "an object");
  if (block->getBoolean("enabled").value_or(false))
    return config.fail(pathOf(key) + ".enabled: expected false (" + reason + "), got true");
  config.addIdle(pathOf(key));
}

void ConfigBlock::finish() {
  SmallVector<StringRef> unknown;
  for (const auto &entry : object)
    if (!is_contained(known, StringRef(entry.first)))
      unknown.push_back(entry.first);
  if (unknown.empty())
    return;
  // An object of JSON has no order; a message has one.
  StringRef first = *min_element(unknown);
  StringRef nearest = *min_element(known, [&](StringRef a, StringRef b) {
    return first.edit_distance(a) < first.edit_distance(b);
  });
  bool isNear = first.edit_distance(nearest) <= std::max<size_t>(1, first.size() / 4);
  config.fail("unknown key '" + pathOf(first) + "'" +
              (isNear ? " (did you mean '" + nearest.str() + "'?)" : ""));
}

} // namespace zero
