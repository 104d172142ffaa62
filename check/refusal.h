//===- refusal.h - reasons why a proof fails --------------------*- C++ -*-===//

#ifndef CHECK_REFUSAL_H
#define CHECK_REFUSAL_H

#include <concepts>
#include <stdexcept>
#include <string>

namespace zero::check {

/// Why the checker does not accept a program. It is thrown where the reason is found.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const std::string &message) {
  if (!condition)
    throw Refusal(message);
}

/// The same with a message that is made when it is needed, for what is asked often.
void require(bool condition, std::invocable auto message) {
  if (!condition)
    throw Refusal(message());
}

} // namespace zero::check

#endif // CHECK_REFUSAL_H
