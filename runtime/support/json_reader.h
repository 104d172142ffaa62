//===- json_reader.h - a JSON reader ----------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_JSON_READER_H
#define RUNTIME_SUPPORT_JSON_READER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace zero::rt {

/// Reads JSON of a known form in one pass and stores nothing of it, so its cost is linear in the
/// text for any contents. Every function reads the next element after spaces, and returns false if
/// it is something else; then nothing more can be read.
class JsonReader {
public:
  /// The maximum nesting of lists and objects. Real files have only a few levels.
  static constexpr unsigned kDeepest = 64;

  explicit JsonReader(std::string_view text) : text(text), whole(text.size()) {}

  /// The punctuation `c`; where it is not next nothing is lost.
  bool take(char c);
  /// A string of UTF-8, its escapes resolved.
  bool takeString(std::string &value);
  /// A number from 0 to 2^64 - 1 without sign, fraction or exponent.
  bool takeInteger(uint64_t &value);
  /// Any value, of at most `deepest` levels.
  bool skipValue(unsigned deepest = kDeepest);
  /// Whether nothing is left.
  bool isAtEnd();
  /// Bytes that were read.
  size_t position() const { return whole - text.size(); }

  /// An object, of which `body(key)` reads each value.
  template <typename Body>
  bool takeObject(Body body) {
    if (!take('{'))
      return false;
    if (take('}'))
      return true;
    std::string key;
    do {
      if (!takeString(key) || !take(':') || !body(key))
        return false;
    } while (take(','));
    return take('}');
  }

  /// A list, of which `body()` reads each value.
  template <typename Body>
  bool takeList(Body body) {
    if (!take('['))
      return false;
    if (take(']'))
      return true;
    do {
      if (!body())
        return false;
    } while (take(','));
    return take(']');
  }

private:
  void skipSpace();
  bool takeWord(std::string_view word);
  bool takeDigits();
  bool takeEscape(std::string &value);
  bool takeCodeUnit(uint32_t &unit);
  bool skipNumber();

  std::string_view text; ///< the remaining text
  size_t whole;
};

/// Whether `text` nests lists and objects at most JsonReader::kDeepest levels deep: to be asked
/// before a parser reads it that calls itself for each.
bool isShallowJson(std::string_view text);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_JSON_READER_H
