//===- json_reader_test.cpp - JSON from front to back ---------------------===//

#include "runtime/support/json_reader.h"

#include <gtest/gtest.h>

using zero::rt::isShallowJson;
using zero::rt::JsonReader;

namespace {

/// Returns the string that `text` encodes, or "refused".
std::string stringIn(const std::string &text) {
  JsonReader json(text);
  std::string value;
  return json.takeString(value) && json.isAtEnd() ? value : "refused";
}

TEST(JsonReader, ResolvesStrings) {
  EXPECT_EQ(stringIn(" \"a\\n\\\"\\\\\\/\" "), "a\n\"\\/");
  EXPECT_EQ(stringIn(R"("\u0041\u00e9\u20AC\ud83d\ude00")"), "A\u00e9\u20ac\U0001f600");
  EXPECT_EQ(stringIn("\"\u00e9\u20ac\U0001f600\""), "\u00e9\u20ac\U0001f600");
  EXPECT_EQ(stringIn(std::string("\"\\u0000\"")), std::string(1, '\0'));
  for (const char *bad : {"", "a", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u12\"",
                          "\"\n\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\""})
    EXPECT_EQ(stringIn(bad), "refused") << bad;
  // Stray bytes, overlong forms, a surrogate, beyond Unicode, truncated.
  for (const char *bad : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xff"})
    EXPECT_EQ(stringIn("\"" + std::string(bad) + "\""), "refused");
}

TEST(JsonReader, TakesWholeNumbers) {
  for (uint64_t expected : {uint64_t(0), uint64_t(7), UINT64_MAX}) {
    const std::string text = " " + std::to_string(expected) + ",";
    JsonReader json(text);
    uint64_t value = 1;
    EXPECT_TRUE(json.takeInteger(value) && json.take(',') && json.isAtEnd());
    EXPECT_EQ(value, expected);
  }
  for (const char *bad : {"", "-1", "+1", "1.0", "1e3", "01", "18446744073709551616", "\"1\""}) {
    JsonReader json(bad);
    uint64_t value;
    EXPECT_FALSE(json.takeInteger(value)) << bad;
  }
}

TEST(JsonReader, SkipsValues) {
  for (const char *text : {"null", "true", "false", "0", "-0.5e+3", "12", "\"\"", "[]", "{}",
                           " [ 1 , {\"a\" : [ ] , \"b\":{}} , \"]\" ] "}) {
    JsonReader json(text);
    EXPECT_TRUE(json.skipValue() && json.isAtEnd()) << text;
  }
  for (const char *text : {"", "nul", "-", "1.", "1e", "[1,]", "[1", "{1:2}", "{\"a\"}", "[}"}) {
    JsonReader json(text);
    EXPECT_FALSE(json.skipValue()) << text;
  }
}

TEST(JsonReader, BoundsDepth) {
  auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  for (size_t levels : {64, 65, 1'000'000}) {
    const std::string text = nested(levels);
    JsonReader json(text);
    EXPECT_EQ(json.skipValue(), levels == 64);
    EXPECT_EQ(isShallowJson(text), levels == 64);
  }
  EXPECT_TRUE(isShallowJson("\"" + nested(100) + "\\\"" + nested(100) + "\""));
}

} // namespace
