//===- PartitionUpdates.cpp - updates of one rank -------------------------===//

#include "PartitionUpdates.h"

#include "PartitionGradients.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

namespace {
/// Builds the update of one bucket in place of its members' updates.
class UpdatePartitioner {
public:
  UpdatePartitioner(func::FuncOp step, const Bucket &bucket, UpdateOp first, func::FuncOp kernel,
                    Operation *at, Value gradient)
      : bucket(bucket), states(ownStates(bucket, first)), first(first), kernel(kernel), builder(at),
        loc(step.getLoc()), gradient(gradient), slice(cast<RankedTensorType>(gradient.getType())) {}

  void run();

private:
  Value read(StringRef symbol, RankedTensorType type);
  void write(StringRef symbol, Value value);
  LaunchOp launch(FlatSymbolRefAttr kernel, TypeRange results, ValueRange inputs);
  void takesGradient(LaunchOp op, unsigned index);
  SmallVector<Value> readOperands();
  SmallVector<Value> updateSlice(ArrayRef<Value> operands);
  SmallVector<Value> updateLayers(ArrayRef<Value> operands);
  Value rateBlocks(LaunchOp measured);

  const Bucket &bucket;
  ArrayRef<BucketState> states; ///< of the update itself
  UpdateOp first;
  func::FuncOp kernel;
  OpBuilder builder;
  Location loc;
  Value gradient;
  RankedTensorType slice;
  Value stored; ///< the rank's part of the parameters
};
} // namespace

Value UpdatePartitioner::read(StringRef symbol, RankedTensorType type) {
  auto name = FlatSymbolRefAttr::get(builder.getContext(), symbol);
  return inEpilogue(ReadOp::create(builder, loc, type, name));
}

/// Unconditional, because a launch that did not run leaves the previous value in place.
void UpdatePartitioner::write(StringRef symbol, Value value) {
  auto name = FlatSymbolRefAttr::get(builder.getContext(), symbol);
  inEpilogue(WriteOp::create(builder, loc, name, value));
}

LaunchOp UpdatePartitioner::launch(FlatSymbolRefAttr kernel, TypeRange results, ValueRange inputs) {
  auto op =
      inEpilogue(LaunchOp::create(builder, loc, results, kernel, inputs, first.getCondition()));
  op->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".update"));
  return op;
}

/// Says where readers of gradients find this bucket's.
void UpdatePartitioner::takesGradient(LaunchOp op, unsigned index) {
  op.setUpdates(bucket.name);
  op.setGradient(index);
}

/// Parameter and states: this rank's slices.
SmallVector<Value> UpdatePartitioner::readOperands() {
  stored = read(bucket.name, bucket.type(bucket.parameterShards));
  RankedTensorType own = slice.clone(bucket.elementType);
  SmallVector<Value> operands{stored};
  if (stored.getType() != own)
    operands.front() = inEpilogue(OwnSliceOp::create(builder, loc, own, stored, bucket.ownerGroup));
  for (const BucketState &state : states)
    operands.push_back(read(bucket.name + state.suffix, state.typeOf(slice)));
  return operands;
}

/// A kernel of states with codes takes rows, each a block of elements.
SmallVector<Value> UpdatePartitioner::updateSlice(ArrayRef<Value> operands) {
  SmallVector<Value> inputs(operands);
  inputs.push_back(gradient);
  for (auto [input, type] : llvm::zip(inputs, kernel.getArgumentTypes()))
    input = inRows(builder, input, cast<ShapedType>(type));
  const SmallVector<Type> types(ValueRange(inputs).drop_back().getTypes());
  llvm::append_range(inputs, first.getScalars());
  LaunchOp op = launch(first.getKernelAttr(), types, inputs);
  if (!stepOf(first)) // which would take it
    takesGradient(op, operands.size());
  SmallVector<Value> results(op.getResults());
  for (auto [result, operand] : llvm::zip_equal(results, operands))
    result = reshapeInEpilogue(builder, result, cast<RankedTensorType>(operand.getType()));
  return results;
}

/// The ratio of norms for each block of the slice.
Value UpdatePartitioner::rateBlocks(LaunchOp measured) {
  std::string name = bucket.name + ".ratio";
  auto kernels = llvm::to_vector((*first.getLayerwise()).getAsRange<FlatSymbolRefAttr>());
  ArrayRef<FlatSymbolRefAttr> totals = ArrayRef(kernels).drop_front().drop_back();
  Value ofWeights = measured.getResults().drop_back().back();
  MemberSums weights = sumOverBlocks(builder, bucket, ofWeights, totals, name);
  MemberSums directions =
      sumOverBlocks(builder, bucket, measured.getResults().back(), totals, name);
  SmallVector<Value> ratios;
  SmallVector<int64_t> starts;
  for (auto [index, parameter] : llvm::enumerate(bucket.members)) {
    ParameterOp member = parameter;
    Value blocks = weights.blocks[index];
    auto ratio = inEpilogue(
        LaunchOp::create(builder, loc, TypeRange(blocks.getType()), kernels.back(),
                         ValueRange{weights.sums[index], directions.sums[index], blocks}));
    ratio->setAttr(kNameAttr, builder.getStringAttr(name));
    ratios.push_back(ratio.getResult(0));
    starts.push_back(*member.getStart() / kTensorAlignment);
  }
  auto own = cast<RankedTensorType>(ofWeights.getType());
  auto all = own.clone(ArrayRef<int64_t>(bucket.elements / kTensorAlignment));
  Value whole = inEpilogue(BucketOp::create(builder, loc, all, ratios, starts));
  return own == all
             ? whole
             : inEpilogue(OwnSliceOp::create(builder, loc, own, whole, bucket.group)).getResult();
}

/// Advances the states, measures each tensor, then applies the direction.
SmallVector<Value> UpdatePartitioner::updateLayers(ArrayRef<Value> operands) {
  SmallVector<Value> rows =
      llvm::map_to_vector(operands, [&](Value value) { return inBlocks(builder, value); });
  unsigned numParameters =
      1 + llvm::count_if(bucket.states, [](const BucketState &state) { return state.isMaster(); });
  SmallVector<Value> inputs(rows);
  inputs.push_back(inBlocks(builder, gradient));
  llvm::append_range(inputs, first.getScalars());
  ArrayRef<Value> states = ArrayRef<Value>(rows).drop_front(numParameters);
  SmallVector<Type> types(ValueRange(states).getTypes());
  auto sums =
      RankedTensorType::get({slice.getNumElements() / kTensorAlignment}, builder.getF32Type());
  types.append(2, sums);
  LaunchOp measured = launch(cast<FlatSymbolRefAttr>((*first.getLayerwise())[0]), types, inputs);
  takesGradient(measured, rows.size());

  SmallVector<Value> applied(rows);
  llvm::copy(measured.getResults().drop_back(2), applied.begin() + numParameters);
  applied.push_back(rateBlocks(measured));
  llvm::append_range(applied, first.getScalars());
  LaunchOp op =
      launch(first.getKernelAttr(), TypeRange(ValueRange(rows).take_front(numParameters)), applied);
  SmallVector<Value> results(op.getResults());
  llvm::append_range(results, measured.getResults().drop_back(2));
  for (auto [result, operand] : llvm::zip_equal(results, operands))
    result = reshapeInEpilogue(builder, result, cast<RankedTensorType>(operand.getType()));
  return results;
}

void UpdatePartitioner::run() {
  SmallVector<Value> operands = readOperands();
  SmallVector<Value> results =
      first.getLayerwise() ? updateLayers(operands) : updateSlice(operands);
  Value parameters = results.front();
  if (parameters.getType() != stored.getType()) {
    auto gather = inEpilogue(
        AllGatherOp::create(builder, loc, stored.getType(), parameters, bucket.ownerGroup, stored));
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name));
    parameters = gather.getResult();
  }
  write(bucket.name, parameters);
  for (auto [state, value] : llvm::zip(states, ArrayRef<Value>(results).drop_front()))
    write(bucket.name + state.suffix, value);
}

LogicalResult partitionUpdate(func::FuncOp step, const BucketTable &table, const Bucket &bucket,
                              Value gradient) {
  UpdateOp first = table.updateOf(bucket.members.front());
  for (ParameterOp member : bucket.members) {
    UpdateOp other = table.updateOf(member);
    if (!other || other.getKernel() != first.getKernel() ||
        other.getScalars() != first.getScalars())
      return member.emitError() << "expected one update by @" << first.getKernel()
                                << " as for the other parameters of " << bucket.name;
  }
  Operation *at = table.updateOf(bucket.members.back());
  if (stepOf(first)) // behind the steps of all members
    at = gradient.getDefiningOp()->getNextNode();
  UpdatePartitioner(step, bucket, first, table.kernelOf(first), at, gradient).run();
  return success();
}

} // namespace zero
