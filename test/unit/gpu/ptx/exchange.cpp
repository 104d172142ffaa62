//===- exchange.cpp - barriers, shuffles and votes ------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void blockBarrier(Warp &warp, const Instruction &instruction) {
  warp.meetInBlock(uint32_t(instruction.number));
}

void warpBarrier(Warp &warp, const Instruction &instruction) {
  warp.meetInWarp(warp.at<Mask>(instruction.c)[__builtin_ctz(warp.active)]);
}

void decodeBarrier(Decoding &decoding) {
  decoding.take("cta");
  if (decoding.take("warp")) {
    decoding.require("sync");
    decoding.setRun(warpBarrier);
    decoding.made.flow = Instruction::Flow::Meet;
    decoding.expectOperands(1);
    decoding.made.c = decoding.source(0, Type::B32);
    return;
  }
  decoding.require("sync");
  decoding.take("aligned");
  decoding.setRun(blockBarrier);
  decoding.made.flow = Instruction::Flow::MeetAll;
  decoding.expectOperands(1);
  decoding.made.number = decoding.integer(0);
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

/// The thread whose value `lane` gets. `inRange`: whether that is another than its own only because
/// the segment has such a thread.
template <char Mode>
uint32_t sourceOf(uint32_t lane, uint32_t b, uint32_t c, bool &inRange) {
  const uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  uint32_t source = lane;
  if constexpr (Mode == 'u') {
    source = lane - by;
    inRange = int32_t(source) >= int32_t(last);
  } else {
    source = Mode == 'd' ? lane + by : Mode == 'b' ? lane ^ by : first | (by & ~segment);
    inRange = source <= last;
  }
  return inRange ? source : lane;
}

template <char Mode>
void shuffle(Warp &warp, const Instruction &instruction) {
  const auto *a = warp.at<uint32_t>(instruction.a), *b = warp.at<uint32_t>(instruction.b),
             *bounds = warp.at<uint32_t>(instruction.parts[0]);
  uint32_t values[kLanes];
  Mask found = 0;
  warp.forEachLane([&](uint32_t lane) {
    bool inRange = false;
    const uint32_t source = sourceOf<Mode>(lane, b[lane], bounds[lane], inRange);
    if (!(warp.active >> source & 1))
      warp.fault(lane, "reads the value of lane " + std::to_string(source) +
                           ", which does not take part");
    values[lane] = a[source];
    found |= Mask(inRange) << lane;
  });
  warp.set(instruction.d, values);
  if (instruction.predicate != kNoRegister)
    warp.setPredicate(instruction.predicate, found);
}

void decodeShuffle(Decoding &decoding) {
  decoding.require("sync");
  decoding.require("b32");
  decoding.setRun(decoding.take("up")     ? shuffle<'u'>
                  : decoding.take("down") ? shuffle<'d'>
                  : decoding.take("bfly") ? shuffle<'b'>
                  : decoding.take("idx")  ? shuffle<'i'>
                                          : nullptr);
  decoding.made.flow = Instruction::Flow::Meet;
  decoding.expectOperands(5);
  decoding.made.d = decoding.destination(0, Type::B32);
  decoding.secondDestination(0);
  decoding.made.a = decoding.source(1, Type::B32);
  decoding.made.b = decoding.source(2, Type::B32);
  decoding.made.parts[0] = decoding.source(3, Type::B32);
  decoding.made.c = decoding.source(4, Type::B32);
}

//===----------------------------------------------------------------------===//
// vote
//===----------------------------------------------------------------------===//

enum Vote : int64_t { kAll, kAny, kUniform };

Mask ballotOf(Warp &warp, const Instruction &instruction) {
  return (warp.predicate(instruction.a) ^ instruction.parts[0]) & warp.active;
}

void vote(Warp &warp, const Instruction &instruction) {
  const Mask ballot = ballotOf(warp, instruction);
  const bool all = ballot == warp.active, none = ballot == 0;
  const bool result = instruction.number == kAll   ? all
                      : instruction.number == kAny ? !none
                                                   : all || none;
  warp.setPredicate(instruction.d, result ? kAllLanes : 0);
}

void ballot(Warp &warp, const Instruction &instruction) {
  uint32_t values[kLanes];
  std::fill_n(values, kLanes, ballotOf(warp, instruction));
  warp.set(instruction.d, values);
}

void decodeVote(Decoding &decoding) {
  decoding.require("sync");
  const bool isBallot = decoding.take("ballot");
  decoding.require(isBallot ? "b32" : "pred");
  if (!isBallot)
    decoding.made.number = decoding.take("all")   ? kAll
                           : decoding.take("any") ? kAny
                                                  : (decoding.require("uni"), kUniform);
  decoding.setRun(isBallot ? ballot : vote);
  decoding.made.flow = Instruction::Flow::Meet;
  decoding.expectOperands(3);
  decoding.made.d = decoding.destination(0, isBallot ? Type::B32 : Type::Pred);
  decoding.made.a = decoding.source(1, Type::Pred);
  decoding.made.parts[0] = decoding.operand(1).negated ? kAllLanes : 0;
  decoding.made.c = decoding.source(2, Type::B32);
}

} // namespace

void addWarpFunctions(Opcodes &opcodes) {
  opcodes["bar"] = decodeBarrier;
  opcodes["barrier"] = decodeBarrier;
  opcodes["shfl"] = decodeShuffle;
  opcodes["vote"] = decodeVote;
}

} // namespace ptx
