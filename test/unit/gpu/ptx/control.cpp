//===- control.cpp - branches and the end ---------------------------------===//

#include "decode.h"
#include "warp.h"

namespace ptx {

namespace {

void branch(Warp &warp, const Instruction &instruction) {
  warp.jump(warp.active, uint32_t(instruction.number));
}

void decodeBranch(Decoding &decoding) {
  decoding.take("uni");
  decoding.setRun(branch);
  decoding.made.flow = Instruction::Flow::Jump;
  decoding.expectOperands(1);
  decoding.made.number = decoding.label(0);
}

/// Goes on at the target with the number in `a`.
void branchByIndex(Warp &warp, const Instruction &instruction) {
  const std::vector<uint32_t> &targets = warp.launch.entry.targets[size_t(instruction.number)];
  const auto *index = warp.at<uint32_t>(instruction.a);
  warp.forEachLane([&](uint32_t lane) {
    if (index[lane] >= targets.size())
      warp.fault(lane, "branches to target " + std::to_string(index[lane]) + " of " +
                           std::to_string(targets.size()));
    warp.jump(Mask(1) << lane, targets[index[lane]]);
  });
}

void decodeBranchByIndex(Decoding &decoding) {
  decoding.require("idx");
  decoding.take("uni");
  decoding.setRun(branchByIndex);
  decoding.made.flow = Instruction::Flow::Jump;
  decoding.expectOperands(2);
  decoding.made.a = decoding.source(0, Type::U32);
  auto found = decoding.text.branchTargets.find(decoding.operand(1).name);
  if (found == decoding.text.branchTargets.end())
    decoding.fail("no targets '" + decoding.operand(1).name + "'");
  std::vector<uint32_t> &targets = decoding.entry.targets.emplace_back();
  for (const std::string &label : found->second) {
    auto place = decoding.text.labels.find(label);
    if (place == decoding.text.labels.end())
      decoding.fail("no label '" + label + "'");
    targets.push_back(uint32_t(place->second));
  }
  decoding.made.number = int64_t(decoding.entry.targets.size() - 1);
}

void end(Warp &warp, const Instruction &) { warp.end(); }

void decodeEnd(Decoding &decoding) {
  decoding.take("uni");
  decoding.setRun(end);
  decoding.made.flow = Instruction::Flow::Jump;
  decoding.expectOperands(0);
}

void trap(Warp &warp, const Instruction &) {
  warp.forEachLane([&](uint32_t lane) { warp.fault(lane, "stops the kernel"); });
}

void decodeTrap(Decoding &decoding) {
  decoding.setRun(trap);
  decoding.expectOperands(0);
}

} // namespace

void addControl(Opcodes &opcodes) {
  opcodes["bra"] = decodeBranch;
  opcodes["brx"] = decodeBranchByIndex;
  opcodes["ret"] = decodeEnd;
  opcodes["exit"] = decodeEnd;
  opcodes["trap"] = decodeTrap;
}

} // namespace ptx
