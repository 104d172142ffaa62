//===- CommandBuilder.cpp - ops of the step as commands -------------------===//

#include "CommandBuilder.h"

#include "mlir/IR/BuiltinTypes.h"

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

CommandBuilder::CommandBuilder(ModuleOp module, func::FuncOp step, const Storage &storage,
                               const llvm::StringMap<uint32_t> &kernels)
    : symbols(module), step(step), storage(storage), kernels(kernels) {
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
  if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
    command->set_label(name.str());
  return command;
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
  llvm::SmallDenseSet<int64_t> inplace;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    push(storage.place(input));
    if (auto result = kernel.getArgAttrOfType<IntegerAttr>(index, kInplaceAttr))
      inplace.insert(result.getInt());
    auto shape = cast<ShapedType>(kernel.getArgumentTypes()[index]);
    if (!shape.hasStaticShape())
      body->set_length(cast<RankedTensorType>(input.getType()).getNumElements());
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
  body->set_elements(elements);
  *body->mutable_src() = address(src);
  *body->mutable_dst() = address(dst);
  // What is neither a bucket nor a slice of one is a scalar of the program.
  body->set_control(type.getRank() == 0);
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

void CommandBuilder::build(proto::Program &program) {
  for (bool epilogue : {false, true}) {
    segment = program.add_segments();
    segment->set_kind(epilogue ? proto::Segment::EPILOGUE : proto::Segment::MICRO_BATCH);
    segment->set_repeat(1);
    lastTouch.clear();
    for (Operation &op : step.getBody().front()) {
      if (op.hasAttr(kEpilogueAttr) != epilogue)
        continue;
      buildMoves(&op);
      buildOp(op);
    }
  }
}

} // namespace zero
