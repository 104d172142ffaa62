//===- status.h - how the runtime reports failure ---------------*- C++ -*-===//
// A code and one line of text. Exceptions do not cross library boundaries.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_STATUS_H
#define RUNTIME_SUPPORT_STATUS_H

#include "zero_rt/zero_rt.h"

#include <string>
#include <utility>

namespace zero::rt {

/// Success, or a zero_rt_code with a message: lower case, no period.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(zero_rt_code code, std::string message) : code(code), message(std::move(message)) {}

  bool ok() const { return code == ZERO_RT_OK; }
  zero_rt_code getCode() const { return code; }
  const std::string &getMessage() const { return message; }

private:
  zero_rt_code code = ZERO_RT_OK;
  std::string message;
};

/// printf into a std::string.
std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/// A failure with a printf-style message.
Status fail(zero_rt_code code, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

/// `text` with control characters, quotes and backslashes escaped: names come
/// from models and must not reach a terminal or JSON raw.
std::string escape(const std::string &text);

} // namespace zero::rt

/// Returns the status of `expression` from the enclosing function unless it is ok.
#define ZERO_RT_TRY(expression)                                                                    \
  do {                                                                                             \
    if (::zero::rt::Status tried = (expression); !tried.ok())                                      \
      return tried;                                                                                \
  } while (false)

#endif // RUNTIME_SUPPORT_STATUS_H
