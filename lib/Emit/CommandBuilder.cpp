//===- CommandBuilder.cpp - convert ops of the step to commands -----------===//

#include "CommandBuilder.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/EvaluationAttrs.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero {

proto::Tier tierOf(Tier tier) { return static_cast<proto::Tier>(tier); }

static proto::Lane laneOf(LaneOpInterface op) {
  switch (op.getLane()) {
  case Lane::Compute:
    return proto::COMPUTE;
  case Lane::Collective:
    return proto::COLLECTIVE;
  case Lane::HostToDevice:
    return proto::H2D;
  case Lane::DeviceToHost:
    return proto::D2H;
  case Lane::DiskRead:
    return proto::NVME_READ;
  case Lane::DiskWrite:
    return proto::NVME_WRITE;
  case Lane::HostCompute:
    return proto::HOST_COMPUTE;
  }
  llvm_unreachable("all lanes are listed");
}

/// The dialect and the format have the same names.
static proto::Collective::Kind kindOf(CollectiveKind kind) {
  proto::Collective::Kind made;
  const bool isKnown = proto::Collective::Kind_Parse(stringifyCollectiveKind(kind).upper(), &made);
  assert(isKnown && "a kind of collective that the format does not have");
  (void)isKnown;
  return made;
}

/// The micro-batches in which `op` runs.
static proto::Command::When whenOf(Operation *op) {
  switch (scheduleOf(op).iterations) {
  case Iterations::Every:
    return proto::Command::ALWAYS;
  case Iterations::First:
    return proto::Command::FIRST;
  case Iterations::Later:
    return proto::Command::LATER;
  case Iterations::Last:
    return proto::Command::LAST;
  }
  llvm_unreachable("all iterations are listed");
}

/// The value that `op` runs under the condition of, or null.
static Value conditionOf(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getCondition();
  auto write = dyn_cast<WriteOp>(op);
  return write ? Value(write.getCondition()) : Value();
}

/// The ops on which the loss depends, and the checks of values that these read.
static llvm::DenseSet<Operation *> findEvaluated(func::FuncOp step) {
  llvm::DenseSet<Operation *> evaluated = findForwardOps(step);
  for (auto check : step.getBody().getOps<CheckOp>())
    if (!check->hasAttr(kTrainingOnlyAttr) && evaluated.contains(check.getValue().getDefiningOp()))
      evaluated.insert(check);
  return evaluated;
}

CommandBuilder::CommandBuilder(ModuleOp module, func::FuncOp step, const Storage &storage,
                               const llvm::StringMap<uint32_t> &kernels)
    : symbols(module), mesh(module), step(step), storage(storage), values(symbols, storage),
      kernels(kernels), forward(findEvaluated(step)) {
  for (unsigned i = 0; i < storage.roots().size(); ++i)
    offsets.push_back(zero::rootOffset(step, storage, i));
  for (const Move &move : storage.moves())
    moves[move.before].push_back(&move);
}

proto::Address CommandBuilder::address(Place place) const {
  proto::Address address;
  address.set_tier(tierOf(storage.tier(place)));
  address.set_offset(offsets[place.root] + place.offset);
  for (int64_t stride : place.rankStrides)
    address.add_rank_strides(stride);
  return address;
}

proto::Address CommandBuilder::address(Value value) {
  proto::Address made = address(storage.place(value));
  made.set_reads(values.of(value));
  made.set_start(values.startOf(value));
  return made;
}

proto::Address CommandBuilder::target(Value value) {
  proto::Address made = address(storage.place(value));
  made.set_writes(values.of(value));
  return made;
}

bool CommandBuilder::isAccumulator(int64_t root) const {
  auto buffer = dyn_cast_or_null<BufferOp>(storage.roots()[root].symbol);
  return buffer && buffer.getRole() == Role::Accumulator;
}

proto::Command *CommandBuilder::add(Operation *op, proto::Lane lane) {
  proto::Command *command = segment->add_commands();
  command->set_lane(lane);
  command->set_forward(forward.contains(op));
  command->set_recomputed(op->hasAttr(kRecomputeAttr));
  command->set_delayed(op->hasAttr(kDelayedAttr));
  command->set_when(whenOf(op));
  if (Value condition = conditionOf(op))
    command->set_predicate(predicate(condition));
  if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
    // A location of the model may have any bytes, but Protobuf reads UTF-8 only.
    command->set_label(llvm::json::fixUTF8(name.getValue()));
  return command;
}

/// The number under which `program` knows `condition`.
uint32_t CommandBuilder::predicate(Value condition) {
  auto [it, isNew] = predicates.try_emplace(condition, program->predicates_size() + 1);
  if (isNew)
    *program->add_predicates() = address(condition);
  return it->second;
}

void CommandBuilder::buildMoves(Operation *op) {
  auto it = moves.find(op);
  if (it == moves.end())
    return;
  for (const Move *move : it->second) {
    proto::Command *command = add(op, proto::COMPUTE);
    proto::Copy *copy = command->mutable_copy();
    *copy->mutable_src() = address(move->value);
    *copy->mutable_dst() = address(move->to);
    copy->mutable_dst()->set_writes(values.of(move->value));
    copy->set_bytes(move->bytes);
  }
}

void CommandBuilder::buildLaunch(LaunchOp launch) {
  proto::Command *command = add(launch, laneOf(launch));
  proto::Launch *body = command->mutable_launch();
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  body->set_kernel(kernels.lookup(launch.getKernel()));
  auto push = [&](const proto::Address &at, int64_t bytes) {
    *body->add_args() = at;
    body->mutable_args()->rbegin()->set_bytes(bytes);
  };
  // An argument in place has the address of its result, which may differ.
  llvm::SmallDenseSet<int64_t> inplace;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    auto result = kernel.getArgAttrOfType<IntegerAttr>(index, kInplaceAttr);
    if (result)
      inplace.insert(result.getInt());
    const Place own = storage.place(input);
    const Place at = result ? storage.place(launch.getOutputs()[result.getInt()]) : own;
    proto::Address argument = address(at);
    // Recomputed launches read the partial sum but do not use it; reserved bytes have not been
    // written.
    if ((!launch->hasAttr(kRecomputeAttr) || !isAccumulator(at.root)) &&
        !input.getDefiningOp<ReserveOp>())
      argument.set_reads(values.of(input));
    if (at.root == own.root && at.offset == own.offset) // else it was moved here
      argument.set_start(values.startOf(input));
    if (result)
      argument.set_writes(values.of(launch.getOutputs()[result.getInt()]));
    push(argument, tensorBytes(input.getType()));
    auto shape = cast<ShapedType>(kernel.getArgumentTypes()[index]).getShape();
    // The first dynamic dimension is the length. A list that a kernel reads at given places may be
    // longer.
    const auto *dynamic = llvm::find(shape, ShapedType::kDynamic);
    if (dynamic != shape.end() && body->length() == 0)
      body->set_length(cast<RankedTensorType>(input.getType()).getDimSize(dynamic - shape.begin()));
  }
  for (auto [index, output] : llvm::enumerate(launch.getOutputs()))
    if (!inplace.contains(index))
      push(target(output), tensorBytes(output.getType()));
  if (int64_t workspace = storage.workspaceOf(launch); workspace >= 0) {
    proto::Address at = address(Place{workspace});
    at.set_writes(values.of(launch.getOperation()));
    push(at, storage.roots()[workspace].bytes);
  }
  if (launch.getGradient())
    describeGradient(launch, *body->mutable_gradient());
}

/// Describes the gradient that `launch` reads, as far as the op says: its buffer has the name of
/// the bucket.
void CommandBuilder::describeGradient(LaunchOp launch, proto::Launch::Gradient &gradient) const {
  Value value = launch.getInputs()[*launch.getGradient()];
  auto type = cast<RankedTensorType>(value.getType());
  gradient.set_argument(uint32_t(*launch.getGradient()));
  proto::Buffer *buffer = gradient.mutable_buffer();
  buffer->set_name(launch.getUpdates()->str());
  buffer->set_role(proto::GRADIENT);
  buffer->set_dtype(dtypeOf(type.getElementType()));
  buffer->set_elements(type.getNumElements());
  if (auto place = launch->getAttrOfType<DenseI64ArrayAttr>(kGradientStartAttr)) {
    gradient.set_start(uint64_t(place[0]));
    buffer->set_elements(uint64_t(place[1]));
  }
}

/// A transfer, or a copy on one tier.
void CommandBuilder::buildCopy(LaneOpInterface op) {
  proto::Command *command = add(op, laneOf(op));
  proto::Copy *copy = command->mutable_copy();
  *copy->mutable_src() = address(op->getOperand(0));
  *copy->mutable_dst() = target(op->getResult(0));
  copy->set_bytes(tensorBytes(op->getResult(0).getType()));
}

void CommandBuilder::buildCollective(CollectiveOpInterface op) {
  proto::Command *command = add(op, proto::COLLECTIVE);
  proto::Collective *body = command->mutable_collective();
  const Value source = op.getSource(), result = op.getExchanged();
  auto type = cast<RankedTensorType>(result.getType());
  body->set_kind(kindOf(op.getCollectiveKind()));
  body->set_dtype(dtypeOf(type.getElementType()));
  if (TypeAttr sums = op.getSumType())
    body->set_arithmetic(dtypeOf(sums.getValue()));
  body->set_elements(op.getSliceElements());
  body->set_root(uint32_t(op.getRootRank()));
  if (GroupAttr group = op.getCollectiveGroup())
    for (FlatSymbolRefAttr axis : group.getAxes())
      body->add_axes(mesh.indexOf(axis.getValue()));
  *body->mutable_src() = address(source);
  *body->mutable_dst() = target(result);
  body->set_control(type.getRank() == 0 || op.isControl());
  body->set_mean(op.isMean());
  if (moves.contains(op)) { // works on the copy
    *body->mutable_src() = address(storage.place(result));
    body->mutable_src()->set_reads(values.of(source));
  }
}

void CommandBuilder::buildOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    buildLaunch(launch);
  } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    buildCollective(collective);
  } else if (auto transfer = dyn_cast<TransferOp>(op)) {
    buildCopy(transfer);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    buildCopy(copy);
  } else if (auto check = dyn_cast<CheckOp>(op)) {
    proto::Command *command = add(check, laneOf(check));
    proto::Check *body = command->mutable_check();
    *body->mutable_value() = address(check.getValue());
    body->set_lower(check.getLower());
    body->set_upper(check.getUpper());
    body->set_message(llvm::json::fixUTF8(check.getMessage()));
    // zero-clamp-indices made it harmless to go on; the epilogue updates state.
    body->set_deferred(step->getParentOp()->hasAttr(kDeviceAttr) &&
                       segment->kind() != proto::Segment::EPILOGUE);
  } else if (auto bucket = dyn_cast<BucketOp>(op)) {
    renameMembers(bucket);
  } else if (auto write = dyn_cast<WriteOp>(op)) {
    renameState(write);
  }
}

//===----------------------------------------------------------------------===//
// Renames
//===----------------------------------------------------------------------===//

/// The rename takes effect from the next command on.
proto::Rename *CommandBuilder::rename(Place place, int64_t bytes, uint32_t from, uint32_t to) {
  proto::Rename *rename = segment->add_renames();
  rename->set_command(segment->commands_size());
  *rename->mutable_place() = address(place);
  rename->mutable_place()->set_bytes(bytes);
  rename->set_from(from);
  rename->set_to(to);
  return rename;
}

/// Members become the bucket, and so do the gaps between them, which no command writes.
void CommandBuilder::renameMembers(BucketOp bucket) {
  const Place place = storage.place(bucket.getResult());
  const uint32_t number = values.of(bucket.getResult());
  int64_t done = 0;
  auto add = [&](int64_t end, uint32_t from) {
    if (end > done)
      rename({place.root, place.offset + done, place.rankStrides}, end - done, from, number)
          ->set_start(done);
    done = std::max(done, end);
  };
  SmallVector<std::pair<int64_t, Value>> members;
  for (auto [member, start] : llvm::zip_equal(bucket.getMembers(), bucket.getStarts()))
    members.emplace_back(start * elementBytes(member.getType()), member);
  llvm::sort(members, llvm::less_first());
  for (auto [begin, member] : members) {
    add(begin, 0);
    add(begin + tensorBytes(member.getType()), values.of(member));
  }
  add(tensorBytes(bucket.getResult().getType()), 0);
}

/// The value that was computed for a state denotes the state from here on.
void CommandBuilder::renameState(WriteOp write) {
  Operation *symbol = symbols.lookup(write.getSymbol());
  const uint32_t from = values.of(write.getValue()), to = values.of(symbol);
  if (from == to)
    return;
  const Place place{storage.symbolRoot(symbol)}, source = storage.place(write.getValue());
  proto::Rename *made = rename(place, tensorBytes(write.getValue().getType()), from, to);
  if (source.root == place.root && source.offset == 0) // else it was moved here
    made->mutable_place()->set_start(values.startOf(write.getValue()));
  made->set_strict(true);
  made->set_when(whenOf(write));
  made->set_delayed(write->hasAttr(kDelayedAttr));
  if (write.getCondition())
    made->set_predicate(predicate(write.getCondition()));
}

/// The value of an accumulator at the end of an iteration is its value at the start of the next.
void CommandBuilder::renameAccumulators(ArrayRef<Operation *> ops) {
  llvm::MapVector<std::pair<int64_t, int64_t>, Value> left; // by root and offset
  for (Operation *op : ops) {
    // Gathers and scatters have no reduction.
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!isa<LaneOpInterface>(op) ||
        (collective && collective.getExchanged().getType() != collective.getSource().getType()))
      continue;
    for (Value result : op->getResults())
      left[{storage.place(result).root, storage.place(result).offset}] = result;
  }
  for (auto [where, value] : left) {
    if (!isAccumulator(where.first))
      continue;
    proto::Rename *made = rename(storage.place(value), tensorBytes(value.getType()),
                                 values.of(value), values.of(storage.roots()[where.first].symbol));
    made->set_start(where.second);
    made->set_strict(true);
    made->set_when(proto::Command::LATER);
  }
}

/// Lists the inputs that `ops` read: they are written before each iteration.
void CommandBuilder::listInputs(ArrayRef<Operation *> ops) {
  llvm::DenseMap<int64_t, unsigned> argumentOf;
  for (BlockArgument argument : step.getArguments())
    argumentOf[storage.place(argument).root] = argument.getArgNumber();
  llvm::SmallSetVector<unsigned, 8> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (auto it = argumentOf.find(storage.place(operand).root); it != argumentOf.end())
        inputs.insert(it->second);
  for (unsigned index : inputs)
    segment->add_inputs(index);
}

static proto::Segment::Kind kindOf(Segment segment) {
  switch (segment) {
  case Segment::Prologue:
    return proto::Segment::PROLOGUE;
  case Segment::MicroBatch:
    return proto::Segment::MICRO_BATCH;
  case Segment::Epilogue:
    return proto::Segment::EPILOGUE;
  }
  llvm_unreachable("all segments are listed");
}

void CommandBuilder::build(proto::Program &into) {
  program = &into;
  std::array<SmallVector<Operation *>, 3> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    ops[kindOf(segmentOf(&op))].push_back(&op);
  // An input that the step returns as it is is written for each micro-batch.
  ops[proto::Segment::MICRO_BATCH].push_back(step.getBody().front().getTerminator());
  for (auto kind :
       {proto::Segment::PROLOGUE, proto::Segment::MICRO_BATCH, proto::Segment::EPILOGUE}) {
    if (kind == proto::Segment::PROLOGUE && ops[kind].empty())
      continue;
    bool repeats = kind != proto::Segment::EPILOGUE;
    segment = program->add_segments();
    segment->set_kind(kind);
    segment->set_repeat(repeats ? iterationsOf(step->getParentOfType<ModuleOp>()) : 1);
    if (segment->repeat() > 1)
      listInputs(ops[kind]);
    if (repeats)
      renameAccumulators(ops[kind]);
    for (Operation *op : ops[kind]) {
      buildMoves(op);
      buildOp(*op);
    }
  }
}

} // namespace zero
