//===- status.cpp - how the runtime reports failure -----------------------===//

#include "runtime/support/status.h"

#include <cstdarg>
#include <cstdio>

namespace zero::rt {

static std::string formatList(const char *pattern, va_list list) {
  va_list copy;
  va_copy(copy, list);
  int length = std::vsnprintf(nullptr, 0, pattern, copy);
  va_end(copy);
  std::string text(length > 0 ? length : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, list);
  return text;
}

std::string format(const char *pattern, ...) {
  va_list list;
  va_start(list, pattern);
  std::string text = formatList(pattern, list);
  va_end(list);
  return text;
}

Status fail(zero_rt_code code, const char *pattern, ...) {
  va_list list;
  va_start(list, pattern);
  std::string text = formatList(pattern, list);
  va_end(list);
  return Status(code, std::move(text));
}

std::string escape(const std::string &text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0u;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) { // C1 in UTF-8
      result += format("\\u%04x", next);
      ++at;
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7f) {
      result += format("\\u%04x", c);
    } else {
      result += static_cast<char>(c);
    }
  }
  return result;
}

} // namespace zero::rt
