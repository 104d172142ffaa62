//===- json_writer.h - a JSON writer ----------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_JSON_WRITER_H
#define RUNTIME_SUPPORT_JSON_WRITER_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zero::rt {

/// Writes one JSON value into a string, member by member. What the runtime and its tools write
/// as JSON they write with this.
class JsonWriter {
public:
  enum Style { Compact, Spaced }; ///< {"a":1,"b":2}, or {"a": 1, "b": 2}
  enum Layout { InLine, Lines };  ///< whether each member has its own line

  explicit JsonWriter(Style style = Spaced) : style(style) {}

  /// Writes the name of the next member of an object.
  JsonWriter &key(std::string_view name);

  void null() { raw("null"); }
  void value(std::string_view text);
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(const char *text) { value(std::string_view(text)); }
  void value(bool truth) { raw(truth ? "true" : "false"); }
  void value(std::integral auto number) { raw(std::to_string(number)); }
  /// Writes nine digits; null if it is not a number.
  void value(double number);
  /// Writes `digits` digits after the point; null if it is not a number.
  void fixed(double number, int digits = 0);

  void begin(char bracket, Layout layout = InLine); ///< '{' or '['
  void end();
  /// Writes an object or a list with the output of `body`.
  template <typename Body>
  void object(Body body, Layout layout = InLine) {
    begin('{', layout), body(), end();
  }
  template <typename Body>
  void array(Body body, Layout layout = InLine) {
    begin('[', layout), body(), end();
  }

  void member(std::string_view name, const auto &content) { key(name).value(content); }

  const std::string &text() const { return written; }
  /// The text that was written since the last call, for long texts.
  std::string take();

private:
  struct Level {
    char close;
    Layout layout;
    bool isEmpty = true;
  };
  void raw(std::string_view text);
  void separate();
  void breakLine(size_t depth);

  Style style;
  bool isNamed = false; ///< a key waits for its value
  std::vector<Level> levels;
  std::string written;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_JSON_WRITER_H
