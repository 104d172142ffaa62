//===- host_list.cpp - lists of hosts as Slurm writes them ----------------===//

#include "runtime/processes/host_list.h"

#include <algorithm>

namespace zero::rt {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static bool isNamePart(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

/// Moves the first number of the ranges at the start of `list`, "003-005,8]...", to `host`.
static bool takeFirstNumber(std::string_view &list, std::string &host) {
  const size_t end = list.find(']');
  const size_t digits = std::find_if_not(list.begin(), list.end(), isDigit) - list.begin();
  if (end == std::string_view::npos || digits == 0)
    return false;
  const auto isRange = [](char c) { return isDigit(c) || c == '-' || c == ','; };
  if (!std::all_of(list.begin(), list.begin() + end, isRange))
    return false;
  host += list.substr(0, digits);
  list.remove_prefix(end + 1);
  return true;
}

Status firstHost(std::string_view list, std::string &host) {
  const std::string whole(list.substr(0, 200)); // enough for an error
  Status malformed = fail(ZERO_RT_INVALID_ARGUMENT,
                          "expected a list of hosts such as 'node[03-05,8],login', got '%s'",
                          escape(whole).c_str());
  host.clear();
  while (!list.empty() && list.front() != ',') {
    const char c = list.front();
    list.remove_prefix(1);
    if (c == '[' ? !takeFirstNumber(list, host) : !isNamePart(c))
      return malformed;
    if (c != '[')
      host += c;
  }
  return host.empty() || host.size() > 255 ? malformed : Status();
}

} // namespace zero::rt
