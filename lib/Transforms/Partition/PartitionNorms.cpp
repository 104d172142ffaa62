//===- PartitionNorms.cpp - sums of squares of one rank -------------------===//

#include "ChunkedSums.h"
#include "PartitionGradients.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {

/// The sums of so many blocks (16 MiB) are kept for one launch that sums their chunks.
static constexpr int64_t kBlocksOfLaunch = 4 << 20;

Value inBlocks(OpBuilder &builder, Value flat) {
  auto type = cast<RankedTensorType>(flat.getType());
  int64_t blocks = type.getNumElements() / kTensorAlignment;
  SmallVector<ReassociationIndices> groups{{0, 1}};
  return inEpilogue(tensor::ExpandShapeOp::create(
      builder, flat.getLoc(), type.clone(ArrayRef<int64_t>{blocks, kTensorAlignment}), flat,
      groups));
}

/// The blocks of the whole `bucket`, of which `blocks` are those of this rank's slice.
static Value gatherBlocks(OpBuilder &builder, const Bucket &bucket, Value blocks, StringRef name) {
  auto type = cast<RankedTensorType>(blocks.getType());
  auto all = type.clone(ArrayRef<int64_t>(bucket.elements / kTensorAlignment));
  if (type == all)
    return blocks;
  GroupAttr group = bucket.groupOf(all.getNumElements() / type.getNumElements());
  auto gather = inEpilogue(
      AllGatherOp::create(builder, blocks.getLoc(), all, blocks, group, Value(), /*control=*/true));
  gather->setAttr(kNameAttr, builder.getStringAttr(name));
  return gather.getResult();
}

/// The blocks of `bucket` and those of each member, of which `blocks` are those of this rank's
/// slice.
static Ranges blocksOf(OpBuilder &builder, const Bucket &bucket, Value blocks, Extent extent,
                       StringRef name) {
  if (extent == Extent::All)
    blocks = gatherBlocks(builder, bucket, blocks, name);
  const int64_t count = cast<RankedTensorType>(blocks.getType()).getNumElements();
  return {blocks, llvm::map_to_vector(bucket.members, [&](ParameterOp member) {
            return std::pair<int64_t, int64_t>(
                *member.getStart() / kTensorAlignment % count,
                llvm::divideCeil(member.getTensorType().getNumElements(), kTensorAlignment));
          })};
}

/// Adds a sum over the elements that the rank has of `parameter` to those of the other shards.
static Value sumOverShards(OpBuilder &builder, ParameterOp parameter, Value own, StringRef name) {
  ShardAttr shard = shardOf(parameter);
  if (!shard)
    return own;
  auto group = GroupAttr::get(builder.getContext(), shard.getOver());
  auto reduce = inEpilogue(AllReduceOp::create(builder, own.getLoc(), own, TypeAttr(), group));
  reduce->setAttr(kNameAttr, builder.getStringAttr(name));
  return reduce.getResult();
}

MemberSums sumOverBlocks(OpBuilder &builder, const Bucket &bucket, Value blocks,
                         ArrayRef<FlatSymbolRefAttr> kernels, StringRef name, Extent extent) {
  MemberSums made;
  const Ranges all = blocksOf(builder, bucket, blocks, extent, name);
  const bool inChunks = kernels.size() > 1;
  if (inChunks) {
    Ranges chunks = sumChunks(builder, all, kernels[0], name);
    made.sums = scalarsOf(builder, sumRanges(builder, chunks, kernels[1], name));
  }
  auto type = cast<RankedTensorType>(all.list.getType());
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  for (auto [first, count] : all.ranges) {
    Value own =
        inEpilogue(MemberOp::create(builder, blocks.getLoc(), type.clone(ArrayRef<int64_t>(count)),
                                    all.list, builder.getI64IntegerAttr(first)));
    made.blocks.push_back(own);
    if (inChunks)
      continue;
    auto launch =
        inEpilogue(LaunchOp::create(builder, own.getLoc(), TypeRange(scalar), kernels[0], own));
    launch->setAttr(kNameAttr, builder.getStringAttr(name));
    made.sums.push_back(launch.getResult(0));
  }
  for (auto [member, sum] : llvm::zip_equal(bucket.members, made.sums))
    sum = sumOverShards(builder, member, sum, name);
  return made;
}

/// Replaces `op`, which may be the first one of the epilogue.
void GradientPartitioner::replace(Operation *op, Value value) {
  if (op == epilogue)
    epilogue = op->getNextNode();
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

/// Launches one kernel for the chunks of all blocks that wait.
void GradientPartitioner::sumWaiting(OpBuilder &builder, StringRef name) {
  if (chunked.blocks.empty())
    return;
  chunked.chunks.push_back(
      sumChunks(builder, join(builder, chunked.blocks), chunked.kernels[0], name));
  chunked.blocks.clear();
  chunked.waiting = 0;
}

/// Sums the squares of the blocks of `bucket`, of which the rank holds `stored`, and then those of
/// each tensor, which replace `sums`, one for each member. Where chunks are summed, the latter is
/// left to finishSums.
void GradientPartitioner::replaceSums(const Bucket &bucket, ArrayRef<SquareSumOp> sums,
                                      Value stored, Extent extent, StringRef name,
                                      OpBuilder builder) {
  auto kernels =
      llvm::to_vector(SquareSumOp(sums.front()).getKernels().getAsRange<FlatSymbolRefAttr>());
  Value rows = inBlocks(builder, stored);
  auto blocks = RankedTensorType::get({cast<RankedTensorType>(rows.getType()).getDimSize(0)},
                                      builder.getF32Type());
  auto launch = inEpilogue(
      LaunchOp::create(builder, step.getLoc(), TypeRange(blocks), kernels.front(), rows));
  launch->setAttr(kNameAttr, builder.getStringAttr(name));
  ArrayRef<FlatSymbolRefAttr> totals = ArrayRef(kernels).drop_front();
  if (totals.size() > 1) {
    for (auto [sum, member] : llvm::zip_equal(sums, bucket.members))
      chunked.sums.emplace_back(sum, member);
    chunked.blocks.push_back(blocksOf(builder, bucket, launch.getResult(0), extent, name));
    chunked.kernels = {totals[0], totals[1]};
    chunked.waiting +=
        cast<RankedTensorType>(chunked.blocks.back().list.getType()).getNumElements();
    if (chunked.waiting >= kBlocksOfLaunch)
      sumWaiting(builder, name);
    return;
  }
  MemberSums made = sumOverBlocks(builder, bucket, launch.getResult(0), totals, name, extent);
  for (auto [sum, total] : llvm::zip_equal(sums, made.sums))
    replace(sum, total);
}

/// Adds up the chunks of all tensors that were measured, in the order of the step.
void GradientPartitioner::finishSums(StringRef name, OpBuilder builder) {
  if (chunked.sums.empty())
    return;
  sumWaiting(builder, name);
  Ranges chunks = join(builder, chunked.chunks);
  SmallVector<std::pair<Chunked::Sum, std::pair<int64_t, int64_t>>> tensors;
  for (auto [sum, range] : llvm::zip_equal(chunked.sums, chunks.ranges))
    tensors.emplace_back(sum, range);
  llvm::sort(tensors, [&](const auto &left, const auto &right) {
    return positions.lookup(left.first.first) < positions.lookup(right.first.first);
  });
  chunks.ranges = llvm::to_vector(llvm::make_second_range(tensors));
  Value list = sumRanges(builder, chunks, chunked.kernels[1], name);
  SmallVector<Value> totals = scalarsOf(builder, list);
  for (auto [tensor, total] : llvm::zip_equal(tensors, totals))
    total = sumOverShards(builder, tensor.first.second, total, name);
  for (auto [tensor, total] : llvm::zip_equal(tensors, totals)) // `builder` may be at one of them
    replace(tensor.first.first, total);
  for (BucketOp copy : copiesOf(list))
    replace(copy, list);
  chunked = {};
}

void GradientPartitioner::measure(const Bucket &bucket, Value gradient) {
  SmallVector<SquareSumOp> sums;
  for (ParameterOp member : bucket.members)
    for (Operation *user : table.gradientOf(member)->getUsers())
      if (auto sum = dyn_cast<SquareSumOp>(user))
        sums.push_back(sum);
  if (!sums.empty())
    replaceSums(bucket, sums, gradient, Extent::All, bucket.name + ".norm", atEpilogue());
}

void GradientPartitioner::finishMeasuring() { finishSums("norm", atEpilogue()); }

} // namespace zero
