//===- ZeroAccess.cpp - interfaces of lanes, collectives, buffers ---------===//
// Implements the interfaces of ZeroInterfaces.td for each op.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Zero.h"

using namespace mlir;
using namespace zero;

#include "dialects/Zero/ZeroInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Lane LaunchOp::getLane() { return getHost() ? Lane::HostCompute : Lane::Compute; }
Lane CheckOp::getLane() { return Lane::Compute; }
Lane AllGatherOp::getLane() { return Lane::Collective; }
Lane ReduceScatterOp::getLane() { return Lane::Collective; }
Lane AllReduceOp::getLane() { return Lane::Collective; }
Lane BroadcastOp::getLane() { return Lane::Collective; }

Lane CopyOp::getLane() { return Lane::Compute; }

Lane TransferOp::getLane() {
  if (getTier() == Tier::Nvme)
    return Lane::DiskWrite;
  if (getTier() == Tier::Device)
    return Lane::HostToDevice;
  return getFrom() == Tier::Nvme ? Lane::DiskRead : Lane::DeviceToHost;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

CollectiveKind AllGatherOp::getCollectiveKind() { return CollectiveKind::AllGather; }
CollectiveKind ReduceScatterOp::getCollectiveKind() { return CollectiveKind::ReduceScatter; }
CollectiveKind AllReduceOp::getCollectiveKind() { return CollectiveKind::AllReduce; }
CollectiveKind BroadcastOp::getCollectiveKind() { return CollectiveKind::Broadcast; }

Value AllGatherOp::getSource() { return getShard(); }
Value ReduceScatterOp::getSource() { return getInput(); }
Value AllReduceOp::getSource() { return getInput(); }
Value BroadcastOp::getSource() { return getInput(); }

Value AllGatherOp::getDestination() { return getInto(); }
Value BroadcastOp::getDestination() { return getInto(); }

bool ReduceScatterOp::reducesInPlace() { return getInPlace(); }
bool AllReduceOp::reducesInPlace() { return true; }

TypeAttr ReduceScatterOp::getSumType() { return getArithmeticAttr(); }
TypeAttr AllReduceOp::getSumType() { return getArithmeticAttr(); }

int64_t BroadcastOp::getRootRank() { return int64_t(getRoot()); }

bool AllReduceOp::isMean() { return getMean(); }
bool AllGatherOp::isControl() { return getControl(); }
/// A mean over ranks is a control value, never a gradient.
bool AllReduceOp::isControl() { return getMean(); }
bool BroadcastOp::isControl() { return getControl(); }

//===----------------------------------------------------------------------===//
// Buffer access
//===----------------------------------------------------------------------===//

/// The operand `into` of `op`, after its source, or null.
template <typename Op>
static OpOperand *intoOperand(Op op) {
  return op.getInto() ? &op->getOpOperand(1) : nullptr;
}

OpOperand *AllGatherOp::getReused() { return intoOperand(*this); }
OpOperand *BroadcastOp::getReused() { return intoOperand(*this); }
OpOperand *TransferOp::getReused() { return intoOperand(*this); }
OpOperand *ReduceScatterOp::getReused() { return getInPlace() ? &getInputMutable() : nullptr; }

bool AllGatherOp::readsBytes(OpOperand &operand) { return &operand != intoOperand(*this); }
bool BroadcastOp::readsBytes(OpOperand &operand) { return &operand != intoOperand(*this); }
bool TransferOp::readsBytes(OpOperand &operand) { return &operand != intoOperand(*this); }

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value OwnSliceOp::getViewed() { return getInput(); }
int64_t OwnSliceOp::getViewStart() { return 0; }
int64_t OwnSliceOp::getRankStride() {
  return cast<RankedTensorType>(getResult().getType()).getNumElements();
}
GroupAttr OwnSliceOp::getViewGroup() { return getGroupAttr(); }

Value MemberOp::getViewed() { return getBucket(); }
int64_t MemberOp::getViewStart() { return getStart(); }
