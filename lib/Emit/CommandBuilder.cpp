//===- CommandBuilder.cpp - ops of the step as commands -------------------===//

#include "CommandBuilder.h"

#include "zero/Analysis/ParameterUses.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero {

proto::DType dtypeOf(Type type) {
  if (type.isF32())
    return proto::F32;
  if (type.isF64())
    return proto::F64;
  if (type.isF16())
    return proto::F16;
  if (type.isBF16())
    return proto::BF16;
  bool hasSign = !type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return proto::I1;
  case 8:
    return hasSign ? proto::I8 : proto::U8;
  case 16:
    return hasSign ? proto::I16 : proto::U16;
  case 32:
    return hasSign ? proto::I32 : proto::U32;
  default:
    return hasSign ? proto::I64 : proto::U64;
  }
}

/// In which micro-batches `op` runs.
static proto::Command::When whenOf(Operation *op) {
  auto when = op->getAttrOfType<StringAttr>(kWhenAttr);
  return llvm::StringSwitch<proto::Command::When>(when ? when.getValue() : "")
      .Case("first", proto::Command::FIRST)
      .Case("later", proto::Command::LATER)
      .Case("last", proto::Command::LAST)
      .Default(proto::Command::ALWAYS);
}

/// The value that `op` runs under the condition of, or null.
static Value conditionOf(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getCondition();
  auto write = dyn_cast<WriteOp>(op);
  return write ? Value(write.getCondition()) : Value();
}

/// What the loss depends on, and the checks of what that reads.
static llvm::DenseSet<Operation *> findEvaluated(func::FuncOp step) {
  llvm::DenseSet<Operation *> evaluated = findForwardOps(step);
  for (auto check : step.getBody().getOps<CheckOp>())
    if (evaluated.contains(check.getValue().getDefiningOp()))
      evaluated.insert(check);
  return evaluated;
}

CommandBuilder::CommandBuilder(ModuleOp module, func::FuncOp step, const Storage &storage,
                               const llvm::StringMap<uint32_t> &kernels)
    : symbols(module), step(step), storage(storage), kernels(kernels),
      forward(findEvaluated(step)) {
  for (unsigned i = 0; i < storage.roots().size(); ++i)
    offsets.push_back(zero::rootOffset(step, storage, i));
  for (const Move &move : storage.moves())
    moves[move.before].push_back(&move);
}

proto::Address CommandBuilder::address(Place place) const {
  proto::Address address;
  address.set_offset(offsets[place.root] + place.offset);
  address.set_rank_stride(place.rankStride);
  return address;
}

proto::Address CommandBuilder::address(Value value) const { return address(storage.place(value)); }

proto::Command *CommandBuilder::add(Operation *op, proto::Lane lane) {
  proto::Command *command = segment->add_commands();
  command->set_lane(lane);
  command->set_forward(forward.contains(op));
  command->set_when(whenOf(op));
  if (Value condition = conditionOf(op))
    command->set_predicate(predicate(condition));
  if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
    command->set_label(name.str());
  return command;
}

/// The number under which `program` knows `condition`.
uint32_t CommandBuilder::predicate(Value condition) {
  auto [it, isNew] = predicates.try_emplace(condition, program->predicates_size() + 1);
  if (isNew)
    *program->add_predicates() = address(condition);
  return it->second;
}

/// Makes `command` wait for the last command of every other lane that touched one
/// of `roots`: no lane overtakes another on the same bytes.
void CommandBuilder::order(proto::Command *command, ArrayRef<int64_t> roots) {
  uint32_t index = segment->commands_size() - 1;
  SmallVector<uint32_t> waits;
  for (int64_t root : roots)
    for (int lane = proto::COMPUTE; lane <= proto::HOST_COMPUTE; ++lane)
      if (auto it = lastTouch.find({root, lane}); it != lastTouch.end() && lane != command->lane())
        waits.push_back(it->second);
  llvm::sort(waits);
  waits.erase(llvm::unique(waits), waits.end());
  for (uint32_t wait : waits)
    command->add_waits(wait);
  for (int64_t root : roots)
    lastTouch[{root, command->lane()}] = index;
}

void CommandBuilder::buildMoves(Operation *op) {
  auto it = moves.find(op);
  if (it == moves.end())
    return;
  for (const Move *move : it->second) {
    proto::Command *command = add(op, proto::COMPUTE);
    proto::Copy *copy = command->mutable_copy();
    *copy->mutable_src() = address(move->from);
    *copy->mutable_dst() = address(move->to);
    copy->set_bytes(move->bytes);
    order(command, {move->from.root, move->to.root});
  }
}

void CommandBuilder::buildLaunch(LaunchOp launch) {
  proto::Command *command = add(launch, proto::COMPUTE);
  proto::Launch *body = command->mutable_launch();
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  body->set_kernel(kernels.lookup(launch.getKernel()));
  SmallVector<int64_t> roots;
  auto push = [&](Place place) {
    *body->add_args() = address(place);
    roots.push_back(place.root);
  };
  // An argument in place stands for its result, which may lie elsewhere.
  llvm::SmallDenseSet<int64_t> inplace;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    auto result = kernel.getArgAttrOfType<IntegerAttr>(index, kInplaceAttr);
    if (result)
      inplace.insert(result.getInt());
    push(storage.place(result ? launch.getOutputs()[result.getInt()] : input));
    auto shape = cast<ShapedType>(kernel.getArgumentTypes()[index]).getShape();
    if (const auto *dynamic = llvm::find(shape, ShapedType::kDynamic); dynamic != shape.end())
      body->set_length(cast<RankedTensorType>(input.getType()).getDimSize(dynamic - shape.begin()));
  }
  for (auto [index, output] : llvm::enumerate(launch.getOutputs()))
    if (!inplace.contains(index))
      push(storage.place(output));
  if (int64_t workspace = storage.workspaceOf(launch); workspace >= 0)
    push({workspace});
  order(command, roots);
}

void CommandBuilder::buildCollective(Operation *op, proto::Collective::Kind kind, Value src,
                                     Value dst, int64_t elements) {
  proto::Command *command = add(op, proto::COLLECTIVE);
  proto::Collective *body = command->mutable_collective();
  auto type = cast<RankedTensorType>(dst.getType());
  body->set_kind(kind);
  body->set_dtype(dtypeOf(type.getElementType()));
  if (auto arithmetic = op->getAttrOfType<TypeAttr>("arithmetic"))
    body->set_arithmetic(dtypeOf(arithmetic.getValue()));
  body->set_elements(elements);
  *body->mutable_src() = address(src);
  *body->mutable_dst() = address(dst);
  // A mean over ranks is a value of the program, not a gradient.
  auto reduce = dyn_cast<AllReduceOp>(op);
  auto gather = dyn_cast<AllGatherOp>(op);
  body->set_control(type.getRank() == 0 || (reduce && reduce.getMean()) ||
                    (gather && gather.getControl()));
  order(command, {storage.place(src).root, storage.place(dst).root});
}

void CommandBuilder::buildOp(Operation &op) {
  auto count = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    buildLaunch(launch);
  } else if (auto gather = dyn_cast<AllGatherOp>(op)) {
    buildCollective(&op, proto::Collective::ALL_GATHER, gather.getShard(), gather.getResult(),
                    count(gather.getShard()));
  } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
    buildCollective(&op, proto::Collective::REDUCE_SCATTER, scatter.getInput(), scatter.getResult(),
                    count(scatter.getResult()));
  } else if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    buildCollective(&op, proto::Collective::ALL_REDUCE, reduce.getResult(), reduce.getResult(),
                    count(reduce.getResult()));
    auto *commands = segment->mutable_commands();
    commands->rbegin()->mutable_collective()->set_mean(reduce.getMean());
  } else if (auto check = dyn_cast<CheckOp>(op)) {
    proto::Command *command = add(&op, proto::COMPUTE);
    proto::Check *body = command->mutable_check();
    *body->mutable_value() = address(check.getValue());
    body->set_lower(check.getLower());
    body->set_upper(check.getUpper());
    body->set_message(check.getMessage().str());
    order(command, {storage.place(check.getValue()).root});
  }
}

/// Lists the inputs that `ops` read: they are written anew before each turn.
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

static proto::Segment::Kind segmentOf(Operation *op) {
  if (op->hasAttr(kPrologueAttr))
    return proto::Segment::PROLOGUE;
  return op->hasAttr(kEpilogueAttr) ? proto::Segment::EPILOGUE : proto::Segment::MICRO_BATCH;
}

void CommandBuilder::build(proto::Program &into) {
  program = &into;
  std::array<SmallVector<Operation *>, 3> ops;
  for (Operation &op : step.getBody().front())
    ops[segmentOf(&op)].push_back(&op);
  for (auto kind :
       {proto::Segment::PROLOGUE, proto::Segment::MICRO_BATCH, proto::Segment::EPILOGUE}) {
    if (kind == proto::Segment::PROLOGUE && ops[kind].empty())
      continue;
    bool repeats = kind != proto::Segment::EPILOGUE;
    segment = program->add_segments();
    segment->set_kind(kind);
    segment->set_repeat(repeats ? program->micro_batches() : 1);
    lastTouch.clear();
    if (repeats && program->micro_batches() > 1)
      listInputs(ops[kind]);
    for (Operation *op : ops[kind]) {
      buildMoves(op);
      buildOp(*op);
    }
  }
}

} // namespace zero
