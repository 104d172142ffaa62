//===- comparisons.cpp - setp, set and testp ------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

/// What a comparison is true for.
enum Outcome : int64_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

std::optional<int64_t> outcomesOf(const std::string &name, Type type) {
  static const std::map<std::string, int64_t> all = {{"eq", kEqual},
                                                     {"ne", kLess | kGreater},
                                                     {"lt", kLess},
                                                     {"le", kLess | kEqual},
                                                     {"gt", kGreater},
                                                     {"ge", kGreater | kEqual},
                                                     {"lo", kLess},
                                                     {"ls", kLess | kEqual},
                                                     {"hi", kGreater},
                                                     {"hs", kGreater | kEqual},
                                                     {"equ", kEqual | kUnordered},
                                                     {"neu", kLess | kGreater | kUnordered},
                                                     {"ltu", kLess | kUnordered},
                                                     {"leu", kLess | kEqual | kUnordered},
                                                     {"gtu", kGreater | kUnordered},
                                                     {"geu", kGreater | kEqual | kUnordered},
                                                     {"num", kLess | kEqual | kGreater},
                                                     {"nan", kUnordered}};
  auto found = all.find(name);
  const bool isForFloats = name.size() == 3;
  if (found == all.end() || (isForFloats && !isFloat(type)))
    return std::nullopt;
  return found->second;
}

/// Compares values that are `step` elements apart.
template <typename T>
Mask compare(const T *a, const T *b, const Instruction &instruction, uint32_t step = 1) {
  using W = Wide<T>;
  Mask less = 0, equal = 0, greater = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const W x = static_cast<W>(a[step * lane]), y = static_cast<W>(b[step * lane]);
    less |= Mask(x < y) << lane;
    equal |= Mask(x == y) << lane;
    greater |= Mask(x > y) << lane;
  }
  const int64_t wanted = instruction.number;
  return (wanted & kLess ? less : 0) | (wanted & kEqual ? equal : 0) |
         (wanted & kGreater ? greater : 0) | (wanted & kUnordered ? ~(less | equal | greater) : 0);
}

/// The comparison's result and a predicate.
enum class Combine : uint8_t { None, And, Or, Xor };

Mask combined(Warp &warp, const Instruction &instruction, Mask result) {
  const Mask other = instruction.parts[0] == kNoRegister
                         ? 0
                         : warp.predicate(instruction.parts[0]) ^ instruction.parts[1];
  switch (Combine(instruction.count)) {
  case Combine::None:
    return result;
  case Combine::And:
    return result & other;
  case Combine::Or:
    return result | other;
  case Combine::Xor:
    return result ^ other;
  }
  return result;
}

template <typename T>
Mask compare(Warp &warp, const Instruction &instruction) {
  return compare(warp.at<T>(instruction.a), warp.at<T>(instruction.b), instruction);
}

template <typename T>
void setPredicate(Warp &warp, const Instruction &instruction) {
  const Mask result = compare<T>(warp, instruction);
  const Mask first = combined(warp, instruction, result),
             second = combined(warp, instruction, ~result);
  warp.setPredicate(instruction.d, first);
  if (instruction.predicate != kNoRegister)
    warp.setPredicate(instruction.predicate, second);
}

/// The two results are those of the lower halves and of the upper ones.
void setPredicatesOfHalves(Warp &warp, const Instruction &instruction) {
  const Half *a = warp.at<Half>(instruction.a), *b = warp.at<Half>(instruction.b);
  const Mask low = combined(warp, instruction, compare(a, b, instruction, 2)),
             high = combined(warp, instruction, compare(a + 1, b + 1, instruction, 2));
  warp.setPredicate(instruction.d, low);
  if (instruction.predicate != kNoRegister)
    warp.setPredicate(instruction.predicate, high);
}

/// True is all ones, or 1.0.
template <typename T>
void setNumber(Warp &warp, const Instruction &instruction) {
  const Mask result = combined(warp, instruction, compare<T>(warp, instruction));
  uint32_t values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = result >> lane & 1 ? instruction.parts[2] : 0;
  warp.set(instruction.d, values);
}

template <typename... Ts>
struct Types {};

template <typename... Ts>
Instruction::Run choosePredicate(Types<Ts...>, Type type) {
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = setPredicate<Ts>) : void()), ...);
  return run;
}
template <typename... Ts>
Instruction::Run chooseNumber(Types<Ts...>, Type type) {
  Instruction::Run run = nullptr;
  ((holds<Ts>(type) ? void(run = setNumber<Ts>) : void()), ...);
  return run;
}

using Compared =
    Types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, Half, Brain, float, double>;

/// Takes comparison and combination, and sets the sources.
void decodeSources(Decoding &decoding, Type type) {
  Combine combine = Combine::None;
  if (decoding.take("and"))
    combine = Combine::And;
  else if (decoding.take("or"))
    combine = Combine::Or;
  else if (decoding.take("xor"))
    combine = Combine::Xor;
  auto comparison = decoding.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                        "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  auto outcomes = comparison ? outcomesOf(*comparison, type) : std::nullopt;
  if (!outcomes)
    decoding.fail("no such comparison of this type");
  decoding.expectOperands(combine == Combine::None ? 3 : 4);
  Instruction &made = decoding.made;
  made.number = *outcomes;
  made.count = uint8_t(combine);
  made.a = decoding.source(1, type);
  made.b = decoding.source(2, type);
  made.parts[0] = kNoRegister;
  if (combine != Combine::None) {
    made.parts[0] = decoding.source(3, Type::Pred);
    made.parts[1] = decoding.operand(3).negated ? kAllLanes : 0;
  }
}

void decodeSetPredicate(Decoding &decoding) {
  const Type type = decoding.takeType();
  decodeSources(decoding, type);
  decoding.setRun(type == Type::F16x2 ? setPredicatesOfHalves : choosePredicate(Compared(), type));
  decoding.made.d = decoding.destination(0, Type::Pred);
  decoding.secondDestination(0);
}

void decodeSetNumber(Decoding &decoding) {
  const Type result = decoding.takeType(), type = decoding.takeType();
  if (result != Type::U32 && result != Type::S32 && result != Type::F32)
    decoding.fail("this result is not implemented");
  decodeSources(decoding, type);
  decoding.setRun(chooseNumber(Compared(), type));
  decoding.made.d = decoding.destination(0, result);
  decoding.made.parts[2] = result == Type::F32 ? std::bit_cast<uint32_t>(1.0f) : ~0u;
}

/// A property of one number.
enum Property : int64_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

template <typename T>
bool has(int64_t property, T value) {
  switch (property) {
  case kFinite:
    return std::isfinite(value);
  case kInfinite:
    return std::isinf(value);
  case kNumber:
    return !std::isnan(value);
  case kNotANumber:
    return std::isnan(value);
  case kNormal:
    return std::isnormal(value);
  default:
    return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <typename T>
void test(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a);
  Mask result = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    result |= Mask(has(instruction.number, a[lane])) << lane;
  warp.setPredicate(instruction.d, result);
}

void decodeTest(Decoding &decoding) {
  static const std::map<std::string, Property> properties = {
      {"finite", kFinite},         {"infinite", kInfinite}, {"number", kNumber},
      {"notanumber", kNotANumber}, {"normal", kNormal},     {"subnormal", kSubnormal}};
  const Type type = decoding.takeType();
  auto property =
      decoding.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (!property)
    decoding.fail("no such property");
  decoding.made.number = properties.at(*property);
  decoding.setRun(type == Type::F32 ? test<float> : type == Type::F64 ? test<double> : nullptr);
  decoding.setOperands(Type::Pred, type, 1);
}

} // namespace

void addComparisons(Opcodes &opcodes) {
  opcodes["setp"] = decodeSetPredicate;
  opcodes["set"] = decodeSetNumber;
  opcodes["testp"] = decodeTest;
}

} // namespace ptx
