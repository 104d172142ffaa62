//===- Page.cpp - web pages of reports ------------------------------------===//

#include "zero/Page/Page.h"

namespace zero {

std::string embeddable(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (; !json.empty(); json.remove_prefix(1))
    if (json.starts_with("<")) {
      text += "\\u003c";
    } else if (json.starts_with("\xE2\x80\xA8") || json.starts_with("\xE2\x80\xA9")) {
      text += json[2] == '\xA8' ? "\\u2028" : "\\u2029";
      json.remove_prefix(2);
    } else {
      text += json.front();
    }
  return text;
}

std::string fillPage(std::string_view page, std::string_view json) {
  constexpr std::string_view mark = "{{data}}";
  std::string text(page);
  return text.replace(text.find(mark), mark.size(), json);
}

} // namespace zero
