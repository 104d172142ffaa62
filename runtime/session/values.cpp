//===- values.cpp - read values of a session ------------------------------===//

#include "runtime/session/values.h"

#include "runtime/support/checked.h"

namespace zero::rt {

Status checkRange(const std::string &name, uint64_t size, const ValueRange &range) {
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  if (range.isWhole && range.bytes != size)
    return fail(ZERO_RT_INVALID_ARGUMENT, "'%s': expected a buffer of %llu bytes, got %llu",
                escape(name).c_str(), number(size), number(range.bytes));
  if (!isWithin(range.offset, range.bytes, size))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "'%s': expected a range of its %llu bytes, got %llu bytes "
                "from byte %llu on",
                escape(name).c_str(), number(size), number(range.bytes), number(range.offset));
  return {};
}

Status notFound(const char *what, const std::string &name) {
  return fail(ZERO_RT_NOT_FOUND, "no %s '%s'", what, escape(name).c_str());
}

} // namespace zero::rt
