//===- PartitionShards.cpp - shards of whole matrices and tensors ---------===//
//
// A step of a whole matrix reads the shards of all ranks along the axis tensor. Those of a bucket
// are gathered at once, and each matrix is joined from the lists of the ranks.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

/// The lists of all ranks along tensor, one behind the other, of which `list` is the rank's own.
Value GradientPartitioner::gatherLists(OpBuilder &builder, AllGatherOp like, Value list) {
  Value &lists = listsOfShards[list];
  if (lists)
    return lists;
  auto type = cast<RankedTensorType>(list.getType());
  const int64_t ranks = Mesh(module).sizeOf(like.getCollectiveGroup());
  auto gather = inEpilogue(AllGatherOp::create(builder, list.getLoc(),
                                               type.clone(ranks * type.getNumElements()), list,
                                               like.getGroupAttr()));
  gather->setAttr(kNameAttr, like->getAttr(kNameAttr));
  return lists = gather.getResult();
}

/// Lets what follows from `gather`, of the shards of one tensor, read them in the lists of all
/// ranks, in which they begin at `start`. Returns what it reads.
Value GradientPartitioner::readShards(OpBuilder &builder, AllGatherOp gather, Value list,
                                      int64_t start) {
  auto type = cast<RankedTensorType>(gather.getResult().getType());
  const int64_t size = cast<RankedTensorType>(list.getType()).getNumElements();
  const int64_t ranks = Mesh(module).sizeOf(gather.getCollectiveGroup());
  const int64_t shard = type.getNumElements() / ranks;
  Value lists = gatherLists(builder, gather, list);
  SmallVector<Value> shards;
  SmallVector<int64_t> starts;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    shards.push_back(inEpilogue(MemberOp::create(builder, gather.getLoc(), type.clone(shard), lists,
                                                 builder.getI64IntegerAttr(rank * size + start))));
    starts.push_back(rank * shard);
  }
  Value all = inEpilogue(BucketOp::create(builder, gather.getLoc(),
                                          type.clone(type.getNumElements()), shards, starts));
  all = reshapeInEpilogue(builder, all, type);
  gather.getResult().replaceAllUsesWith(all);
  return all;
}

} // namespace zero
