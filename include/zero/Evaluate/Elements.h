//===- Elements.h - functions of elements -----------------------*- C++ -*-===//
// A function of numbers is written once, for Wide and double: "[](auto a, auto b) { return a + b;
// }".
//===----------------------------------------------------------------------===//

#ifndef ZERO_EVALUATE_ELEMENTS_H
#define ZERO_EVALUATE_ELEMENTS_H

#include "zero/Evaluate/Evaluator.h"

#include <type_traits>

namespace zero::evaluate {

inline constexpr auto kSum = [](auto a, auto b) { return a + b; };
inline constexpr auto kDifference = [](auto a, auto b) { return a - b; };
inline constexpr auto kLeast = [](auto a, auto b) { return b < a ? b : a; };
inline constexpr auto kMost = [](auto a, auto b) { return a < b ? b : a; };
/// Of the lowest bits, so that no product is too large.
inline constexpr struct {
  double operator()(double a, double b) const { return a * b; }
  Wide operator()(Wide a, Wide b) const {
    return Wide(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
  }
} kProduct;

/// `function` of one operand, or applied to all operands from the left.
template <auto function, typename N>
int64_t applyTo(Element &e) {
  auto number = [&](unsigned operand) -> N {
    if constexpr (std::is_same_v<N, double>)
      return e.asDouble(operand);
    else
      return e.asWide(operand);
  };
  if constexpr (std::is_invocable_v<decltype(function), N>) {
    return e.result(N(function(number(0))));
  } else if constexpr (std::is_same_v<decltype(function(N(), N())), bool>) {
    return e.x.size() == 2 && function(number(0), number(1));
  } else {
    N value = number(0);
    for (unsigned operand = 1; operand < e.x.size(); ++operand)
      value = function(value, number(operand));
    return e.result(value);
  }
}

template <auto function>
constexpr Evaluator ofIntegers() {
  return {.element = applyTo<function, Wide>, .floats = false};
}

template <auto function>
constexpr Evaluator ofFloats() {
  return {.element = applyTo<function, double>, .integers = false};
}

template <auto function>
constexpr Evaluator ofNumbers() {
  return {.element = [](Element &e) {
    return e.from.isFloat() ? applyTo<function, double>(e) : applyTo<function, Wide>(e);
  }};
}

} // namespace zero::evaluate

#endif // ZERO_EVALUATE_ELEMENTS_H
