//===- arithmetic.cpp - add, sub, mul, mad, fma, div, rem, min, max -------===//

#include "lanes.h"

namespace ptx {

namespace {

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
};

struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(uint64_t(a) - uint64_t(b));
    else
      return a - b;
  }
};

struct Mul {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  }
};

struct MulHigh {
  template <typename T>
  static T apply(T a, T b) {
    using Twice = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T(Twice(a) * Twice(b) >> (8 * sizeof(T)));
  }
};

/// What PTX leaves open, the division by zero, is all ones.
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (!std::is_integral_v<T>)
      return a / b;
    else if (b == 0)
      return T(-1);
    else if (std::is_signed_v<T> && b == T(-1))
      return Sub::apply(T(0), a);
    else
      return T(a / b);
  }
};

struct Rem {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0 || (std::is_signed_v<T> && b == T(-1)))
      return b == 0 ? T(-1) : T(0);
    return T(a % b);
  }
};

/// The number of two that are not both NaN; -0 is less than +0.
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) ? b : a;
      if (a == b)
        return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};

struct Max {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) ? b : a;
      if (a == b)
        return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};

/// NaN if one of two is.
template <typename Op>
struct OrNan {
  template <typename T>
  static T apply(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : Op::apply(a, b);
  }
};

struct Neg {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>)
      return Sub::apply(T(0), a);
    else
      return -a;
  }
};

struct Abs {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? Sub::apply(T(0), a) : a;
    else
      return std::abs(a);
  }
};

//===----------------------------------------------------------------------===//
// mul.wide, mad and fma
//===----------------------------------------------------------------------===//

template <typename D, typename T>
void mulWide(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);
  D values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = D(D(a[lane]) * D(b[lane]));
  warp.set(instruction.d, values);
}

template <typename Product>
struct Mad {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(Product::apply(a, b), c);
  }
};

struct MadWide {
  template <typename T, typename C>
  static C apply(T a, T b, C c) {
    return Add::apply(Mul::apply(C(a), C(b)), c);
  }
};

/// a b + c, rounded once. Products and sums of two Halfs are exact in float64.
template <typename T>
T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, Half>)
    return canonical(Half(double(a) * double(b) + double(c)));
  else
    return canonical(std::fma(a, b, c));
}

#define FUSED_LANES(name, attribute)                                                               \
  template <typename T>                                                                            \
  attribute void name(Warp &warp, const Instruction &instruction) {                                \
    const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);                        \
    const T *c = warp.at<T>(instruction.c);                                                        \
    T values[kLanes];                                                                              \
    for (uint32_t lane = 0; lane < kLanes; ++lane)                                                 \
      values[lane] = fused(a[lane], b[lane], c[lane]);                                             \
    warp.set(instruction.d, values);                                                               \
  }
FUSED_LANES(fmaLanes, )
#ifdef __x86_64__
/// With the processor's instruction instead of a function call for each thread.
FUSED_LANES(fastFma, __attribute__((target("avx2,fma"))))
#else
FUSED_LANES(fastFma, )
#endif
#undef FUSED_LANES

bool hasFastFma() {
#ifdef __x86_64__
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The assembler may contract a sum or a product without a rounding to one fma. Then its bits
/// would not be known.
void requireRounding(Decoding &decoding, Type type) {
  if (isFloat(type))
    decoding.require("rn");
}

template <typename Op>
void decodeSum(Decoding &decoding) {
  const Type type = decoding.takeType();
  requireRounding(decoding, type);
  decoding.setRun(chooseBinary<Op, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, Half,
                               HalfPair, Brain, float, double>(type));
  decoding.setOperands(type, type, 2);
}

template <template <typename, typename> class Choose>
Instruction::Run chooseWide(Type type) {
  switch (type) {
  case Type::U16:
    return Choose<uint32_t, uint16_t>::run();
  case Type::S16:
    return Choose<int32_t, int16_t>::run();
  case Type::U32:
    return Choose<uint64_t, uint32_t>::run();
  case Type::S32:
    return Choose<int64_t, int32_t>::run();
  default:
    return nullptr;
  }
}

Type twice(Type type) { return bytesOf(type) == 2 ? Type::B32 : Type::B64; }

template <typename D, typename T>
struct ChooseMulWide {
  static Instruction::Run run() { return mulWide<D, T>; }
};
template <typename D, typename T>
struct ChooseMadWide {
  static Instruction::Run run() { return ternary<D, T, D, MadWide>; }
};

void decodeMul(Decoding &decoding) {
  const Type type = decoding.takeType();
  if (isFloat(type)) {
    requireRounding(decoding, type);
    decoding.setRun(chooseBinary<Mul, Half, HalfPair, Brain, float, double>(type));
    return decoding.setOperands(type, type, 2);
  }
  if (decoding.take("wide")) {
    decoding.setRun(chooseWide<ChooseMulWide>(type));
    return decoding.setOperands(twice(type), type, 2);
  }
  if (decoding.take("hi"))
    decoding.setRun(
        chooseBinary<MulHigh, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(type));
  else if (decoding.take("lo"))
    decoding.setRun(
        chooseBinary<Mul, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(type));
  else
    decoding.fail("expected '.lo', '.hi' or '.wide'");
  decoding.setOperands(type, type, 2);
}

template <typename Product, typename... Ts>
Instruction::Run chooseMad(Type type) {
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = ternary<Ts, Ts, Ts, Mad<Product>>) : void()), ...);
  return run;
}

void decodeMad(Decoding &decoding) {
  const Type type = decoding.takeType();
  if (decoding.take("wide")) {
    decoding.setRun(chooseWide<ChooseMadWide>(type));
    decoding.expectOperands(4);
    decoding.made.d = decoding.destination(0, twice(type));
    decoding.made.a = decoding.source(1, type);
    decoding.made.b = decoding.source(2, type);
    decoding.made.c = decoding.source(3, twice(type));
    return;
  }
  if (decoding.take("hi"))
    decoding.setRun(chooseMad<MulHigh, uint32_t, int32_t, uint64_t, int64_t>(type));
  else if (decoding.take("lo"))
    decoding.setRun(chooseMad<Mul, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(type));
  else
    decoding.fail("expected '.lo', '.hi' or '.wide'");
  decoding.setOperands(type, type, 3);
}

void decodeFma(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.require("rn");
  const bool fast = hasFastFma();
  if (holds<float>(type))
    decoding.setRun(fast ? fastFma<float> : fmaLanes<float>);
  else if (holds<double>(type))
    decoding.setRun(fast ? fastFma<double> : fmaLanes<double>);
  else
    decoding.setRun(holds<Half>(type) ? fmaLanes<Half> : nullptr);
  decoding.setOperands(type, type, 3);
}

void decodeDiv(Decoding &decoding) {
  const Type type = decoding.takeType();
  requireRounding(decoding, type);
  decoding.setRun(
      chooseBinary<Div, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float, double>(
          type));
  decoding.setOperands(type, type, 2);
}

void decodeRem(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(chooseBinary<Rem, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(type));
  decoding.setOperands(type, type, 2);
}

template <typename Op>
void decodeMinMax(Decoding &decoding) {
  const Type type = decoding.takeType();
  if (decoding.take("NaN"))
    decoding.setRun(chooseBinary<OrNan<Op>, Half, HalfPair, Brain, float>(type));
  else
    decoding.setRun(chooseBinary<Op, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, Half,
                                 HalfPair, Brain, float, double>(type));
  decoding.setOperands(type, type, 2);
}

template <typename Op>
void decodeSign(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(
      chooseUnary<Op, int16_t, int32_t, int64_t, Half, HalfPair, Brain, float, double>(type));
  decoding.setOperands(type, type, 1);
}

} // namespace

void addArithmetic(Opcodes &opcodes) {
  opcodes["add"] = decodeSum<Add>;
  opcodes["sub"] = decodeSum<Sub>;
  opcodes["mul"] = decodeMul;
  opcodes["mad"] = decodeMad;
  opcodes["fma"] = decodeFma;
  opcodes["div"] = decodeDiv;
  opcodes["rem"] = decodeRem;
  opcodes["min"] = decodeMinMax<Min>;
  opcodes["max"] = decodeMinMax<Max>;
  opcodes["neg"] = decodeSign<Neg>;
  opcodes["abs"] = decodeSign<Abs>;
}

} // namespace ptx
