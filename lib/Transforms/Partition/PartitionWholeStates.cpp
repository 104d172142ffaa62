//===- PartitionWholeStates.cpp - states of whole matrices ----------------===//
//
// States of a whole matrix are in the owner's slices of their homes. The launches of the matrix
// read ranges of a slice, and a new slice, with the new states in their ranges, is written behind
// them.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

Value insertTensors(OpBuilder &builder, Value list, SmallVector<StartAndTensor> tensors) {
  llvm::sort(tensors, llvm::less_first());
  Location loc = tensors.front().second.getLoc();
  auto type = cast<RankedTensorType>(list.getType());
  SmallVector<Value> parts;
  SmallVector<int64_t> starts;
  int64_t end = 0;
  auto keepUntil = [&](int64_t start) {
    if (start == end)
      return;
    parts.push_back(
        inEpilogue(MemberOp::create(builder, loc, type.clone(ArrayRef<int64_t>(start - end)), list,
                                    builder.getI64IntegerAttr(end))));
    starts.push_back(end);
  };
  for (auto [start, tensor] : tensors) {
    keepUntil(start);
    parts.push_back(tensor);
    starts.push_back(start);
    end = start + cast<RankedTensorType>(tensor.getType()).getNumElements();
  }
  keepUntil(type.getNumElements());
  return inEpilogue(BucketOp::create(builder, loc, type, parts, starts));
}

Value launchSet(OpBuilder &builder, Attribute kernel, ValueRange inputs, Value condition,
                const Twine &name) {
  auto made = inEpilogue(LaunchOp::create(builder, inputs.front().getLoc(),
                                          TypeRange(inputs.front().getType()),
                                          cast<FlatSymbolRefAttr>(kernel), inputs, condition));
  made->setAttr(kNameAttr, builder.getStringAttr(name));
  return made.getResult(0);
}

void GradientPartitioner::collectWholeStates(ParameterOp member, Value condition) {
  llvm::MapVector<StringAttr, SmallVector<StateOp>> ofHomes;
  for (StateOp state : table.wholeStatesOf(member))
    ofHomes[state.getHomeAttr().getAttr()].push_back(state);
  for (auto &[home, states] : ofHomes)
    wholeStates[home].push_back({states, condition});
}

/// Reads the rank's slice of the home of `matrices` where the first of their states is read.
ReadOp GradientPartitioner::readHome(ArrayRef<WholeStates> matrices) {
  StateOp state = matrices.front().states.front();
  ReadOp first = table.readOf(state);
  for (const WholeStates &matrix : matrices)
    for (StateOp each : matrix.states)
      if (ReadOp read = table.readOf(each); read->isBeforeInBlock(first))
        first = read;
  OpBuilder builder(first);
  const int64_t slice = state->getAttrOfType<IntegerAttr>(kSliceAttr).getInt();
  return inEpilogue(ReadOp::create(builder, state.getLoc(),
                                   state.getTensorType().clone(ArrayRef<int64_t>(slice)),
                                   state.getHomeAttr()));
}

/// Lets what reads `states` read the latest of `versions` of the slice: no other matrix of the same
/// rank changes their ranges. Returns the new states, each with its start.
SmallVector<StartAndTensor> GradientPartitioner::replaceReads(ArrayRef<StateOp> states,
                                                              ArrayRef<Value> versions) {
  SmallVector<StartAndTensor> next;
  for (StateOp state : states) {
    ReadOp read = table.readOf(state);
    Value latest = *llvm::find_if(llvm::reverse(versions), [&](Value version) {
      return version.getDefiningOp()->isBeforeInBlock(read);
    });
    const int64_t start =
        *state.getStart() % cast<RankedTensorType>(latest.getType()).getNumElements();
    OpBuilder builder(read);
    read.getResult().replaceAllUsesWith(
        inEpilogue(MemberOp::create(builder, state.getLoc(), state.getTensorType(), latest,
                                    builder.getI64IntegerAttr(start)))
            .getResult());
    next.emplace_back(start, table.writeOf(state).getValue());
  }
  return next;
}

/// A symbol is read before it is written. So the slice of a home is read once, for its first
/// matrix, and what each matrix leaves of it is passed on to the next one.
void GradientPartitioner::replaceWholeStates() {
  for (auto &[home, matrices] : wholeStates) {
    auto lastWrite = [&](const WholeStates &matrix) {
      auto writes = llvm::map_range(matrix.states, [&](StateOp s) { return table.writeOf(s); });
      return *llvm::max_element(writes, [](WriteOp a, WriteOp b) { return a->isBeforeInBlock(b); });
    };
    llvm::sort(matrices, [&](const WholeStates &a, const WholeStates &b) {
      return lastWrite(a)->isBeforeInBlock(lastWrite(b));
    });
    SmallVector<Value> versions{readHome(matrices).getResult()};
    WriteOp last;
    for (const WholeStates &matrix : matrices) {
      WriteOp write = lastWrite(matrix);
      OpBuilder builder(write);
      Value list = versions.back();
      Value next = insertTensors(builder, list, replaceReads(matrix.states, versions));
      // On other ranks the slice has states of another matrix, which stay, as do those of a step
      // that is skipped. A condition that is both would be one more for each matrix.
      StateOp first = matrix.states.front();
      const std::string name = first.getSymName().str();
      if (Value counts = write.getCondition())
        next = launchSet(builder, collecting[2], {list, next, counts}, matrix.condition, name);
      else if (matrix.condition)
        next = launchSet(builder, collecting[1], {list, next}, matrix.condition, name);
      versions.push_back(next);
      if (last)
        last.erase();
      last = inEpilogue(WriteOp::create(builder, first.getLoc(), first.getHomeAttr(), next));
      for (StateOp state : matrix.states)
        table.writeOf(state).erase();
    }
  }
}

} // namespace zero
