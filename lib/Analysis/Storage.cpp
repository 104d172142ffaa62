//===- Storage.cpp - storage of values ------------------------------------===//

#include "zero/Analysis/Storage.h"

#include "Overwrite.h"

#include "zero/Analysis/ParameterUses.h"

using namespace mlir;

namespace zero {

ArenaAttr certificateOf(ModuleOp module, Tier tier) {
  if (auto certificate = module->getAttrOfType<ArrayAttr>(kCertificateAttr))
    for (auto arena : certificate.getAsRange<ArenaAttr>())
      if (arena.getTier() == tier)
        return arena;
  return {};
}

std::array<int64_t, kNumUsages> bytesByUsage(RoleBytesAttr roles) {
  return {roles.getParameters(), roles.getGradients(), roles.getOptimizer(), roles.getActivations(),
          roles.getWorking()};
}

func::FuncOp Storage::kernelOf(LaunchOp launch) const {
  return symbols.lookup<func::FuncOp>(launch.getKernelAttr().getAttr());
}

/// The operand of `launch` to whose bytes its kernel writes result `result`, or null.
OpOperand *Storage::updatedOperand(LaunchOp launch, unsigned result) const {
  auto [it, isNew] = updatedArguments.try_emplace(launch.getKernelAttr());
  if (isNew) {
    func::FuncOp kernel = kernelOf(launch);
    for (unsigned argument = 0; argument < kernel.getNumArguments(); ++argument)
      if (auto index = kernel.getArgAttrOfType<IntegerAttr>(argument, kInplaceAttr))
        it->second.emplace_back(index.getInt(), argument);
  }
  for (auto [updated, argument] : it->second)
    if (updated == result)
      return &launch->getOpOperand(argument);
  return nullptr;
}

Storage::Storage(ModuleOp module, func::FuncOp step)
    : module(module), step(step), symbols(module), forward(findForwardOps(step)) {
  int64_t position = 0;
  for (Operation &op : step.getBody().front())
    positions[&op] = position++;
  placeState(); // first, so that the place of state does not depend on the inputs
  placeArguments();
  claimBucketMembers();
  for (Operation &op : step.getBody().front())
    placeResults(op);
  extendLifetimes();
  classify();
}

Storage::Storage(ModuleOp module) : Storage(module, module.lookupSymbol<func::FuncOp>(kStepName)) {}

int64_t Storage::workspaceOf(Operation *launch) const {
  auto it = workspaces.find(launch);
  return it == workspaces.end() ? -1 : it->second;
}

int64_t Storage::symbolRoot(Operation *symbol) const {
  auto it = symbolRoots.find(symbol);
  return it == symbolRoots.end() ? -1 : it->second;
}

int64_t Storage::addRoot(Value value, int64_t begin, Usage usage, Tier tier) {
  Root root;
  root.tier = tier;
  root.bytes = tensorBytes(value.getType());
  root.begin = root.end = begin;
  root.usage = usage;
  root.value = value;
  allRoots.push_back(root);
  return allRoots.size() - 1;
}

void Storage::placeArguments() {
  for (BlockArgument argument : step.getArguments())
    alias(argument, {addRoot(argument, 0, Usage::Activation)});
}

static Usage usageOf(Role role) {
  switch (role) {
  case Role::Parameter:
    return Usage::Parameter;
  case Role::Optimizer:
    return Usage::Optimizer;
  case Role::Accumulator:
    return Usage::Gradient;
  case Role::Constant:
  case Role::Buffer:
    return Usage::Working;
  }
  llvm_unreachable("all roles handled");
}

/// Creates a root for each persistent symbol, which is live during the entire step. A parameter or
/// state inside a buffer has no separate root.
void Storage::placeState() {
  for (Operation &op : *module.getBody()) {
    RankedTensorType type;
    Usage usage = Usage::Parameter;
    Tier tier = Tier::Device;
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      tier = buffer.getHomeTier();
      type = buffer.getTensorType();
      usage = usageOf(buffer.getRole());
    } else if (auto state = dyn_cast<StateOp>(op); state && !state.getHome()) {
      type = state.getTensorType();
      usage = usageOf(state.getRole());
    } else if (auto parameter = dyn_cast<ParameterOp>(op); parameter && !parameter.getHome()) {
      type = parameter.getTensorType();
    }
    if (!type)
      continue;
    Root root;
    root.tier = tier;
    root.bytes = tensorBytes(type);
    root.end = numPositions() - 1;
    root.usage = usage;
    root.symbol = &op;
    symbolRoots[&op] = allRoots.size();
    allRoots.push_back(root);
  }
}

/// The last position at which `value` is read, under any shape.
int64_t Storage::lastRead(Value value) const {
  int64_t last = 0;
  for (Operation *user : value.getUsers())
    last = std::max(last, isReshape(user) ? lastRead(user->getResult(0)) : position(user));
  return last;
}

/// The value whose bytes `value` uses, if a kernel in place, a reshape or a slice computes it; else
/// null.
Value Storage::sourceInPlace(Value value) const {
  Operation *op = value.getDefiningOp();
  if (isReshape(op) || isa_and_nonnull<OwnSliceOp>(op))
    return op->getOperand(0);
  auto launch = dyn_cast_or_null<LaunchOp>(op);
  if (!launch)
    return {};
  OpOperand *from = updatedOperand(launch, cast<OpResult>(value).getResultNumber());
  return from ? from->get() : Value();
}

/// Whether `value` is the content of an accumulator, possibly after kernels in place. Caches the
/// answer for all values on the way, because a weight that is used often is accumulated in many
/// kernels.
bool Storage::isAccumulated(Value value) const {
  SmallVector<Value> way;
  bool found = false;
  for (; value; value = sourceInPlace(value)) {
    if (auto it = accumulated.find(value); it != accumulated.end()) {
      found = it->second;
      break;
    }
    way.push_back(value);
    if (auto read = value.getDefiningOp<ReadOp>()) {
      auto buffer = symbols.lookup<BufferOp>(read.getSymbolAttr().getAttr());
      found = buffer && buffer.getRole() == Role::Accumulator;
    }
  }
  for (Value passed : way)
    accumulated[passed] = found;
  return found;
}

/// Whether a kernel that works in place on `operand` reuses its bytes. An accumulator must stay at
/// the place where the next iteration reads it, whatever reads it: recomputed layers see the
/// partial sum and do not use it.
bool Storage::takesBytes(OpOperand &operand) const {
  return isAccumulated(operand.get()) || mayOverwrite(operand);
}

/// The value whose buffer `value`, which a kernel makes, takes through reshapes and
/// kernels that may work in place; null if no kernel makes it.
Value Storage::bufferOrigin(Value value) const {
  while (true) {
    value = throughReshapes(value);
    auto launch = value.getDefiningOp<LaunchOp>();
    if (!launch)
      return {};
    OpOperand *updated = updatedOperand(launch, cast<OpResult>(value).getResultNumber());
    if (!updated || !takesBytes(*updated))
      return value;
    value = updated->get();
  }
}

/// A member of a bucket that a kernel computes is computed at its place in the bucket, unless an op
/// reads it after the bucket was reduced in place.
void Storage::claimBucketMembers() {
  for (auto bucket : step.getBody().getOps<BucketOp>()) {
    int64_t root = addRoot(bucket.getResult(), position(bucket), Usage::Working);
    places[bucket.getResult()] = {root};
    for (auto [member, start] : llvm::zip_equal(bucket.getMembers(), bucket.getStarts())) {
      Value origin = bufferOrigin(member);
      if (!origin || claimed.contains(origin) ||
          lastRead(throughReshapes(member)) > position(bucket))
        continue;
      claimed[origin] = {root, start * elementBytes(member.getType())};
      allRoots[root].begin = std::min(allRoots[root].begin, position(origin.getDefiningOp()));
    }
  }
}

/// A kernel in place works on the bytes of its operand, or on a copy if other ops still need these
/// bytes.
void Storage::placeLaunch(LaunchOp launch) {
  const Tier tier = launch.getLane() == Lane::HostCompute ? Tier::Host : Tier::Device;
  for (auto [index, result] : llvm::enumerate(launch.getOutputs())) {
    OpOperand *updated = updatedOperand(launch, index);
    if (updated && takesBytes(*updated)) {
      alias(result, place(updated->get()));
      continue;
    }
    auto it = claimed.find(result);
    Place own = it != claimed.end()
                    ? it->second
                    : Place{addRoot(result, position(launch), Usage::Working, tier)};
    alias(result, own);
    if (updated)
      allMoves.push_back(
          {launch, updated->get(), place(updated->get()), own, tensorBytes(result.getType())});
  }
  auto bytes = kernelOf(launch)->getAttrOfType<IntegerAttr>(kWorkspaceAttr);
  if (!bytes || bytes.getInt() == 0)
    return;
  Root root;
  root.tier = tier;
  root.bytes = bytes.getInt();
  root.begin = root.end = position(launch);
  root.workspace = launch;
  workspaces[launch] = allRoots.size();
  allRoots.push_back(root);
}

void Storage::placeBucket(BucketOp bucket) {
  Place own = place(bucket.getResult());
  for (auto [member, start] : llvm::zip_equal(bucket.getMembers(), bucket.getStarts())) {
    Place to{own.root, own.offset + int64_t(start * elementBytes(member.getType()))};
    Place from = place(member);
    if (from.root != to.root || from.offset != to.offset)
      allMoves.push_back({bucket, member, from, to, tensorBytes(member.getType())});
  }
}

/// Works in place if no other op reads the operand, else on a copy.
void Storage::reduceInPlace(CollectiveOpInterface reduce) {
  Value input = reduce.getSource();
  Operation *producer = input.getDefiningOp();
  if (input.hasOneUse() && isa_and_nonnull<LaunchOp, BucketOp>(producer))
    return alias(reduce.getExchanged(), place(input));
  Place fresh{addRoot(reduce.getExchanged(), position(reduce), Usage::Working)};
  alias(reduce.getExchanged(), fresh);
  allMoves.push_back({reduce, input, place(input), fresh, tensorBytes(input.getType())});
}

void Storage::alias(Value value, const View &view) {
  Place of = place(view.of);
  of.offset += view.start;
  if (of.rankStrides.empty())
    of.rankStrides = view.rankStrides;
  else
    for (auto [sum, more] : llvm::zip(of.rankStrides, view.rankStrides))
      sum += more;
  alias(value, of);
}

/// The tier that `op`, which is no launch, makes its result on.
static Tier resultTier(Operation &op) {
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transfer.getTier();
  auto reserve = dyn_cast<ReserveOp>(op);
  return reserve ? reserve.getTier() : Tier::Device;
}

void Storage::moveWrite(WriteOp write) {
  Place to{symbolRoots.lookup(symbols.lookup(write.getSymbolAttr().getAttr()))};
  Place from = place(write.getValue());
  if (from.root != to.root || from.offset != to.offset)
    allMoves.push_back(
        {write, write.getValue(), from, to, tensorBytes(write.getValue().getType())});
}

void Storage::placeResults(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return alias(read.getResult(),
                 {symbolRoots.lookup(symbols.lookup(read.getSymbolAttr().getAttr()))});
  if (std::optional<View> view = viewOf(&op))
    return alias(op.getResult(0), *view);
  if (auto launch = dyn_cast<LaunchOp>(op))
    return placeLaunch(launch);
  if (auto bucket = dyn_cast<BucketOp>(op))
    return placeBucket(bucket);
  if (auto write = dyn_cast<WriteOp>(op))
    return moveWrite(write);
  auto access = dyn_cast<BufferAccessOpInterface>(op);
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (OpOperand *reused = access ? access.getReused() : nullptr) {
    // Each rank keeps its slice of a value that is distributed over the ranks.
    Value result = op.getResult(0);
    const bool isSlice = result.getType() != reused->get().getType();
    View view{reused->get()};
    if (isSlice)
      view.rankStrides =
          rankStrides(&op, collective ? collective.getCollectiveGroup() : GroupAttr(),
                      tensorBytes(result.getType()));
    return alias(result, view);
  }
  if (collective && collective.reducesInPlace())
    return reduceInPlace(collective);
  // A value from another tier is working memory, unless it waits on this tier.
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()))
      alias(result, {addRoot(result, position(&op), Usage::Working, resultTier(op))});
}

int64_t rootOffset(func::FuncOp step, const Storage &storage, int64_t index) {
  const Root &root = storage.roots()[index];
  DenseI64ArrayAttr offsets;
  unsigned slot = 0;
  if (root.symbol) {
    offsets = root.symbol->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr);
  } else if (root.workspace) {
    offsets = root.workspace->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr);
    slot = root.workspace->getNumResults();
  } else if (auto argument = dyn_cast<BlockArgument>(root.value)) {
    offsets = step.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kOffsetsAttr);
  } else {
    offsets = root.value.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr);
    slot = cast<OpResult>(root.value).getResultNumber();
  }
  return offsets && slot < offsets.size() ? offsets[slot] : -1;
}

} // namespace zero
