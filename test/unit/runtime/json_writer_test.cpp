//===- json_writer_test.cpp - JSON from front to back ---------------------===//

#include "runtime/support/json_reader.h"
#include "runtime/support/json_writer.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace zero::rt;

namespace {

std::string write(JsonWriter::Style style, JsonWriter::Layout layout) {
  JsonWriter json(style);
  json.object(
      [&] {
        json.member("a", uint64_t(-1));
        json.key("b").array([&] {
          json.value(-1);
          json.value(true);
          json.null();
          json.object([] {});
        });
        json.member("c", "x");
      },
      layout);
  return json.take();
}

TEST(JsonWriter, SeparatesAsItsStyleAndLayoutSay) {
  EXPECT_EQ(write(JsonWriter::Compact, JsonWriter::InLine),
            R"({"a":18446744073709551615,"b":[-1,true,null,{}],"c":"x"})");
  EXPECT_EQ(write(JsonWriter::Spaced, JsonWriter::InLine),
            R"({"a": 18446744073709551615, "b": [-1, true, null, {}], "c": "x"})");
  EXPECT_EQ(write(JsonWriter::Spaced, JsonWriter::Lines),
            "{\n  \"a\": 18446744073709551615,\n  \"b\": [-1, true, null, {}],\n  \"c\": \"x\"\n}");
  EXPECT_EQ(write(JsonWriter::Compact, JsonWriter::Lines),
            "{\n\"a\":18446744073709551615,\n\"b\":[-1,true,null,{}],\n\"c\":\"x\"\n}");
}

TEST(JsonWriter, WritesNumbersThatJsonHas) {
  JsonWriter json(JsonWriter::Compact);
  json.array([&] {
    for (double number : {0.1, 1e-20, 123456789012.0, double(NAN), double(INFINITY)}) {
      json.value(number);
      json.fixed(number, 1);
    }
  });
  EXPECT_EQ(json.text(), "[0.1,0.1,1e-20,0.0,1.23456789e+11,123456789012.0,null,null,null,null]");
}

TEST(JsonWriter, WritesWhatTheReaderReads) {
  std::string hostile = "\"\\/ \xc3\xa4";
  for (char c = 1; c < 0x20; ++c)
    hostile += c;
  hostile += '\x7f';
  JsonWriter json;
  json.object([&] { json.member(hostile, hostile); });
  JsonReader reader(json.text());
  std::string name, value;
  EXPECT_TRUE(reader.takeObject([&](const std::string &key) {
    name = key;
    return reader.takeString(value);
  }));
  EXPECT_EQ(name, hostile);
  EXPECT_EQ(value, hostile);
}

TEST(JsonWriter, HandsOutALongTextInPieces) {
  JsonWriter json(JsonWriter::Compact);
  std::string whole;
  json.begin('[');
  for (int i = 0; i < 3; ++i) {
    json.value(i);
    whole += json.take();
  }
  json.end();
  EXPECT_EQ(whole + json.take(), "[0,1,2]");
}

} // namespace
