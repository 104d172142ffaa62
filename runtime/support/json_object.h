//===- json_object.h - the members of a JSON object -------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_JSON_OBJECT_H
#define RUNTIME_SUPPORT_JSON_OBJECT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zero::rt {

/// A JSON object as the texts of its members, for files that are read for a few keys and written
/// again with the rest as it was.
class JsonObject {
public:
  /// Fails if `text` is no JSON object. Of a key that occurs twice, the last value counts.
  static bool parse(std::string text, JsonObject &object);

  const std::string &text() const { return whole; }
  bool has(const std::string &key) const { return ranges.contains(key); }
  /// The text of the value of `key`; empty if there is none.
  std::string_view find(const std::string &key) const;
  /// The value of `key` if it is a string; else empty.
  std::string findString(const std::string &key) const;

  /// The value of `key` if it is an object; else an empty one.
  JsonObject findObject(const std::string &key) const;
  /// The texts of the elements of the value of `key` if it is a list; else none.
  std::vector<std::string_view> findList(const std::string &key) const;
  /// The value of `key` if it is a number that is whole, and not negative, or any; else none.
  std::optional<uint64_t> findInteger(const std::string &key) const;
  std::optional<double> findNumber(const std::string &key) const;

  /// The text with `value`, a JSON text, as the value of `key`, which is appended where it is
  /// missing, on a line of its own if the first key has one.
  std::string with(const std::string &key, const std::string &value) const;

private:
  struct Range {
    size_t begin, end;
  };
  std::string whole;
  std::map<std::string, Range> ranges;
  Range space{};   ///< between the brace and the first key
  size_t last = 0; ///< the end of the last value
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_JSON_OBJECT_H
