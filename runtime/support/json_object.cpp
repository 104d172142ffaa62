//===- json_object.cpp - the members of a JSON object ---------------------===//

#include "runtime/support/json_object.h"

#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"
#include "runtime/support/json_writer.h"

namespace zero::rt {

static constexpr char kSpaces[] = " \t\n\r";

bool JsonObject::parse(std::string text, JsonObject &object) {
  JsonObject made;
  made.whole = std::move(text);
  JsonReader json(made.whole);
  const bool isObject = json.takeObject([&](const std::string &key) {
    const size_t begin = made.whole.find_first_not_of(kSpaces, json.position());
    if (!json.skipValue(JsonReader::kDeepest - 1))
      return false;
    made.last = json.position();
    made.ranges[key] = {begin, made.last};
    return true;
  });
  if (!isObject || !json.isAtEnd())
    return false;
  const size_t brace = made.whole.find('{');
  made.space = {brace + 1, made.whole.find_first_not_of(kSpaces, brace + 1)};
  if (made.ranges.empty())
    made.space.end = made.last = brace + 1;
  object = std::move(made);
  return true;
}

std::string_view JsonObject::find(const std::string &key) const {
  auto it = ranges.find(key);
  if (it == ranges.end())
    return {};
  return std::string_view(whole).substr(it->second.begin, it->second.end - it->second.begin);
}

std::string JsonObject::findString(const std::string &key) const {
  std::string value;
  JsonReader json(find(key));
  return json.takeString(value) ? value : std::string();
}

JsonObject JsonObject::findObject(const std::string &key) const {
  JsonObject object;
  parse(std::string(find(key)), object);
  return object;
}

std::vector<std::string_view> JsonObject::findList(const std::string &key) const {
  const std::string_view text = find(key);
  std::vector<std::string_view> elements;
  JsonReader json(text);
  json.takeList([&] {
    const size_t begin = text.find_first_not_of(kSpaces, json.position());
    if (!json.skipValue())
      return false;
    elements.push_back(text.substr(begin, json.position() - begin));
    return true;
  });
  return elements;
}

std::optional<uint64_t> JsonObject::findInteger(const std::string &key) const {
  uint64_t value;
  return parseInteger(find(key), value) ? std::optional(value) : std::nullopt;
}

std::optional<double> JsonObject::findNumber(const std::string &key) const {
  double value;
  return parseReal(find(key), value) ? std::optional(value) : std::nullopt;
}

std::string JsonObject::with(const std::string &key, const std::string &value) const {
  std::string made = whole;
  if (auto it = ranges.find(key); it != ranges.end())
    return made.replace(it->second.begin, it->second.end - it->second.begin, value);
  JsonWriter name;
  name.value(key);
  return made.insert(last, (ranges.empty() ? "" : ",") +
                               whole.substr(space.begin, space.end - space.begin) + name.text() +
                               ": " + value);
}

} // namespace zero::rt
