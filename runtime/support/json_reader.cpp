//===- json_reader.cpp - a JSON reader ------------------------------------===//

#include "runtime/support/json_reader.h"

#include "runtime/support/checked.h"

namespace zero::rt {

/// Bytes of the UTF-8 sequence that `text` begins with, which is not empty; 0 if there is none:
/// of a byte out of place, of a code point in more bytes than it needs, or beyond Unicode.
static size_t sequenceLength(std::string_view text) {
  const auto lead = uint8_t(text[0]);
  if (lead < 0x80)
    return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((uint8_t(text[i]) & 0xc0) != 0x80)
      return 0;
  const auto next = uint8_t(text[1]);
  const bool isBad = (lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
                     (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f);
  return isBad ? 0 : length;
}

static void appendUtf8(uint32_t point, std::string &value) {
  if (point < 0x80) {
    value += char(point);
    return;
  }
  const int rest = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static constexpr uint32_t kLeads[] = {0, 0xc0, 0xe0, 0xf0};
  value += char(kLeads[rest] | point >> (6 * rest));
  for (int i = rest - 1; i >= 0; --i)
    value += char(0x80 | (point >> (6 * i) & 0x3f));
}

void JsonReader::skipSpace() {
  const size_t end = text.find_first_not_of(" \t\n\r");
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
}

bool JsonReader::take(char c) {
  skipSpace();
  if (text.empty() || text.front() != c)
    return false;
  text.remove_prefix(1);
  return true;
}

bool JsonReader::takeWord(std::string_view word) {
  if (!text.starts_with(word))
    return false;
  text.remove_prefix(word.size());
  return true;
}

bool JsonReader::isAtEnd() {
  skipSpace();
  return text.empty();
}

/// Four hexadecimal digits.
bool JsonReader::takeCodeUnit(uint32_t &unit) {
  const std::string_view digits = text.substr(0, 4);
  unit = 0;
  for (char c : digits) {
    const size_t digit = std::string_view("0123456789abcdef").find(char(c | 0x20));
    if (digit == std::string_view::npos || (c < '0' || (c > '9' && c < 'A')))
      return false;
    unit = unit << 4 | uint32_t(digit);
  }
  text.remove_prefix(digits.size());
  return digits.size() == 4;
}

/// Reads the escape after a backslash. Two surrogates form one code point; a single one is an
/// error.
bool JsonReader::takeEscape(std::string &value) {
  static constexpr std::string_view kShort = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  if (text.empty())
    return false;
  const char c = text.front();
  text.remove_prefix(1);
  if (size_t at = kShort.find(c); at != std::string_view::npos) {
    value += kMeant[at];
    return true;
  }
  uint32_t point, low;
  if (c != 'u' || !takeCodeUnit(point) || (point >= 0xdc00 && point < 0xe000))
    return false;
  if (point >= 0xd800 && point < 0xdc00) {
    if (!takeWord("\\u") || !takeCodeUnit(low) || low < 0xdc00 || low > 0xdfff)
      return false;
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  }
  appendUtf8(point, value);
  return true;
}

bool JsonReader::takeString(std::string &value) {
  value.clear();
  if (!take('"'))
    return false;
  while (!text.empty() && uint8_t(text.front()) >= 0x20) {
    const char c = text.front();
    const size_t length = sequenceLength(text);
    if (length == 0)
      return false;
    if (c != '"' && c != '\\')
      value.append(text.substr(0, length));
    text.remove_prefix(length);
    if (c == '"')
      return true;
    if (c == '\\' && !takeEscape(value))
      return false;
  }
  return false;
}

bool JsonReader::takeDigits() {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end > 0;
}

bool JsonReader::takeInteger(uint64_t &value) {
  skipSpace();
  const std::string_view start = text;
  if (!takeDigits() || (!text.empty() && std::string_view(".eE").find(text.front()) != text.npos))
    return false;
  const std::string_view digits = start.substr(0, start.size() - text.size());
  return (digits.size() == 1 || digits[0] != '0') && parseInteger(digits, value);
}

bool JsonReader::skipNumber() {
  takeWord("-");
  if (!takeWord("0") && !takeDigits())
    return false;
  if (takeWord(".") && !takeDigits())
    return false;
  if (!takeWord("e") && !takeWord("E"))
    return true;
  if (!takeWord("+"))
    takeWord("-");
  return takeDigits();
}

bool JsonReader::skipValue(unsigned deepest) {
  skipSpace();
  if (text.empty())
    return false;
  std::string string;
  switch (text.front()) {
  case '{':
    return deepest > 0 && takeObject([&](const std::string &) { return skipValue(deepest - 1); });
  case '[':
    return deepest > 0 && takeList([&] { return skipValue(deepest - 1); });
  case '"':
    return takeString(string);
  case 't':
    return takeWord("true");
  case 'f':
    return takeWord("false");
  case 'n':
    return takeWord("null");
  default:
    return skipNumber();
  }
}

bool isShallowJson(std::string_view text) {
  unsigned depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      isInString = !isInString;
    else if (isInString)
      i += c == '\\';
    else if ((c == '{' || c == '[') && ++depth > JsonReader::kDeepest)
      return false;
    else if ((c == '}' || c == ']') && depth > 0)
      --depth;
  }
  return true;
}

} // namespace zero::rt
