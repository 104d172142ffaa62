//===- conversions.cpp - cvt ----------------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

/// How a conversion rounds: to a float (n, z), or to an integral number.
enum class Rounding : uint8_t { None, Nearest, Zero, Down, Up };

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename T>
T roundedToIntegral(T value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::None:
    break;
  }
  return value;
}

/// Numbers outside of the range become its limits. NaN becomes zero; where 64 bits take part, the
/// upper bit alone.
template <typename D, typename S>
D toInteger(S value, Rounding rounding) {
  if (std::isnan(value)) {
    constexpr bool kIsWide = sizeof(D) == 8 || sizeof(S) == 8;
    return kIsWide ? D(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1)) : D(0);
  }
  const S integral = roundedToIntegral(value, rounding);
  constexpr D kLeast = std::numeric_limits<D>::min(), kMost = std::numeric_limits<D>::max();
  if (integral <= S(kLeast))
    return kLeast;
  return integral >= S(kMost) ? kMost : D(integral);
}

/// Rounds towards zero to a float with fewer bits.
template <typename D>
D truncatedTo(float value);
template <>
Half truncatedTo<Half>(float value) {
  const auto nearest = Half(value);
  const bool isAway = std::abs(float(nearest)) > std::abs(value);
  return isAway ? std::bit_cast<Half>(uint16_t(std::bit_cast<uint16_t>(nearest) - 1)) : nearest;
}
template <>
Brain truncatedTo<Brain>(float value) {
  return std::isnan(value) ? Brain(value)
                           : std::bit_cast<Brain>(uint16_t(std::bit_cast<uint32_t>(value) >> 16));
}

template <typename D, typename S>
D converted(S value, Rounding rounding) {
  using W = Wide<S>;
  const W wide = static_cast<W>(value);
  if constexpr (!kIsFloat<D> && !kIsFloat<S>) {
    return D(value);
  } else if constexpr (!kIsFloat<D>) {
    return toInteger<D>(wide, rounding);
  } else if constexpr (!kIsFloat<S>) {
    if constexpr (sizeof(D) == 2)
      return D(Wide<D>(value)); // exact below what becomes infinite
    else
      return D(value);
  } else if constexpr (std::is_same_v<D, S>) {
    return canonical(D(roundedToIntegral(wide, rounding)));
  } else if constexpr (sizeof(D) == 2 && std::is_same_v<S, float>) {
    return canonical(rounding == Rounding::Zero ? truncatedTo<D>(value) : D(value));
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, double>) {
    const auto nearest = float(value);
    const bool isAway = rounding == Rounding::Zero && std::abs(nearest) > std::abs(value);
    return canonical(isAway ? std::nextafter(nearest, 0.0f) : nearest);
  } else {
    return canonical(D(static_cast<Wide<D>>(wide)));
  }
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Calls body(value of the register's lower bits as T) for all threads; the register may be wider.
template <typename T, typename Body>
void forEachValue(Warp &warp, uint32_t place, uint32_t bytes, Body body) {
  const uint8_t *from = warp.at<uint8_t>(place);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    T value;
    std::memcpy(&value, from + lane * bytes, sizeof(T));
    body(lane, value);
  }
}

/// A register that is wider than D gets the number, with its sign.
template <typename D>
void setWider(Warp &warp, uint32_t place, uint32_t bytes, const D (&values)[kLanes]) {
  if (bytes == sizeof(D))
    return warp.set(place, values);
  if constexpr (std::is_integral_v<D>) {
    using Long = std::conditional_t<std::is_signed_v<D>, int64_t, uint64_t>;
    uint8_t *to = warp.at<uint8_t>(place);
    warp.forEachLane([&](uint32_t lane) {
      const auto wide = Long(values[lane]);
      std::memcpy(to + lane * bytes, &wide, bytes);
    });
  }
}

/// The widths of destination and source are in `count` and `number`.
template <typename D, typename S>
void convert(Warp &warp, const Instruction &instruction) {
  D values[kLanes];
  const auto rounding = Rounding(instruction.parts[0]);
  forEachValue<S>(warp, instruction.a, uint32_t(instruction.number),
                  [&](uint32_t lane, S value) { values[lane] = converted<D>(value, rounding); });
  setWider(warp, instruction.d, instruction.count, values);
}

/// Two float32 to the halves of a register; `a` to the upper one.
template <typename D>
void convertPair(Warp &warp, const Instruction &instruction) {
  const auto *a = warp.at<float>(instruction.a), *b = warp.at<float>(instruction.b);
  const auto rounding = Rounding(instruction.parts[0]);
  uint32_t values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto high = std::bit_cast<uint16_t>(converted<D>(a[lane], rounding)),
               low = std::bit_cast<uint16_t>(converted<D>(b[lane], rounding));
    values[lane] = uint32_t(high) << 16 | low;
  }
  warp.set(instruction.d, values);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename D, typename... Ss>
Instruction::Run chooseSource(Type source) {
  Instruction::Run run = nullptr;
  ((holds<Ss>(source) ? void(run = convert<D, Ss>) : void()), ...);
  return run;
}

template <typename... Ds>
Instruction::Run chooseConversion(Type result, Type source) {
  Instruction::Run run = nullptr;
  ((holds<Ds>(result) ? void(run = chooseSource<Ds, Ds...>(source)) : void()), ...);
  return run;
}

/// Registers may be wider than the type of an integer.
uint32_t widthOf(Decoding &decoding, size_t index, Type type) {
  const uint32_t bytes = bytesOf(decoding.registerType(decoding.operand(index)));
  if (bytes < bytesOf(type) || (isFloat(type) && bytes != bytesOf(type)))
    decoding.fail("'" + decoding.operand(index).name + "' is of another size");
  return bytes;
}

/// "rn" and "rz" round to a float; "rni" and its like to an integral number.
Rounding takeRounding(Decoding &decoding, Type result, Type source) {
  const bool toFloat = isFloat(result) && result != source;
  const std::map<std::string, Rounding> all =
      toFloat ? std::map<std::string, Rounding>{{"rn", Rounding::Nearest}, {"rz", Rounding::Zero}}
              : std::map<std::string, Rounding>{{"rni", Rounding::Nearest},
                                                {"rzi", Rounding::Zero},
                                                {"rmi", Rounding::Down},
                                                {"rpi", Rounding::Up}};
  for (const auto &[name, rounding] : all)
    if (decoding.take(name))
      return rounding;
  return Rounding::None;
}

/// Whether the conversion may lose digits, so that it must say how it rounds.
bool mustRound(Type result, Type source) {
  if (!isFloat(source))
    return isFloat(result);
  return !isFloat(result) || bytesOf(result) < bytesOf(source);
}

void decodePair(Decoding &decoding, Type result) {
  decoding.require("f32");
  decoding.made.parts[0] = uint32_t(takeRounding(decoding, result, Type::F32));
  if (Rounding(decoding.made.parts[0]) == Rounding::None)
    decoding.fail("it does not say how it rounds");
  decoding.setRun(result == Type::F16x2 ? convertPair<Half> : convertPair<Brain>);
  decoding.expectOperands(3);
  decoding.made.d = decoding.destination(0, result);
  decoding.made.a = decoding.source(1, Type::F32);
  decoding.made.b = decoding.source(2, Type::F32);
}

void decodeConversion(Decoding &decoding) {
  const Type result = decoding.takeType();
  if (result == Type::F16x2 || result == Type::BF16x2)
    return decodePair(decoding, result);
  const Type source = decoding.takeType();
  const Rounding rounding = takeRounding(decoding, result, source);
  if (rounding == Rounding::None && mustRound(result, source))
    decoding.fail("it does not say how it rounds");
  const bool roundsTwice =
      (bytesOf(result) == 2 && source == Type::F64) || (result == Type::BF16 && !isFloat(source));
  if (isFloat(result) && (roundsTwice || (rounding == Rounding::Zero && !isFloat(source))))
    decoding.fail("this rounding is not implemented");
  decoding.setRun(chooseConversion<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t,
                                   int64_t, Half, Brain, float, double>(result, source));
  decoding.expectOperands(2);
  Instruction &made = decoding.made;
  made.parts[0] = uint32_t(rounding);
  made.count = uint8_t(widthOf(decoding, 0, result));
  made.d = decoding.registers.placeOf(decoding.operand(0).name);
  made.number = bytesOf(source);
  if (decoding.operand(1).kind != Operand::Name) {
    made.a = decoding.source(1, source);
    return;
  }
  made.number = widthOf(decoding, 1, source);
  made.a = decoding.registers.placeOf(decoding.operand(1).name);
}

} // namespace

void addConversions(Opcodes &opcodes) { opcodes["cvt"] = decodeConversion; }

} // namespace ptx
