//===- checked.h - checked arithmetic on untrusted numbers ------*- C++ -*-===//
//
// Numbers of files, flags and models are read, added and multiplied by these alone, so that
// none is ever cut off or wraps round. test/tools/check_arithmetic.py finds what does it by hand.
// Of the standard library only: the compiler has it, too.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_CHECKED_H
#define RUNTIME_SUPPORT_CHECKED_H

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace zero {

/// result = a + b; false if T cannot hold that.
template <typename T>
[[nodiscard]] constexpr bool checkedAdd(T a, std::type_identity_t<T> b, T &result) {
  return !__builtin_add_overflow(a, b, &result);
}

/// result = a - b; false if T cannot hold that.
template <typename T>
[[nodiscard]] constexpr bool checkedSubtract(T a, std::type_identity_t<T> b, T &result) {
  return !__builtin_sub_overflow(a, b, &result);
}

/// result = a * b; false if T cannot hold that.
template <typename T>
[[nodiscard]] constexpr bool checkedMultiply(T a, std::type_identity_t<T> b, T &result) {
  return !__builtin_mul_overflow(a, b, &result);
}

/// `product` times all of `factors`, none negative; false if it exceeds `largest` on the way, where
/// a factor of 0 behind it does not help: memory is often taken for some of the dimensions.
template <typename T, typename Factors>
[[nodiscard]] constexpr bool checkedProduct(const Factors &factors, std::type_identity_t<T> largest,
                                            T &product) {
  for (auto factor : factors)
    if (factor < decltype(factor)(0) || __builtin_mul_overflow(product, factor, &product) ||
        product > largest)
      return false;
  return true;
}

/// Whether `bytes` from `offset` on are within `size`.
[[nodiscard]] constexpr bool isWithin(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

/// Parses all of `text` as a decimal integer that T can represent; false for anything else,
/// including spaces.
template <typename T>
[[nodiscard]] bool parseInteger(std::string_view text, T &number) {
  T read{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return false;
  number = read;
  return true;
}

/// The product of `factors`, which was checked before; the largest T, should it exceed that all the
/// same, and 0 if one is negative.
template <typename T, typename Factors>
[[nodiscard]] constexpr T saturatingProduct(const Factors &factors) {
  T product = 1;
  const T largest = std::numeric_limits<T>::max();
  for (auto factor : factors)
    if (factor < decltype(factor)(0))
      return 0;
  return checkedProduct(factors, largest, product) ? product : largest;
}

/// All of `text` as a number: "1e-3", "-0.5", "inf", "nan"; false where a double cannot hold it.
[[nodiscard]] inline bool parseDouble(std::string_view text, double &number) {
  double read = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return false;
  number = read;
  return true;
}

/// The same for a finite number.
[[nodiscard]] inline bool parseReal(std::string_view text, double &number) {
  double read = 0;
  if (!parseDouble(text, read) || !std::isfinite(read))
    return false;
  number = read;
  return true;
}

} // namespace zero

#endif // RUNTIME_SUPPORT_CHECKED_H
