//===- flags.cpp - setters of flags ---------------------------------------===//

#include "flags.h"

#include "runtime/support/checked.h"

using namespace zero::rt;

namespace zero::run {

Status expected(const char *what, const std::string &got) {
  return fail(ZERO_RT_INVALID_ARGUMENT, "expected %s, got '%s'", what, escape(got).c_str());
}

Setter toText(std::string Options::*field) {
  return [field](Options &options, const std::string &text) {
    options.*field = text;
    return text.empty() ? expected("a file", text) : Status();
  };
}

Status parseCount(const std::string &text, uint64_t &count) {
  return parseInteger(text, count) ? Status() : expected("a whole number", text);
}

Status parseNumber(const std::string &text, double &number) {
  return parseReal(text, number) ? Status() : expected("a number", text);
}

Setter toCount(std::optional<uint64_t> Options::*field) {
  return [field](Options &options, const std::string &text) {
    return parseCount(text, (options.*field).emplace());
  };
}

Setter toInt(int zero_rt_session_options::*field) {
  return [field](Options &options, const std::string &text) {
    uint64_t count;
    ZERO_RT_TRY(parseCount(text, count));
    if (count > 1024)
      return expected("at most 1024", text);
    options.session.*field = static_cast<int>(count);
    return Status();
  };
}

Setter toSwitch(int zero_rt_session_options::*field) {
  return [field](Options &options, const std::string &) {
    options.session.*field = 1;
    return Status();
  };
}

Setter toSwitch(bool Options::*field) {
  return [field](Options &options, const std::string &) {
    options.*field = true;
    return Status();
  };
}

} // namespace zero::run
