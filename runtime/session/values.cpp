//===- values.cpp - read values of a session ------------------------------===//

#include "runtime/session/values.h"

namespace zero::rt {

Status checkSize(const std::string &name, uint64_t expected, uint64_t got) {
  if (expected == got)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT, "'%s': expected a buffer of %llu bytes, got %llu",
              escape(name).c_str(), static_cast<unsigned long long>(expected),
              static_cast<unsigned long long>(got));
}

Status notFound(const char *what, const std::string &name) {
  return fail(ZERO_RT_NOT_FOUND, "no %s '%s'", what, escape(name).c_str());
}

} // namespace zero::rt
