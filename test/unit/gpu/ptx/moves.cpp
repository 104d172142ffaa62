//===- moves.cpp - mov, selp, cvta ----------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

struct Same {
  template <typename T>
  static T apply(T a) {
    return a;
  }
};

void movePredicate(Warp &warp, const Instruction &instruction) {
  warp.setPredicate(instruction.d, warp.predicate(instruction.a));
}

/// d = the parts, the first one lowest.
template <typename Whole, typename Part>
void pack(Warp &warp, const Instruction &instruction) {
  Whole values[kLanes] = {};
  for (uint32_t i = 0; i < instruction.count; ++i) {
    const Part *part = warp.at<Part>(instruction.parts[i]);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      values[lane] = Whole(values[lane] | Whole(part[lane]) << (8 * sizeof(Part) * i));
  }
  warp.set(instruction.d, values);
}

template <typename Whole, typename Part>
void unpack(Warp &warp, const Instruction &instruction) {
  Whole whole[kLanes]; // a part may be the register itself
  std::memcpy(whole, warp.at<Whole>(instruction.a), sizeof(whole));
  for (uint32_t i = 0; i < instruction.count; ++i) {
    if (instruction.parts[i] == kNoRegister)
      continue;
    Part values[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      values[lane] = Part(whole[lane] >> (8 * sizeof(Part) * i));
    warp.set(instruction.parts[i], values);
  }
}

/// The functions for a whole of `type` and `count` parts.
struct Packing {
  Instruction::Run pack, unpack;
  Type part;
};
Packing packingOf(Type type, size_t count) {
  const uint32_t bytes = bytesOf(type);
  if (bytes == 4 && count == 2)
    return {pack<uint32_t, uint16_t>, unpack<uint32_t, uint16_t>, Type::B16};
  if (bytes == 8 && count == 2)
    return {pack<uint64_t, uint32_t>, unpack<uint64_t, uint32_t>, Type::B32};
  if (bytes == 8 && count == 4)
    return {pack<uint64_t, uint16_t>, unpack<uint64_t, uint16_t>, Type::B16};
  return {};
}

void decodePacking(Decoding &decoding, Type type) {
  decoding.expectOperands(2);
  const bool unpacks = decoding.operand(0).kind == Operand::Vector;
  const std::vector<Operand> &parts = decoding.operand(unpacks ? 0 : 1).parts;
  const Packing packing = packingOf(type, parts.size());
  decoding.setRun(unpacks ? packing.unpack : packing.pack);
  if (unpacks)
    decoding.made.a = decoding.source(1, type);
  else
    decoding.made.d = decoding.destination(0, type);
  decoding.made.count = uint8_t(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    decoding.made.parts[i] = !unpacks ? decoding.sourceOf(parts[i], packing.part)
                             : parts[i].kind == Operand::Sink
                                 ? kNoRegister
                                 : decoding.destinationOf(parts[i], packing.part);
}

void decodeMove(Decoding &decoding) {
  const Type type = decoding.takeType();
  if (decoding.operand(0).kind == Operand::Vector || decoding.operand(1).kind == Operand::Vector)
    return decodePacking(decoding, type);
  const uint32_t bytes = bytesOf(type);
  decoding.setRun(type == Type::Pred ? movePredicate
                  : bytes == 2       ? unary<uint16_t, Same>
                  : bytes == 4       ? unary<uint32_t, Same>
                  : bytes == 8       ? unary<uint64_t, Same>
                                     : nullptr);
  decoding.setOperands(type, type, 1);
}

//===----------------------------------------------------------------------===//
// selp
//===----------------------------------------------------------------------===//

template <typename T>
void select(Warp &warp, const Instruction &instruction) {
  const T *a = warp.at<T>(instruction.a), *b = warp.at<T>(instruction.b);
  const Mask first = warp.predicate(instruction.c);
  T values[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    values[lane] = first >> lane & 1 ? a[lane] : b[lane];
  warp.set(instruction.d, values);
}

void decodeSelect(Decoding &decoding) {
  const Type type = decoding.takeType();
  const uint32_t bytes = bytesOf(type);
  decoding.setRun(bytes == 2   ? select<uint16_t>
                  : bytes == 4 ? select<uint32_t>
                  : bytes == 8 ? select<uint64_t>
                               : nullptr);
  decoding.expectOperands(4);
  decoding.made.d = decoding.destination(0, type);
  decoding.made.a = decoding.source(1, type);
  decoding.made.b = decoding.source(2, type);
  decoding.made.c = decoding.source(3, Type::Pred);
}

//===----------------------------------------------------------------------===//
// cvta
//===----------------------------------------------------------------------===//

struct Shift {
  static uint64_t apply(uint64_t a, uint64_t by) { return a + by; }
};

void decodeAddress(Decoding &decoding) {
  const bool fromGeneric = decoding.take("to");
  const uint64_t window = decoding.take("shared")  ? kSharedWindow
                          : decoding.take("local") ? kLocalWindow
                                                   : 0;
  if (window == 0)
    decoding.require("global");
  decoding.require("u64");
  decoding.setRun(binary<uint64_t, Shift>);
  decoding.expectOperands(2);
  decoding.made.d = decoding.destination(0, Type::B64);
  decoding.made.a = decoding.source(1, Type::B64);
  decoding.made.b = decoding.registers.constant(fromGeneric ? 0 - window : window, 8);
}

} // namespace

void addMoves(Opcodes &opcodes) {
  opcodes["mov"] = decodeMove;
  opcodes["selp"] = decodeSelect;
  opcodes["cvta"] = decodeAddress;
}

} // namespace ptx
