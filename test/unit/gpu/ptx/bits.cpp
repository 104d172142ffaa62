//===- bits.cpp - operations on bits --------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return T(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return T(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return T(a ^ b);
  }
};
struct Not {
  template <typename T>
  static T apply(T a) {
    return T(~a);
  }
};

/// Predicates are bits: one operation for all threads.
template <typename Op>
void onPredicates(Warp &warp, const Instruction &instruction) {
  warp.setPredicate(instruction.d,
                    Op::apply(warp.predicate(instruction.a), warp.predicate(instruction.b)));
}
void notOnPredicates(Warp &warp, const Instruction &instruction) {
  warp.setPredicate(instruction.d, ~warp.predicate(instruction.a));
}

template <typename Op>
void decodeLogic(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(type == Type::Pred ? onPredicates<Op>
                                     : chooseBinary<Op, uint16_t, uint32_t, uint64_t>(type));
  decoding.setOperands(type, type, 2);
}

void decodeNot(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(type == Type::Pred ? notOnPredicates
                                     : chooseUnary<Not, uint16_t, uint32_t, uint64_t>(type));
  decoding.setOperands(type, type, 1);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// Counts beyond the width shift everything out.
struct ShiftLeft {
  template <typename T>
  static T apply(T a, uint32_t count) {
    return count >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << count);
  }
};
struct ShiftRight {
  template <typename T>
  static T apply(T a, uint32_t count) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (count >= kBits)
      return std::is_signed_v<T> ? T(a >> (kBits - 1)) : T(0);
    return T(a >> count);
  }
};

template <typename T, typename Op>
void shift(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a);
  const auto *count = warp.at<uint32_t>(instruction.b);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = Op::apply(a[lane], count[lane]);
  warp.set(instruction.d, values);
}

template <typename Op, typename... Ts>
void decodeShift(Decoding &decoding) {
  const Type type = decoding.takeType();
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = shift<Ts, Op>) : void()), ...);
  decoding.setRun(run);
  decoding.expectOperands(3);
  decoding.made.d = decoding.destination(0, type);
  decoding.made.a = decoding.source(1, type);
  decoding.made.b = decoding.source(2, Type::U32);
}

/// Shifts the 64 bits b:a, and keeps the upper half (left) or the lower half.
template <bool Left, bool Wraps>
struct Funnel {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t count = Wraps ? c & 31 : std::min(c, 32u);
    const uint64_t both = uint64_t(b) << 32 | a;
    return Left ? uint32_t((count == 32 ? uint64_t(a) << 32 : both << count) >> 32)
                : uint32_t(both >> count);
  }
};

void decodeFunnel(Decoding &decoding) {
  const bool left = decoding.take("l"), wraps = decoding.take("wrap");
  decoding.require(left ? "b32" : "r");
  if (!left)
    decoding.require("b32");
  if (!wraps)
    decoding.require("clamp");
  using U = uint32_t;
  decoding.setRun(left    ? wraps ? ternary<U, U, U, Funnel<true, true>>
                                  : ternary<U, U, U, Funnel<true, false>>
                  : wraps ? ternary<U, U, U, Funnel<false, true>>
                          : ternary<U, U, U, Funnel<false, false>>);
  decoding.setOperands(Type::B32, Type::B32, 3);
}

//===----------------------------------------------------------------------===//
// Fields and bytes
//===----------------------------------------------------------------------===//

struct Population {
  template <typename T>
  static uint32_t apply(T a) {
    return uint32_t(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  static uint32_t apply(T a) {
    return uint32_t(std::countl_zero(a));
  }
};

template <typename T, typename Op>
void count(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a);
  uint32_t values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = Op::apply(a[lane]);
  warp.set(instruction.d, values);
}

template <typename Op>
void decodeCount(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(type == Type::B32   ? count<uint32_t, Op>
                  : type == Type::B64 ? count<uint64_t, Op>
                                      : nullptr);
  decoding.expectOperands(2);
  decoding.made.d = decoding.destination(0, Type::B32);
  decoding.made.a = decoding.source(1, type);
}

struct Reverse {
  template <typename T>
  static T apply(T a) {
    T reversed = 0;
    for (uint32_t bit = 0; bit < 8 * sizeof(T); ++bit)
      reversed = T(reversed << 1 | (a >> bit & 1));
    return reversed;
  }
};

void decodeReverse(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(chooseUnary<Reverse, uint32_t, uint64_t>(type));
  decoding.setOperands(type, type, 1);
}

/// c bits of a, beginning with bit b; a field with a sign is extended by its last bit, or by the
/// last bit of a where the field ends behind it.
struct ExtractField {
  template <typename T>
  static T apply(T a, uint32_t b, uint32_t c) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t first = b & 255, count = c & 255;
    const uint32_t last = std::min(first + count - 1, kBits - 1);
    const bool sign = std::is_signed_v<T> && count > 0 && (a >> last & 1);
    // How many bits of a are in the field.
    const uint32_t own = first < kBits ? std::min(count, kBits - first) : 0;
    using U = std::make_unsigned_t<T>;
    const U mask = own >= kBits ? ~U(0) : U((U(1) << own) - 1);
    const U field = own > 0 ? U(U(a) >> first & mask) : U(0);
    return T(sign ? field | U(~mask) : field);
  }
};

template <typename T>
void extractField(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a);
  const auto *b = warp.at<uint32_t>(instruction.b), *c = warp.at<uint32_t>(instruction.c);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = ExtractField::apply(a[lane], b[lane], c[lane]);
  warp.set(instruction.d, values);
}

void decodeExtractField(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(type == Type::U32   ? extractField<uint32_t>
                  : type == Type::S32 ? extractField<int32_t>
                  : type == Type::U64 ? extractField<uint64_t>
                  : type == Type::S64 ? extractField<int64_t>
                                      : nullptr);
  decoding.expectOperands(4);
  decoding.made.d = decoding.destination(0, type);
  decoding.made.a = decoding.source(1, type);
  decoding.made.b = decoding.source(2, Type::U32);
  decoding.made.c = decoding.source(3, Type::U32);
}

/// b with the first bits of a in its bits c to c + parts[0] - 1.
template <typename T>
void insertField(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);
  const auto *first = warp.at<uint32_t>(instruction.c),
             *count = warp.at<uint32_t>(instruction.parts[0]);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    values[lane] = b[lane];
    for (uint32_t bit = 0; bit < (count[lane] & 255); ++bit)
      if (const uint32_t to = (first[lane] & 255) + bit; to < 8 * sizeof(T)) {
        const T one = T(T(1) << to);
        values[lane] = T(a[lane] >> bit & 1 ? values[lane] | one : values[lane] & ~one);
      }
  }
  warp.set(instruction.d, values);
}

void decodeInsertField(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.setRun(type == Type::B32   ? insertField<uint32_t>
                  : type == Type::B64 ? insertField<uint64_t>
                                      : nullptr);
  decoding.expectOperands(5);
  decoding.made.d = decoding.destination(0, type);
  decoding.made.a = decoding.source(1, type);
  decoding.made.b = decoding.source(2, type);
  decoding.made.c = decoding.source(3, Type::U32);
  decoding.made.parts[0] = decoding.source(4, Type::U32);
}

/// Each digit of c selects one of the 8 bytes b:a; its upper bit spreads the byte's sign instead.
struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (uint32_t byte = 0; byte < 4; ++byte) {
      const uint32_t digit = c >> (4 * byte) & 15;
      const auto picked = uint8_t(both >> (8 * (digit & 7)));
      const uint8_t value = digit < 8 ? picked : uint8_t(int8_t(picked) >> 7);
      result |= uint32_t(value) << (8 * byte);
    }
    return result;
  }
};

void decodePermute(Decoding &decoding) {
  decoding.require("b32");
  decoding.setRun(ternary<uint32_t, uint32_t, uint32_t, Permute>);
  decoding.setOperands(Type::B32, Type::B32, 3);
}

/// Bit i of the table is the result for a, b, c = the bits of i.
void lookUp(Warp &warp, const Instruction &instruction) {
  const auto *a = warp.at<uint32_t>(instruction.a), *b = warp.at<uint32_t>(instruction.b),
             *c = warp.at<uint32_t>(instruction.c);
  uint32_t values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    values[lane] = 0;
    for (uint32_t row = 0; row < 8; ++row)
      if (instruction.number >> row & 1)
        values[lane] |= (row & 4 ? a[lane] : ~a[lane]) & (row & 2 ? b[lane] : ~b[lane]) &
                        (row & 1 ? c[lane] : ~c[lane]);
  }
  warp.set(instruction.d, values);
}

void decodeLookUp(Decoding &decoding) {
  decoding.require("b32");
  decoding.setRun(lookUp);
  decoding.expectOperands(5);
  decoding.made.d = decoding.destination(0, Type::B32);
  decoding.made.a = decoding.source(1, Type::B32);
  decoding.made.b = decoding.source(2, Type::B32);
  decoding.made.c = decoding.source(3, Type::B32);
  decoding.made.number = decoding.integer(4);
}

} // namespace

void addBits(Opcodes &opcodes) {
  opcodes["and"] = decodeLogic<And>;
  opcodes["or"] = decodeLogic<Or>;
  opcodes["xor"] = decodeLogic<Xor>;
  opcodes["not"] = decodeNot;
  opcodes["shl"] = decodeShift<ShiftLeft, uint16_t, uint32_t, uint64_t>;
  opcodes["shr"] = decodeShift<ShiftRight, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>;
  opcodes["shf"] = decodeFunnel;
  opcodes["popc"] = decodeCount<Population>;
  opcodes["clz"] = decodeCount<LeadingZeros>;
  opcodes["brev"] = decodeReverse;
  opcodes["bfe"] = decodeExtractField;
  opcodes["bfi"] = decodeInsertField;
  opcodes["prmt"] = decodePermute;
  opcodes["lop3"] = decodeLookUp;
}

} // namespace ptx
