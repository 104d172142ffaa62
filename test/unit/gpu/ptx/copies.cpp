//===- copies.cpp - asynchronous copies to shared memory ------------------===//

#include "lanes.h"

namespace ptx {

namespace {

/// A copy reads at once. What it writes is garbage until the thread that started it has waited.
void startCopies(Warp &warp, const Instruction &instruction) {
  const auto *to = warp.at<uint32_t>(instruction.a);
  const auto *from = warp.at<uint64_t>(instruction.b);
  const auto *present = warp.at<uint32_t>(instruction.c);
  Instruction source = instruction;
  source.space = Space::Global;
  warp.forEachLane([&](uint32_t lane) {
    Warp::Copy copy{instruction.space, lane, to[lane], instruction.count, {}};
    if (present[lane] > copy.bytes)
      warp.fault(lane, "copies " + std::to_string(present[lane]) + " bytes, of at most " +
                           std::to_string(copy.bytes));
    if (present[lane] > 0)
      std::memcpy(copy.data, warp.locate(source, from[lane], lane, present[lane], nullptr),
                  present[lane]);
    const std::string garbage(copy.bytes, '\xa5');
    std::memcpy(warp.locate(instruction, to[lane], lane, copy.bytes, garbage.data()),
                garbage.data(), copy.bytes);
    warp.copies.push_back(copy);
  });
}

void awaitCopies(Warp &warp, const Instruction &instruction) {
  std::erase_if(warp.copies, [&](const Warp::Copy &copy) {
    if (!(warp.active >> copy.lane & 1))
      return false;
    Instruction place = instruction;
    place.space = copy.space;
    std::memcpy(warp.locate(place, copy.to, copy.lane, copy.bytes, copy.data), copy.data,
                copy.bytes);
    return true;
  });
}

/// Groups of copies are not implemented.
void decodeCopy(Decoding &decoding) {
  decoding.require("async");
  if (decoding.take("wait_all")) {
    decoding.setRun(awaitCopies);
    decoding.expectOperands(0);
    return;
  }
  const bool isVector = decoding.take("cg");
  if (!isVector)
    decoding.require("ca");
  decoding.require("shared");
  decoding.require("global");
  decoding.setRun(startCopies);
  decoding.expectOperands(4);
  Instruction &made = decoding.made;
  decoding.address(1, Space::Global);
  made.b = made.a;
  const int64_t offsetOfSource = made.number;
  decoding.address(0, Space::Shared, Type::B32);
  if (made.number != 0 || offsetOfSource != 0)
    decoding.fail("offsets of addresses are not implemented");
  const int64_t bytes = decoding.integer(2);
  if (isVector ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    decoding.fail("it cannot copy " + std::to_string(bytes) + " bytes");
  made.count = uint8_t(bytes);
  made.c = decoding.source(3, Type::B32);
}

} // namespace

void addCopies(Opcodes &opcodes) { opcodes["cp"] = decodeCopy; }

} // namespace ptx
