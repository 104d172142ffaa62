//===- warnings.cpp - warnings of a run -----------------------------------===//

#include "warnings.h"

#include "runtime/support/clock.h"

#include <cstdio>

namespace zero::run {

/// More are not remembered.
static constexpr size_t kMost = 20;

static std::vector<Warning> &warnings() {
  static std::vector<Warning> all;
  return all;
}

void warn(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "zero-run: warning: %s\n", text.c_str());
  std::vector<Warning> &all = warnings();
  if (all.size() == kMost)
    all.erase(all.begin());
  all.push_back({rt::unixTime(), text});
}

const std::vector<Warning> &lastWarnings() { return warnings(); }

} // namespace zero::run
