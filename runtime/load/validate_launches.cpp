//===- validate_launches.cpp - validate launches of kernels ---------------===//

#include "runtime/load/validate_launches.h"

#include "runtime/support/checked.h"

namespace zero::rt {

/// Bytes that `launch` may write, those of its workspace included; as many as there can be where
/// they overflow.
static uint64_t writtenBytes(const proto::Launch &launch) {
  uint64_t bytes = 0;
  for (const proto::Address &argument : launch.args())
    if (argument.writes() != 0 && !checkedAdd(bytes, argument.bytes(), bytes))
      return UINT64_MAX;
  return bytes;
}

/// `length` elements fit the arguments of a launch of `kernel`.
static bool fitsLength(const proto::Kernel &kernel, const proto::Launch &launch, uint64_t length) {
  if (kernel.per_length_size() > launch.args_size() ||
      (kernel.per_length_size() == 0) != (length == 0))
    return false;
  for (int i = 0; i < kernel.per_length_size(); ++i) {
    uint64_t bytes;
    if (!checkedMultiply(kernel.per_length(i), length, bytes) || bytes > launch.args(i).bytes())
      return false;
  }
  return true;
}

Status checkIterations(const std::string &label, const proto::Kernel &kernel,
                       const proto::Launch &launch) {
  auto bad = [&](const char *what, uint64_t count) {
    return fail(ZERO_RT_BAD_FILE,
                "command '%s': kernel '%s' has %s %llu, which does not fit its arguments",
                escape(label).c_str(), escape(kernel.name()).c_str(), what,
                static_cast<unsigned long long>(count));
  };
  if (launch.length() < 0)
    return fail(ZERO_RT_BAD_FILE, "command '%s': a launch of a negative length",
                escape(label).c_str());
  const auto length = static_cast<uint64_t>(launch.length());
  if (!fitsLength(kernel, launch, length))
    return bad("a length of", length);
  // A launch without any bytes may have any number of iterations.
  const uint64_t written = writtenBytes(launch);
  return kernel.extent() > 1 && written > 0 && kernel.extent() > written
             ? bad("an extent of", kernel.extent())
             : Status();
}

} // namespace zero::rt
