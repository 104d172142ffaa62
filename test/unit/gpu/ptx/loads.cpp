//===- loads.cpp - ld and st ----------------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

/// Loads elements of type T from locate(address, lane, bytes) to registers of type R. A register
/// that is wider gets the number, with its sign.
template <typename T, typename R, typename Locate>
void loadFrom(Warp &warp, const Instruction &instruction, Locate locate) {
  const auto *base = warp.at<uint64_t>(instruction.a);
  R values[8][kLanes];
  const uint64_t bytes = sizeof(T) * instruction.count;
  warp.forEachLane([&](uint32_t lane) {
    const char *from = locate(base[lane] + uint64_t(instruction.number), lane, bytes);
    for (uint32_t i = 0; i < instruction.count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      values[i][lane] = R(value);
    }
  });
  for (uint32_t i = 0; i < instruction.count; ++i)
    if (instruction.parts[i] != kNoRegister)
      warp.set(instruction.parts[i], values[i]);
}

template <typename T, typename R>
void load(Warp &warp, const Instruction &instruction) {
  loadFrom<T, R>(warp, instruction, [&](uint64_t address, uint32_t lane, uint64_t bytes) {
    return warp.locate(instruction, address, lane, bytes, nullptr);
  });
}

template <typename T, typename R>
void store(Warp &warp, const Instruction &instruction) {
  const auto *base = warp.at<uint64_t>(instruction.a);
  const uint64_t bytes = sizeof(T) * instruction.count;
  warp.forEachLane([&](uint32_t lane) {
    char value[8 * sizeof(T)];
    for (uint32_t i = 0; i < instruction.count; ++i) {
      const auto element = T(warp.at<R>(instruction.parts[i])[lane]);
      std::memcpy(value + i * sizeof(T), &element, sizeof(T));
    }
    char *to =
        warp.locate(instruction, base[lane] + uint64_t(instruction.number), lane, bytes, value);
    std::memcpy(to, value, bytes);
  });
}

/// A parameter that the instruction names has the same value for all threads.
template <typename T, typename R>
void loadParameter(Warp &warp, const Instruction &instruction) {
  const uint8_t *from = warp.launch.arguments.data() + instruction.number;
  for (uint32_t i = 0; i < instruction.count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    R values[kLanes];
    std::fill_n(values, kLanes, R(value));
    if (instruction.parts[i] != kNoRegister)
      warp.set(instruction.parts[i], values);
  }
}

/// Its address is in a register.
template <typename T, typename R>
void loadArgument(Warp &warp, const Instruction &instruction) {
  loadFrom<T, R>(warp, instruction, [&](uint64_t address, uint32_t lane, uint64_t bytes) {
    return warp.locateArgument(address, lane, bytes);
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

struct Accesses {
  Instruction::Run load, store, parameter, argument;
};

template <typename T, typename R>
Accesses accessesOf() {
  return {load<T, R>, store<T, R>, loadParameter<T, R>, loadArgument<T, R>};
}

template <typename T>
Accesses chooseRegister(uint32_t bytes) {
  if constexpr (sizeof(T) <= 2)
    if (bytes == 2)
      return accessesOf<T, uint16_t>();
  if constexpr (sizeof(T) <= 4)
    if (bytes == 4)
      return accessesOf<T, uint32_t>();
  return bytes == 8 ? accessesOf<T, uint64_t>() : Accesses();
}

Accesses chooseAccesses(Type type, uint32_t registerBytes) {
  switch (type) {
  case Type::S8:
    return chooseRegister<int8_t>(registerBytes);
  case Type::S16:
    return chooseRegister<int16_t>(registerBytes);
  case Type::S32:
    return chooseRegister<int32_t>(registerBytes);
  case Type::Pred:
    return {};
  default:
    break;
  }
  switch (bytesOf(type)) {
  case 1:
    return chooseRegister<uint8_t>(registerBytes);
  case 2:
    return chooseRegister<uint16_t>(registerBytes);
  case 4:
    return chooseRegister<uint32_t>(registerBytes);
  default:
    return chooseRegister<uint64_t>(registerBytes);
  }
}

Space takeSpace(Decoding &decoding) {
  if (decoding.take("global") || decoding.take("const"))
    return Space::Global;
  if (decoding.take("shared"))
    return Space::Shared;
  if (decoding.take("local"))
    return Space::Local;
  return decoding.take("param") ? Space::Param : Space::Generic;
}

/// Takes what does not change the result here.
void takeHints(Decoding &decoding) {
  while (decoding.takeAny({"weak", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
                           "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                           "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B"}))
    ;
}

uint8_t takeCount(Decoding &decoding) {
  if (decoding.take("v2"))
    return 2;
  if (decoding.take("v4"))
    return 4;
  return decoding.take("v8") ? 8 : 1;
}

/// Sets the registers that are loaded or stored, and returns their width. An immediate has that of
/// the element.
uint32_t setElements(Decoding &decoding, size_t index, Type type, bool isStore) {
  const Operand &operand = decoding.operand(index);
  const bool isVector = operand.kind == Operand::Vector;
  if ((isVector ? operand.parts.size() : 1) != decoding.made.count)
    decoding.fail("another number of elements than registers");
  Type registerType = type;
  if (bytesOf(type) == 1)
    registerType = Type::B16;
  for (size_t i = 0; i < decoding.made.count; ++i)
    if (const Operand &part = isVector ? operand.parts[i] : operand; part.kind == Operand::Name)
      registerType = decoding.registerType(part);
  if (registerType == Type::Pred || bytesOf(registerType) < bytesOf(type))
    decoding.fail("a register is too small");
  for (size_t i = 0; i < decoding.made.count; ++i) {
    const Operand &part = isVector ? operand.parts[i] : operand;
    if (isStore)
      decoding.made.parts[i] = decoding.sourceOf(part, registerType);
    else if (part.kind == Operand::Sink)
      decoding.made.parts[i] = kNoRegister;
    else
      decoding.made.parts[i] = decoding.destinationOf(part, registerType);
  }
  return bytesOf(registerType);
}

/// "[name+offset]" of a parameter.
void setParameter(Decoding &decoding, Type type) {
  const Operand &place = decoding.operand(1);
  const Parameter *parameter = decoding.registers.parameter(place.name);
  if (place.kind != Operand::Address || !parameter)
    decoding.fail("expected a parameter in brackets");
  const uint64_t bytes = uint64_t(bytesOf(type)) * decoding.made.count;
  if (place.number < 0 || uint64_t(place.number) + bytes > parameter->bytes)
    decoding.fail("outside of the parameter '" + place.name + "'");
  decoding.made.number = int64_t(parameter->offset) + place.number;
}

void decodeLoad(Decoding &decoding) {
  Instruction &made = decoding.made;
  takeHints(decoding);
  const Space space = takeSpace(decoding);
  made.nonCoherent = space == Space::Global && decoding.take("nc");
  made.count = takeCount(decoding);
  const Type type = decoding.takeType();
  decoding.expectOperands(2);
  const Accesses accesses = chooseAccesses(type, setElements(decoding, 0, type, false));
  const bool isParameter = space == Space::Param;
  if (isParameter && !decoding.registers.typeOf(decoding.operand(1).name)) {
    decoding.setRun(accesses.parameter);
    return setParameter(decoding, type);
  }
  decoding.setRun(isParameter ? accesses.argument : accesses.load);
  decoding.address(1, space);
}

void decodeStore(Decoding &decoding) {
  Instruction &made = decoding.made;
  takeHints(decoding);
  const Space space = takeSpace(decoding);
  if (space == Space::Param)
    decoding.fail("parameters are constant");
  made.count = takeCount(decoding);
  const Type type = decoding.takeType();
  decoding.expectOperands(2);
  decoding.setRun(chooseAccesses(type, setElements(decoding, 1, type, true)).store);
  decoding.address(0, space);
}

} // namespace

void addMemory(Opcodes &opcodes) {
  opcodes["ld"] = decodeLoad;
  opcodes["st"] = decodeStore;
}

} // namespace ptx
