//===- ChunkedSums.cpp - sums over parts of a list ------------------------===//

#include "ChunkedSums.h"

#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace zero {

static int64_t sizeOf(Value list) {
  return cast<RankedTensorType>(list.getType()).getNumElements();
}

/// `numbers` as a constant of the step that `builder` writes.
static Value constantOf(OpBuilder &builder, Location loc, ArrayRef<int64_t> numbers) {
  auto step = builder.getInsertionBlock()->getParentOp();
  OpBuilder atTop = OpBuilder::atBlockBegin(&step->getRegion(0).front());
  return arith::ConstantOp::create(atTop, loc, builder.getI64TensorAttr(numbers));
}

/// sumChunks() in one launch.
static Ranges launchChunks(OpBuilder &builder, const Ranges &numbers, FlatSymbolRefAttr kernel,
                           StringRef name) {
  SmallVector<int64_t> firsts, sizes;
  Ranges made;
  for (auto [first, count] : numbers.ranges) {
    const int64_t chunks = llvm::divideCeil(count, kChunkSize);
    made.ranges.emplace_back(firsts.size(), chunks);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      firsts.push_back(first + chunk * kChunkSize);
      sizes.push_back(std::min(kChunkSize, count - chunk * kChunkSize));
    }
  }
  Location loc = numbers.list.getLoc();
  Value inputs[] = {constantOf(builder, loc, firsts), constantOf(builder, loc, sizes),
                    numbers.list};
  auto type = RankedTensorType::get({int64_t(firsts.size())}, builder.getF64Type());
  auto launch = inEpilogue(LaunchOp::create(builder, loc, TypeRange(type), kernel, inputs));
  launch->setAttr(kNameAttr, builder.getStringAttr(name));
  made.list = launch.getResult(0);
  return made;
}

Ranges join(OpBuilder &builder, ArrayRef<Ranges> parts) {
  if (parts.size() == 1)
    return parts.front();
  Ranges all;
  SmallVector<Value> lists;
  SmallVector<int64_t> starts;
  int64_t end = 0;
  for (const Ranges &part : parts) {
    lists.push_back(part.list);
    starts.push_back(end);
    for (auto [first, count] : part.ranges)
      all.ranges.emplace_back(end + first, count);
    end += sizeOf(part.list);
  }
  auto type = cast<RankedTensorType>(lists.front().getType()).clone(ArrayRef<int64_t>(end));
  all.list = inEpilogue(BucketOp::create(builder, lists.front().getLoc(), type, lists, starts));
  return all;
}

/// `numbers` in parts that have at most as many chunks as the list has numbers: a launch is at most
/// as long as each of its arguments. Ranges of several owners' tensors may overlap in a slice.
static SmallVector<Ranges> cutRanges(const Ranges &numbers) {
  SmallVector<Ranges> parts(1, {numbers.list, {}});
  int64_t chunks = 0;
  for (auto [first, count] : numbers.ranges) {
    const int64_t more = llvm::divideCeil(count, kChunkSize);
    if (chunks + more > sizeOf(numbers.list)) {
      parts.push_back({numbers.list, {}});
      chunks = 0;
    }
    parts.back().ranges.emplace_back(first, count);
    chunks += more;
  }
  return parts;
}

Ranges sumChunks(OpBuilder &builder, const Ranges &numbers, FlatSymbolRefAttr kernel,
                 StringRef name) {
  return join(builder, llvm::map_to_vector(cutRanges(numbers), [&](const Ranges &part) {
                return launchChunks(builder, part, kernel, name);
              }));
}

/// Whether each number of the list is one range, in order.
static bool isSummed(const Ranges &sums) {
  for (auto [index, range] : llvm::enumerate(sums.ranges))
    if (range != std::pair(int64_t(index), int64_t(1)))
      return false;
  return int64_t(sums.ranges.size()) == sizeOf(sums.list);
}

Value sumRanges(OpBuilder &builder, Ranges sums, FlatSymbolRefAttr kernel, StringRef name) {
  while (!isSummed(sums))
    sums = sumChunks(builder, sums, kernel, name);
  return sums.list;
}

SmallVector<Value> scalarsOf(OpBuilder &builder, Value list) {
  auto type = cast<RankedTensorType>(list.getType());
  SmallVector<Value> scalars;
  for (int64_t index = 0; index < sizeOf(list); ++index)
    scalars.push_back(
        inEpilogue(MemberOp::create(builder, list.getLoc(), type.clone(ArrayRef<int64_t>()), list,
                                    builder.getI64IntegerAttr(index))));
  return scalars;
}

/// Whether `bucket` has the elements of `list` and no others, in the same order.
static bool isCopy(BucketOp bucket, Value list) {
  return bucket.getResult().getType() == list.getType() &&
         int64_t(bucket.getMembers().size()) == sizeOf(list) &&
         llvm::all_of_zip(bucket.getMembers(), bucket.getStarts(), [&](Value value, int64_t start) {
           auto member = value.getDefiningOp<MemberOp>();
           return member && member.getBucket() == list && int64_t(member.getStart()) == start;
         });
}

SmallVector<BucketOp> copiesOf(Value list) {
  llvm::SetVector<BucketOp> copies;
  for (Operation *member : list.getUsers())
    for (Operation *user : member->getUsers())
      if (auto bucket = dyn_cast<BucketOp>(user); bucket && isCopy(bucket, list))
        copies.insert(bucket);
  return copies.takeVector();
}

} // namespace zero
