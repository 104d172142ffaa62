//===- json_writer.cpp - a JSON writer ------------------------------------===//

#include "runtime/support/json_writer.h"

#include "runtime/support/status.h"

#include <cmath>
#include <utility>

namespace zero::rt {

void JsonWriter::breakLine(size_t depth) {
  written += '\n';
  if (style == Spaced)
    written.append(2 * depth, ' ');
}

/// Writes the separator between the last member and the next.
void JsonWriter::separate() {
  if (isNamed || levels.empty()) {
    isNamed = false;
    return;
  }
  Level &level = levels.back();
  if (!level.isEmpty)
    written += style == Spaced && level.layout == InLine ? ", " : ",";
  if (level.layout == Lines)
    breakLine(levels.size());
  level.isEmpty = false;
}

void JsonWriter::raw(std::string_view text) {
  separate();
  written += text;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  value(name);
  written += style == Spaced ? ": " : ":";
  isNamed = true;
  return *this;
}

void JsonWriter::value(std::string_view text) { raw('"' + escape(std::string(text)) + '"'); }

void JsonWriter::value(double number) {
  raw(std::isfinite(number) ? format("%.9g", number) : "null");
}

void JsonWriter::fixed(double number, int digits) {
  raw(std::isfinite(number) ? format("%.*f", digits, number) : "null");
}

void JsonWriter::begin(char bracket, Layout layout) {
  raw({&bracket, 1});
  levels.push_back({bracket == '{' ? '}' : ']', layout});
}

void JsonWriter::end() {
  const Level level = levels.back();
  levels.pop_back();
  if (level.layout == Lines && !level.isEmpty)
    breakLine(levels.size());
  written += level.close;
}

std::string JsonWriter::take() { return std::exchange(written, {}); }

} // namespace zero::rt
