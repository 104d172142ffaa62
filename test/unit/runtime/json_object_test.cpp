//===- json_object_test.cpp - members of JSON objects ---------------------===//

#include "runtime/support/json_object.h"

#include <gtest/gtest.h>

using zero::rt::JsonObject;

namespace {

JsonObject parsed(const std::string &text) {
  JsonObject object;
  EXPECT_TRUE(JsonObject::parse(text, object)) << text;
  return object;
}

TEST(JsonObject, FindsValues) {
  const JsonObject object = parsed(R"({"a": "x\ny", "b" : -1.5e1 , "c":{"d": [1, "]", {}]},
    "n": 7, "a": "last", "empty": []})");
  EXPECT_EQ(object.find("b"), "-1.5e1");
  EXPECT_EQ(object.find("none"), "");
  EXPECT_FALSE(object.has("none"));
  EXPECT_EQ(object.findString("a"), "last");
  EXPECT_EQ(object.findString("n"), "");
  EXPECT_EQ(object.findNumber("b"), -15);
  EXPECT_EQ(object.findInteger("b"), std::nullopt);
  EXPECT_EQ(object.findInteger("n"), 7u);
  const JsonObject inner = object.findObject("c");
  EXPECT_EQ(inner.findList("d"), (std::vector<std::string_view>{"1", "\"]\"", "{}"}));
  EXPECT_TRUE(object.findList("empty").empty());
  EXPECT_TRUE(object.findList("n").empty());
  EXPECT_EQ(object.findObject("n").text(), "");
}

TEST(JsonObject, ReplacesAndAppends) {
  EXPECT_EQ(parsed(R"({"a": 1, "b": [2]})").with("a", "\"x\""), R"({"a": "x", "b": [2]})");
  EXPECT_EQ(parsed(R"({"a": 1, "a": 2})").with("a", "3"), R"({"a": 1, "a": 3})");
  EXPECT_EQ(parsed("{\n  \"a\": 1\n}\n").with("b", "2"), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
  EXPECT_EQ(parsed("{\"a\":1}").with("b\"", "2"), "{\"a\":1,\"b\\\"\": 2}");
  EXPECT_EQ(parsed(" { } ").with("b", "2"), " {\"b\": 2 } ");
}

TEST(JsonObject, RefusesOthers) {
  JsonObject object;
  for (const char *bad : {"", "[]", "1", "{", "{\"a\"}", "{\"a\": }", "{} {}", "{\"a\": 1,}"})
    EXPECT_FALSE(JsonObject::parse(bad, object)) << bad;
}

} // namespace
